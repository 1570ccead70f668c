"""The upgrade to counting everything: what was there counts once, page by page, also of companies that are leaving."""

import asyncio
from pathlib import Path
from uuid import UUID

import pytest

from atrium.commands.quotas import KEEPERS
from atrium.ground.quotas import store
from atrium.ground.quotas.model import LimitChange
from atrium.kit.postgres.database import Database
from atrium.kit.postgres.migrate import migrate
from tests.postgres import fresh_database, run_as_owner
from tests.processes.start.rows import ORG, ROWS, TEAM
from tests.processes.start.test_migrations import NAMES, cut_after, folder  # noqa: F401 - a fixture
from tests.support.processes import holding, until_queued

LIMIT = (
    "INSERT INTO quota_limits (org_id, scope_id, dimension, per, most) VALUES ($1, $1, 'storage.bytes', 'total', $2)"
)
COUNTED = ("notes", "note_versions", "jobs", "workflow_versions", "runs", "run_steps")
MANY = {
    "note_versions": (
        "INSERT INTO note_versions (org_id, note_id, number, title, body, size, sha256, created_by, created_at)"
        " SELECT org_id, note_id, n, title, body, size, sha256, created_by, created_at FROM note_versions,"
        " generate_series(1000, 2200) n WHERE note_id = (SELECT min(note_id::text)::uuid FROM note_versions) AND number < 1000"
    ),
    "run_steps": (
        "INSERT INTO run_steps (run_id, step, place, org_id, position, kind, input)"
        " SELECT run_id, 'many', n, org_id, 99, 'tool', '1' FROM (SELECT run_id, org_id FROM run_steps LIMIT 1) s,"
        " generate_series(1, 1200) n"
    ),
    "workflow_versions": (
        "INSERT INTO workflow_versions (org_id, team_id, slug, version, spec)"
        " SELECT org_id, team_id, slug, n, spec FROM (SELECT * FROM workflow_versions LIMIT 1) v, generate_series(1000, 2200) n"
    ),
}


async def fill(url: str, schema: Path) -> None:
    """The schema of before, and rows in it."""
    await migrate(url, schema)
    for table in ROWS:
        for statement in ROWS[table] if await there(url, table) else ():
            await run_as_owner(url, statement)


@pytest.mark.parametrize("table", MANY)
async def test_g10_the_upgrade_counts_rows_in_pages(folder: Path, table: str) -> None:  # noqa: F811
    cut_after(folder, 88)
    async with fresh_database(migrated=False) as url:
        await fill(url, folder)
        await run_as_owner(url, MANY[table])

        await migrate(url)

        pages = await run_as_owner(url, f"SELECT count(*) AS n FROM {table} GROUP BY xmin::text ORDER BY n DESC")
        left = await run_as_owner(url, f"SELECT FROM {table} WHERE kept_bytes IS NULL")
    assert len(pages) >= 3
    assert pages[0]["n"] <= 500
    assert left == []


async def test_g10_the_upgrade_counts_a_company_that_is_leaving(folder: Path) -> None:  # noqa: F811
    cut_after(folder, 88)
    async with fresh_database(migrated=False) as url:
        await fill(url, folder)
        await run_as_owner(url, LIMIT, UUID(ORG), 3)
        await run_as_owner(url, "UPDATE orgs SET moving_at = now()")

        await migrate(url)

        left = [table for table in COUNTED if await run_as_owner(url, f"SELECT FROM {table} WHERE kept_bytes IS NULL")]
        [limited] = await run_as_owner(
            url, "SELECT most, raised_from FROM quota_limits WHERE dimension = 'storage.bytes'"
        )
        database = Database(url)
        await database.open()
        counted = await truth(database)
        await database.close()
    assert left == []
    assert tuple(limited) == (sum(counted.values()), 3)


