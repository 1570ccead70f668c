"""Everything at once against one queue: producers, workers of whom some stall, sweepers, cancellers, operators, and an auditor.

`run` returns what went wrong, as sentences. It is a test, and the judge of tests/domains/jobs/mutants.py.
"""

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg

from atrium.engine.jobs.model import AttemptReport, Claim, JobEnded, StaleClaim
from atrium.engine.jobs.settlement import settle
from tests.support.patience import PATIENCE
from tests.support.queue import AUDIT, Member, Queue

KINDS = ("probe.stress", "probe.stress-too")


@dataclass(slots=True)
class Stress:
    """One run: its people, what was acknowledged to whom, and what was seen that must not be."""

    queue: Queue
    members: list[Member]
    stalled: float
    random: random.Random
    wrong: list[str] = field(default_factory=list)
    queued: set[UUID] = field(default_factory=set)
    cancelled: set[UUID] = field(default_factory=set)
    landed: Counter[UUID] = field(default_factory=Counter)
    landed_token: dict[UUID, str] = field(default_factory=dict)
    late: list[tuple[Claim, float]] = field(default_factory=list)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def produce(self, count: int) -> None:
        while len(self.queued) < count and not self.done.is_set():
            member = self.random.choice(self.members)
            later = datetime.now(UTC) + timedelta(seconds=self.random.random()) if self.random.random() < 0.05 else None
            ids = await member.enqueue(
                self.random.choice([1, 1, 5, 40]),
                self.random.choice(KINDS),
                priority=self.random.randrange(3),
                run_at=later,
            )
            self.queued.update(ids)

    async def work(self) -> None:
        while not self.done.is_set():
            claims = await self.queue.claim(
                self.random.choice([1, 5, 30]), self.random.choice([KINDS, KINDS, KINDS[:1]])
            )
            await asyncio.gather(*(self._attempt(claim) for claim in claims))
            await self._land_late()
            if not claims:
                await asyncio.sleep(0.02)

    async def _attempt(self, claim: Claim) -> None:
        if claim.id in self.cancelled:
            self.wrong.append(f"{claim.id} was claimed after its cancellation")
        if self.random.random() < self.stalled:
            # Wakes up after its lease, sometimes before anybody has swept and sometimes long after.
            self.late.append((claim, asyncio.get_running_loop().time() + 0.9 + self.random.random()))
            return
        if self.random.random() < 0.1 and not await self.queue.heartbeat(claim) and _is_live(claim):
            self.wrong.append(f"{claim.id} lost its lease while it was live")
        failed = self.random.random() < 0.05
        report = (
            AttemptReport(claim=claim, outcome="failed", error="no", again=timedelta(milliseconds=50))
            if failed
            else AttemptReport(claim=claim, outcome="succeeded", result={"token": str(claim.token)})
        )
        try:
            settled = await settle(self.queue.house.services, report)
        except StaleClaim:
            if _is_live(claim):
                self.wrong.append(f"{claim.id} was taken from a worker under a live lease")
            return
        self._landed(claim, settled.state)

    def _landed(self, claim: Claim, state: str) -> None:
        if state == "succeeded":
            self.landed[claim.id] += 1
            self.landed_token[claim.id] = str(claim.token)

    async def _land_late(self) -> None:
        now = asyncio.get_running_loop().time()
        due = [claim for claim, at in self.late if at < now]
        self.late = [(claim, at) for claim, at in self.late if at >= now]
        for claim in due:
            expired = datetime.now(UTC) > claim.lease_until
            try:
                settled = await settle(
                    self.queue.house.services,
                    AttemptReport(claim=claim, outcome="succeeded", result={"token": str(claim.token)}),
                )
            except StaleClaim:
                continue
            if expired:
                self.wrong.append(f"{claim.id} landed after its lease")
            self._landed(claim, settled.state)

    async def sweep(self) -> None:
        while not self.done.is_set():
            await self.queue.sweep()
            await asyncio.sleep(0.1)

    async def cancel(self) -> None:
        while not self.stop.is_set():
            member = self.random.choice(self.members)
            found = await self.queue.sql(
                "SELECT id FROM jobs WHERE team_id = $1 AND state = 'queued' ORDER BY priority DESC, id LIMIT 3",
                member.team.id,
            )
            for row in found:
                try:
                    if await member.cancel(row[0]) == "cancelled":
                        self.cancelled.add(row[0])
                except JobEnded:
                    pass
            await asyncio.sleep(0.005)

    async def operate(self) -> None:
        while not self.stop.is_set():
            member = self.random.choice(self.members)
            await member.company.suspend()
            # Born while the company is suspended, with a job at once: whoever claims it then is found out.
            newcomer = await self.queue.member(member.company)
            self.queued.update(await newcomer.enqueue(1, KINDS[0]))
            await asyncio.sleep(0.05)
            await member.company.suspend(False)
            await self.random.choice(self.members).cap(self.random.choice([1, 2, 5, 8, None]))
            await self.members[0].cap(self.random.choice([3, 6]), company=True)
            await asyncio.sleep(0.1)

    async def audit(self) -> None:
        connection = await asyncpg.connect(self.queue.url)
        try:
            while not self.done.is_set():
                self.wrong += [f"{row['what']} {row['team_id']}" for row in await connection.fetch(AUDIT)]
                await asyncio.sleep(0.2)
        finally:
            await connection.close()

    async def settle_down(self, seconds: float) -> None:
        """Until everything has ended; what has not by then is lost."""
        try:
            async with asyncio.timeout(seconds):
                while await self.queue.sql("SELECT FROM jobs WHERE finished_at IS NULL LIMIT 1"):
                    await asyncio.sleep(0.1)
        except TimeoutError:
            left = await self.queue.sql("SELECT state, count(*) FROM jobs WHERE finished_at IS NULL GROUP BY 1")
            self.wrong.append(f"not everything ended: {[tuple(row) for row in left]}")

    async def check(self) -> None:
        rows: list[Any] = await self.queue.sql("SELECT id, state, result->>'token' AS token FROM jobs")
        if {row["id"] for row in rows} != self.queued:
            self.wrong.append("jobs were lost or invented")
        for row in rows:
            if row["state"] == "succeeded" and (self.landed[row["id"]], self.landed_token.get(row["id"])) != (
                1,
                row["token"],
            ):
                self.wrong.append(f"{row['id']} landed {self.landed[row['id']]} times")
            if row["id"] in self.cancelled and row["state"] != "cancelled":
                self.wrong.append(f"{row['id']} was cancelled and ended {row['state']}")
        self.wrong += await self.queue.broken_promises()


