"""Runs of the agent whose server dies: nothing in them happens twice, nothing that happened is forgotten, and everything is paid once."""

import asyncio
import random
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.domains.turns.test_faults import SILENT
from tests.domains.turns.test_processes import usage
from tests.postgres import fresh_database, run_as_owner
from tests.support.load import chance
from tests.support.patience import PATIENCE
from tests.support.processes import Process, bootstrap, rounds, serving, start_server
from tests.support.speaker import Line, Speaker, speaking

pytestmark = pytest.mark.timeout(1800)
EFFECTS_OF_A_RUN = 4
SETTLED_SECONDS = 30
HELD = "SELECT amounts, expires_at - now() AS left FROM quota_holds WHERE state = 'held'"


def next_answer(line: Line) -> None:
    """A model that writes one note after another, numbered as far as it has seen them written."""
    made = sum(len(message.get("tool_calls") or []) for message in line.asked["messages"])
    prompt = next(message["content"] for message in line.asked["messages"] if message["role"] == "user")
    if made < EFFECTS_OF_A_RUN and "tools" in line.asked:
        line.say(f"Step {made}. ")
        line.call(("notes_create", {"title": f"{prompt} {made}", "body": "done"}), usage=(10, 3))
    else:
        line.say("All written.")
        line.finish(usage=(10, 3))


async def answer(speaker: Speaker, pause: float, moments: random.Random) -> None:
    """Answers come one after the other with a pause, in which a server may die."""

    async def one(line: Line) -> None:
        await asyncio.sleep(moments.uniform(0, pause))
        next_answer(line)

    tasks = set[asyncio.Task[None]]()
    while True:
        tasks.add(asyncio.create_task(one(await speaker.lines.get())))


async def test_a_run_whose_server_was_killed_goes_on_elsewhere(tmp_path: Path) -> None:
    """One kill, once the first effect is there."""
    await killed_again_and_again(tmp_path, 1, 2, None)


@pytest.mark.proof
async def test_runs_whose_servers_are_killed_at_any_moment_do_nothing_twice(tmp_path: Path) -> None:
    """ATRIUM_FULL: 20 rounds of 20 runs."""
    await killed_again_and_again(tmp_path, len(rounds(1, 20)), len(rounds(6, 20)), chance())


async def killed_again_and_again(tmp_path: Path, times: int, runs: int, moments: random.Random | None) -> None:
    """So many servers are killed, each with so many runs: at a random moment, or once one of them has done something."""
    async with fresh_database() as url, speaking() as speaker:
        answering = asyncio.create_task(answer(speaker, 0.4, moments or random.Random(1)))
        try:
            async with serving(url, 1, local_model_url=speaker.url) as [survivor]:
                token = await bootstrap(survivor)
                for number in range(times):
                    victim = start_server(url, tmp_path, local_model_url=speaker.url)
                    try:
                        await victim.until_ready()
                        await _kill(url, victim, survivor, token, [f"r{number} n{run}" for run in range(runs)], moments)
                    finally:
                        victim.clean_up()
        finally:
            answering.cancel()


async def _kill(
    url: str, victim: Process, survivor: Process, token: str, names: list[str], moments: random.Random | None
) -> None:
    headers = [{"idempotency-key": name} for name in names]
    asking = [
        asyncio.ensure_future(_post(victim, token, {"prompt": name}, key))
        for name, key in zip(names, headers, strict=True)
    ]
    async with asyncio.timeout(PATIENCE):
        while moments is None and not await run_as_owner(url, "SELECT FROM notes"):
            await asyncio.sleep(0.02)
    await asyncio.sleep(moments.uniform(0.4, 1.6) if moments else 0)
    victim.popen.send_signal(signal.SIGKILL)
    await asyncio.gather(*asking, return_exceptions=True)
    async with asyncio.timeout(SETTLED_SECONDS if moments else PATIENCE):
        while await run_as_owner(url, "SELECT FROM turns WHERE state = 'running'"):
            if moments is None:
                # As if the one that died had been silent for a minute.
                await run_as_owner(url, SILENT)
            await asyncio.sleep(0.2)
    known = await run_as_owner(url, "SELECT key, id, state FROM turns WHERE key = ANY($1)", names)
    for row in known:
        reply = await _post(survivor, token, {"run": str(row["id"])}, {})
        assert (reply.status_code, reply.json()["stop"]) == (200, "answer"), reply.text
        assert [step["status"] for step in reply.json()["steps"]] == ["ok"] * EFFECTS_OF_A_RUN
    written = await run_as_owner(url, "SELECT title FROM notes WHERE title LIKE $1", f"{names[0].split()[0]} %")
    expected = [f"{row['key']} {number}" for row in known for number in range(EFFECTS_OF_A_RUN)]
    assert sorted(row["title"] for row in written) == sorted(expected)
    await _paid_once(url, survivor, token)


async def _paid_once(url: str, server: Process, token: str) -> None:
    """The books hold what the runs say they cost, and nothing is reserved."""
    deadline = time.monotonic() + PATIENCE
    while True:
        spent, reserved = await usage(server, token)
        [counted] = await run_as_owner(
            url, "SELECT coalesce(sum(prompt_tokens + reply_tokens), 0) AS tokens FROM agent_runs"
        )
        if not reserved and spent["ai.tokens.total"] == counted["tokens"]:
            return
        assert time.monotonic() < deadline, (spent, reserved, counted, await run_as_owner(url, HELD))
        await asyncio.sleep(0.2)


async def _post(server: Process, token: str, body: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
    async with httpx.AsyncClient(base_url=server.address, trust_env=False, timeout=PATIENCE) as client:
        return await client.post("/api/agent", json=body, headers={"authorization": f"Bearer {token}", **headers})
