"""A company moves whole: every row, byte, grant and event, and nothing of anybody else's."""

import asyncio
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest

from atrium.admin.moving import store
from atrium.admin.moving.model import MoveRefused
from atrium.ground.audit import chain_check
from atrium.kit.crypto.tokens import digest_of
from atrium.kit.postgres.snapshots import begin_as_owner
from atrium.product.s3 import credentials
from atrium.product.s3.model import S3Error
from atrium.seams.context import ANONYMOUS, Operation
from tests.domains.moving.sides import at, populated, two_sides
from tests.postgres import connected, fresh_database, run_as_owner
from tests.support.patience import PATIENCE
from tests.support.people import found_company

NEW_TABLE = """
    CREATE TABLE brand_new (org_id uuid NOT NULL REFERENCES orgs, id uuid PRIMARY KEY DEFAULT gen_random_uuid(), said text, at int4range);
"""


async def test_every_row_and_byte_arrives_and_none_of_others(tmp_path: Path) -> None:
    async with two_sides() as (a, b):
        moved, stays = await populated(a), await populated(a)
        org = moved.company.org.id
        others, bytes_of_others = await a.rows(stays.company.org.id), await a.bytes_of(stays.company.org.id)

        manifest = await a.export(moved.company.org.slug, tmp_path / "archive")
        before, bytes_before = await a.rows(org), await a.bytes_of(org)
        receipt = await b.bring_in(tmp_path / "archive")

        assert [name for name, rows in before.items() if not rows] == []
        assert await b.rows(org) == before
        assert await b.bytes_of(org) == bytes_before
        assert bytes_before
        # All that is there is the company's, and one event more: that it arrived.
        arrived, sent = await b.counts(), {name: len(rows) for name, rows in before.items()}
        assert arrived == sent | {"audit_events": sent["audit_events"] + 1}
        assert receipt.rows == sum(rows.rows for rows in manifest.tables.values())
        async with b.house.services.database.begin_system() as db:
            assert (await chain_check.verify_one(db, b.keys, org)).problem is None

        feeds = "SELECT FROM change_rows WHERE org_id = $1"
        assert await run_as_owner(a.url, feeds, org)
        assert await run_as_owner(b.url, feeds, org) == []

        await a.release(moved.company.org.slug, receipt)

        assert await run_as_owner(a.url, feeds, org) == []
        assert sum(map(len, (await a.rows(org)).values())) == 0
        assert await a.bytes_of(org) == {}
        assert await a.rows(stays.company.org.id) == others
        assert await a.bytes_of(stays.company.org.id) == bytes_of_others


async def test_people_read_during_the_move_write_after_it_and_are_sent_on(tmp_path: Path) -> None:
    async with two_sides() as (a, b):
        moved = await populated(a)
        owner, org = moved.other, moved.company.org.id
        known = await moved.company.join(password="a phrase for the move")
        login = {"username": known.username, "password": "a phrase for the move"}
        await a.export(org, tmp_path / "archive")

        assert (await owner.get(f"/api/notes/{moved.team_note}")).status == 200
        # What a suspension leaves open, such as ending a session, is closed as well: it would be lost.
        for path, body in (("/api/notes", {"title": "too late"}), ("/api/logout", {}), ("/api/login", login)):
            answer = await owner.post(path, body)
            assert (answer.status, answer["code"]) == (402, "tenancy.moving"), (path, answer.raw)

        receipt = await b.bring_in(tmp_path / "archive")
        there = at(b, owner)
        assert (await there.post("/api/notes", {"title": "on the other side"})).status == 201
        assert (await there.get(f"/api/notes/{moved.team_note}")).status == 200
        assert (await at(b, known).post("/api/login", login)).status == 200
        assert (await owner.post("/api/notes", {"title": "still not"})).status == 402

        await a.release(org, receipt)

        gone = await owner.get(f"/api/notes/{moved.team_note}")
        assert (gone.status, gone["code"], gone["location"]) == (421, "tenancy.moved", "https://b.example.com")
        [key] = await run_as_owner(b.url, "SELECT access_key_id FROM s3_keys WHERE org_id = $1", org)
        with pytest.raises(S3Error) as sent_on:
            await credentials.identify(Operation(who=ANONYMOUS, services=a.house.services), key[0])
        assert (sent_on.value.name, sent_on.value.facts["Endpoint"]) == ("PermanentRedirect", "https://b.example.com")
        stranger = await (await found_company(a.house)).join("owner")
        assert (await stranger.get("/api/notes")).status == 200


async def test_a_write_under_way_when_the_move_begins_arrives_and_one_that_comes_later_is_refused(
    tmp_path: Path,
) -> None:
    lookup = "SELECT FROM find_principal($1, true)"
    async with two_sides() as (a, b), connected(a.url) as early, connected(a.url) as late:
        company = await found_company(a.house)
        person = await company.join("owner")
        note, digest = (
            (await person.post("/api/notes", {"title": "before"}))["id"],
            digest_of(str(person.token).encode()),
        )

        async with early.transaction():
            await early.execute(lookup, digest)
            export = asyncio.create_task(a.export(company.org.slug, tmp_path / "archive"))
            await _until_waiting(a.url, 1)
            refused = asyncio.create_task(late.execute(lookup, digest))
            await _until_waiting(a.url, 2)
            # A write without an event, so that nothing else stops it.
            await early.execute("UPDATE notes SET title = 'under way' WHERE id = $1", UUID(note))
        await export
        with pytest.raises(asyncpg.PostgresError, match="writing is suspended"):
            await refused
        await b.bring_in(tmp_path / "archive")

        assert (await at(b, person).get(f"/api/notes/{note}"))["title"] == "under way"


