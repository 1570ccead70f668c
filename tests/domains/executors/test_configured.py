"""Push executors of the environment: listed, chosen, called and looked at like those that were made, for everybody."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atrium.boot.assemble import Application
from atrium.engine.executors import health_checks
from atrium.seams.setting_values import PushExecutors
from tests.domains.executors.test_turns import ended, turn
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.llama import KEY, NAME, Llama
from tests.support.people import Company, found_company
from tests.support.processes import free_port
from tests.support.servers import open_application, settings_for


@pytest.fixture
async def house(llama: Llama, tmp_path: Path) -> AsyncIterator[Application]:
    """Its own model is simulated; of two machines in its environment one is there."""
    machines = [
        {"name": "Big", "url": llama.url, "key": KEY, "model": NAME},
        {"name": "gone", "url": f"http://127.0.0.1:{free_port()}/v1"},
    ]
    async with fresh_database() as url:
        configured = PushExecutors(json.dumps(machines))
        settings = settings_for(url, data_dir=tmp_path, embed_worker=True, push_executors=configured)
        async with open_application(settings) as house:
            yield house


@pytest.fixture
async def company(house: Application) -> Company:
    return await found_company(house)


@pytest.fixture
async def operator(company: Company) -> Client:
    return await company.join("owner", org_role="org_owner", operator=True)


async def test_they_are_listed_to_everybody_without_address_or_key(house: Application, company: Company) -> None:
    member = await company.join("member")
    await health_checks.probe_executors(house.services)

    listed = await member.get("/api/executors")

    shown = [(one["name"], one["mode"], one["model"], one["healthy"]) for one in listed["items"]]
    assert shown == [("local", "local", "simulated", True), ("Big", "push", NAME, True), ("gone", "push", None, False)]
    assert KEY not in listed.raw.decode()
    assert "127.0.0.1" not in listed.raw.decode()


async def test_a_team_chooses_one_for_its_role_and_its_turns_go_there(operator: Client, company: Company) -> None:
    member = await company.join("member")
    refused = await member.post("/api/jobs", {"kind": "ai.turn", "input": {"messages": []}, "model": "big"})
    chosen = await operator.put("/api/model-roles", {"roles": {"utility": "Big"}})

    job = await ended(member, await turn(member))

    assert refused.status in (400, 403)
    assert chosen.status == 200
    assert (job["state"], job["model"]) == ("succeeded", "Big")
    assert "simulated" not in job["result"]["text"]
    assert job["result"]["usage"]["completion_tokens"] > 0


async def test_their_names_are_taken_for_everybody_and_a_companys_own_comes_first(
    operator: Client, company: Company
) -> None:
    taken = await operator.post("/api/executors", {"name": "BIG", "mode": "pull"})
    own = await operator.post("/api/org/executors", {"name": "big", "mode": "pull"})

    job = await turn(operator, "big")

    assert (taken.status, taken.code) == (409, "executors.name_taken")
    assert own.status == 201
    assert (await operator.get(f"/api/jobs/{job}"))["state"] == "queued"
