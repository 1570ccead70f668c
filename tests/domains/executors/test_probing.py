"""Health of the machines that this server calls: seen while they answer, silent when they do not, looked at by one process at a time."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from atrium.boot.assemble import Application
from atrium.engine.executors import health_checks
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Client
from tests.support.llama import KEY, NAME, Llama, llama_serving
from tests.support.people import found_company
from tests.support.processes import free_port
from tests.support.servers import open_application, settings_for

NOT_YET = "UPDATE executor_probes SET probed_at = now() - interval '1 minute'"


@pytest.fixture
async def house(llama: Llama, tmp_path: Path) -> AsyncIterator[Application]:
    async with fresh_database() as url:
        settings = settings_for(
            url, data_dir=tmp_path, executor_hosts="127.0.0.1", local_model_url=llama.url, local_model_key=KEY
        )
        async with open_application(settings) as house:
            yield house


@pytest.fixture
async def operator(house: Application) -> Client:
    return await (await found_company(house)).join("owner", org_role="org_owner", operator=True)


async def push(operator: Client, name: str, url: str, key: str | None = KEY) -> None:
    made = await operator.post("/api/executors", {"name": name, "mode": "push", "url": url, "key": key, "model": NAME})
    assert made.status == 201, made.body


async def shown(operator: Client) -> dict[str, Any]:
    """Health by name, and whether it was ever seen."""
    items = (await operator.get("/api/executors"))["items"]
    return {one["name"]: (one["healthy"], one["last_seen_at"] is not None) for one in items}


async def probe_again(house: Application) -> int:
    await run_as_owner(house.services.settings.database_url, NOT_YET)
    return await health_checks.probe_executors(house.services)


async def test_a_machine_is_healthy_while_it_answers_and_takes_its_key(
    house: Application, operator: Client, llama: Llama
) -> None:
    await push(operator, "good", llama.url)
    await push(operator, "wrong key", llama.url, "sk-wrong")
    await push(operator, "nobody there", f"http://127.0.0.1:{free_port()}/v1")
    before = await shown(operator)

    await probe_again(house)

    assert before["good"] == (None, False)
    assert (await shown(operator)) == {
        "local": (True, True),
        "good": (True, True),
        "wrong key": (False, False),
        "nobody there": (False, False),
    }


async def test_one_that_stops_answering_turns_silent_and_keeps_when_it_was_seen(
    house: Application, operator: Client, tiny_model: Path
) -> None:
    with llama_serving(tiny_model) as other:
        await push(operator, "other", other.url)
        await probe_again(house)
        up = (await shown(operator))["other"]
    await probe_again(house)

    assert (up, (await shown(operator))["other"]) == ((True, True), (False, True))


async def test_processes_take_turns_to_look(house: Application, operator: Client, llama: Llama) -> None:
    await push(operator, "good", llama.url)
    await run_as_owner(house.services.settings.database_url, NOT_YET)

    looks = await asyncio.gather(*(health_checks.probe_executors(house.services) for _ in range(5)))

    assert sum(looks) == 2
    assert await health_checks.probe_executors(house.services) == 0


async def test_an_address_that_is_no_longer_public_is_not_called(
    house: Application, operator: Client, llama: Llama
) -> None:
    await push(operator, "inside", llama.url)
    await run_as_owner(
        house.services.settings.database_url,
        "UPDATE executors SET url = $1",
        llama.url.replace("127.0.0.1", "127.0.0.2"),
    )

    await probe_again(house)

    assert (await shown(operator))["inside"] == (False, False)
