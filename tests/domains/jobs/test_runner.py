"""The worker in a process: what it makes of results, refusals and defects, and how it stops."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from atrium.engine.jobs import chores, service
from atrium.engine.jobs import runner as runners
from atrium.engine.jobs.model import FinishedJob
from atrium.engine.jobs.runner import Runner
from atrium.seams.context import Context
from tests.support.patience import PATIENCE
from tests.support.queue import Member, Queue

Hear = Callable[[Context, list[FinishedJob]], Awaitable[None]]


@asynccontextmanager
async def working(queue: Queue, concurrency: int = 4) -> AsyncIterator[Runner]:
    runner = Runner(queue.house.services, concurrency)
    runner.start()
    sweeping = asyncio.create_task(sweep(queue))
    try:
        yield runner
    finally:
        sweeping.cancel()
        await asyncio.gather(sweeping, return_exceptions=True)
        await runner.stop(0)


async def sweep(queue: Queue) -> None:
    """What a server does in the background."""
    while True:
        await asyncio.sleep(0.2)
        await queue.sweep()


async def ended(member: Member, id: UUID, seconds: float = PATIENCE) -> dict[str, Any]:
    async with asyncio.timeout(seconds):
        while (job := await member.read(id))["state"] in ("queued", "running"):
            await asyncio.sleep(0.02)
    return dict(job)


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not is_so():
            await asyncio.sleep(0.01)


async def test_a_job_runs_as_its_owner_and_its_result_is_kept(queue: Queue, member: Member) -> None:
    async with member.op.begin() as ctx:
        [id] = await service.enqueue(ctx, "probe.plain", [{"say": "hello"}])

    async with working(queue):
        job = await ended(member, id)

    assert job["state"] == "succeeded"
    assert job["result"] == {"said": "hello", "by": member.op.who.username, "attempt": 1}
    assert job["error"] is None


async def test_what_passes_is_tried_again_and_what_cannot_work_is_not(queue: Queue, member: Member) -> None:
    [passing] = await member.enqueue(1, "probe.stumbles")
    [refused] = await member.enqueue(1, "probe.refuses")

    async with working(queue):
        worked, failed = await ended(member, passing), await ended(member, refused)

    assert (worked["state"], worked["attempt"]) == ("succeeded", 2)
    assert (failed["state"], failed["attempt"], failed["error"]["message"]) == ("failed", 1, "this can never work")


async def test_a_defect_is_tried_again_and_then_kept_without_its_insides(queue: Queue, member: Member) -> None:
    [id] = await member.enqueue(1, "probe.breaks")

    async with working(queue):
        job = await ended(member, id)

    assert (job["state"], job["attempt"]) == ("failed", 2)
    assert "KeyError" in job["error"]["message"]
    assert "a defect" not in job["error"]["message"]


async def test_a_job_reaches_no_further_than_the_token_that_queued_it(queue: Queue, member: Member) -> None:
    narrow = await member.company.join("member", team=member.team, scope=["chat:use"])
    queued = await narrow.post("/api/jobs", {"kind": "probe.may"})
    owner = await member.company.join("admin", team=member.team)

    async with working(queue):
        async with asyncio.timeout(PATIENCE):
            while (job := await owner.get(f"/api/jobs/{queued['id']}"))["state"] != "succeeded":
                await asyncio.sleep(0.02)

    assert job["result"] == ["chat:use"]


async def test_a_new_job_starts_without_waiting_for_the_next_poll(
    queue: Queue, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runners, "POLL_SECONDS", 10 * PATIENCE)
    runner = Runner(queue.house.services, 4)
    runner.start()
    try:
        for _ in range(10):
            job = await ended(member, (await member.enqueue())[0])
            assert job["state"] == "succeeded"
    finally:
        await runner.stop(0)


async def test_a_running_job_can_hear_that_it_is_no_longer_wanted(queue: Queue, member: Member) -> None:
    [id] = await member.enqueue(1, "probe.listens")
    async with working(queue) as runner:
        await until(lambda: runner.running == 1)
        await member.cancel(id)
        job = await ended(member, id)

    assert (job["state"], job["result"]) == ("succeeded", "heard")


async def test_a_long_job_keeps_its_lease(queue: Queue, member: Member) -> None:
    async with member.op.begin() as ctx:
        [id] = await service.enqueue(ctx, "probe.brief", [{"seconds": 2.2}])

    async with working(queue):
        job = await ended(member, id)

    assert (job["state"], job["attempt"]) == ("succeeded", 1)


async def test_stopping_lets_short_jobs_finish_and_hands_long_ones_back(queue: Queue, member: Member) -> None:
    async with member.op.begin() as ctx:
        [short, long] = await service.enqueue(ctx, "probe.plain", [{"seconds": 0.4}, {"seconds": 60}])
    runner = Runner(queue.house.services, 4)
    runner.start()
    await until(lambda: runner.running == 2)

    await runner.stop(1)

    done, back = await member.read(short), await member.read(long)
    assert done["state"] == "succeeded"
    assert (back["state"], back["attempt"]) == ("queued", 0)
    assert [claim.id for claim in await queue.claim()] == [long]
    assert await queue.broken_promises() == []


async def test_two_workers_share_the_work_and_do_nothing_twice(queue: Queue, member: Member) -> None:
    await member.cap(50)
    ids = await member.enqueue(300)
    async with working(queue, 20), working(queue, 20):
        async with asyncio.timeout(PATIENCE):
            while await queue.sql("SELECT FROM jobs WHERE finished_at IS NULL LIMIT 1"):
                await asyncio.sleep(0.05)

    assert [tuple(row) for row in await queue.sql("SELECT state, attempt, count(*) FROM jobs GROUP BY 1, 2")] == [
        ("succeeded", 1, len(ids))
    ]


@pytest.fixture
def heard(queue: Queue) -> Any:
    """Every job its kind was told of, with its owner, and whether it had ended in that transaction."""
    events: list[tuple[UUID, str, UUID | None, str]] = []

    async def hear(ctx: Context, jobs: list[FinishedJob]) -> None:
        for job in jobs:
            state = await ctx.db.value(
                "SELECT state FROM jobs WHERE org_id = :org AND id = :id", org=ctx.who.org_id, id=job.id
            )
            events.append((job.id, job.state, job.owner.user_id if job.owner else None, state))

    with hearing(queue, "probe.once", hear):
        yield events


@contextmanager
def hearing(queue: Queue, kind: str, hear: Hear) -> Iterator[None]:
    """The kind tells this function of its finished jobs."""
    kinds = queue.house.services.registry.job_kinds
    before = kinds[kind]
    kinds[kind] = replace(before, finished=hear)
    yield
    kinds[kind] = before


async def test_a_kind_hears_once_of_each_job_that_ended_in_the_ending_transaction(
    queue: Queue, member: Member, heard: list[tuple[UUID, str, UUID | None, str]]
) -> None:
    [done, lost, gone] = await member.enqueue(3, "probe.once")
    await member.cancel(gone)
    claims = {claim.id: claim for claim in await queue.claim(3, ["probe.once"])}
    await queue.complete(claims[done])
    await queue.expire(claims[lost])
    await queue.sweep()

    who = member.op.who.user_id
    assert heard == [
        (gone, "cancelled", who, "cancelled"),
        (done, "succeeded", who, "succeeded"),
        (lost, "failed", who, "failed"),
    ]


async def test_jobs_of_one_settlement_are_told_together(queue: Queue, member: Member) -> None:
    ids = await member.enqueue(3)
    claims = await queue.claim(3)
    heard: list[set[UUID]] = []

    async def hear(ctx: Context, jobs: list[FinishedJob]) -> None:
        heard.append({job.id for job in jobs})

    with hearing(queue, "probe.plain", hear):
        await asyncio.gather(*map(queue.complete, claims))

    assert heard == [{*ids}]


async def test_a_kind_hears_of_jobs_whose_owner_has_left(queue: Queue, member: Member) -> None:
    admin = await member.company.join("admin", team=member.team)
    [waiting] = await member.enqueue(1)
    heard: list[FinishedJob] = []

    async def hear(ctx: Context, jobs: list[FinishedJob]) -> None:
        heard.extend(jobs)

    with hearing(queue, "probe.plain", hear):
        await admin.delete(f"/api/members/{member.op.who.user_id}")

    assert [(job.id, job.state, job.owner) for job in heard] == [(waiting, "cancelled", None)]


async def test_a_kind_that_cannot_follow_undoes_its_own_jobs_ending_and_nobody_elses(
    queue: Queue, member: Member
) -> None:
    [bad, good] = await member.enqueue(2)
    claims = {claim.id: claim for claim in await queue.claim()}

    async def hear(ctx: Context, jobs: list[FinishedJob]) -> None:
        if bad in {job.id for job in jobs}:
            raise RuntimeError("cannot follow")

    with hearing(queue, "probe.plain", hear):
        results = await asyncio.gather(*(queue.complete(claims[id]) for id in (bad, good)), return_exceptions=True)

    assert isinstance(results[0], RuntimeError)
    assert (await queue.state(bad), await queue.state(good)) == ("running", "succeeded")


async def test_finished_jobs_leave_after_their_time_and_others_stay(queue: Queue, member: Member) -> None:
    [old, fresh, waiting] = await member.enqueue(3)
    claims = {claim.id: claim for claim in await queue.claim(2)}
    for claim in claims.values():
        await queue.complete(claim)
    await queue.sql("UPDATE jobs SET finished_at = now() - interval '31 days' WHERE id = $1", old)

    gone = await chores.FINISHED.run(queue.house.services)

    assert gone == 1
    assert {row[0] for row in await queue.sql("SELECT id FROM jobs")} == {fresh, waiting}


async def test_a_running_job_writes_nothing_for_whoever_left(queue: Queue, member: Member) -> None:
    admin = await member.company.join("admin", team=member.team)
    [id] = await member.enqueue(1, "probe.writes")

    async with working(queue) as runner:
        await until(lambda: runner.running == 1)
        removed = await admin.delete(f"/api/members/{member.op.who.user_id}")
        await until(lambda: runner.running == 0)

    assert removed.status == 200
    assert await queue.sql("SELECT state, result FROM jobs WHERE id = $1", id) == [("failed", None)]
    assert await queue.sql("SELECT FROM notes WHERE owner_id = $1", member.op.who.user_id) == []


async def test_what_waits_in_the_name_of_whoever_leaves_is_cancelled_and_the_books_agree(
    queue: Queue, member: Member
) -> None:
    admin = await member.company.join("admin", team=member.team)
    await member.enqueue(5, "probe.plain")

    removed = await admin.delete(f"/api/members/{member.op.who.user_id}")

    assert removed.status == 200
    assert await queue.sql("SELECT DISTINCT state FROM jobs") == [("cancelled",)]
    assert await queue.claim() == []
    assert await queue.broken_promises() == []
