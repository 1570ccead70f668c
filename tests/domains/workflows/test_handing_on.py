"""Handing on: a run's next step goes to the worker that ends the last one, and never before what else waits."""

import asyncio
from typing import Any

import pytest

from atrium.engine.jobs import service as jobs
from atrium.engine.jobs.model import Attempt
from atrium.engine.workflows.progress import STEP_KIND
from atrium.ground.quotas import service as quotas
from atrium.seams.context import Operation
from tests.domains.workflows import probes
from tests.domains.workflows.engine import Engine, Starter, spec_of, tool
from tests.domains.workflows.hand import Hand
from tests.domains.workflows.test_runs import notes_called
from tests.support.patience import PATIENCE

CHAIN = spec_of(*(tool(f"step{n}", "write", {"value": f"note {n}"}) for n in range(3)))


async def begun(engine: Engine, starter: Starter) -> tuple[Hand, Attempt]:
    """The first step of a run, claimed."""
    await starter.publish(CHAIN)
    await starter.start("probe")
    hand = Hand(engine)
    [attempt] = await hand.claim()
    return hand, attempt


async def cap(starter: Starter, most: int | None, *, company: bool = False) -> None:
    op = Operation(who=(await _principal(starter)), services=starter.engine.server.services)
    scope = starter.company.org.id if company else starter.company.team.id
    async with op.begin() as ctx:
        await quotas.set_limit(ctx, starter.company.org.id, scope, "jobs.concurrency", "total", most)


async def _principal(starter: Starter) -> Any:
    from uuid import UUID

    from atrium.ground.identity import service as identity

    async with starter.engine.server.services.database.begin(starter.company.org.id) as db:
        found = await identity.list_principals(db, starter.company.org.id, [UUID(starter.client.user_id)])
    return next(iter(found.values()))


async def test_the_next_step_goes_to_the_same_worker_in_the_settlement(engine: Engine, starter: Starter) -> None:
    hand, attempt = await begun(engine, starter)
    taken = []
    following: Attempt | None = attempt
    while following is not None:
        taken.append(following.arguments.step)
        settled, following = await hand.do(following, take=True)
        assert settled.state == "succeeded"
        assert await engine.broken_promises() == []

    assert taken == ["step0", "step1", "step2"]
    rows = await engine.sql("SELECT count(*) FROM job_wakes")
    assert rows[0][0] == 0
    assert [await notes_called(starter, f"note {n}") for n in range(3)] == [1, 1, 1]


async def test_nothing_is_handed_on_while_another_team_waits(engine: Engine, starter: Starter) -> None:
    hand, attempt = await begun(engine, starter)
    other = await engine.company()
    await other.publish(CHAIN)
    await other.start("probe")
    _, following = await hand.do(attempt, take=True)
    [theirs] = await hand.claim()

    assert following is None
    assert theirs.claim.team_id == other.company.team.id
    assert await engine.broken_promises() == []


async def test_nothing_is_handed_on_while_an_older_job_of_the_team_waits(engine: Engine, starter: Starter) -> None:
    hand, attempt = await begun(engine, starter)
    older = await starter.start("probe")
    _, following = await hand.do(attempt, take=True)
    [first] = await hand.claim()

    assert following is None
    assert first.arguments.run_id == older
    assert await engine.broken_promises() == []


async def test_a_kind_that_spends_is_not_passed_either(engine: Engine, starter: Starter) -> None:
    """A turn of a model that runs here waits for the same workers."""
    hand, attempt = await begun(engine, starter)
    spending = [
        kind.name
        for kind in engine.server.services.registry.job_kinds.values()
        if kind.run and kind.reserves and kind.at_once is None
    ]
    assert spending
    await engine.sql(
        """INSERT INTO jobs (id, org_id, team_id, user_id, kind, pool, priority, state, max_attempts, lease, run_at, input, listed)
           SELECT gen_random_uuid(), org_id, team_id, user_id, $1, $1, 0, 'queued', 3, interval '60 s', now(), '{}', true
             FROM jobs WHERE id = $2""",
        spending[0],
        attempt.claim.id,
    )
    await engine.sql(
        "INSERT INTO job_wakes (org_id, team_id, pool) VALUES ($1, $2, $3)",
        starter.company.org.id, starter.company.team.id, spending[0],
    )  # fmt: skip
    _, following = await hand.do(attempt, take=True)

    assert following is None
    assert await engine.broken_promises() == []


@pytest.mark.parametrize("company", [False, True], ids=["team", "company"])
async def test_nothing_is_handed_on_above_a_cap(engine: Engine, starter: Starter, company: bool) -> None:
    """Three attempts run when the cap becomes two: the one that ends frees no place."""
    await starter.publish(CHAIN)
    for _ in range(3):
        await starter.start("probe")
    hand = Hand(engine)
    attempts = await hand.claim(3)
    assert len(attempts) == 3
    await cap(starter, 2, company=company)
    try:
        _, none = await hand.do(attempts[0], take=True)
        assert none is None
        assert await hand.claim() == []
        _, still_none = await hand.do(attempts[1], take=True)
        assert still_none is None
        [waiting] = await hand.claim(5)
        assert waiting is not None
        assert await engine.broken_promises() == []
    finally:
        await cap(starter, None, company=company)


