"""Each protection of the run engine by itself: without it, one of these fails (tests/domains/workflows/mutants.py takes them away)."""

import asyncio
from typing import Any

import pytest

from atrium.engine.jobs import service as jobs
from atrium.engine.jobs.model import StaleClaim
from atrium.engine.workflows import run_rows
from tests.domains.workflows import probes
from tests.domains.workflows.engine import Engine, Starter, spec_of, tool
from tests.domains.workflows.hand import Hand
from tests.domains.workflows.mutants import MUTANTS, Mutant, mutated
from tests.domains.workflows.test_runs import notes_called
from tests.support.processes import holding, until_queued

WRITE = spec_of(tool("only", "write", {"value": "once"}), tool("after", "write", {"value": "after"}))


async def lapse(engine: Engine) -> None:
    await engine.expire()
    await jobs.sweep(engine.server.services)


async def test_a_settlement_waits_for_the_run(engine: Engine, starter: Starter) -> None:
    """Cancelling has the run when its step ends: nothing may follow from a step of a run that is being cancelled."""
    await starter.publish(WRITE)
    id = await starter.start("probe")
    hand = Hand(engine)
    [attempt] = await hand.claim()
    report = await hand.perform(attempt)
    url = engine.server.services.settings.database_url
    async with holding(url, "UPDATE runs SET state = 'cancelled', finished_at = now() WHERE id = $1 RETURNING id", id):
        settling = asyncio.create_task(hand.settle(report))
        try:
            await until_queued(url, 1)
        finally:
            await asyncio.sleep(0)
    await settling
    run = await starter.read(id)

    assert [(step["name"], step["state"]) for step in run["steps"]] == [("only", "succeeded"), ("after", "skipped")]
    assert await engine.broken_promises() == []


@pytest.mark.parametrize("called", ["write", "write_slowly"])
async def test_a_late_attempt_has_no_effect_after_another(engine: Engine, starter: Starter, called: str) -> None:
    await starter.publish(spec_of(tool("only", called, {"value": "once"})))
    id = await starter.start("probe")
    hand = Hand(engine)
    [late] = await hand.claim()
    await lapse(engine)
    [second] = await hand.claim()
    await hand.perform(second)
    await hand.perform(late)

    assert await notes_called(starter, "once") == 1
    await lapse(engine)
    await hand.work()
    assert (await starter.read(id))["state"] == "succeeded"
    assert await notes_called(starter, "once") == 1


async def test_a_second_attempt_does_not_call_the_tool_again(
    engine: Engine, starter: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was done is not paid for again."""
    await starter.publish(WRITE)
    await starter.start("probe")
    hand = Hand(engine)
    [first] = await hand.claim()
    await hand.perform(first)
    await lapse(engine)
    [second] = await hand.claim()

    from atrium.engine.workflows import step_attempt

    async def never(*_: Any) -> Any:
        probes.CALLS.append("again")
        raise AssertionError

    monkeypatch.setattr(step_attempt, "call_tool", never)
    report = await hand.perform(second)

    assert (report.outcome, probes.CALLS) == ("succeeded", [])


async def test_what_a_tools_own_tool_comes_to_is_not_what_the_step_comes_to(engine: Engine, starter: Starter) -> None:
    await starter.publish(spec_of(tool("only", "write_around", {"value": "inside"})))
    id = await starter.start("probe")
    await Hand(engine).work()
    run = await starter.read(id)

    assert (run["state"], run["steps"][0]["output"]) == ("succeeded", {"result": "around"})
    assert await notes_called(starter, "inside") == 1


async def test_what_was_half_done_for_a_broken_run_is_undone(
    engine: Engine, starter: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next step is entered when writing the advance fails: neither it nor its job may stay."""
    written = run_rows.write

    async def fails(*given: Any) -> None:
        await written(*given)
        raise ZeroDivisionError("a defect")

    await starter.publish(WRITE)
    id = await starter.start("probe")
    hand = Hand(engine)
    [attempt] = await hand.claim()
    report = await hand.perform(attempt)
    with monkeypatch.context() as planted:
        planted.setattr(run_rows, "write", fails)
        await hand.settle(report)
    await hand.work()
    run = await starter.read(id)

    assert (run["state"], run["error"]["code"]) == ("failed", "workflows.broken")
    assert await notes_called(starter, "after") == 0
    found = await engine.sql(
        "SELECT (SELECT count(*) FROM jobs WHERE kind = 'workflows.step'), (SELECT count(*) FROM run_steps)"
    )
    assert tuple(found[0]) == (1, 1)
    assert await engine.broken_promises() == []


async def test_the_word_of_a_lost_attempt_does_not_count(engine: Engine, starter: Starter) -> None:
    await starter.publish(spec_of(tool("only", "echo", {"value": "x"}), tool("after", "echo")))
    id = await starter.start("probe")
    hand = Hand(engine)
    [late] = await hand.claim()
    report = await hand.perform(late)
    await lapse(engine)
    [second] = await hand.claim()

    with pytest.raises(StaleClaim):
        await hand.settle(report)
    assert (await starter.read(id))["steps"][0]["state"] == "running"
    await hand.do(second)
    await hand.work()
    assert (await starter.read(id))["state"] == "succeeded"


async def test_the_word_of_an_attempt_past_its_lease_does_not_count(engine: Engine, starter: Starter) -> None:
    await starter.publish(spec_of(tool("only", "echo", {"value": "x"})))
    id = await starter.start("probe")
    hand = Hand(engine)
    [attempt] = await hand.claim()
    report = await hand.perform(attempt)
    await engine.expire()

    with pytest.raises(StaleClaim):
        await hand.settle(report)
    assert (await starter.read(id))["state"] == "running"


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_27_every_mutant_still_changes_something(mutant: Mutant) -> None:
    """The mutants themselves are run by `python -m tests.domains.workflows.mutants`."""
    assert mutated(mutant).count(mutant.phrase) == mutant.becomes.count(mutant.phrase)
