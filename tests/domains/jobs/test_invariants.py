"""What the queue promises, one test per promise; the numbers are those of docs/decisions/0009-jobs.md."""

import asyncio
import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import UUID

import asyncpg
import pytest

from atrium.engine.jobs import attempt_rows, service
from atrium.engine.jobs.model import Claim, StaleClaim, UnknownKind
from atrium.ground.quotas import service as quotas
from atrium.kit.ids import new_id
from tests.support.patience import PATIENCE
from tests.support.queue import Member, Queue


async def at_once(*calls: object) -> list[Claim]:
    found = await asyncio.gather(*calls)  # type: ignore[call-overload]
    return [claim for claims in found for claim in claims]


async def test_01_running_never_exceeds_the_cap_under_any_number_of_claimers(queue: Queue, member: Member) -> None:
    await member.cap(5)
    await member.enqueue(40)

    claims = await at_once(*(queue.claim(3) for _ in range(12)))

    assert len(claims) <= 5
    assert len(claims) + len(await queue.claim(10)) == 5
    assert await queue.broken_promises() == []


async def test_01_a_company_has_a_cap_above_its_teams(queue: Queue, member: Member) -> None:
    other = await queue.member(member.company)
    await member.cap(3, company=True)
    await member.enqueue(10)
    await other.enqueue(10)

    claims = await at_once(*(queue.claim(2) for _ in range(8)))
    claims += await queue.claim(10)

    assert len(claims) == 3
    await queue.complete(claims[0])
    assert len(await queue.claim(10)) == 1
    assert await queue.broken_promises() == []


@pytest.mark.parametrize("company", [False, True], ids=["team", "company"])
async def test_01_a_changed_cap_counts_from_the_next_claim(queue: Queue, member: Member, company: bool) -> None:
    await member.enqueue(12)
    claimed = []

    for most in (2, 5, 1, None):
        await member.cap(most, company=company)
        claimed.append(len(await queue.claim(20)))

    # Without a cap of its own the company has none, and the team has the usual eight.
    assert claimed == [2, 3, 0, 3]
    assert await queue.broken_promises() == []


async def test_02_running_is_the_count_of_running_jobs_after_every_step(queue: Queue, member: Member) -> None:
    await member.enqueue(6)
    steps = [len(await queue.broken_promises())]

    claims = await queue.claim(4)
    steps.append(len(await queue.broken_promises()))
    await queue.complete(claims[0])
    await queue.fail(claims[1])
    steps.append(len(await queue.broken_promises()))
    await queue.expire(claims[2])
    await queue.sweep()
    steps.append(len(await queue.broken_promises()))

    assert steps == [0, 0, 0, 0]


async def test_03_after_a_suspension_commits_nothing_of_the_company_is_claimed(queue: Queue, member: Member) -> None:
    await member.enqueue(50)
    stop = asyncio.Event()

    async def claim_on() -> None:
        while not stop.is_set():
            for claim in await queue.claim(2):
                await queue.complete(claim)

    claiming = [asyncio.create_task(claim_on()) for _ in range(4)]
    await asyncio.sleep(0.02)
    await member.company.suspend()
    before = await queue.sql("SELECT sum(attempt) FROM jobs")
    await asyncio.sleep(0.1)
    after = await queue.sql("SELECT sum(attempt) FROM jobs")
    stop.set()
    await asyncio.gather(*claiming)

    assert before == after
    assert (await member.read((await queue.sql("SELECT id FROM jobs WHERE state = 'queued'"))[0][0]))[
        "waiting_reason"
    ] == "org_suspended"
    await member.company.suspend(False)
    assert len(await queue.claim(100)) > 0


async def test_03_a_suspended_tenant_closes_every_lane(queue: Queue, member: Member) -> None:
    await queue.sql(
        "INSERT INTO instance (org_id, team_id, operator_id) VALUES ($1, $2, $2) ON CONFLICT DO NOTHING",
        member.company.org.id,
        member.team.id,
    )
    await member.enqueue(1)

    await queue.sql("UPDATE instance SET suspended_at = now()")
    closed = await queue.claim()
    born = await queue.member(member.company)
    await born.enqueue(1)
    still_closed = await queue.claim()
    await queue.sql("UPDATE instance SET suspended_at = NULL")

    assert closed == still_closed == []
    assert len(await queue.claim()) == 2


