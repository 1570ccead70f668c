"""Migrations over data that is already there: nothing is lost, nothing runs twice, nothing is edited afterwards."""

import asyncio
import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from atrium.kit.files.paths import shipped_path
from atrium.kit.postgres.migrate import MigrationRefused, list_pending, migrate, read_migrations
from tests.postgres import connected, fresh_database, run_as_owner
from tests.processes.start import older_schemas
from tests.processes.start.rows import ROWS
from tests.support.processes import PROOFS, holding, until_queued

NAMES = [migration.name for migration in read_migrations()]
PROVEN = older_schemas.are_proven()
# The schemas that people come from: the gate asks the newest, and all once a migration changed; proofs ask all.
OLDER = [
    pytest.param(
        number,
        id=NAMES[number - 1],
        marks=()
        if older_schemas.is_of_the_gate(number, len(NAMES), proven=PROVEN, proving=PROOFS)
        else pytest.mark.proof,
    )
    for number in range(1, len(NAMES))
]
# What a later migration moved elsewhere, shown by a test of its own.
REPLACED = {"s3_buckets": {"cors"}, "executors": {"token_id"}, "object_texts": {"attempts", "due_at"}}
# Where a later migration enters what it counted, beside the rows that were there; and what it entered, which is then gone.
ENTERED, GONE = {"quota_usage"}, {"storage_entries"}
Contents = dict[str, list[dict[str, Any]]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of migrations to play with, holding the shipped ones."""
    shutil.copytree(shipped_path("migrations"), tmp_path / "migrations")
    return tmp_path / "migrations"


def cut_after(folder: Path, number: int) -> None:
    """Only the first so many migrations are left."""
    for path in sorted(folder.glob("*.sql"))[number:]:
        path.unlink()


async def populate(url: str) -> Contents:
    """Fill every table there is; what is then in them. The ledger is the migrations' own."""
    async with connected(url) as connection:
        found = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        tables = {row["tablename"] for row in found} - {"schema_migrations"}
        assert tables <= ROWS.keys(), f"rows.py has nothing to put into {tables - ROWS.keys()}"
        for table in ROWS:
            for statement in ROWS[table] if table in tables else ():
                await connection.execute(statement)
    return await contents_of(url, tables)


async def contents_of(url: str, tables: Iterable[str]) -> Contents:
    """Every row of these tables as PostgreSQL's own JSON, oldest first in the file."""
    async with connected(url) as connection:
        return {
            table: [
                json.loads(row[0])
                for row in await connection.fetch(f"SELECT to_jsonb(t)::text FROM {table} t ORDER BY ctid")
            ]
            for table in tables
        }


@pytest.mark.parametrize("number", OLDER)
async def test_what_was_written_under_an_older_schema_survives_the_rest(folder: Path, number: int) -> None:
    cut_after(folder, number)
    async with fresh_database(migrated=False) as url:
        await migrate(url, folder)
        before = await populate(url)

        applied = await migrate(url)

        assert applied == NAMES[number:]
        now = await contents_of(url, before)
        for table, rows in before.items():
            assert rows, table
            if table in GONE:
                continue
            # A later migration may add columns; what was there stays as it was.
            kept = rows[0].keys() - REPLACED.get(table, set())
            after = [{name: row[name] for name in kept} for row in now[table]]
            if table in ENTERED:
                after = [row for row in after if row in rows]
            assert sorted(after, key=str) == sorted(({name: row[name] for name in kept} for row in rows), key=str), (
                table
            )


async def test_a_cap_that_nobody_set_becomes_the_usual_one_and_one_that_somebody_set_stays(folder: Path) -> None:
    cut_after(folder, NAMES.index("0026_job_caps"))
    async with fresh_database(migrated=False) as url:
        await migrate(url, folder)
        for statement in (*ROWS["orgs"], *ROWS["teams"]):
            await run_as_owner(url, statement)
        await run_as_owner(url, "INSERT INTO teams (id, org_id, name) SELECT gen_random_uuid(), id, 'Other' FROM orgs")
        [(chosen,), *_] = await run_as_owner(url, "SELECT team_id FROM job_teams ORDER BY team_id")
        await run_as_owner(
            url,
            "INSERT INTO quota_limits SELECT org_id, team_id, 'jobs.concurrency', 'total', 3 FROM job_teams WHERE team_id = $1",
            chosen,
        )

        await migrate(url)

        caps = dict(map(tuple, await run_as_owner(url, "SELECT team_id, cap FROM job_teams")))
        assert caps.pop(chosen) == 3
        assert set(caps.values()) == {8}


async def test_cors_documents_become_rules_and_nothing_else_of_them_stays(folder: Path) -> None:
    cut_after(folder, NAMES.index("0033_cors_rules"))
    honest = (
        '<?xml version="1.0"?><CORSConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><CORSRule><ID>one</ID>'
        "<AllowedOrigin>https://a.example</AllowedOrigin><AllowedOrigin> https://*.b.example </AllowedOrigin>"
        "<AllowedMethod>GET</AllowedMethod><AllowedHeader>*</AllowedHeader><ExposeHeader>ETag</ExposeHeader>"
        "<MaxAgeSeconds>300</MaxAgeSeconds></CORSRule><CORSRule><AllowedOrigin>*</AllowedOrigin>"
        "<AllowedMethod>PUT</AllowedMethod></CORSRule></CORSConfiguration>"
    )
    script = '<x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>'
    documents = {
        "honest": honest,
        "hostile": f"<CORSConfiguration>{script}</CORSConfiguration>",
        "mixed": honest.replace("<CORSRule>", f"{script}<CORSRule>", 1),
        "large": f"<CORSConfiguration>{' ' * 65_536}</CORSConfiguration>",
        "empty": "",
    }
    async with fresh_database(migrated=False) as url:
        await migrate(url, folder)
        for statement in (*ROWS["orgs"], *ROWS["teams"]):
            await run_as_owner(url, statement)
        for name, document in documents.items():
            await run_as_owner(
                url,
                "INSERT INTO s3_buckets (org_id, team_id, name, created_by, cors)"
                " SELECT org_id, id, $1, id, $2 FROM teams LIMIT 1",
                name,
                document,
            )

        await migrate(url)

        found = {row["name"]: row for row in (await contents_of(url, ["s3_buckets"]))["s3_buckets"]}
    first, second = found["honest"]["cors_rules"]
    assert first == {
        "id": "one", "origins": ["https://a.example", "https://*.b.example"], "methods": ["GET"], "headers": ["*"],
        "exposed": ["ETag"], "max_age": 300,
    }  # fmt: skip
    assert (second["origins"], second["methods"], second["max_age"]) == (["*"], ["PUT"], None)
    assert found["mixed"]["cors_rules"] == found["honest"]["cors_rules"]
    assert [found[name]["cors_rules"] for name in ("hostile", "large", "empty")] == [[], [], []]
    assert "script" not in str(found)


@pytest.mark.parametrize(
    ("key", "metadata", "after"),
    [
        ("documents/plan-1.md", '{"title": "Plan"}', "text/markdown"),
        ("documents/plan-1.md", "{}", "text/markdown; charset=utf-8"),
        ("reports/plan.md", '{"title": "Plan"}', "text/markdown; charset=utf-8"),
    ],
)
async def test_documents_lose_the_parameter_of_their_type_and_files_keep_theirs(
    folder: Path, key: str, metadata: str, after: str
) -> None:
    cut_after(folder, NAMES.index("0039_document_types"))
    async with fresh_database(migrated=False) as url:
        await migrate(url, folder)
        await populate(url)
        await run_as_owner(url, "UPDATE objects SET key = $1", key)
        typed = "UPDATE object_versions SET content_type = 'text/markdown; charset=utf-8', metadata = $1::text::jsonb"
        await run_as_owner(url, typed, metadata)

        await migrate(url)

        assert [tuple(row) for row in await run_as_owner(url, "SELECT content_type FROM object_versions")] == [(after,)]


@pytest.mark.parametrize(
    ("state", "left", "read_for", "after"),
    [
        ("waiting", "NULL", "created_by", "waiting"),
        ("running", "NULL", "created_by", "waiting"),
        ("waiting", "created_by", "owner_id", "waiting"),
        ("waiting", "created_by, owner_id", None, "failed"),
        ("done", "NULL", None, "done"),
    ],
)
async def test_texts_that_waited_are_read_by_jobs(
    folder: Path, state: str, left: str, read_for: str | None, after: str
) -> None:
    cut_after(folder, NAMES.index("0050_extraction_jobs"))
    async with fresh_database(migrated=False) as url:
        await migrate(url, folder)
        await populate(url)
        await run_as_owner(url, "TRUNCATE jobs, job_wakes")
        await run_as_owner(
            url, "UPDATE object_versions v SET created_by = u.id FROM users u WHERE u.id <> $1", await owner(url)
        )
        await run_as_owner(url, "UPDATE object_texts SET state = $1", state)
        await run_as_owner(
            url,
            "UPDATE users u SET left_at = now() FROM object_versions v JOIN objects o ON o.id = v.object_id"
            f" WHERE u.id IN ({left})",
        )

        await migrate(url)

        [text] = await run_as_owner(url, "SELECT state, version_id FROM object_texts")
        people = await run_as_owner(
            url, "SELECT o.owner_id, v.created_by FROM objects o JOIN object_versions v ON v.object_id = o.id"
        )
        queued = await run_as_owner(
            url,
            "SELECT j.user_id, j.kind, j.state, j.listed, j.input->>'version_id' AS version FROM jobs j"
            " JOIN users u ON u.id = j.user_id AND u.team_id = j.team_id"
            " WHERE EXISTS (SELECT FROM job_wakes w WHERE w.team_id = j.team_id AND w.pool = j.pool)",
        )
    assert text["state"] == after
    assert [tuple(row) for row in queued] == (
        [(people[0][read_for], "extraction.text", "queued", False, str(text["version_id"]))] if read_for else []
    )


@pytest.mark.parametrize(
    ("change", "unread"),
    [
        ("DELETE FROM object_texts", 1),
        ("UPDATE object_texts SET state = 'failed'", 0),
        ("WITH t AS (DELETE FROM object_texts) UPDATE object_versions SET content_type = 'image/png'", 0),
        ("WITH t AS (DELETE FROM object_texts) UPDATE objects SET deleted = true", 0),
    ],
)
async def test_what_has_no_text_is_noted_once(folder: Path, change: str, unread: int) -> None:
    cut_after(folder, NAMES.index("0063_unread_objects"))
    async with fresh_database(migrated=False) as url:
        await migrate(url, folder)
        await populate(url)
        await run_as_owner(url, "UPDATE object_versions SET content_type = 'text/plain', size = 3")
        await run_as_owner(url, change)

        await migrate(url)

        found = await run_as_owner(
            url,
            "SELECT FROM unread_objects JOIN objects o USING (org_id, team_id, version_id, written_at) WHERE o.id = object_id",
        )
        assert len(found) == unread
        assert await forced(url, "objects", "object_versions", "object_texts", "unread_objects")


async def forced(url: str, *tables: str) -> bool:
    """Whether row-level security holds for the owner of all these tables too."""
    found = await run_as_owner(url, "SELECT relforcerowsecurity FROM pg_class WHERE relname = ANY($1)", list(tables))
    return [row[0] for row in found] == [True] * len(tables)


async def owner(url: str) -> Any:
    return (await run_as_owner(url, "SELECT owner_id FROM objects LIMIT 1"))[0][0]


async def test_every_table_of_today_can_be_filled() -> None:
    async with fresh_database() as url:
        contents = await populate(url)

    assert contents.keys() == ROWS.keys()
    assert all(contents.values())


async def test_migrating_twice_does_nothing_the_second_time() -> None:
    async with fresh_database(migrated=False) as url:
        assert await list_pending(url) == NAMES
        assert await migrate(url) == NAMES
        assert await migrate(url) == []
        assert await list_pending(url) == []


async def test_a_file_changed_after_it_was_applied_is_refused(folder: Path) -> None:
    async with fresh_database() as url:
        path = folder / f"{NAMES[3]}.sql"
        path.write_text(path.read_text() + "-- one harmless comment\n")

        with pytest.raises(MigrationRefused, match=f"{NAMES[3]} was changed after it was applied"):
            await migrate(url, folder)


@pytest.mark.parametrize("stray", ["0013_after_a_gap.sql", "0003_twice.sql", "notes.sql", "0012-dashes.sql"])
async def test_gaps_doubles_and_stray_names_are_refused_before_anything_is_applied(folder: Path, stray: str) -> None:
    cut_after(folder, 11)
    (folder / stray).write_text("-- owner: nobody\nCREATE TABLE stray ();\n")

    async with fresh_database(migrated=False) as url:
        with pytest.raises(MigrationRefused, match="numbered without gaps"):
            await migrate(url, folder)

        assert await list_pending(url) == NAMES


async def test_a_migration_that_fails_leaves_nothing_of_itself_and_can_be_repeated(folder: Path) -> None:
    number = len(NAMES) + 1
    broken = folder / f"{number:04}_broken.sql"
    broken.write_text("-- owner: nobody\nCREATE TABLE half (); SELECT 1 / 0;\n")
    async with fresh_database() as url:
        with pytest.raises(asyncpg.DivisionByZeroError):
            await migrate(url, folder)
        left = (await run_as_owner(url, "SELECT to_regclass('half')::text"))[0][0]
        broken.write_text("-- owner: nobody\nCREATE TABLE half ();\n")
        applied = await migrate(url, folder)

    assert left is None
    assert applied == [broken.stem]


async def test_whoever_comes_second_waits_and_finds_the_work_done(folder: Path) -> None:
    number = len(NAMES) + 1
    slow = folder / f"{number:04}_slow.sql"
    slow.write_text("-- owner: nobody\nLOCK TABLE notes IN EXCLUSIVE MODE; CREATE TABLE slow ();\n")
    async with fresh_database() as url:
        async with holding(url, "LOCK TABLE notes IN SHARE MODE"):
            # One stands in the middle of the file, the others come again and again until it is done.
            migrating = [asyncio.create_task(migrate(url, folder)) for _ in range(5)]
            await until_queued(url, 1)
            await asyncio.sleep(
                2.5
            )  # longer than a lock is waited for, so that the wait itself is given up and begun again
            await until_queued(url, 1)
            ledger = (await run_as_owner(url, "SELECT max(number) FROM schema_migrations"))[0][0]
        applied = await asyncio.gather(*migrating)

    assert ledger == len(NAMES)
    assert sorted(applied) == [[], [], [], [], [slow.stem]]


async def test_a_file_outside_a_transaction_is_sent_part_by_part_by_one_process(folder: Path) -> None:
    number = len(NAMES) + 1
    apart = folder / f"{number:04}_apart.sql"
    apart.write_text(
        "-- owner: nobody\n-- transaction: none\nDROP INDEX CONCURRENTLY IF EXISTS apart;\n"
        "-- next\nCREATE INDEX CONCURRENTLY apart ON notes (title);\n"
        "-- next\nDO $$ BEGIN FOR i IN 1..3 LOOP INSERT INTO batches VALUES (i); COMMIT; END LOOP; END $$;\n"
    )
    async with fresh_database() as url:
        await run_as_owner(url, "CREATE TABLE batches (number int)")
        applied = await asyncio.gather(*(migrate(url, folder) for _ in range(4)))
        seen = await run_as_owner(url, "SELECT number, xmin::text FROM batches")
        valid = await run_as_owner(url, "SELECT indisvalid FROM pg_index WHERE indexrelid = 'apart'::regclass")

    assert sorted(applied) == [[], [], [], [apart.stem]]
    assert [row[0] for row in seen] == [1, 2, 3]
    assert len({row[1] for row in seen}) == 3
    assert valid[0][0]


async def test_a_migration_that_waits_for_a_lock_lets_others_pass_meanwhile(folder: Path) -> None:
    number = len(NAMES) + 1
    (folder / f"{number:04}_waits.sql").write_text("-- owner: nobody\nALTER TABLE notes ADD COLUMN waited text;\n")
    async with fresh_database() as url:
        async with holding(url, "SELECT FROM notes"):
            migrating = asyncio.create_task(migrate(url, folder))
            await until_queued(url, 1)
            # Stands in line behind the migration, which gives up its place after a second.
            async with asyncio.timeout(30):
                await run_as_owner(url, "SELECT FROM notes")
            assert not migrating.done()
        applied = await migrating

    assert applied == [f"{number:04}_waits"]


async def test_a_migration_that_loses_a_deadlock_is_tried_again(folder: Path) -> None:
    number = len(NAMES) + 1
    (folder / f"{number:04}_deadlocked.sql").write_text(
        "-- owner: nobody\n-- transaction: none\n"
        "DO $$ BEGIN IF nextval('attempts') < 3 THEN RAISE EXCEPTION 'lost' USING ERRCODE = '40P01'; END IF; END $$;\n"
    )
    async with fresh_database() as url:
        await run_as_owner(url, "CREATE SEQUENCE attempts")

        applied = await migrate(url, folder)

        assert applied == [f"{number:04}_deadlocked"]
        assert (await run_as_owner(url, "SELECT last_value FROM attempts"))[0][0] == 3


async def test_a_person_with_a_machines_role_has_left_and_nothing_acts_for_them(folder: Path) -> None:
    cut_after(folder, NAMES.index("0030_people_leave"))
    async with fresh_database(migrated=False) as url:
        await migrate(url, folder)
        for table in ("orgs", "teams", "users", "tokens", "s3_keys", "audit_events"):
            for statement in ROWS[table]:
                await run_as_owner(url, statement)
        await run_as_owner(url, "UPDATE users SET role = 'worker', password_hash = 'x'")

        await migrate(url)

        found = await run_as_owner(
            url, "SELECT left_at IS NOT NULL AS gone, password_hash IS NULL AS locked FROM users"
        )
        assert found
        assert all(row["gone"] and row["locked"] for row in found)
        assert not await run_as_owner(url, "SELECT FROM tokens UNION ALL SELECT FROM s3_keys")
        await run_as_owner(
            url,
            "INSERT INTO users (id, org_id, team_id, username, role) "
            "SELECT gen_random_uuid(), org_id, team_id, username, 'viewer' FROM users",
        )