async def test_at_its_cap_a_run_still_goes_on_in_the_place_it_has(engine: Engine, starter: Starter) -> None:
    hand, attempt = await begun(engine, starter)
    await cap(starter, 1)
    try:
        _, following = await hand.do(attempt, take=True)
        assert following is not None
        assert following.arguments.step == "step1"
        assert await engine.broken_promises() == []
    finally:
        await cap(starter, None)


async def test_nothing_is_handed_on_while_the_company_is_suspended(engine: Engine, starter: Starter) -> None:
    hand, attempt = await begun(engine, starter)
    report = await hand.perform(attempt)
    await starter.company.suspend()
    _, following = await hand.settle(report, take=True)
    assert following is None
    assert await hand.claim() == []
    run = await starter.read(attempt.arguments.run_id)
    assert (run["steps"][1]["state"], run["steps"][1]["waiting_reason"]) == ("queued", "org_suspended")
    await starter.company.suspend(False)
    await jobs.sweep(engine.server.services)
    await hand.work()

    assert (await starter.read(attempt.arguments.run_id))["state"] == "succeeded"
    assert await engine.broken_promises() == []


async def test_an_attempt_that_was_handed_on_and_lost_is_repeated(engine: Engine, starter: Starter) -> None:
    hand, attempt = await begun(engine, starter)
    _, lost = await hand.do(attempt, take=True)
    assert lost is not None
    await engine.expire()
    await jobs.sweep(engine.server.services)
    [again] = await Hand(engine).claim()
    assert (again.claim.id, again.claim.attempt) == (lost.claim.id, 2)
    await hand.do(again, take=False)
    await hand.work()

    assert (await starter.read(attempt.arguments.run_id))["state"] == "succeeded"
    assert [await notes_called(starter, f"note {n}") for n in range(3)] == [1, 1, 1]
    assert await engine.broken_promises() == []


async def test_a_settlement_of_two_runs_hands_each_worker_one(engine: Engine, starter: Starter) -> None:
    await starter.publish(CHAIN)
    runs = [await starter.start("probe") for _ in range(4)]
    hand = Hand(engine)
    reports = [await hand.perform(attempt) for attempt in await hand.claim(4)]
    answers = await asyncio.gather(*(hand.settle(report, take=True) for report in reports))
    handed = [following for _, following in answers if following is not None]

    assert len({attempt.claim.id for attempt in handed}) == len(handed)
    running = await engine.sql("SELECT count(*) FROM jobs WHERE state = 'running' AND kind = $1", STEP_KIND)
    assert running[0][0] == len(handed)
    for attempt in handed:
        await hand.do(attempt)
    await hand.work()
    assert [(await starter.read(id))["state"] for id in runs] == ["succeeded"] * 4
    assert await engine.broken_promises() == []


async def test_a_quota_that_is_used_up_makes_a_step_wait_until_it_opens(engine: Engine, starter: Starter) -> None:
    op = Operation(who=await _principal(starter), services=engine.server.services)

    async def limit(most: int | None) -> None:
        async with op.begin() as ctx:
            team, company = starter.company.team.id, starter.company.org.id
            await quotas.set_limit(ctx, company, team, "ai.requests", "day", most)

    await limit(1)
    await starter.publish(
        spec_of(tool("one", "spend"), tool("two", "spend"), tool("three", "write", {"value": "after"}))
    )
    id = await starter.start("probe")
    hand = Hand(engine)
    await hand.work()
    run = await starter.read(id)
    [_, waiting] = run["steps"]
    assert (run["state"], waiting["state"], waiting["waiting_reason"]) == ("running", "queued", "quota")
    for _ in range(20):
        # Waiting costs no attempt, however long it takes.
        await hand.stage()
        await hand.work()
    assert (await starter.read(id))["state"] == "running"
    await limit(None)
    await hand.stage()
    [attempt] = await hand.claim()
    during = (await starter.read(id))["steps"][1]
    await hand.do(attempt)
    await hand.work()
    run = await starter.read(id)

    assert (during["state"], during["waiting_reason"]) == ("running", None)
    assert run["state"] == "succeeded"
    assert [step["attempt"] for step in run["steps"]] == [1, 1, 1]
    assert await notes_called(starter, "after") == 1
    assert await engine.broken_promises() == []


async def test_a_wait_of_a_part_of_a_second_is_a_wait(engine: Engine, starter: Starter) -> None:
    probes.STUMBLES["x"] = 2
    await starter.publish(spec_of(tool("only", "exhaust", {"value": "x"})))
    id = await starter.start("probe")
    async with engine.working():
        run = await starter.ended(id)

    assert run["state"] == "succeeded"
    assert len(probes.CALLS) == 3


async def test_a_suspension_during_a_step_makes_it_wait(engine: Engine, starter: Starter) -> None:
    await starter.publish(spec_of(tool("only", "write_after_gate", {"value": "held"})))
    id = await starter.start("probe")
    hand = Hand(engine)
    [attempt] = await hand.claim()
    performing = asyncio.create_task(hand.perform(attempt))
    async with asyncio.timeout(PATIENCE):
        while "held" not in probes.GATES:
            await asyncio.sleep(0.01)
    await starter.company.suspend()
    probes.GATES["held"].set()
    await hand.settle(await performing)
    run = await starter.read(id)
    assert run["state"] in ("running", "succeeded")
    written = await notes_called(starter, "held")
    await starter.company.suspend(False)
    await hand.stage()
    await hand.work()

    assert (await starter.read(id))["state"] == "succeeded"
    assert await notes_called(starter, "held") == 1
    assert written in (0, 1)
    assert await engine.broken_promises() == []