async def test_04_a_team_born_during_a_suspension_is_born_closed(queue: Queue, member: Member) -> None:
    await member.company.suspend()
    born = await queue.member(member.company)
    await born.enqueue(1)

    closed = await queue.claim()
    await member.company.suspend(False)

    assert closed == []
    assert [claim.team_id for claim in await queue.claim()] == [born.team.id]


async def test_04_a_birth_and_a_suspension_at_once_do_not_miss_each_other(queue: Queue, member: Member) -> None:
    for _ in range(5):
        await asyncio.gather(member.company.suspend(), *(member.company.add_team() for _ in range(4)))
        drifted = await queue.broken_promises()
        await member.company.suspend(False)
        assert drifted == []


async def test_05_a_quota_is_never_overdrawn(queue: Queue, member: Member) -> None:
    await member.limit("ai.requests", 3)
    await member.enqueue(20, "probe.spends")

    async def start() -> int:
        return len(await queue.begin(await queue.claim(4, ["probe.spends"])))

    started = sum(await asyncio.gather(*(start() for _ in range(8))))

    assert started == 3
    assert await member.usage("ai.requests") == (0, 3)
    waiting = (await queue.sql("SELECT id FROM jobs WHERE state = 'queued'"))[0][0]
    assert (await member.read(waiting))["waiting_reason"] == "quota"
    assert await queue.broken_promises() == []


async def test_05_a_failed_attempt_keeps_its_charge_and_a_lapsed_one_gets_it_back(queue: Queue, member: Member) -> None:
    await member.enqueue(3, "probe.spends")
    done, failed, lost = (a.claim for a in await queue.begin(await queue.claim(3, ["probe.spends"])))

    await queue.complete(done)
    await queue.fail(failed)
    await queue.expire(lost)
    await queue.sweep()

    assert await member.usage("ai.requests") == (2, 0)


async def test_05_a_success_pays_what_it_says_it_used(queue: Queue, member: Member) -> None:
    await member.enqueue(1, "probe.estimates")
    [attempt] = await queue.begin(await queue.claim(1, ["probe.estimates"]))
    reserved = await member.usage("ai.tokens.total")

    await queue.complete(attempt.claim)

    assert (reserved, await member.usage("ai.tokens.total")) == ((0, 100), (7, 0))


async def test_05_a_kind_that_spends_nothing_is_not_held_up_by_a_quota(queue: Queue, member: Member) -> None:
    await member.limit("ai.requests", 0)
    await member.enqueue(2, "probe.spends")
    await member.enqueue(1)
    await queue.begin(await queue.claim(2, ["probe.spends"]))

    claims = await queue.claim(5, ["probe.spends", "probe.plain"])

    assert [claim.kind for claim in claims] == ["probe.plain"]


