"""Admission: a limit is never passed, by how many ever at once, and what dies gives back what it held."""

import asyncio
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.ground.quotas import service as quotas
from atrium.ground.quotas.model import QuotaExceeded, TooManyAtOnce
from atrium.kit.errors import Exhausted
from atrium.seams.context import Operation, Principal
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for


def acting(house: Application, company: Company, team_id: UUID | None = None) -> Operation:
    who = Principal(
        user_id=company.team.id, team_id=team_id or company.team.id, org_id=company.org.id, username="x", role="member",
        permissions=frozenset(),
    )  # fmt: skip
    return Operation(who=who, services=house.services)


async def limit(op: Operation, dimension: str, most: int, *, level: str = "team", window: str = "day") -> None:
    scope = op.who.org_id if level == "org" else op.who.team_id
    async with op.begin() as ctx:
        await quotas.set_limit(ctx, op.who.org_id, scope, dimension, window, most)  # type: ignore[arg-type]


async def attempts(ops: list[Operation], times: int) -> int:
    """How many of `times` attempts by 50 clients at once were admitted; the clients are spread over the operations."""
    gate = asyncio.Semaphore(50)

    async def attempt(n: int) -> int:
        async with gate:
            try:
                admission = await quotas.admit(ops[n % len(ops)], {"ai.requests": 1})
            except QuotaExceeded:
                return 0
            await quotas.settle(ops[n % len(ops)], admission, {"ai.requests": 1})
            return 1

    return sum(await asyncio.gather(*(attempt(n) for n in range(times))))


async def used(op: Operation, level: str, dimension: str = "ai.requests", window: str = "day") -> tuple[int, int]:
    async with op.begin() as ctx:
        lines = await quotas.read_usage(ctx)
    return next((u.used, u.reserved) for u in lines if (u.level, u.dimension, u.window) == (level, dimension, window))


async def test_fifty_clients_never_pass_a_teams_limit(house: Application, database_url: str, company: Company) -> None:
    async with open_application(settings_for(database_url)) as second:
        here, there = acting(house, company), acting(second, company)
        await limit(here, "ai.requests", 100)

        admitted = await attempts([here, there], 1000)

    assert admitted == 100
    assert await used(here, "team") == (100, 0)


async def test_a_companys_limit_holds_over_two_teams(house: Application, database_url: str, company: Company) -> None:
    other = await company.add_team()
    async with open_application(settings_for(database_url)) as second:
        one, two = acting(house, company), acting(second, company, other.id)
        await limit(one, "ai.requests", 100, level="org")
        await limit(two, "ai.requests", 30)

        admitted = await attempts([one, two], 1000)

    assert admitted == 100
    assert (await used(one, "org"))[0] == 100
    assert (await used(acting(house, company, other.id), "team"))[0] <= 30


async def test_what_a_dead_process_held_is_free_after_it_expires(
    house: Application, company: Company, database_url: str
) -> None:
    op = acting(house, company)
    await limit(op, "ai.requests", 100)
    for _ in range(40):
        await quotas.admit(op, {"ai.requests": 1}, lease=3600)
    assert await attempts([op], 200) == 60

    await run_as_owner(
        database_url, "UPDATE quota_holds SET expires_at = now() - interval '1 s' WHERE org_id = $1", company.org.id
    )

    assert await attempts([op], 200) == 40
    assert await used(op, "team") == (100, 0)


async def test_a_repeated_settlement_counts_once(house: Application, company: Company) -> None:
    op = acting(house, company)
    await limit(op, "ai.tokens.total", 1000)
    admission = await quotas.admit(op, {"ai.tokens.total": 500})

    results = await asyncio.gather(*(quotas.settle(op, admission, {"ai.tokens.total": 70}) for _ in range(20)))

    assert sorted(results) == [False] * 19 + [True]
    assert not await quotas.settle(op, admission, {"ai.tokens.total": 70})
    assert await used(op, "team", "ai.tokens.total") == (70, 0)


async def test_a_settlement_after_expiry_still_counts_what_was_used(
    house: Application, company: Company, database_url: str
) -> None:
    op = acting(house, company)
    await limit(op, "ai.tokens.total", 1000)
    admission = await quotas.admit(op, {"ai.tokens.total": 500})
    await run_as_owner(
        database_url, "UPDATE quota_holds SET expires_at = now() - interval '1 s' WHERE id = $1", admission.id
    )
    await quotas.admit(op, {"ai.tokens.total": 1})

    assert await quotas.settle(op, admission, {"ai.tokens.total": 70})
    assert not await quotas.settle(op, admission, {"ai.tokens.total": 70})

    assert await used(op, "team", "ai.tokens.total") == (70, 1)


