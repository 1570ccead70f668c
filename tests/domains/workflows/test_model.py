"""A model of runs beside the real ones: whatever starters, workers and admins do in whatever order, the two agree."""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
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

from atrium.engine.jobs import service as jobs
from atrium.engine.jobs.model import Attempt, StaleClaim
from tests.domains.workflows import probes
from tests.domains.workflows.engine import AT_COMMIT, Engine, Starter, ref, spec_of, tool
from tests.domains.workflows.hand import Hand
from tests.postgres import fresh_database, run_as_owner
from tests.support.servers import left_to_tests, open_application, settings_for
from tests.support.sizes import FULL_ONLY
from tests.support.state_machines import run_machine

PER_RUN = 25
Place = tuple[str, int]
SPEC = spec_of(
    tool("first", "model", {"value": ref("input.first")}, retry=1),
    {"name": "each", "kind": "map", "over": ref("input.items"), "tool": "probe_model", "with": {"value": ref("item")},
     "on_item_error": "collect"},
    tool("last", "model", {"value": ref("input.last")}),
    inputs={"first": {"type": "string"}, "items": {"type": "array"}, "last": {"type": "string"}},
)  # fmt: skip


@dataclass(slots=True)
class Expected:
    """A run as the model has it: what it has come to, by step and place, and what is under way."""

    given: dict[str, Any]
    state: str = "running"
    steps: dict[Place, str] = field(default_factory=dict)
    kept: set[Place] = field(default_factory=set)
    failures: Counter[Place] = field(default_factory=Counter)
    # Jobs: queued, scheduled, running; those that were asked not to be tried again.
    jobs: dict[Place, str] = field(default_factory=dict)
    asked: set[Place] = field(default_factory=set)

    def title(self, place: Place) -> str:
        name, index = place
        return str(self.given["items"][index] if name == "each" else self.given[name])

    def enter(self, name: str, reused: frozenset[int] = frozenset()) -> None:
        """Enter a step."""
        if name != "each":
            self.steps[name, -1], self.jobs[name, -1] = "open", "queued"
            return
        count = len(self.given["items"])
        self.steps[name, -1] = "open"
        for index in range(count):
            self.steps[name, index] = "succeeded" if index in reused else "open"
            if index not in reused:
                self.jobs[name, index] = "queued"
        if not count:
            self.steps[name, -1] = "succeeded"
            self.enter("last")

    def end(self, place: Place, state: str) -> None:
        """A job has ended for good."""
        del self.jobs[place]
        self.steps[place] = state
        name, index = place
        if self.state != "running":
            return
        if index >= 0:
            if all(self.steps["each", n] != "open" for n in range(len(self.given["items"]))):
                self.steps["each", -1] = "succeeded"
                self.enter("last")
        elif state != "succeeded":
            self.state = "failed"
        elif name == "first":
            self.enter("each")
        else:
            self.state = "succeeded"


@dataclass(slots=True)
class Held:
    """An attempt in a worker's hands."""

    attempt: Attempt
    run: UUID
    place: Place
    current: bool = True


