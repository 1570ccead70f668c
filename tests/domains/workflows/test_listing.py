"""Listing a team's runs: every set of filters reads as little among many runs as among few."""

from collections.abc import Sequence
from itertools import chain, combinations
from typing import Any
from uuid import UUID

from atrium.engine.workflows.listing_rows import FILTERS, LAST_ID, listing_sql
from atrium.engine.workflows.model import STATES
from atrium.kit.postgres.database import compile_statement
from tests.domains.workflows.engine import Engine, Starter
from tests.postgres import blocks_read

TRIGGER = UUID(int=7)
# The oldest run has all three things that are asked for, and each newer one only one of them.
SEA = """
    INSERT INTO runs (id, org_id, team_id, user_id, slug, version, state, locale, input, trigger_id, steps_used, max_steps, finished_at)
    SELECT ('018f0000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, $2,
           CASE WHEN n = 0 OR n % 3 = 0 THEN $3::uuid ELSE $4::uuid END, CASE WHEN n = 0 OR n % 3 = 1 THEN 'wanted' ELSE 'other' END, 1,
           CASE WHEN n % 5 = 0 THEN 'failed' ELSE 'succeeded' END, 'en', '{}', CASE WHEN n = 0 OR n % 3 = 2 THEN $5::uuid END, 1, 10, now()
      FROM generate_series(0, 20000) n
"""
SETS = [frozenset(some) for some in chain.from_iterable(combinations(FILTERS, count) for count in range(4))]


async def pages_touched(engine: Engine, starter: Starter, filters: frozenset[str], states: Sequence[str]) -> int:
    """Pages of the database that one page of the listing reads, with a plan that is made for any value."""
    text, names = compile_statement(listing_sql(filters))
    values: dict[str, Any] = {
        "org_id": starter.company.org.id, "team_id": starter.company.team.id, "states": list(states), "before": LAST_ID, "limit": 51,
        "workflow": "wanted", "trigger": TRIGGER, "user_id": UUID(starter.client.user_id),
    }  # fmt: skip
    return await blocks_read(
        engine.server.services.settings.database_url, starter.company.org.id, text, *(values[name] for name in names)
    )


async def test_a_page_by_any_filters_reads_as_little_among_many_runs(engine: Engine, starter: Starter) -> None:
    other = await starter.company.join("member")
    # Without the checks at commit: these runs have no steps.
    await engine.sql("ALTER TABLE runs DISABLE TRIGGER USER")
    try:
        await engine.sql(
            SEA,
            starter.company.org.id,
            starter.company.team.id,
            UUID(starter.client.user_id),
            UUID(other.user_id),
            TRIGGER,
        )
        await engine.sql("VACUUM ANALYZE runs")
        read = {
            (tuple(sorted(filters)), len(states)): await pages_touched(engine, starter, filters, states)
            for filters in SETS
            for states in (STATES, ("failed",))
        }
    finally:
        await engine.sql("ALTER TABLE runs ENABLE TRIGGER USER")

    assert {filters: pages for filters, pages in read.items() if pages >= 300} == {}


async def test_filters_are_all_applied(engine: Engine, starter: Starter) -> None:
    other = await starter.company.join("member")
    people = UUID(starter.client.user_id), UUID(other.user_id)
    await engine.sql("ALTER TABLE runs DISABLE TRIGGER USER")
    try:
        await engine.sql(SEA, starter.company.org.id, starter.company.team.id, *people, TRIGGER)
    finally:
        await engine.sql("ALTER TABLE runs ENABLE TRIGGER USER")

    found = await starter.client.get("/api/runs", mine=1, workflow="wanted", trigger=str(TRIGGER), state="failed")
    mine = await starter.client.get("/api/runs", mine=1, limit=100)
    pairs = [
        await starter.client.get("/api/runs", mine=1, workflow="wanted"),
        await starter.client.get("/api/runs", mine=1, trigger=str(TRIGGER)),
        await starter.client.get("/api/runs", workflow="wanted", trigger=str(TRIGGER)),
    ]

    assert [(run["workflow"]["slug"], run["trigger_id"]) for run in found["items"]] == [("wanted", str(TRIGGER))]
    assert {run["started_by"]["user_id"] for run in mine["items"]} == {starter.client.user_id}
    assert len(mine["items"]) == 100
    assert [[run["id"] for run in pair["items"]] for pair in pairs] == [[run["id"] for run in found["items"]]] * 3