async def test_what_has_lapsed_is_not_shown_as_reserved_although_no_round_has_freed_it(
    house: Application, company: Company, database_url: str
) -> None:
    op = acting(house, company)
    await limit(op, "ai.tokens.total", 1000)
    kept, lapsed = [await quotas.admit(op, {"ai.tokens.total": amount}) for amount in (3, 500)]
    await run_as_owner(
        database_url, "UPDATE quota_holds SET expires_at = now() - interval '1 s' WHERE id = $1", lapsed.id
    )

    assert await used(op, "team", "ai.tokens.total") == (0, 3)
    await quotas.settle(op, kept, {"ai.tokens.total": 2})
    assert await used(op, "team", "ai.tokens.total") == (2, 0)


async def test_an_extended_hold_does_not_lapse(house: Application, company: Company, database_url: str) -> None:
    op = acting(house, company)
    await limit(op, "ai.concurrency", 1, window="total")
    admission = await quotas.admit(op, {"ai.concurrency": 1}, lease=1)

    assert await quotas.extend(op, admission, 3600)
    with pytest.raises(TooManyAtOnce):
        await quotas.admit(op, {"ai.concurrency": 1})
    await quotas.settle(op, admission, {})

    await quotas.admit(op, {"ai.concurrency": 1})
    assert not await quotas.extend(op, admission)


async def test_a_refusal_reserves_nothing_of_any_dimension(house: Application, company: Company) -> None:
    op = acting(house, company)
    await limit(op, "ai.requests", 10)
    await limit(op, "ai.tokens.total", 5)

    with pytest.raises(QuotaExceeded) as refused:
        await quotas.admit(op, {"ai.requests": 1, "ai.tokens.total": 6})

    assert refused.value.facts["dimension"] == "ai.tokens.total"
    assert await used(op, "team") == (0, 0)


async def test_windows_begin_anew_by_the_calendar(house: Application, company: Company, database_url: str) -> None:
    op = acting(house, company)
    await limit(op, "ai.requests", 2, window="hour")
    await limit(op, "ai.requests", 3, window="total")
    assert await attempts([op], 5) == 2

    await run_as_owner(
        database_url,
        "UPDATE quota_usage SET counted_at = counted_at - interval '1 hour' WHERE org_id = $1",
        company.org.id,
    )

    assert await attempts([op], 5) == 1
    assert await used(op, "team", window="total") == (3, 0)


async def test_usage_before_a_limit_was_set_counts_against_it(house: Application, company: Company) -> None:
    op = acting(house, company)
    assert await attempts([op], 5) == 5

    await limit(op, "ai.requests", 7, window="day")

    assert await attempts([op], 5) == 2


async def test_one_company_never_counts_for_another(house: Application, company: Company) -> None:
    op, other = acting(house, company), acting(house, await found_company(house))
    await limit(op, "ai.requests", 1, level="org")

    assert await attempts([op], 3) == 1
    assert await attempts([other], 3) == 3


async def test_the_echo_spends_and_the_usage_shows_it(company: Company, operator: Client, alice: Client) -> None:
    await operator.post("/api/quota", {"dimension": "ai.requests", "limit": 2, "window": "day"})

    answers = [await alice.post("/api/ai/echo", {"prompt": "one two three"}) for _ in range(3)]
    lines = (await alice.get("/api/usage"))["items"]

    assert [answer.status for answer in answers] == [200, 200, 429]
    assert answers[0].body == {"text": "one two three", "usage": {"requests": 1, "tokens": 6}}
    refusal = answers[2].body
    assert (refusal["code"], refusal["dimension"], refusal["limit"], refusal["used"], refusal["level"]) == (
        "quotas.exceeded", "ai.requests", 2, 2, "team",
    )  # fmt: skip
    assert answers[2].headers["retry-after"].isdigit()
    line = next(line for line in lines if (line["level"], line["dimension"]) == ("team", "ai.requests"))
    assert (line["used"], line["reserved"], line["limit"], line["remaining"], line["window"]) == (2, 0, 2, 0, "day")
    assert line["resets_at"].endswith("T00:00:00Z")


async def test_what_is_stored_is_told_in_all_and_not_by_the_month(alice: Client) -> None:
    lines = (await alice.get("/api/usage"))["items"]

    assert {line["window"] for line in lines if line["dimension"] == "storage.bytes"} == {"total"}
    assert {line["window"] for line in lines if line["dimension"] == "ai.requests"} == {"month"}


async def test_a_refused_spend_is_an_exhaustion_with_its_facts(house: Application, company: Company) -> None:
    op = acting(house, company)
    await limit(op, "ai.requests", 0, level="org", window="minute")

    with pytest.raises(Exhausted) as refused:
        await quotas.admit(op, {"ai.requests": 1})

    assert refused.value.facts["level"] == "org"
    assert 0 < int(str(refused.value.facts["retry_after"])) <= 61
