"""Workers over HTTP: claim under a lease, keep it, hand in or give up; a word without the current token counts for nothing."""

import asyncio
import time
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.queue import Member, Queue

FINE = {"fine": True}
WANTED = {"kinds": ["probe.remote"]}


@dataclass(slots=True)
class Machine:
    """A pull worker of a company."""

    client: Client
    id: UUID

    async def claim(self, **more: Any) -> Any:
        return await self.client.post("/api/workers/claim", {**WANTED, **more})

    async def say(self, verb: str, claimed: Any, **more: Any) -> Any:
        body = {"claim_token": claimed["claim_token"], **more}
        return await self.client.post(f"/api/workers/jobs/{claimed['job']['id']}/{verb}", body)


async def machine(member: Member, **more: Any) -> Machine:
    owner = await member.company.join("owner", org_role="org_owner", operator=True)
    made = await owner.post("/api/executors", {"name": f"m {uuid4().hex[:12]}", "mode": "pull", **more})
    return Machine(Client(member.queue.house.app, made["worker_token"]), UUID(made["id"]))


@pytest.fixture
async def worker(member: Member) -> Machine:
    return await machine(member)


async def test_a_worker_claims_keeps_and_completes(queue: Queue, member: Member, worker: Machine) -> None:
    [id] = await member.enqueue(1, "probe.remote")

    claimed = await worker.claim()
    kept = await worker.say("heartbeat", claimed)
    done = await worker.say("complete", claimed, result=FINE)

    assert claimed["job"] == {
        "id": str(id),
        "kind": "probe.remote",
        "input": {"say": "", "seconds": 0.0},
        "attempt": 1,
        "model": None,
    }
    assert kept["cancel_requested"] is False
    assert kept["lease_expires_at"] > claimed["lease_expires_at"]
    assert done.body == {"id": str(id), "state": "succeeded"}
    assert (await member.read(id))["result"] == FINE
    assert await queue.broken_promises() == []