async def _until_waiting(url: str, many: int) -> None:
    """Until so many transactions of this database wait for a lock that is no row's."""
    waiting = """
        SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
         WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted
    """
    async with asyncio.timeout(PATIENCE):
        while len(await run_as_owner(url, waiting)) < many:
            await asyncio.sleep(0.02)


async def test_a_move_that_is_called_off_leaves_all_as_it_was(tmp_path: Path) -> None:
    async with two_sides() as (a, b):
        moved = await populated(a)
        org = moved.company.org.id
        await a.export(org, tmp_path / "archive")
        receipt = await b.bring_in(tmp_path / "archive")

        await a.stay(org)

        assert (await moved.other.post("/api/notes", {"title": "here again"})).status == 201
        [lanes] = await run_as_owner(a.url, "SELECT bool_and(org_open) FROM job_teams WHERE org_id = $1", org)
        assert lanes[0]
        with pytest.raises(MoveRefused, match="another archive"):
            await a.release(org, receipt)


async def test_a_company_that_comes_back_is_not_elsewhere(tmp_path: Path) -> None:
    async with two_sides() as (a, b):
        company = await found_company(a.house)
        person = await company.join("owner")
        await person.put("/api/repo/a.txt", b"some bytes")
        for n, (here, there) in enumerate(((a, b), (b, a))):
            await here.export(company.org.slug, tmp_path / str(n))
            receipt = await there.bring_in(tmp_path / str(n))
            # Again, as if the receipt had been lost.
            assert await there.bring_in(tmp_path / str(n)) == receipt
            await here.release(company.org.slug, receipt)
            assert await here.release(company.org.slug, receipt) == (0, 0)

        assert (await person.get("/api/repo")).status == 200
        assert (await at(b, person).get("/api/repo")).status == 421


# Found by reading all of it: what is there for days at most, and what people make by hand. A larger one needs an index that begins
# with the company, or a foreign key to a parent that has one.
SCANNED = {"activations", "job_wakes", "job_words", "jobs", "knowledge_merges", "quota_holds", "turn_pieces"}
INDEXED = """
    SELECT i.indrelid::regclass::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
     WHERE a.attname = CASE WHEN i.indrelid = 'orgs'::regclass THEN 'id' ELSE 'org_id' END AND i.indpred IS NULL
"""


async def test_a_company_is_found_without_reading_what_others_have() -> None:
    async with fresh_database() as url, connected(url) as connection, begin_as_owner(url) as db:
        tables = {table.name: table for table in await store.list_tables(db)}
        indexed = {row[0] for row in await db.rows(INDEXED)}
        await connection.execute("SET session_replication_role = replica")
        await connection.execute(
            """
            INSERT INTO note_versions (org_id, note_id, number, title, body, size, sha256, created_by, created_at)
            SELECT $1, gen_random_uuid(), 1, 'Title', 'Body', 4, sha256('Body'), gen_random_uuid(), now() FROM generate_series(1, 20000)
            """,
            UUID(int=2),
        )
        await connection.execute("ANALYZE note_versions")
        plan = await connection.fetch(f"EXPLAIN {store.rows_of(tables['note_versions'], UUID(int=1))}")

    assert {name for name, table in tables.items() if not table.through and name not in indexed} == SCANNED
    assert not any("Seq Scan on note_versions" in row[0] for row in plan)


async def test_a_new_table_of_companies_cannot_be_forgotten(tmp_path: Path) -> None:
    async with two_sides() as (a, b):
        company = await found_company(a.house)
        for side in (a, b):
            await run_as_owner(side.url, NEW_TABLE)
        await run_as_owner(
            a.url, "INSERT INTO brand_new (org_id, said) VALUES ($1, E'tab\\there\\\\ \\n')", company.org.id
        )

        with pytest.raises(MoveRefused, match="brand_new"):
            await a.export(company.org.slug, tmp_path / "archive")
        assert not (tmp_path / "archive").exists()
        for side in (a, b):
            await run_as_owner(side.url, "CALL wall_off('brand_new')")
        await a.export(company.org.slug, tmp_path / "archive")
        await b.bring_in(tmp_path / "archive")

        [row] = await run_as_owner(b.url, "SELECT said FROM brand_new")
        assert row[0] == "tab\there\\ \n"


async def test_a_new_secret_cannot_be_forgotten(tmp_path: Path) -> None:
    async with two_sides() as (a, _):
        company = await found_company(a.house)
        await run_as_owner(a.url, "ALTER TABLE notes ADD body_sealed bytea")

        with pytest.raises(MoveRefused, match=r"notes\.body_sealed"):
            await a.export(company.org.slug, tmp_path / "archive")
