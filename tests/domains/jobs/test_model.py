"""A model of the queue beside the real one: whatever people, workers and operators do in whatever order, the two agree."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from atrium.boot.assemble import assemble
from atrium.engine.jobs import remote
from atrium.engine.jobs.model import Claim, JobEnded, StaleClaim
from atrium.kit.ids import new_id
from tests.domains.jobs.kinds import WITH_PROBES
from tests.postgres import fresh_database
from tests.support.processes import sized
from tests.support.queue import Member, Queue
from tests.support.servers import settings_for
from tests.support.state_machines import run_machine

STEPS = sized(150, 5_000)
PER_RUN = 30
KINDS = ("probe.plain", "probe.spends")
WORKERS = tuple(new_id() for _ in range(3))


@dataclass(slots=True)
class Expected:
    """A job as the model has it."""

    team: int
    kind: str
    state: str = "queued"
    ended_badly: int = 0
    claim: Claim | None = None
    worker: UUID | None = None
    cancel_asked: bool = False
    stale: list[Claim] = field(default_factory=list)

    def end_attempt(self, state: str, *, returned: bool = False) -> None:
        assert self.claim is not None
        self.stale.append(self.claim)
        self.claim = None
        # What runs is not stopped: it ends as it ends, and is not tried again; given back untouched, it waits and is cancelled.
        unwanted = {"queued": "cancelled" if returned else "failed", "scheduled": "failed"}
        self.state = unwanted.get(state, state) if self.cancel_asked else state


class Jobs(RuleBasedStateMachine):
    """Two companies, three teams, one quota; every rule is a thing that somebody does."""

    queue: Queue
    loop: asyncio.AbstractEventLoop
    steps = 0

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        Jobs.steps += 1
        return self.loop.run_until_complete(work)

    @initialize(caps=st.tuples(*[st.integers(0, 3)] * 3), requests=st.integers(0, 6))
    def found(self, caps: tuple[int, int, int], requests: int) -> None:
        self.run(self.queue.empty())
        first, other = self.run(self.queue.company()), self.run(self.queue.company())
        self.members: list[Member] = [first, self.run(self.queue.member(first.company)), other]
        self.caps, self.requests, self.spent = list(caps), requests, 0
        self.suspended = [False, False]
        self.jobs: dict[UUID, Expected] = {}
        for member, cap in zip(self.members, caps, strict=True):
            self.run(member.cap(cap))
        self.run(first.limit("ai.requests", requests, first.company.org.id))

    def company_of(self, team: int) -> int:
        return 0 if team < 2 else 1

    def running(self, team: int) -> int:
        return sum(job.state == "running" and job.team == team for job in self.jobs.values())

    def reserved(self) -> int:
        return sum(job.state == "running" and job.kind == KINDS[1] and job.team < 2 for job in self.jobs.values())

    def held(self) -> list[UUID]:
        return [id for id, job in self.jobs.items() if job.state == "running"]

    @rule(team=st.integers(0, 2), kind=st.sampled_from(KINDS), count=st.integers(1, 3))
    def enqueue(self, team: int, kind: str, count: int) -> None:
        for id in self.run(self.members[team].enqueue(count, kind)):
            self.jobs[id] = Expected(team, kind)

    @rule(
        most=st.integers(1, 4),
        kinds=st.sampled_from([KINDS, KINDS[:1], KINDS[1:]]),
        worker=st.sampled_from(WORKERS),
        bound=st.booleans(),
    )
    def claim(self, most: int, kinds: tuple[str, ...], worker: UUID, bound: bool) -> None:
        bound_to = self.members[2].company.org.id if bound else None
        able = {
            team: min(
                self.caps[team] - self.running(team),
                sum(job.team == team and job.state == "queued" and job.kind in kinds for job in self.jobs.values()),
            )
            for team in range(3)
            if not self.suspended[self.company_of(team)] and (not bound or team == 2)
        }
        claims = self.run(self.queue.claim(most, kinds, worker, bound_to))
        begun = {attempt.claim.id for attempt in self.run(self.queue.begin(claims))}

        assert len(claims) <= max(0, sum(max(0, one) for one in able.values()))
        if kinds == KINDS[:1]:
            assert len(claims) == min(most, sum(max(0, one) for one in able.values()))
        for claim in claims:
            job = self.jobs[claim.id]
            assert (job.state, able.get(job.team, 0) > 0, claim.kind in kinds) == ("queued", True, True)
            if claim.id in begun:
                job.state, job.claim, job.worker = "running", claim, worker
            else:
                assert (claim.kind, job.team < 2, self.spent + self.reserved() + 1 > self.requests) == (
                    KINDS[1],
                    True,
                    True,
                )

    @precondition(lambda self: self.held())
    @rule(data=st.data())
    def heartbeat(self, data: st.DataObject) -> None:
        job = self.jobs[data.draw(st.sampled_from(self.held()))]
        assert job.claim is not None
        [lease] = self.run(self.queue.heartbeat(job.claim))

        assert lease.cancel_requested == job.cancel_asked

    @precondition(lambda self: self.held())
    @rule(data=st.data(), verb=st.sampled_from(["complete", "fail", "fail for good"]))
    def settle(self, data: st.DataObject, verb: str) -> None:
        job = self.jobs[data.draw(st.sampled_from(self.held()))]
        assert job.claim is not None
        if verb == "complete":
            settled = self.run(self.queue.complete(job.claim))
            job.end_attempt("succeeded")
        else:
            again = timedelta(0) if verb == "fail" else None
            settled = self.run(self.queue.fail(job.claim, again=again))
            job.ended_badly += 1
            job.end_attempt("scheduled" if again is not None and job.ended_badly < 3 else "failed")
        self.spent += job.kind == KINDS[1] and job.team < 2

        assert settled.state == job.state

    @precondition(lambda self: self.held())
    @rule(data=st.data())
    def lapse(self, data: st.DataObject) -> None:
        job = self.jobs[data.draw(st.sampled_from(self.held()))]
        assert job.claim is not None
        self.run(self.queue.expire(job.claim))
        job.ended_badly += 1
        job.end_attempt("queued" if job.ended_badly < 3 else "failed")
        self.sweep()

    @rule()
    def sweep(self) -> None:
        self.run(self.queue.sweep())
        for job in self.jobs.values():
            if job.state == "scheduled":
                job.state = "queued"

    @precondition(lambda self: any(job.stale for job in self.jobs.values()))
    @rule(data=st.data())
    def speak_too_late(self, data: st.DataObject) -> None:
        stale = data.draw(st.sampled_from([claim for job in self.jobs.values() for claim in job.stale]))

        assert self.run(self.queue.heartbeat(stale)) == []
        with pytest.raises(StaleClaim):
            self.run(self.queue.complete(stale))

    @precondition(lambda self: self.jobs)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(list(self.jobs)))
        job = self.jobs[id]
        if job.state in ("queued", "scheduled"):
            assert self.run(self.members[job.team].cancel(id)) == "cancelled"
            job.state = "cancelled"
        elif job.state == "running":
            self.run(self.members[job.team].cancel(id))
            job.cancel_asked = True
        else:
            with pytest.raises(JobEnded):
                self.run(self.members[job.team].cancel(id))

    @rule(which=st.integers(0, 1), suspended=st.booleans())
    def suspend(self, which: int, suspended: bool) -> None:
        self.run(self.members[2 * which].company.suspend(suspended))
        self.suspended[which] = suspended

    @rule(team=st.integers(0, 2), cap=st.integers(0, 3))
    def change_cap(self, team: int, cap: int) -> None:
        self.run(self.members[team].cap(cap))
        self.caps[team] = cap

    @rule(more=st.integers(0, 3))
    def change_quota(self, more: int) -> None:
        first = self.members[0]
        self.requests = more
        self.run(first.limit("ai.requests", more, first.company.org.id))

    @rule(worker=st.sampled_from(WORKERS))
    def retire(self, worker: UUID) -> None:
        held = [job for job in self.jobs.values() if job.worker == worker and job.state == "running"]
        assert self.run(remote.return_held(self.queue.house.services, worker)) == len(held)
        for job in held:
            job.end_attempt("queued", returned=True)

    @invariant()
    def the_two_agree(self) -> None:
        if not hasattr(self, "jobs"):
            return
        found = self.run(self.queue.sql("SELECT id, state, failures + lapses AS bad FROM jobs"))
        assert {row["id"]: (row["state"], row["bad"]) for row in found} == {
            id: (job.state, job.ended_badly) for id, job in self.jobs.items()
        }
        assert self.run(self.queue.broken_promises()) == []


async def open_queue(url: str, folder: Path) -> Queue:
    house = assemble(settings_for(url, data_dir=folder), domains=WITH_PROBES)
    # Without housekeeping: only the model decides when something is swept.
    await house.services.database.open()
    return Queue(house)


@pytest.mark.timeout(900)
def test_the_queue_agrees_with_its_model_after_every_step(tmp_path: Path) -> None:
    with asyncio.Runner() as runner:
        loop, database = runner.get_loop(), fresh_database()
        url = loop.run_until_complete(database.__aenter__())
        Jobs.loop, Jobs.queue, Jobs.steps = loop, loop.run_until_complete(open_queue(url, tmp_path)), 0
        try:
            run_machine(Jobs, STEPS, PER_RUN)
        finally:
            loop.run_until_complete(Jobs.queue.house.services.database.close())
            loop.run_until_complete(database.__aexit__(None, None, None))
    print(f"{Jobs.steps} steps")
