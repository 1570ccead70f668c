"""What may be asked for at the limit of storage, what gives way, who waits for whom, and what is forgotten when."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from atrium.boot.assemble import Application
from atrium.engine.jobs import queue_rows
from atrium.engine.workflows import chores, run_rows
from atrium.ground.quotas.store import LOCK
from atrium.kit.ids import new_id
from tests.domains.quotas.test_storage import (
    KIND,
    REPORT,
    WORDS,
    differences,
    limit,
    server,  # noqa: F401 - a fixture
    starter,  # noqa: F401 - a fixture
    storage_of,
)
from tests.domains.workflows import probes
from tests.domains.workflows.engine import Starter, spec_of, tool
from tests.postgres import connected, fresh_database, run_as_owner
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import Company
from tests.support.processes import holding

COUNTED = ("jobs", "runs", "run_steps", "workflow_versions")
VERSIONS = """
    INSERT INTO workflow_versions (org_id, team_id, slug, version, spec, created_at)
    SELECT v.org_id, v.team_id, v.slug, n, v.spec, now() - $4::interval
      FROM workflow_versions v, generate_series($2::int, $3::int) n WHERE v.org_id = $1 AND v.version = 1
"""
LAST = "UPDATE workflows SET version = (SELECT max(version) FROM workflow_versions WHERE org_id = $1) WHERE org_id = $1"


async def add_versions(starter: Starter, first: int, last: int, age: timedelta) -> None:  # noqa: F811
    org = starter.company.org.id
    await starter.engine.sql(VERSIONS, org, first, last, age)
    await starter.engine.sql(LAST, org)


async def versions_of(starter: Starter) -> set[int]:  # noqa: F811
    rows = await starter.engine.sql("SELECT version FROM workflow_versions WHERE org_id = $1", starter.company.org.id)
    return {row[0] for row in rows}


async def upgraded(starter: Starter, ago: timedelta) -> None:  # noqa: F811
    await starter.engine.sql("UPDATE schema_migrations SET applied_at = now() - $1::interval", ago)


async def test_g10_versions_that_nothing_names_are_removed_beyond_two_hundred(
    server: Application, starter: Starter  # noqa: F811
) -> None:  # fmt: skip
    await upgraded(starter, timedelta(days=2))
    await starter.publish(spec_of(tool("first", "echo")))
    run = await starter.start("probe")
    # Numbers leave gaps: what stays is counted.
    await add_versions(starter, 300, 502, timedelta(days=2))

    assert await chores.remove_unnamed(server.services) == 3

    # Of 204 the first four are beyond the newest 200; a run names the very first.
    assert await versions_of(starter) == {1, *range(303, 503)}
    assert (await starter.client.post("/api/workflows/probe/run", {"input": {}, "version": 302})).status == 404
    assert (await starter.client.post("/api/workflows/probe/run", {"input": {}, "version": 1})).status == 202
    async with starter.engine.working():
        assert (await starter.ended(run))["state"] == "succeeded"
    assert await differences(server, starter.company) == []


async def test_g10_few_versions_with_a_high_number_stay(server: Application, starter: Starter) -> None:  # noqa: F811
    await upgraded(starter, timedelta(days=2))
    await starter.publish(spec_of(tool("first", "echo")))
    await add_versions(starter, 2026, 2027, timedelta(days=2))

    await chores.remove_unnamed(server.services)

    assert await versions_of(starter) == {1, 2026, 2027}


@pytest.mark.parametrize(
    ("migrated", "followed"), [(timedelta(hours=23), timedelta(days=9)), (timedelta(days=9), timedelta(hours=23))]
)
async def test_g10_versions_stay_for_a_day_after_the_upgrade_and_after_the_next_one(
    server: Application, starter: Starter, migrated: timedelta, followed: timedelta  # noqa: F811
) -> None:  # fmt: skip
    await upgraded(starter, migrated)
    await starter.publish(spec_of(tool("first", "echo")))
    await add_versions(starter, 2, 203, followed)

    await chores.remove_unnamed(server.services)

    assert await versions_of(starter) == set(range(1, 204))


async def test_g10_of_a_company_that_is_leaving_nothing_is_forgotten_and_all_is_counted(
    server: Application, starter: Starter  # noqa: F811
) -> None:  # fmt: skip
    org = starter.company.org.id
    await upgraded(starter, timedelta(days=2))
    await chores.remove_unnamed(server.services)
    await starter.run(spec_of(tool("first", "echo", {"value": "v" * 2000})))
    await add_versions(starter, 2, 203, timedelta(days=2))
    await starter.client.post("/api/notes", {"title": "n", "body": "words"})
    for _ in range(2):
        job = await starter.client.post("/api/jobs", {"kind": KIND, "input": {"lane": "north"}})
        await starter.client.post(f"/api/jobs/{job['id']}/cancel")
    await starter.engine.sql("UPDATE jobs SET part_of = gen_random_uuid() WHERE id = $1::text::uuid", job["id"])
    await starter.engine.sql("UPDATE orgs SET moving_at = now() WHERE id = $1", org)

    async def forget() -> int:
        async with server.services.database.begin_system() as db:
            parts = await queue_rows.forget_parts(db, timedelta(0))
        async with server.services.database.begin_system() as db:
            runs = await run_rows.forget_ended(db, timedelta(0), 500)
        async with server.services.database.begin_system() as db:
            ended = await queue_rows.forget_finished(db, timedelta(0), 500)
        return parts + runs + ended + await chores.remove_unnamed(server.services)

    assert await forget() == 0
    # What goes all the same is counted, so that the books hold if the company stays.
    await starter.engine.sql("DELETE FROM notes WHERE org_id = $1", org)
    await starter.engine.sql("UPDATE orgs SET moving_at = NULL WHERE id = $1", org)
    assert await differences(server, starter.company) == []
    assert await forget() >= 4
    assert await differences(server, starter.company) == []


async def test_g10_a_resumed_run_asks_for_the_values_that_it_takes_over(
    server: Application, starter: Starter  # noqa: F811
) -> None:  # fmt: skip
    probes.STUMBLES["storage"] = 1
    ended = await starter.run(
        spec_of(tool("first", "echo", {"value": "v" * 5000}), tool("stumble", "stumble", {"value": "storage"}))
    )
    resume = {"resume": {"run_id": ended["id"], "step": "stumble"}}
    before = (await storage_of(starter.client))["used"]

    await limit(server, starter.company, before + 9000)
    refused = await starter.client.post("/api/workflows/probe/run", resume)
    await limit(server, starter.company, before + 11_000)
    started = await starter.client.post("/api/workflows/probe/run", resume)

    assert ended["state"] == "failed"
    assert (refused.status, refused.code) == (429, "quotas.exceeded")
    assert started.status == 202
    # The step has its argument and its output.
    assert 10_000 < (await storage_of(starter.client))["used"] - before < 11_000


async def test_g10_at_the_limit_a_note_is_withdrawn_and_deleted(
    house: Application, company: Company, alice: Client
) -> None:
    note = await alice.post("/api/notes", {"title": "n", "body": "b" * 99, "visibility": "team"})
    at = f"/api/notes/{note['id']}"
    await limit(house, company, 100)

    hidden = await alice.put(at, {"title": "n", "visibility": "private"})
    refused = [
        await alice.put(at, {"visibility": "team"}),
        await alice.put(at, {"visibility": "private"}),
        await alice.put(at, {}),
    ]
    deleted = await alice.delete(at)
    purged = await alice.delete(f"/api/trash/{note['id']}")

    # The text that it had is a version, as after every save.
    assert (hidden.status, hidden["visibility"], hidden["version"]) == (200, "private", 2)
    assert [reply.code for reply in refused] == ["quotas.exceeded"] * 3
    assert (deleted.status, purged.status) == (200, 200)
    assert (await storage_of(alice))["used"] == 0
    assert await differences(house, company) == []


async def test_g10_a_job_takes_the_place_of_files_in_the_trash(
    house: Application, company: Company, alice: Client
) -> None:
    stored = await alice.put("/api/repo/old.bin", b"x" * 900)
    await alice.delete(f"/api/repo-obj/{stored['id']}")
    await limit(house, company, 910)

    queued = await alice.post("/api/jobs", WORDS)

    assert queued.status == 201, queued.body
    assert (await storage_of(alice))["parts"]["files"] == 0


async def test_g10_far_from_the_limit_nobody_waits_for_the_books(
    house: Application, database_url: str, company: Company, alice: Client
) -> None:
    await limit(house, company, 10**12)
    noted = """
        INSERT INTO storage_entries (org_id, team_id, part, bytes)
        SELECT $1, $2, 'notes', n % 2 * 2 - 1 FROM generate_series(1, 400) n
    """
    await run_as_owner(database_url, noted, company.org.id, company.team.id)
    locked = "SELECT pg_advisory_xact_lock(hashtext($1), hashtext($2))"

    async with holding(database_url, locked, LOCK, str(company.org.id)), asyncio.timeout(PATIENCE):
        written = await alice.post("/api/notes", {"title": "n"})
        waiting = await entries(database_url, company)
    await alice.post("/api/notes", {"title": "n"})

    assert written.status == 201
    assert waiting == 401
    # A writer that finds the books free enters what was noted.
    assert await entries(database_url, company) == 1
    assert await differences(house, company) == []


async def entries(url: str, company: Company) -> int:
    found = await run_as_owner(url, "SELECT count(*) FROM storage_entries WHERE org_id = $1", company.org.id)
    return int(found[0][0])


async def test_g10_a_result_is_noted_while_the_company_is_being_marked(
    server: Application, starter: Starter  # noqa: F811
) -> None:  # fmt: skip
    worker = await starter.company.employ()
    await starter.client.post("/api/jobs", {"kind": KIND, "input": {"lane": "north"}})
    held = await worker.post("/api/workers/claim", {"kinds": [KIND]})
    marking = "SELECT FROM orgs WHERE id = $1 FOR UPDATE"

    # Marking asks for the job next; so the job's holder must not wait for the company.
    async with (
        holding(server.services.settings.database_url, marking, starter.company.org.id),
        asyncio.timeout(PATIENCE),
    ):
        done = await worker.post(
            f"/api/workers/jobs/{held['job']['id']}/complete", {"result": REPORT, "claim_token": held["claim_token"]}
        )

    assert done.status == 200, done.body
    assert await differences(server, starter.company) == []


@pytest.mark.parametrize(
    ("index", "looked_for"),
    [
        (
            "jobs_put_off",
            "SELECT id FROM jobs WHERE org_id = $1 AND state = 'scheduled' AND put_off_for = 'quota' ORDER BY id FOR UPDATE",
        ),
        ("runs_of_version", "SELECT id FROM runs WHERE team_id = $1 AND slug = 'probe' AND version = 3"),
    ],
)
async def test_g10_an_index_finds_what_is_looked_for_again_and_again(index: str, looked_for: str) -> None:
    """In a database of its own, where no statistics of other tests' few rows make another index look as good."""
    async with fresh_database() as url, connected(url) as connection, connection.transaction():
        await connection.execute(
            "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off"
        )
        plan = await connection.fetch(f"EXPLAIN {looked_for}", new_id())

    assert any(index in row[0] for row in plan), plan


@pytest.mark.parametrize("table", COUNTED)
async def test_g10_a_row_from_before_is_measured_once(server: Application, starter: Starter, table: str) -> None:  # noqa: F811
    await starter.run(spec_of(tool("first", "echo", {"value": "v"})))
    async with connected(server.services.settings.database_url) as connection, connection.transaction():
        await connection.execute("SET LOCAL session_replication_role = replica")
        await connection.execute(f"UPDATE {table} SET kept_bytes = NULL")
        await connection.execute("SET LOCAL session_replication_role = origin")
        plan: list[Any] = await connection.fetch(f"EXPLAIN (ANALYZE, TIMING OFF) UPDATE {table} SET kept_bytes = 0")
        [(rows,)] = await connection.fetch(f"SELECT count(*) FROM {table}")

    measured = [row[0] for row in plan if row[0].startswith("Trigger kept_") and "kept_other" not in row[0]]
    assert measured == [f"Trigger kept_first: calls={rows}"]
