"""Items of a map that only read, done beside one another: once each, whoever else does them, and never past the fence."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from atrium.engine.jobs.model import StaleClaim
from atrium.engine.jobs.runner import Runner
from atrium.engine.tools import calls
from atrium.engine.workflows import beside as workflow_beside
from atrium.kit.errors import Unavailable
from atrium.seams.context import HoldLevel, Operation
from atrium.seams.jobs import Assignment, Beside, DoneBeside
from tests.domains.workflows import probes
from tests.domains.workflows.engine import Engine, Starter, ref, spec_of, tool
from tests.domains.workflows.hand import Hand
from tests.domains.workflows.test_invariants import each
from tests.domains.workflows.test_runs import notes_called

WORDS = [f"word {n}" for n in range(60)]


def over(called: str, **more: Any) -> dict[str, Any]:
    return spec_of(
        each(ref("input.words"), called, **more),
        tool("after", "write", {"value": "after"}),
        inputs={"words": {"type": "array"}},
    )


async def begun(engine: Engine, starter: Starter, called: str = "echo") -> tuple[UUID, Hand, Any]:
    """A run of a map, and an attempt at its first item."""
    await starter.publish(over(called))
    id, hand = await starter.start("probe", {"words": WORDS}), Hand(engine)
    [attempt] = await hand.claim()
    return id, hand, attempt


async def read_beside(engine: Engine, attempt: Any, chosen: Beside | None = None) -> list[DoneBeside]:
    claim, services = attempt.claim, engine.server.services
    op = Operation(who=attempt.owner, services=services, request_id=str(claim.id), holding=HoldLevel.CREDENTIAL)
    assignment = Assignment(
        id=claim.id, kind=claim.kind, model=None, attempt=1, arguments=attempt.arguments, lease_until=claim.lease_until
    )
    return await workflow_beside.read_beside(op, assignment, chosen or Beside())


async def test_items_that_only_read_are_done_beside_one_another(engine: Engine, starter: Starter) -> None:
    id, hand, attempt = await begun(engine, starter)

    done = await read_beside(engine, attempt)
    await hand.settle(replace(await hand.perform(attempt), beside=done))
    between = await starter.read(id)
    await hand.work()
    run = await starter.read(id)

    assert len(done) == 50
    assert Counter(item["state"] for item in between["steps"][0]["items"]) == {"succeeded": 51, "queued": 9}
    assert run["state"] == "succeeded"
    assert [entry["result"] for entry in run["steps"][0]["output"]["results"]] == WORDS
    assert [(item["state"], item["attempt"]) for item in run["steps"][0]["items"]] == [("succeeded", 1)] * 60
    assert (run["steps_used"], await notes_called(starter, "after")) == (62, 1)
    assert await engine.broken_promises() == []


async def test_items_of_a_fired_run_that_nobody_else_set_up_are_done_beside_one_another(
    engine: Engine, starter: Starter
) -> None:
    id, _, attempt = await begun(engine, starter)
    await engine.sql("UPDATE runs SET trigger_id = id, fired_by = id WHERE id = $1", id)

    alone = await read_beside(engine, attempt)
    other = await starter.company.join("admin")
    await engine.sql("UPDATE runs SET bound_to = ARRAY[$2::uuid] WHERE id = $1", id, UUID(other.user_id))
    bound = await read_beside(engine, attempt)

    assert (len(alone), len(bound)) == (50, 0)


async def test_a_worker_does_a_long_map_with_few_attempts(engine: Engine, starter: Starter) -> None:
    await starter.publish(over("stumble"))
    id = await starter.start("probe", {"words": [f"w {n}" for n in range(400)]})
    async with engine.working(concurrency=8):
        run = await starter.ended(id)

    calls = Counter(probes.CALLS)
    assert run["state"] == "succeeded"
    assert [entry["result"] for entry in run["steps"][0]["output"]["results"]] == [f"w {n} done" for n in range(400)]
    # One worker's attempts choose different ones; one that is claimed meanwhile may be read twice.
    assert len(calls) == 400
    assert sum(calls.values()) <= 440
    assert await engine.broken_promises() == []


async def test_what_a_worker_did_beside_an_attempt_that_it_lost_counts_for_nothing(
    engine: Engine, starter: Starter
) -> None:
    id, hand, attempt = await begun(engine, starter)
    report = replace(await hand.perform(attempt), beside=await read_beside(engine, attempt))
    await engine.expire()

    with pytest.raises(StaleClaim):
        await hand.settle(report)

    items = (await starter.read(id))["steps"][0]["items"]
    assert "succeeded" not in {item["state"] for item in items}
    assert await engine.broken_promises() == []


async def test_an_item_that_another_worker_has_ends_with_that_worker(engine: Engine, starter: Starter) -> None:
    id, hand, attempt = await begun(engine, starter)
    done = await read_beside(engine, attempt)
    other = Hand(engine)
    [claimed] = await other.claim()
    assert claimed.claim.id in {one.id for one in done}

    await hand.settle(replace(await hand.perform(attempt), beside=done))
    between = (await starter.read(id))["steps"][0]["items"]
    await other.do(claimed)
    await hand.work()

    assert Counter(item["state"] for item in between) == {"succeeded": 50, "running": 1, "queued": 9}
    assert (await starter.read(id))["state"] == "succeeded"
    assert await notes_called(starter, "after") == 1
    assert await engine.broken_promises() == []


async def test_two_workers_that_read_the_same_end_each_item_once(engine: Engine, starter: Starter) -> None:
    id, hand, attempt = await begun(engine, starter)
    other = Hand(engine)
    [second] = await other.claim()
    reports = [
        replace(await hand.perform(attempt), beside=await read_beside(engine, attempt)),
        replace(await other.perform(second), beside=await read_beside(engine, second)),
    ]
    await asyncio.gather(*(hand.settle(report, take=True) for report in reports))
    await hand.work()
    run = await starter.read(id)

    assert run["state"] == "succeeded"
    assert await notes_called(starter, "after") == 1
    assert await engine.broken_promises() == []


async def test_a_narrow_token_reads_beside_with_its_own_scope(engine: Engine, starter: Starter) -> None:
    await starter.publish(over("echo"))
    scope = ["workflows:run", "workflows:read", "notes:read"]
    narrow = Starter(engine, starter.company, await starter.company.join("member", scope=scope))
    id, hand = await narrow.start("probe", {"words": WORDS}), Hand(engine)
    [attempt] = await hand.claim()
    done = await read_beside(engine, attempt)
    # As if the others had been queued by a credential that may do less.
    await engine.sql("UPDATE jobs SET scope = '{workflows:run}' WHERE state = 'queued'")

    assert len(done) == 50
    assert await read_beside(engine, attempt) == []
    assert (await narrow.read(id))["state"] == "running"


async def test_attempts_of_one_worker_choose_different_items(engine: Engine, starter: Starter) -> None:
    await starter.publish(over("echo"))
    await starter.start("probe", {"words": [f"w {n}" for n in range(120)]})
    hand, chosen = Hand(engine), Beside()
    attempts = await hand.claim(2)

    first, second = await asyncio.gather(*(read_beside(engine, attempt, chosen) for attempt in attempts))

    assert {one.id for one in first} & {one.id for one in second} == set()
    assert chosen.ids == {one.id for one in (*first, *second)}


@pytest.mark.parametrize("called", ["write", "wait", "spend", "send"])
async def test_only_what_reads_within_its_call_is_done_beside(engine: Engine, starter: Starter, called: str) -> None:
    _, _, attempt = await begun(engine, starter, called)

    assert await read_beside(engine, attempt) == []
    assert probes.CALLS == []


def _stumbles() -> None:
    probes.STUMBLES["word 20"] = 1


async def test_one_that_fails_is_left_to_an_attempt_of_its_own(engine: Engine, starter: Starter) -> None:
    id, hand, attempt = await begun(engine, starter, "stumble")
    chosen = Beside()
    _stumbles()

    done = await read_beside(engine, attempt, chosen)
    _stumbles()
    await hand.settle(replace(await hand.perform(attempt), beside=done))
    await hand.work()
    run = await starter.read(id)

    assert len(done) == len(chosen.ids) == 19
    failed = next(item for item in run["steps"][0]["items"] if item["index"] == 20)
    assert (run["state"], run["error"]["message"], failed["state"]) == ("failed", "not just now", "failed")
    assert await engine.broken_promises() == []


@pytest.mark.parametrize("called", ["refuse", "break", "nul"])
async def test_a_map_of_failures_ends_as_it_does_one_by_one(engine: Engine, starter: Starter, called: str) -> None:
    await starter.publish(over(called, on_item_error="collect"))
    id = await starter.start("probe", {"words": WORDS})
    async with engine.working(concurrency=8):
        run = await starter.ended(id)

    assert run["state"] == "succeeded"
    assert {entry["status"] for entry in run["steps"][0]["output"]["results"]} == {"failed"}
    assert await engine.broken_promises() == []


async def test_a_run_that_is_cancelled_meanwhile_stays_cancelled(engine: Engine, starter: Starter) -> None:
    id, hand, attempt = await begun(engine, starter)
    report = replace(await hand.perform(attempt), beside=await read_beside(engine, attempt))
    cancelled = await starter.client.post(f"/api/runs/{id}/cancel")
    await hand.settle(report)
    run = await starter.read(id)

    assert (cancelled.status, run["state"]) == (200, "cancelled")
    assert Counter(item["state"] for item in run["steps"][0]["items"]) == {"succeeded": 1, "cancelled": 59}
    assert await notes_called(starter, "after") == 0
    assert await engine.broken_promises() == []


async def _switch_off(starter: Starter, _: Engine) -> None:
    await starter.client.post("/api/tools/probe_echo", {"enabled": False})


async def _leave(starter: Starter, engine: Engine) -> None:
    await engine.sql("UPDATE users SET left_at = now() WHERE id = $1", UUID(starter.client.user_id))


@pytest.mark.parametrize("happens", [_switch_off, _leave])
async def test_it_is_done_with_the_rights_of_now(
    engine: Engine, starter: Starter, happens: Callable[[Starter, Engine], Any]
) -> None:
    _, _, attempt = await begun(engine, starter)
    chosen = Beside()
    await happens(starter, engine)

    with pytest.raises(Exception, match=r"turned on|left|ended|credential|signed"):
        await read_beside(engine, attempt, chosen)
    assert chosen.ids == set()


async def test_what_fails_beside_an_attempt_does_not_fail_it(
    engine: Engine, starter: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: Any) -> Any:
        raise Unavailable("not just now")

    await starter.publish(over("echo"))
    id = await starter.start("probe", {"words": WORDS[:20]})
    monkeypatch.setattr(calls, "call_together", fails)
    async with engine.working():
        run = await starter.ended(id)

    assert run["state"] == "succeeded"
    assert await engine.broken_promises() == []


async def test_a_slow_tool_is_left_to_the_other_places(engine: Engine, starter: Starter) -> None:
    """What takes longer than a moment is done beside nothing, so that all places of the worker have their share."""
    runner = Runner(engine.server.services, 1)
    _, _, attempt = await begun(engine, starter)
    claim = attempt.claim
    op = Operation(who=attempt.owner, services=engine.server.services, holding=HoldLevel.CREDENTIAL)
    assignment = Assignment(
        id=claim.id, kind=claim.kind, model=None, attempt=1, arguments=attempt.arguments, lease_until=claim.lease_until
    )
    run = attempt.kind.run

    async def slow(*given: Any) -> Any:
        await asyncio.sleep(0.3)
        return await run(*given)

    quick = await runner._performed(op, attempt, assignment)
    slowly = await runner._performed(op, replace(attempt, kind=replace(attempt.kind, run=slow)), assignment)

    assert (len(quick.beside), len(slowly.beside)) == (50, 0)
