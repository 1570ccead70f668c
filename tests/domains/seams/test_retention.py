"""What is old goes, whatever kind of row it is, and an absurd setting harms nothing."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from atrium.boot.wiring import DOMAINS
from atrium.seams import retention
from atrium.seams.retention import Retention, always, days
from tests.support.people import Company
from tests.support.servers import fresh_application, settings_for

RETENTIONS = [
    one
    for domain in DOMAINS
    for chore in domain.chores
    if isinstance(one := getattr(chore.run, "__self__", None), Retention)
]
NAMES = ("job_retention_days", "run_retention_days", "translation_retention_days")
ABSURD: dict[str, Any] = dict.fromkeys(NAMES, 9_999_999_999)


def test_everything_that_is_forgotten_by_age_is_declared() -> None:
    assert len(RETENTIONS) >= 16
    assert len({one.name for one in RETENTIONS}) == len(RETENTIONS)


async def test_a_setting_beyond_every_date_deletes_nothing_and_fails_nothing() -> None:
    async with fresh_application(**ABSURD) as house:
        gone = [await one.run(house.services) for one in RETENTIONS]

    assert gone == [0] * len(RETENTIONS)


@pytest.mark.parametrize("name", NAMES)
def test_an_age_is_at_most_a_century(name: str) -> None:
    assert days(name)(settings_for("", **ABSURD)) == retention.LONGEST


async def test_each_batch_is_a_transaction_and_a_round_has_an_end(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, timedelta, int]] = []

    async def forget(db: Any, age: timedelta, most: int) -> int:
        seen.append((await db.value("SELECT pg_current_xact_id()::text::int"), age, most))
        return most

    monkeypatch.setattr(retention, "MOST_BATCHES", 3)
    gone = await Retention("probe", always(timedelta(hours=1)), forget).run(company.house.services)

    assert gone == 3 * retention.BATCH
    assert len({xid for xid, _, _ in seen}) == len(seen) == 3
    assert {(age, most) for _, age, most in seen} == {(timedelta(hours=1), retention.BATCH)}


async def test_a_round_goes_on_until_nothing_old_is_left(company: Company) -> None:
    left = 50 * retention.BATCH + 7

    async def forget(db: Any, age: timedelta, most: int) -> int:
        nonlocal left
        dropped = min(left, most)
        left -= dropped
        return dropped

    gone = await Retention("probe", always(timedelta(hours=1)), forget).run(company.house.services)

    assert (left, gone) == (0, 50 * retention.BATCH + 7)


async def test_two_processes_may_forget_at_once(company: Company) -> None:
    results = await asyncio.gather(*(one.run(company.house.services) for one in RETENTIONS for _ in range(2)))

    assert all(result >= 0 for result in results)
