"""A worker that hangs up while it waits for a job: it is given none, and what was on its way to it is free at once."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.postgres import run_as_owner
from tests.support.patience import PATIENCE
from tests.support.processes import Process, fresh_instance, holding

KIND = "x.integrator-demo.lane-report"
# Of the claim that a worker's request makes; the server's own sweep looks at the same tables.
CLAIMING = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%claim_jobs%' AND datname = current_database()"


@dataclass(frozen=True, slots=True)
class Bench:
    """A running server, somebody who queues, and two workers' tokens."""

    url: str
    server: Process
    operator: httpx.AsyncClient
    tokens: list[str]

    async def enqueue(self) -> str:
        answer = await self.operator.post("/api/jobs", json={"kind": KIND, "input": {"lane": "north"}})
        return str(answer.json()["id"])

    async def ask(self, seconds: float) -> asyncio.StreamWriter:
        """The first worker's request for a job, on a connection of its own; nobody reads the answer."""
        body = json.dumps({"kinds": [KIND], "max_wait": seconds})
        _, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        writer.write(
            f"POST /api/workers/claim HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.tokens[0]}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        return writer

    async def claim(self, seconds: float = 5) -> Any:
        """What the second worker gets."""
        async with self.server.client(self.tokens[1]) as client:
            answer = await client.post("/api/workers/claim", json={"kinds": [KIND], "max_wait": seconds})
        return answer.json() if answer.status_code == 200 else None

    async def until(self, sql: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while not await run_as_owner(self.url, sql):
                await asyncio.sleep(0.02)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with fresh_instance() as instance:
        made = [
            await instance.operator.post("/api/executors", json={"name": name, "mode": "pull"}) for name in ("a", "b")
        ]
        yield Bench(
            instance.url, instance.server, instance.operator, [answer.json()["worker_token"] for answer in made]
        )


async def test_a_worker_that_has_left_its_wait_is_given_nothing(bench: Bench) -> None:
    asking = await bench.ask(30)
    await bench.until("SELECT FROM job_workers")
    asking.close()
    await asking.wait_closed()

    id = await bench.enqueue()
    claimed = await bench.claim()

    assert (claimed["job"]["id"], claimed["job"]["attempt"]) == (id, 1)


async def test_what_was_claimed_for_a_worker_that_left_meanwhile_is_free_at_once_and_uncounted(bench: Bench) -> None:
    id = await bench.enqueue()
    async with holding(bench.url, "LOCK TABLE job_lanes IN ACCESS EXCLUSIVE MODE"):
        asking = await bench.ask(0)
        await bench.until(CLAIMING)
        asking.close()
        await asking.wait_closed()
        # A reply to somebody else shows that the server has seen the connection end.
        await bench.operator.get("/health")

    claimed = await bench.claim()

    assert (claimed["job"]["id"], claimed["job"]["attempt"]) == (id, 1)
    await bench.server.until_prints("job.handed_back")


async def test_a_worker_that_is_retired_while_it_waits_is_given_nothing(bench: Bench) -> None:
    machines = (await bench.operator.get("/api/executors")).json()["items"]
    [waiting_id] = [one["id"] for one in machines if one["name"] == "a"]
    async with bench.server.client(bench.tokens[0]) as worker:
        waiting = asyncio.create_task(worker.post("/api/workers/claim", json={"kinds": [KIND], "max_wait": 30}))
        await bench.until("SELECT FROM job_workers")
        assert (await bench.operator.delete(f"/api/executors/{waiting_id}")).status_code == 200

        id = await bench.enqueue()
        refused = await waiting
    claimed = await bench.claim()

    assert refused.status_code == 401
    assert (claimed["job"]["id"], claimed["job"]["attempt"]) == (id, 1)