@pytest.mark.parametrize("capped", [False, True])
async def test_05_whoever_waits_for_a_place_does_not_hold_the_books(queue: Queue, member: Member, capped: bool) -> None:
    await member.limit("ai.requests", 0)
    await member.cap(5 if capped else None, company=True)
    await member.enqueue(1, "probe.spends")
    claims = await queue.claim(1, ["probe.spends"])
    table, key = ("job_orgs", "org_id") if capped else ("job_teams", "team_id")
    settling = await asyncpg.connect(queue.url)
    try:
        async with settling.transaction():
            held = member.company.org.id if capped else member.team.id
            await settling.execute(f"SELECT FROM {table} WHERE {key} = $1 FOR NO KEY UPDATE", held)
            beginning = asyncio.create_task(queue.begin(claims))
            while not await queue.sql(
                "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            ):
                assert not beginning.done()

            async with asyncio.timeout(PATIENCE):
                await quotas.admit(member.op, {"ai.tokens.total": 1})
    finally:
        await settling.close()

    assert await beginning == []
    assert await queue.state(claims[0].id) == "queued"


async def test_06_a_starved_team_is_claimable_as_soon_as_its_quota_is_raised(queue: Queue, member: Member) -> None:
    await member.limit("ai.requests", 1)
    await member.enqueue(3, "probe.spends")
    first = await queue.begin(await queue.claim(3, ["probe.spends"]))
    starved = await queue.claim(3, ["probe.spends"])

    await member.limit("ai.requests", 3)
    rest = await queue.begin(await queue.claim(3, ["probe.spends"]))

    assert (len(first), len(starved), len(rest)) == (1, 0, 2)


async def test_06_a_starved_lane_looks_again_by_itself(queue: Queue, member: Member) -> None:
    await member.limit("ai.requests", 0)
    await member.enqueue(1, "probe.spends")
    await queue.begin(await queue.claim(1, ["probe.spends"]))
    await queue.sql("UPDATE job_lanes SET opens_at = now() - interval '1 second' WHERE opens_at IS NOT NULL")
    await queue.sql("DELETE FROM quota_limits WHERE org_id = $1", member.company.org.id)

    await queue.sweep()

    assert len(await queue.begin(await queue.claim(1, ["probe.spends"]))) == 1


async def test_07_each_claim_has_a_new_token_and_only_the_current_one_counts(queue: Queue, member: Member) -> None:
    await member.enqueue(1)
    [first] = await queue.claim()
    await queue.expire(first)
    await queue.sweep()
    [second] = await queue.claim()

    assert first.id == second.id
    assert first.token != second.token
    assert await queue.heartbeat(first) == []
    for late in (queue.complete(first, {"late": True}), queue.fail(first)):
        with pytest.raises(StaleClaim):
            await late
    assert [lease.id for lease in await queue.heartbeat(second)] == [second.id]
    assert (await queue.complete(second)).state == "succeeded"
    with pytest.raises(StaleClaim):
        await queue.complete(second)


async def test_07_a_stale_word_in_the_same_moment_as_the_current_one_is_still_stale(
    queue: Queue, member: Member
) -> None:
    await member.enqueue(1)
    [first] = await queue.claim()
    await queue.expire(first)
    await queue.sweep()
    [second] = await queue.claim()

    answers = await asyncio.gather(
        queue.complete(first, {"by": "first"}),
        queue.complete(second, {"by": "second"}),
        queue.complete(second, {"by": "second, again"}),
        return_exceptions=True,
    )

    assert [isinstance(answer, StaleClaim) for answer in answers] == [True, False, True]
    assert (await member.read(second.id))["result"] == {"by": "second"}


async def test_08_a_stopped_worker_that_wakes_late_changes_nothing(queue: Queue, member: Member) -> None:
    await member.enqueue(1)
    [stopped] = await queue.claim()
    await queue.expire(stopped)

    # Nobody has swept yet: the lease alone is what counts.
    assert await queue.heartbeat(stopped) == []
    with pytest.raises(StaleClaim):
        await queue.complete(stopped, {"late": True})

    await queue.sweep()
    [other] = await queue.claim()
    await queue.complete(other, {"in": "time"})
    with pytest.raises(StaleClaim):
        await queue.complete(stopped, {"late": True})
    assert (await member.read(stopped.id))["result"] == {"in": "time"}


async def test_09_a_killed_workers_job_is_claimable_within_its_lease_and_a_sweep(queue: Queue, member: Member) -> None:
    await member.enqueue(1, "probe.brief")
    [killed] = await queue.claim(1, ["probe.brief"])

    claims: list[Claim] = []
    async with asyncio.timeout(PATIENCE):
        while not claims:
            # Once its lease is over the next sweep is enough; both clocks are this machine's.
            over = datetime.now(UTC) > killed.lease_until + timedelta(seconds=0.5)
            await queue.sweep()
            claims = await queue.claim(1, ["probe.brief"])
            assert claims or not over
            await asyncio.sleep(0.05)

    assert [claim.id for claim in claims] == [killed.id]
    assert datetime.now(UTC) >= killed.lease_until


async def test_09_a_sweep_that_comes_after_a_heartbeat_takes_nothing_away(queue: Queue, member: Member) -> None:
    await member.enqueue(1)
    [claim] = await queue.claim()

    # As a sweep does that saw the lease run out, a moment before it was extended.
    async with queue.house.services.database.begin(claim.org_id) as db:
        taken = await attempt_rows.lapse(db, claim.org_id, [claim.id])

    assert taken == []
    assert (await queue.complete(claim)).state == "succeeded"


async def test_10_a_job_that_lapses_past_its_limit_ends_failed_and_never_loops(queue: Queue, member: Member) -> None:
    [id] = await member.enqueue(1)

    for _ in range(3):
        await queue.expire(*await queue.claim())
        await queue.sweep()

    job = await member.read(id)
    assert (job["state"], job["attempt"]) == ("failed", 3)
    assert "lease" in job["error"]["message"]
    assert await queue.claim() == []


async def test_10_failures_and_lapses_share_one_limit(queue: Queue, member: Member) -> None:
    [id] = await member.enqueue(1)

    [claim] = await queue.claim()
    await queue.expire(claim)
    await queue.sweep()
    [claim] = await queue.claim()
    again = await queue.fail(claim, again=timedelta(0))
    await queue.sweep()
    [claim] = await queue.claim()
    last = await queue.fail(claim, again=timedelta(0))

    assert (again.state, last.state) == ("scheduled", "failed")
    assert (await member.read(id))["state"] == "failed"


async def test_11_a_cancelled_job_that_waited_is_never_claimed(queue: Queue, member: Member) -> None:
    [first, second] = await member.enqueue(2)

    assert await member.cancel(first) == "cancelled"

    assert [claim.id for claim in await queue.claim()] == [second]


async def test_11_a_running_job_learns_of_its_cancellation_at_the_next_heartbeat(queue: Queue, member: Member) -> None:
    [id] = await member.enqueue(1)
    [claim] = await queue.claim()
    [before] = await queue.heartbeat(claim)

    assert await member.cancel(id) == "running"

    [after] = await queue.heartbeat(claim)
    assert (before.cancel_requested, after.cancel_requested) == (False, True)
    assert (await queue.fail(claim, again=timedelta(0))).state == "failed"


async def test_11_a_running_job_that_nobody_wants_ends_as_it_ends_and_is_not_tried_again(
    queue: Queue, member: Member
) -> None:
    done, failed, lost, returned = await member.enqueue(4)
    claims = {claim.id: claim for claim in await queue.claim(4)}
    for id in (done, failed, lost, returned):
        await member.cancel(id)

    await queue.complete(claims[done])
    await queue.fail(claims[failed], again=timedelta(0))
    await queue.expire(claims[lost])
    await queue.sweep()
    await queue.hand_back(claims[returned])

    states = [(await member.read(id))["state"] for id in (done, failed, lost, returned)]
    assert states == ["succeeded", "failed", "failed", "cancelled"]


@pytest.mark.parametrize("level", ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])
async def test_12_a_rolled_back_job_never_runs_and_a_committed_one_does(
    queue: Queue, member: Member, level: str
) -> None:
    async def queue_one(*, commit: bool) -> list[UUID]:
        async with member.op.begin() as ctx:
            await ctx.db.rows(f"SET TRANSACTION ISOLATION LEVEL {level}")
            ids = await service.enqueue(ctx, "probe.plain", [{}])
            if not commit:
                raise InterruptedError
            return ids

    with pytest.raises(InterruptedError):
        await queue_one(commit=False)
    nothing = await queue.claim()
    ids = await queue_one(commit=True)

    assert nothing == []
    assert [claim.id for claim in await queue.claim()] == ids