class Runs(RuleBasedStateMachine):
    """One team; every rule is a thing that somebody does."""

    engine: Engine
    loop: asyncio.AbstractEventLoop
    steps_taken = 0
    deadline = 0.0

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        Runs.steps_taken += 1
        return self.loop.run_until_complete(work)

    @initialize()
    def found(self) -> None:
        self.do(self.engine.empty())
        probes.STUMBLES.clear()
        self.starter: Starter = self.do(self.engine.company())
        self.do(self.starter.publish(SPEC))
        self.hand = Hand(self.engine)
        self.runs: dict[UUID, Expected] = {}
        self.held: list[Held] = []
        self.effects: Counter[str] = Counter()
        self.suspended, self.enabled = False, True

    @precondition(lambda self: not self.suspended and len(self.runs) < 6)
    @rule(count=st.integers(0, 3))
    def start(self, count: int) -> None:
        name = f"{len(self.runs)}"
        given = {"first": f"{name}-first", "items": [f"{name}-{n}" for n in range(count)], "last": f"{name}-last"}
        run = Expected(given)
        run.enter("first")
        self.runs[self.do(self.starter.start("probe", given))] = run

    @rule()
    def claim(self) -> None:
        waiting = [
            (id, place) for id, run in self.runs.items() for place, state in run.jobs.items() if state == "queued"
        ]
        attempts = self.do(self.hand.claim())
        assert len(attempts) == (1 if waiting and not self.suspended else 0)
        for attempt in attempts:
            given = attempt.arguments
            place = given.step, given.place
            assert self.runs[given.run_id].jobs[place] == "queued"
            self.runs[given.run_id].jobs[place] = "running"
            self.held.append(Held(attempt, given.run_id, place))

    @precondition(lambda self: self.held and not self.suspended)
    @rule(data=st.data(), stumbles=st.booleans())
    def perform_and_settle(self, data: st.DataObject, stumbles: bool) -> None:
        """Also by a worker whose attempt has lapsed: what it does counts where it is first, and its word does not."""
        held = data.draw(st.sampled_from(self.held))
        self.held.remove(held)
        run, place = self.runs[held.run], held.place
        title = run.title(place)
        probes.STUMBLES[title] = int(stumbles)
        end = self._expected_end(run, place, held, stumbles)
        report = self.do(self.hand.perform(held.attempt))
        probes.STUMBLES.pop(title, None)
        if not held.current:
            with pytest.raises(StaleClaim):
                self.do(self.hand.settle(report))
            return
        settled, _ = self.do(self.hand.settle(report))
        if end == "again" and place not in run.asked:
            assert settled.state == "scheduled"
            run.jobs[place] = "scheduled"
            return
        ended = "succeeded" if end == "succeeded" else "failed"
        assert settled.state == ended
        run.end(place, ended)

    def _expected_end(self, run: Expected, place: Place, held: Held, stumbles: bool) -> str:
        """What the attempt comes to, and what it leaves behind."""
        again, is_open = held.attempt.claim.attempt > 1, run.steps[place] == "open"
        if again and place in run.kept:
            return "succeeded"
        if again and run.state != "running":
            return "failed"
        if not self.enabled:
            run.failures[place] += is_open
            return "failed" if place not in run.kept else "succeeded"
        if stumbles:
            run.failures[place] += is_open
            if place in run.kept:
                return "succeeded"
            return "again" if place[0] == "first" and run.failures[place] <= 1 and is_open else "failed"
        if is_open and place not in run.kept:
            run.kept.add(place)
            self.effects[run.title(place)] += 1
        return "succeeded"

    @precondition(lambda self: any(held.current for held in self.held))
    @rule(data=st.data())
    def lapse(self, data: st.DataObject) -> None:
        held = data.draw(st.sampled_from([one for one in self.held if one.current]))
        held.current = False
        self.do(
            self.engine.sql(
                "UPDATE jobs SET lease_until = now() - interval '1 second' WHERE id = $1", held.attempt.claim.id
            )
        )
        self.do(jobs.sweep(self.engine.server.services))
        run = self.runs[held.run]
        self._stage()
        if held.place in run.asked:
            run.end(held.place, "failed")
        else:
            run.jobs[held.place] = "queued"

    def _stage(self) -> None:
        """A sweep also queues what was put off, once its time has come."""

    @rule()
    def bring_forward(self) -> None:
        self.do(self.hand.stage())
        for run in self.runs.values():
            for place, state in run.jobs.items():
                if state == "scheduled":
                    run.jobs[place] = "queued"

    @precondition(lambda self: self.runs and not self.suspended)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(list(self.runs)))
        run = self.runs[id]
        reply = self.do(self.starter.client.post(f"/api/runs/{id}/cancel"))
        if run.state != "running":
            assert (reply.status, reply.code) == (409, "workflows.ended")
            return
        assert (reply.status, reply["state"]) == (200, "cancelled")
        run.state = "cancelled"
        for place, state in list(run.jobs.items()):
            if state == "running":
                run.asked.add(place)
            else:
                del run.jobs[place]
                run.steps[place] = "cancelled"
        if run.steps.get(("each", -1)) == "open":
            run.steps["each", -1] = "cancelled"

    @precondition(
        lambda self: not self.suspended and any(run.state in ("failed", "cancelled") for run in self.runs.values())
    )
    @rule(data=st.data(), which=st.sampled_from(["first", "each", "last"]))
    def resume(self, data: st.DataObject, which: str) -> None:
        ended = [id for id, run in self.runs.items() if run.state in ("failed", "cancelled")]
        id = data.draw(st.sampled_from(ended))
        old = self.runs[id]
        before = {"first": [], "each": ["first"], "last": ["first", "each"]}[which]
        reply = self.do(
            self.starter.client.post("/api/workflows/probe/run", {"resume": {"run_id": str(id), "step": which}})
        )
        if any(old.steps.get((name, -1)) != "succeeded" for name in before):
            assert (reply.status, reply.code) == (409, "workflows.cannot_resume")
            return
        assert reply.status == 202, reply.body
        run = Expected(old.given)
        for place, state in old.steps.items():
            if place[0] in before:
                run.steps[place] = state
                run.kept |= {place} & old.kept
        done = {n for (name, n), state in old.steps.items() if name == "each" and n >= 0 and state == "succeeded"}
        run.enter(which, frozenset() if len(done) == len(old.given["items"]) else frozenset(done))
        self.runs[UUID(reply["id"])] = run

    @rule(suspended=st.booleans())
    def suspend(self, suspended: bool) -> None:
        self.do(self.starter.company.suspend(suspended))
        self.suspended = suspended

    @precondition(lambda self: not self.suspended)
    @rule(enabled=st.booleans())
    def switch(self, enabled: bool) -> None:
        reply = self.do(self.starter.client.post("/api/tools/probe_model", {"enabled": enabled}))
        assert reply.status == 200, reply.body
        self.enabled = enabled

    @invariant()
    def the_two_agree(self) -> None:
        if not hasattr(self, "runs"):
            return
        found = self.do(self.engine.sql("SELECT id, state FROM runs"))
        assert {row["id"]: row["state"] for row in found} == {id: run.state for id, run in self.runs.items()}
        rows = self.do(self.engine.sql("SELECT run_id, step, place, state FROM run_steps"))
        assert {(row["run_id"], row["step"], row["place"]): row["state"] for row in rows} == {
            (id, *place): state for id, run in self.runs.items() for place, state in run.steps.items()
        }
        queued = self.do(
            self.engine.sql("SELECT input, state FROM jobs WHERE state IN ('queued', 'scheduled', 'running')")
        )
        assert len(queued) == sum(len(run.jobs) for run in self.runs.values())
        notes = self.do(self.engine.sql("SELECT title FROM notes WHERE org_id = $1", self.starter.company.org.id))
        assert Counter(row["title"] for row in notes) == self.effects
        assert self.do(self.engine.broken_promises()) == []


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("steps", [75, pytest.param(5_000, marks=[pytest.mark.proof, FULL_ONLY])])
def test_runs_agree_with_their_model_after_every_step(tmp_path: Path, steps: int) -> None:
    domains = left_to_tests("jobs.sweep", "extraction.text", domains=probes.WITH_PROBES)
    with asyncio.Runner() as runner:
        loop, opened = runner.get_loop(), AsyncExitStack()

        async def open_engine() -> Engine:
            url = await opened.enter_async_context(fresh_database())
            for statement in AT_COMMIT:
                await run_as_owner(url, statement)
            settings = settings_for(url, data_dir=tmp_path)
            return Engine(await opened.enter_async_context(open_application(settings, domains=domains)))

        Runs.loop, Runs.engine, Runs.steps_taken = loop, loop.run_until_complete(open_engine()), 0
        try:
            run_machine(Runs, steps, PER_RUN)
        finally:
            loop.run_until_complete(opened.aclose())
    print(f"{Runs.steps_taken} moves and looks")
