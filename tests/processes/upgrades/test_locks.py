"""No migration keeps writers waiting for as long as a table is large.

With ATRIUM_FULL=1 on a million rows, where a writer beside each migration may wait a second for a lock and not longer.
"""

import os
import shutil
from collections.abc import AsyncIterator

import pytest

from atrium.kit.files.paths import shipped_path
from atrium.kit.postgres.migrate import Migration, make_roles, migrate, read_migrations
from tests.postgres import connected, fresh_database, run_as_owner
from tests.processes.start.test_migrations import cut_after, populate
from tests.processes.upgrades.locks import Cost, apply_text, grow, writing
from tests.support.patience import PATIENCE

FULL = bool(os.environ.get("ATRIUM_FULL"))
ROWS = 1_000_000 if FULL else 20_000
# Otherwise the rule below is what finds a long lock, whatever the machine.
LONGEST_WAIT = "1s" if FULL else f"{PATIENCE:g}s"
# Those before it were released when this was not asked of them.
FIRST = 63
NEW = [migration for migration in read_migrations() if migration.number >= FIRST]


@pytest.fixture(scope="module")
async def grown(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """A database as the release before the first of them left it, and large."""
    folder = tmp_path_factory.mktemp("older") / "migrations"
    shutil.copytree(shipped_path("migrations"), folder)
    cut_after(folder, FIRST - 1)
    async with fresh_database(migrated=False) as url:
        await migrate(url, folder)
        await populate(url)
        await grow(url, ROWS)
        await make_roles(url)
        yield url


async def apply(url: str, migration: Migration) -> Cost:
    """As `migrate` does it, with a writer beside it."""
    async with writing(url, LONGEST_WAIT) as writer:
        if migration.transactional:
            cost = await apply_text(url, migration.text)
        else:
            cost = Cost()
            async with connected(url) as connection:
                for part in migration.text.split("\n-- next\n"):
                    await connection.execute(part)
        cost.waited = writer.longest
    return cost


async def test_no_migration_stops_writers_for_long(grown: str, capsys: pytest.CaptureFixture[str]) -> None:
    costs = {migration.name: await apply(grown, migration) for migration in NEW}

    with capsys.disabled():
        if FULL:
            for name, cost in costs.items():
                print(
                    f"{name:34} {cost.waited * 1000:7.0f} ms  {cost.touched:9} rows  {', '.join(sorted(cost.stopped))}"
                )
    assert {name: cost for name, cost in costs.items() if cost.keeps_writers(ROWS)} == {}
    # What a later migration did for the rows that were there was done.
    noted = await run_as_owner(grown, "SELECT count(*) FROM unread_objects")
    assert noted[0][0] >= ROWS


PLANTED = {
    "an index built in the transaction": "CREATE INDEX planted ON notes (title)",
    "a constraint checked at once": "ALTER TABLE notes ADD CONSTRAINT planted CHECK (length(title) < 1000000)",
    "a table written anew": "ALTER TABLE notes ALTER COLUMN version TYPE bigint",
    "a column filled beside a lock": "ALTER TABLE notes ADD COLUMN planted text; UPDATE notes SET planted = title",
    "a foreign key checked at once": (
        "ALTER TABLE notes ADD CONSTRAINT planted FOREIGN KEY (owner_id) REFERENCES users (id) DEFERRABLE"
    ),
}
HARMLESS = {
    "a column": "ALTER TABLE notes ADD COLUMN planted text",
    "a column with a default": "ALTER TABLE notes ADD COLUMN planted int NOT NULL DEFAULT 0",
    "a constraint for what is written from now on": "ALTER TABLE notes ADD CONSTRAINT planted CHECK (length(title) < 9) NOT VALID",
    "a table": "CREATE TABLE planted (org_id uuid NOT NULL REFERENCES orgs)",
}


@pytest.fixture(scope="module")
async def small() -> AsyncIterator[str]:
    async with fresh_database() as url:
        await populate(url)
        await grow(url, 500)
        yield url


async def planted(url: str, text: str) -> Cost:
    async with fresh_database(template=url.rpartition("/")[2]) as copy:
        return await apply_text(copy, text)


@pytest.mark.parametrize("text", PLANTED.values(), ids=PLANTED)
async def test_a_long_lock_is_found(small: str, text: str) -> None:
    assert (await planted(small, text)).keeps_writers(500)


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
async def test_a_short_lock_is_none(small: str, text: str) -> None:
    assert not (await planted(small, text)).keeps_writers(500)