async def test_13_every_queued_job_sits_in_a_ready_lane_or_has_woken_one(queue: Queue, member: Member) -> None:
    await member.enqueue(4)
    undrained = await queue.broken_promises()
    claims = await queue.claim(2)
    drained = await queue.broken_promises()
    await queue.expire(*claims)
    await queue.sweep()
    lapsed = await queue.broken_promises()
    await member.enqueue(1, run_at=datetime.now(UTC) - timedelta(seconds=1))

    assert (undrained, drained, lapsed, await queue.broken_promises()) == ([], [], [], [])
    assert len(await queue.claim()) == 5


async def test_14_an_open_enqueuing_transaction_delays_nobody(queue: Queue, member: Member) -> None:
    async with member.op.begin() as ctx:
        [open_one] = await service.enqueue(ctx, "probe.plain", [{}])
        async with asyncio.timeout(PATIENCE):
            [quick] = await member.enqueue(1)
            [claim] = await queue.claim()
            await queue.complete(claim)

    assert claim.id == quick
    assert [one.id for one in await queue.claim()] == [open_one]


async def served(queue: Queue, rounds: int, most: int) -> Counter[UUID]:
    counts: Counter[UUID] = Counter()
    for _ in range(rounds):
        claims = await queue.claim(most)
        counts.update(claim.team_id for claim in claims)
        await asyncio.gather(*(queue.complete(claim) for claim in claims))
    return counts