def _is_live(claim: Claim) -> bool:
    return datetime.now(UTC) < claim.lease_until


async def run(
    queue: Queue, jobs: int, *, seed: int = 1, stalled: float = 0.15, seconds: float = 120, disturbed: float = 0
) -> list[str]:
    """Queue so many jobs in the middle of everything else, go on disturbing for a while, and wait for all of them to end."""
    members = []
    for _ in range(4):
        first = await queue.company()
        members += [first, *[await queue.member(first.company) for _ in range(5)]]
    stress = Stress(queue, members, stalled, random.Random(seed))
    disturbing = [asyncio.create_task(one) for one in (stress.cancel(), stress.operate())]
    working = [
        asyncio.create_task(one)
        for one in (*(stress.work() for _ in range(6)), stress.sweep(), stress.sweep(), stress.audit())
    ]
    producing = [asyncio.create_task(stress.produce(jobs)) for _ in range(3)]
    try:
        await _finish(stress, producing, seconds)
        await asyncio.sleep(disturbed)
        stress.stop.set()
        await _finish(stress, disturbing, PATIENCE)
        await stress.settle_down(seconds)
    finally:
        stress.stop.set()
        stress.done.set()
        await _finish(stress, working, PATIENCE)
    await stress.check()
    return stress.wrong


async def _finish(stress: Stress, tasks: list[asyncio.Task[None]], seconds: float) -> None:
    done, late = await asyncio.wait(tasks, timeout=seconds)
    for task in late:
        task.cancel()
        stress.wrong.append("somebody never finished")
    stress.wrong += [f"{type(error).__name__}: {error}" for task in done if (error := task.exception())]