async def test_g10_an_upgrade_that_is_done_again_raises_no_limit_twice(folder: Path) -> None:  # noqa: F811
    cut_after(folder, 88)
    async with fresh_database(migrated=False) as url:
        await fill(url, folder)
        await run_as_owner(url, LIMIT, UUID(ORG), 3)
        await migrate(url)
        database = Database(url)
        await database.open()
        async with database.begin(UUID(ORG)) as db:
            await store.put_limit(db, UUID(ORG), UUID(ORG), LimitChange("storage.bytes", 5, "total"), None)
            origins = await store.list_origins(db, UUID(ORG), [UUID(ORG)])
        await database.close()

        # As if it had been broken off behind this company.
        await run_as_owner(url, "DELETE FROM schema_migrations WHERE number = 100")
        assert await migrate(url) == NAMES[99:100]

        found = await run_as_owner(url, "SELECT most FROM quota_limits WHERE dimension = 'storage.bytes'")
    assert {one.raised_from for one in origins} == {None}
    assert [row[0] for row in found] == [5]


async def test_g10_the_upgrade_raises_limits_without_the_lock_of_the_books(folder: Path) -> None:  # noqa: F811
    cut_after(folder, 88)
    async with fresh_database(migrated=False) as url:
        await fill(url, folder)
        await run_as_owner(url, LIMIT, UUID(ORG), 3)
        free = "SELECT pg_try_advisory_xact_lock(hashtext($1), hashtext($2))"

        # Those who claim jobs hold their teams and then want the books.
        async with holding(url, "SELECT FROM job_teams FOR NO KEY UPDATE"):
            migrating = asyncio.create_task(migrate(url))
            await until_queued(url, 1)
            seen = await run_as_owner(url, free, store.LOCK, ORG)
        await migrating

    assert seen[0][0]


async def test_g10_after_an_upgrade_what_was_there_counts_and_raises_a_limit_below_it_once(folder: Path) -> None:  # noqa: F811
    cut_after(folder, 88)
    async with fresh_database(migrated=False) as url:
        await migrate(url, folder)
        for table in ROWS:
            for statement in ROWS[table] if await there(url, table) else ():
                await run_as_owner(url, statement)
        limited = (
            "INSERT INTO quota_limits (org_id, scope_id, dimension, per, most) VALUES ($1, $2, 'storage.bytes', $3, $4)"
        )
        for scope, per, most in ((ORG, "total", 3), (TEAM, "total", 10**9), (TEAM, "month", 1)):
            await run_as_owner(url, limited, ORG, scope, per, most)

        await migrate(url)

        database = Database(url)
        await database.open()
        told = dict(
            map(
                tuple,
                await run_as_owner(url, "SELECT dimension, total FROM quota_usage WHERE scope_id = $1", UUID(ORG)),
            )
        )
        counted = await truth(database)
        await database.close()
        assert all(counted.values())
        assert {part: told[f"storage.{part}"] for part in counted} == counted
        limits = {
            (str(row[0]), row[1]): tuple(row[2:])
            for row in await run_as_owner(
                url, "SELECT scope_id, per, most, raised_from FROM quota_limits WHERE dimension = 'storage.bytes'"
            )
        }
        assert limits == {
            (ORG, "total"): (told["storage.bytes"], 3),
            (TEAM, "total"): (10**9, None),
            (TEAM, "month"): (1, None),
        }
        # Whoever sets the limit anew sets it for good.
        mine = "scope_id = $1 AND per = 'total' AND dimension = 'storage.bytes'"
        await run_as_owner(url, f"UPDATE quota_limits SET most = 5 WHERE {mine}", UUID(ORG))
        assert await migrate(url) == []
        assert (await run_as_owner(url, f"SELECT most FROM quota_limits WHERE {mine}", UUID(ORG)))[0][0] == 5


async def there(url: str, table: str) -> bool:
    return bool((await run_as_owner(url, "SELECT to_regclass($1)::text", table))[0][0])


async def truth(database: Database) -> dict[str, int]:
    async with database.begin(UUID(ORG)) as db:
        found: dict[str, int] = {}
        for keeper in KEEPERS:
            if keeper.part != "files":
                sums = await keeper.count(db, UUID(ORG))
                found[keeper.part] = found.get(keeper.part, 0) + sum(sums.values())
    return found
