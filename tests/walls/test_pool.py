"""Many tenants over few connections: whatever a transaction before left behind, the next one sees only its own company."""

import asyncio
import random
from collections import Counter
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.kit.postgres.database import APP_ROLE, Database, OpenTransaction
from tests.support.people import found_company

TENANTS, AT_ONCE, FORGETFUL = 20, 40, 0.10


class GivenUp(Exception):
    """Somebody changed their mind inside a transaction."""


async def seen(database: Database, company: UUID | None) -> set[UUID]:
    """The companies whose notes one short transaction reads; without a company it forgot to name one."""
    begun = database.begin(company) if company else OpenTransaction(database, f"BEGIN;SET LOCAL ROLE {APP_ROLE}", None)
    async with begun as db:
        return {row[0] for row in await db.rows("SELECT org_id FROM notes")}


async def give_up(database: Database, company: UUID) -> None:
    """A transaction that fails halfway, so that its connection comes back by another way."""
    try:
        async with database.begin(company):
            raise GivenUp
    except GivenUp:
        pass


async def companies_with_notes(house: Application) -> list[UUID]:
    companies = [await found_company(house) for _ in range(TENANTS)]
    for company in companies:
        writer = await company.join("member")
        assert (await writer.post("/api/notes", {"title": "one of ours"})).status == 201
    return [company.org.id for company in companies]


@pytest.mark.parametrize("transactions", [2_000, pytest.param(10_000, marks=pytest.mark.proof)])
async def test_no_transaction_of_thousands_reads_across(walled_house: Application, transactions: int) -> None:
    chance, database = random.Random(7), walled_house.services.database
    companies = await companies_with_notes(walled_house)
    plan = [None if chance.random() < FORGETFUL else chance.choice(companies) for _ in range(transactions)]
    outcomes: Counter[str] = Counter()

    async def work(mine: list[UUID | None]) -> None:
        for company in mine:
            found = await seen(database, company)
            outcomes[
                "forgot, saw nothing"
                if found == set() and company is None
                else "own"
                if found == {company}
                else "across"
            ] += 1
            if company is not None and chance.random() < FORGETFUL:
                await give_up(database, company)

    await asyncio.gather(*(work(plan[start::AT_ONCE]) for start in range(AT_ONCE)))

    assert outcomes == {"own": transactions - plan.count(None), "forgot, saw nothing": plan.count(None)}
    assert plan.count(None) > transactions * FORGETFUL / 2