async def test_nothing_to_do_is_204_at_once_or_after_the_wait(
    queue: Queue, member: Member, worker: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    queues, joined = queue.house.services.wait_queues, list[object]()
    join = queues.join

    def noted(key: Any, *arguments: Any) -> Any:
        joined.append(key)
        return join(key, *arguments)

    monkeypatch.setattr(queues, "join", noted)
    at_once = await worker.claim()
    did_not_wait = not joined
    started = time.monotonic()
    waited = await worker.claim(max_wait=0.3)

    assert (at_once.status, waited.status, at_once.raw) == (204, 204, b"")
    assert did_not_wait
    assert joined
    assert time.monotonic() - started > 0.25


async def waits_for_new_jobs(member: Member, worker: Machine, count: int) -> list[float]:
    """Seconds from queuing a job until the worker that waits has it."""
    waits, queues = [], member.queue.house.services.wait_queues
    for _ in range(count):
        waiting = asyncio.create_task(worker.claim(max_wait=30))
        async with asyncio.timeout(PATIENCE):
            while not queues.waiting("probe.remote"):
                await asyncio.sleep(0.05)
        started = time.monotonic()
        [id] = await member.enqueue(1, "probe.remote")
        claimed = await waiting
        waits.append(time.monotonic() - started)
        assert (claimed.status, claimed["job"]["id"]) == (200, str(id))
        await worker.say("complete", claimed, result=FINE)
    return waits


async def test_a_waiting_worker_gets_a_new_job(member: Member, worker: Machine) -> None:
    assert len(await waits_for_new_jobs(member, worker, 3)) == 3


@pytest.mark.proof
async def test_a_waiting_worker_gets_a_new_job_at_once(member: Member, worker: Machine) -> None:
    assert sorted(await waits_for_new_jobs(member, worker, 10))[5] < 0.1


async def _is_busy(queue: Queue) -> bool:
    """Whether any connection of the server is doing something, or in a transaction."""
    return bool(
        await queue.sql(
            "SELECT FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()"
        )
    )


async def test_waiting_workers_hold_no_connection(queue: Queue, member: Member) -> None:
    machines = [await machine(member) for _ in range(3)]
    waiting = [asyncio.create_task(one.claim(max_wait=30)) for one in machines * 20]
    async with asyncio.timeout(PATIENCE):
        while queue.house.services.wait_queues.waiting("probe.remote") < len(waiting) or await _is_busy(queue):
            await asyncio.sleep(0.05)

    await member.cap(100)
    await member.enqueue(60, "probe.remote")
    claimed = await asyncio.gather(*waiting)

    assert sorted(answer.status for answer in claimed) == [200] * 60
    assert len({answer["job"]["id"] for answer in claimed}) == 60
    assert {row[0] for row in await queue.sql("SELECT DISTINCT worker FROM jobs")} == {one.id for one in machines}


async def test_a_result_its_kind_refuses_is_422_and_the_claim_stands(member: Member, worker: Machine) -> None:
    [id] = await member.enqueue(1, "probe.remote")
    claimed = await worker.claim()

    refused = await worker.say("complete", claimed, result={"fine": False})

    assert (refused.status, refused.code, refused["problem"]) == (422, "jobs.result_refused", "it is not fine")
    assert (await member.read(id))["state"] == "running"
    assert (await worker.say("complete", claimed, result=FINE)).status == 200


async def test_a_failure_is_tried_again_until_attempts_run_out(queue: Queue, member: Member, worker: Machine) -> None:
    [id] = await member.enqueue(1, "probe.remote")
    states = []
    for _ in range(3):
        claimed = await worker.claim()
        states.append((await worker.say("fail", claimed, error="out of paper"))["state"])
        await queue.sql("UPDATE jobs SET run_at = now() WHERE state = 'scheduled'")
        await queue.sweep()

    job = await member.read(id)
    assert states == ["queued", "queued", "failed"]
    assert (job["state"], job["error"]["message"]) == ("failed", "out of paper")


@pytest.mark.parametrize("token", [None, "", "nonsense", "0199f2a0-5d1c-7c3e-9b0a-3f5d1c7c3e9b"])
@pytest.mark.parametrize(
    ("verb", "more"), [("heartbeat", {}), ("complete", {"result": FINE}), ("fail", {"error": "x"})]
)
async def test_a_word_without_the_current_token_is_409(
    member: Member, worker: Machine, verb: str, more: dict[str, Any], token: str | None
) -> None:
    [id] = await member.enqueue(1, "probe.remote")
    claimed = await worker.claim()

    reply = await worker.say(verb, {**claimed.body, "claim_token": token}, **more)

    assert (reply.status, reply.code) == (409, "jobs.stale_claim")
    assert (await member.read(id))["state"] == "running"


async def test_a_lapsed_attempt_cannot_land_on_the_one_that_replaced_it(
    queue: Queue, member: Member, worker: Machine
) -> None:
    other = await machine(member)
    [id] = await member.enqueue(1, "probe.remote")
    first = await worker.claim()
    await queue.sql("UPDATE jobs SET lease_until = now() - interval '1 second' WHERE id = $1", id)
    await queue.sweep()
    second = await other.claim()

    late = await worker.say("complete", first, result=FINE)
    stolen = await worker.say("complete", second, result=FINE)

    assert second["job"]["attempt"] == 2
    assert (late.status, stolen.status) == (409, 409)
    assert (await other.say("complete", second, result=FINE)).status == 200


async def test_a_bound_worker_sees_nothing_of_another_company(queue: Queue, member: Member) -> None:
    theirs = await queue.company()
    bound = await machine(theirs, org_id=str(theirs.company.org.id))
    everybodys = await machine(theirs)
    await member.enqueue(1, "probe.remote")

    nothing = await bound.claim()
    claimed = await everybodys.claim()
    reply = await bound.say("heartbeat", claimed)

    assert nothing.status == 204
    assert (reply.status, reply.code) == (404, "jobs.missing")


async def test_a_job_for_a_model_goes_to_a_worker_that_has_it(member: Member) -> None:
    plain, llama = await machine(member), await machine(member, model="llama")
    [id] = await member.enqueue(1, "probe.remote", model="llama")

    nothing = await plain.claim()
    named = await plain.claim(models=["other"])
    claimed = await llama.claim()

    assert (nothing.status, named.status) == (204, 204)
    assert (claimed["job"]["id"], claimed["job"]["model"]) == (str(id), "llama")


@pytest.mark.parametrize("kind", ["probe.plain", "nobody.knows"])
async def test_only_remote_kinds_are_claimed_over_http(worker: Machine, kind: str) -> None:
    reply = await worker.claim(kinds=[kind])

    assert (reply.status, reply.code) == (400, "jobs.unknown_kind")


async def test_what_waits_says_that_nobody_serves_it_until_somebody_does(member: Member, worker: Machine) -> None:
    [id] = await member.enqueue(1, "probe.remote", model="llama")
    before = (await member.read(id))["waiting_reason"]

    await worker.claim(models=["llama"], kinds=["probe.remote-brief"])
    still = (await member.read(id))["waiting_reason"]
    await member.cap(0)
    await worker.claim(models=["llama"])
    after = (await member.read(id))["waiting_reason"]

    assert (before, still, after) == ("no_worker", "no_worker", "team_cap")