async def test_15_equal_teams_differ_by_one_turn_and_a_weight_is_a_share(queue: Queue, member: Member) -> None:
    whale, *small = [member, *[await queue.member(member.company) for _ in range(5)]]
    heavy = small[0]
    await queue.sql("UPDATE job_teams SET weight = 3 WHERE team_id = $1", heavy.team.id)
    await queue.sql("UPDATE job_teams SET cap = 100 WHERE org_id = $1", member.company.org.id)
    await whale.enqueue(1000)
    for one in small:
        await one.enqueue(100)

    counts = await served(queue, 20, 8)

    equal = [counts[one.team.id] for one in (whale, *small[1:])]
    assert max(equal) - min(equal) <= 1
    assert abs(counts[heavy.team.id] - 3 * max(equal)) <= 3


async def test_15_a_team_gets_one_turn_however_many_kinds_it_queues(queue: Queue, member: Member) -> None:
    plain = await queue.member(member.company)
    for _ in range(30):
        await member.enqueue(1, "probe.plain")
        await member.enqueue(1, "probe.other")
        await plain.enqueue(1, "probe.plain")

    counts: Counter[UUID] = Counter()
    for _ in range(20):
        for claim in await queue.claim(1, ["probe.plain", "probe.other"]):
            counts[claim.team_id] += 1
            await queue.complete(claim)

    assert abs(counts[member.team.id] - counts[plain.team.id]) <= 1


async def test_15_inside_a_team_the_more_urgent_goes_first_and_then_the_older(queue: Queue, member: Member) -> None:
    [low] = await member.enqueue(1, priority=-5)
    [first, second] = await member.enqueue(2)
    [urgent] = await member.enqueue(1, priority=5)

    order = [(await queue.claim(1))[0].id for _ in range(4)]

    assert order == [urgent, first, second, low]


async def test_16_a_newcomer_starts_within_two_claims(queue: Queue, member: Member) -> None:
    teams = [member, *[await queue.member(member.company) for _ in range(30)]]
    for one in teams:
        await one.enqueue(30)
    await served(queue, 5, 5)
    newcomer = await queue.company()
    await newcomer.enqueue(1)

    claims = await queue.claim(5) + await queue.claim(5)

    assert newcomer.team.id in {claim.team_id for claim in claims}


async def buffers(queue: Queue) -> int:
    """Pages that one claim touches once its plans are made."""
    connection = await asyncpg.connect(queue.url)
    try:
        plans = [
            await connection.fetchval(
                "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)"
                " SELECT * FROM claim_jobs(ARRAY['probe.plain'], gen_random_uuid(), 10, NULL)"
            )
            for _ in range(4)
        ]
    finally:
        await connection.close()
    top = json.loads(plans[-1])[0]["Plan"]
    return int(top["Shared Hit Blocks"]) + int(top["Shared Read Blocks"])


async def test_17_a_claim_touches_as_little_however_much_is_queued(queue: Queue, member: Member) -> None:
    teams = [member, *[await queue.member(member.company) for _ in range(19)]]
    for one in teams:
        await one.enqueue(20)
    await queue.claim(20)
    little = await buffers(queue)

    await member.enqueue(20_000)
    await queue.sql("VACUUM ANALYZE jobs, job_lanes, job_teams, job_wakes")
    await queue.claim(1)
    much = await buffers(queue)

    assert little > 100
    assert much <= little * 1.2


async def test_18_a_lane_is_open_exactly_when_its_team_is_also_after_an_edit_by_hand(
    queue: Queue, member: Member
) -> None:
    await member.enqueue(3)
    await queue.claim(1)

    for cap, expected in ((0, 0), (1, 0), (2, 1)):
        await queue.sql("UPDATE job_teams SET cap = $2 WHERE team_id = $1", member.team.id, cap)
        assert await queue.broken_promises() == []
        assert len(await queue.claim(5)) == expected


async def test_20_a_kind_nobody_registered_cannot_be_queued(queue: Queue, member: Member) -> None:
    with pytest.raises(UnknownKind):
        await member.enqueue(1, "probe.unheard-of")

    assert await queue.sql("SELECT FROM jobs") == []


async def test_21_a_worker_bound_to_a_company_gets_nobody_elses_jobs(queue: Queue, member: Member) -> None:
    theirs = await queue.company()
    await theirs.enqueue(5)
    [ours] = await member.enqueue(1)

    claims = await queue.claim(10, bound_to=member.company.org.id)

    assert [claim.id for claim in claims] == [ours]
    assert await queue.claim(10, bound_to=new_id()) == []
