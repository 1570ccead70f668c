"""A backup is of one instant while people write, delete and overwrite, and it comes back whole: elsewhere, and on a newer PostgreSQL."""

import asyncio
import hashlib
import itertools
import random
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atrium.admin.backups import folder as folders
from atrium.admin.backups import restoration, service
from atrium.admin.backups.model import BackupFailed, BackupRefused
from atrium.boot.serve import prepare_database
from atrium.commands import backups
from atrium.engine.repository import blob_check as blob_verification
from atrium.engine.repository import release
from atrium.kit.files.paths import shipped_path
from atrium.kit.postgres.database import Database
from atrium.kit.postgres.migrate import migrate, read_migrations
from tests.domains.backups.instances import Source, facts_of, opened, purge, put, restore, source
from tests.domains.changes.feeds import hearing
from tests.postgres import fresh_database, private_server, run_as_owner
from tests.processes.start.test_migrations import cut_after
from tests.support.client import Client
from tests.support.people import found_company
from tests.support.processes import FIRST_RUN, rounds, run_atrium, server_settings
from tests.support.servers import open_application, settings_for
from tests.support.signing_in import COOKIE_WANTED, with_cookie, with_token

WRITERS = 4
SIGN_IN = {"username": FIRST_RUN["username"], "password": FIRST_RUN["password"]}
OWNERS = "SELECT oid::regprocedure::text, pg_get_userbyid(proowner), proacl::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace"


@pytest.fixture(scope="module")
async def busy() -> AsyncIterator[Source]:
    async with source() as found:
        yield found


async def work(found: Source, number: int) -> None:
    """A person who writes notes and files, overwrites them, and deletes some for good, until they are told to stop."""
    client, dice = await found.company.join("owner", org_role="org_owner"), random.Random(number)
    kept: list[str] = []
    for turn in itertools.count():
        body = f"{number} {turn} ".encode() * dice.randrange(1, 400)
        kept.append(await put(client, f"{number}/{turn % 7}.txt", body))
        await client.post("/api/notes", {"title": f"{number} {turn}"})
        if turn % 3 == 2:
            id = kept.pop(dice.randrange(len(kept)))
            kept = [one for one in kept if one != id]
            await purge(client, id)


async def missing_in(url: str, data: Path) -> list[str]:
    """What every blob of a restored instance turns out to be, other than sound."""
    async with opened(settings_for(url, data_dir=data)) as instance:
        database = Database(url)
        await database.open()
        try:
            orgs = [row[0] for row in await run_as_owner(url, "SELECT id FROM orgs")]
            found = [one.verdict async for one in blob_verification.verify(database, instance.blobs, orgs)]
        finally:
            await database.close()
    assert "sound" in found
    return [one for one in found if one not in ("sound", "unreferenced", "unfinished")]


async def test_backups_taken_while_people_write_and_delete_come_back_equal(busy: Source, tmp_path: Path) -> None:
    working = [asyncio.create_task(work(busy, number)) for number in range(WRITERS)]
    made = []
    for _ in rounds(3, 20):
        await asyncio.sleep(0.5)
        await release.sweep(busy.house.services)
        made.append(await busy.back_up())
    for one in working:
        one.cancel()
    ended = await asyncio.gather(*working, return_exceptions=True)

    assert all(isinstance(one, asyncio.CancelledError) for one in ended), ended
    for number, backup in enumerate(made):
        assert await service.verify(backup, busy.house.services.keys) == []
        async with fresh_database(migrated=False) as url:
            await restore(url, tmp_path / str(number), backup)
            facts = await facts_of(url)
            manifest = service.read_manifest(backup, busy.house.services.keys)[0]
            assert manifest is not None
            assert service.differences(manifest, backup, facts) == []
            assert (facts.tables, facts.heads) == (manifest.tables, manifest.audit_heads)
            assert await missing_in(url, tmp_path / str(number)) == []


async def test_bytes_are_copied_once_for_all_backups_and_go_with_the_last_that_names_them(
    busy: Source, tmp_path: Path
) -> None:
    await put(busy.writer, "stays.txt", b"in both backups")
    goes = await put(busy.writer, "goes.txt", b"only in the first")
    first = await busy.back_up(tmp_path)
    await purge(busy.writer, goes)
    second = await busy.back_up(tmp_path)

    one, other = (service.read_manifest(found, busy.house.services.keys)[0] for found in (first, second))
    dropped, freed = folders.prune(tmp_path, 1)

    assert one is not None
    assert other is not None
    assert (one.blobs.copied, other.blobs.copied) == (one.blobs.bytes, 0)
    assert (other.blobs.count, dropped, freed) == (one.blobs.count - 1, [first.name], len(b"only in the first"))
    assert await service.verify(second, busy.house.services.keys) == []


async def test_nothing_is_dropped_while_a_backup_that_stays_is_damaged(busy: Source, tmp_path: Path) -> None:
    await put(busy.writer, "stays.txt", b"in both backups")
    first, second = await busy.back_up(tmp_path), await busy.back_up(tmp_path)

    for name in (folders.BLOBS, folders.MANIFEST):
        whole = (second / name).read_bytes()
        for left in (whole[: len(whole) // 2], b"", None):
            (second / name).unlink()
            if left is not None:
                (second / name).write_bytes(left)
            with pytest.raises(BackupRefused, match=f"nothing was dropped.*{name}"):
                folders.prune(tmp_path, 1)
            (second / name).write_bytes(whole)

    keys = busy.house.services.keys
    assert (await service.verify(first, keys), await service.verify(second, keys)) == ([], [])


async def test_bytes_that_were_released_meanwhile_make_no_backup(monkeypatch: pytest.MonkeyPatch) -> None:
    async with source(blob_keep_hours=0) as found:
        id = await put(found.writer, "a.txt", b"deleted between the rows and the bytes")
        dump = service._dump

        async def dump_slowly(*given: object) -> object:
            facts = await dump(*given)  # type: ignore[arg-type]
            await purge(found.writer, id)
            await release.sweep(found.house.services, seconds=0)
            return facts

        monkeypatch.setattr(service, "_dump", dump_slowly)
        with pytest.raises(BackupFailed, match="longer than SERVICE_BLOB_KEEP_HOURS"):
            await found.back_up()
        assert folders.list_backups(found.backups) == []


async def test_bytes_that_the_store_had_lost_before_are_named_and_the_rest_is_kept(
    busy: Source, tmp_path: Path
) -> None:
    id = await put(busy.writer, "lost.txt", b"lost before anybody noticed")
    facts = await facts_of(busy.url)
    lost = next(one for one in facts.blobs if one.sha256 == hashlib.sha256(b"lost before anybody noticed").digest())
    await busy.house.services.blobs.delete(lost.org_id, lost.sha256)

    backup = await busy.back_up(tmp_path)
    await purge(busy.writer, id)

    manifest, faults = service.read_manifest(backup, busy.house.services.keys)
    assert manifest is not None
    assert (faults, manifest.missing, manifest.blobs.count) == ([], [lost.line()], len(facts.blobs) - 1)
    assert await service.verify(backup, busy.house.services.keys) == []


async def test_a_backup_of_an_older_postgresql_comes_back_on_a_newer_one(tmp_path: Path) -> None:
    with private_server(release=16) as maintenance:
        await run_as_owner(maintenance, "CREATE DATABASE atrium")
        older = maintenance.removesuffix("postgres") + "atrium"
        await migrate(older)
        async with open_application(settings_for(older, data_dir=tmp_path / "data", blob_keep_hours=1)) as house:
            company = await found_company(house)
            writer = await company.join("owner")
            id = await put(writer, "a.txt", b"from 16 to 18")
            async with opened(house.services.settings) as instance:
                backup, manifest = await service.create(instance, tmp_path / "backups")
            functions = await run_as_owner(older, OWNERS)

    async with fresh_database(migrated=False) as url:
        await restore(url, tmp_path / "elsewhere", backup)
        async with open_application(settings_for(url, data_dir=tmp_path / "elsewhere")) as house:
            read = await Client(house.app, writer.token).get(f"/api/repo-obj/{id}/content")
        version = (await run_as_owner(url, "SHOW server_version"))[0][0]
        restored = await run_as_owner(url, OWNERS)

    assert manifest.postgres.startswith("16.")
    assert int(version.split(".")[0]) > 16
    assert (read.status, read.raw) == (200, b"from 16 to 18")
    assert sorted(map(tuple, restored)) == sorted(map(tuple, functions))


async def test_a_login_that_is_no_superuser_restores_and_functions_keep_their_owners(
    busy: Source, tmp_path: Path
) -> None:
    backup = await busy.back_up()
    async with fresh_database(migrated=False) as url:
        name = url.rpartition("/")[2]
        await run_as_owner(url, f"CREATE ROLE {name} LOGIN PASSWORD 'to be hidden'")
        try:
            await run_as_owner(url, f"GRANT atrium_app, atrium_system, atrium_search TO {name}")
            await run_as_owner(url, f"ALTER DATABASE {name} OWNER TO {name}")
            theirs = url.replace("//postgres@", f"//{name}:to%20be%20hidden@")
            await restore(theirs, tmp_path, backup)
            async with open_application(settings_for(theirs, data_dir=tmp_path)) as house:
                answer = await Client(house.app, busy.writer.token).get("/api/notes")
            owned = {one[0]: one[1] for one in await run_as_owner(url, OWNERS)}
            with pytest.raises(BackupRefused, match="this instance has people"):
                await restoration.require_empty(theirs, replace=False)
        finally:
            await run_as_owner(url, f"REASSIGN OWNED BY {name} TO CURRENT_USER")
            await run_as_owner(url, f"DROP OWNED BY {name}")
            await run_as_owner(url, f"DROP ROLE {name}")

    assert answer.status == 200
    assert owned["find_principal(bytea,boolean)"] == "atrium_system"
    assert {name, "atrium_system", "atrium_search"} == set(owned.values())


async def test_a_serving_login_cannot_make_a_backup_with_holes(busy: Source) -> None:
    name = busy.url.rpartition("/")[2]
    await run_as_owner(busy.url, f"CREATE ROLE {name} LOGIN IN ROLE atrium_app, atrium_system")
    try:
        settings = settings_for(busy.url.replace("//postgres@", f"//{name}@"), data_dir=busy.folder / "data")
        async with opened(settings) as instance:
            with pytest.raises(BackupRefused, match="does not see every company's rows"):
                await service.create(instance, busy.backups)
    finally:
        await run_as_owner(busy.url, f"DROP ROLE {name}")


async def test_tags_and_cursors_of_before_a_restore_match_nothing_after_it(tmp_path: Path) -> None:
    async with source() as found:
        await Client(found.house.app).post("/api/bootstrap", FIRST_RUN)
        writer = found.writer
        notes = [await writer.post("/api/notes", {"title": f"note {number}"}) for number in range(3)]
        stored = await put(writer, "a.txt", b"the same bytes")
        before = await writer.get(f"/api/notes/{notes[0]['id']}")
        digest = (await writer.get(f"/api/repo-obj/{stored}/content")).headers["etag"]
        page = await writer.get("/api/notes", limit=1)
        async with hearing(writer) as feed:
            heard = feed.events[0].id
        backup = await found.back_up(tmp_path / "backups")

    path = f"/api/notes/{notes[0]['id']}"
    async with fresh_database(migrated=False) as url:
        generation = await restore(url, tmp_path, backup)
        async with open_application(settings_for(url, data_dir=tmp_path)) as house:
            client = Client(house.app, writer.token)
            after = await client.get(path)
            told = await client.get("/api/changes")
            async with hearing(client, last_event_id=heard) as again:
                await again.until(lambda: len(again.events) == 2)
            stale = await client.put(path, {"title": "x"}, headers={"if-match": before.headers["etag"]})
            refreshed = await client.get(path, headers={"if-none-match": before.headers["etag"]})
            known = await client.get(path, headers={"if-none-match": after.headers["etag"]})
            turned = await client.get("/api/notes", limit=1, cursor=page["next_cursor"])
            saved = await client.put(path, {"title": "y"}, headers={"if-match": stale["current"]})
            issued = await with_token(Client(house.app), None).post("/api/login", SIGN_IN, headers=COOKIE_WANTED)
            console = with_cookie(Client(house.app), issued)
            theirs = await console.post("/api/notes", {"title": "of the operator"})
            shown = await console.put(
                f"/api/notes/{theirs['id']}", {"title": "z"}, headers={"if-match": f'"{theirs["version"]}"'}
            )
            older = await console.put(f"/api/notes/{theirs['id']}", {"title": "z"}, headers={"if-match": '"g0-2"'})
            content = await client.get(f"/api/repo-obj/{stored}/content", headers={"if-none-match": digest})

    assert generation > 0
    assert told["items"] == []
    assert [event.name for event in again.events] == ["hello", "reset"]
    assert after.headers["etag"] == f'"g{generation}-' + before.headers["etag"][1:]
    assert (stale.status, stale.headers["etag"]) == (412, f'"g{generation}-{after["version"]}"')
    assert (refreshed.status, known.status, saved.status) == (200, 304, 200)
    assert (turned.status, turned.code) == (400, "paging.bad_cursor")
    assert (content.status, content.headers["etag"]) == (304, digest)
    assert (shown.status, older.status) == (200, 412), shown.raw


async def test_a_start_backs_up_before_it_migrates(tmp_path: Path) -> None:
    names = [one.name for one in read_migrations()]
    shutil.copytree(shipped_path("migrations"), tmp_path / "older")
    cut_after(tmp_path / "older", len(names) - 1)
    async with fresh_database(migrated=False) as url:
        await migrate(url, tmp_path / "older")
        settings = settings_for(url, data_dir=tmp_path / "data", backup_dir=str(tmp_path / "backups"))

        await prepare_database(settings)
        await prepare_database(settings)

        (kept,) = folders.list_backups(tmp_path / "backups")
        head = (await run_as_owner(url, "SELECT max(number) FROM schema_migrations"))[0][0]
    assert kept.manifest is not None
    assert (kept.manifest.schema.number, head) == (len(names) - 1, len(names))


async def test_the_commands_make_list_verify_and_restore_and_replace_only_when_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "backups"
    async with source() as found:
        await Client(found.house.app).post("/api/bootstrap", FIRST_RUN)
        id = await put(found.writer, "a.txt", b"by the command")
        made = await run_atrium(
            "backup", "create", str(folder), **server_settings(found.url, data_dir=found.folder / "data")
        )
        (stamp,) = [one.stamp for one in folders.list_backups(folder)]
        here = found.house.services.settings
        drilled = await asyncio.to_thread(backups.verify_backup, here, folder / stamp, drill=True)
        with pytest.raises(BackupRefused, match="this instance has people") as people:
            await asyncio.to_thread(backups.restore_backup, here, folder / stamp, replace_people=False)
        with pytest.raises(BackupRefused, match="stop every `atrium` process first"):
            await asyncio.to_thread(backups.restore_backup, here, folder / stamp, replace_people=True)
        listed = await asyncio.to_thread(backups.list_backups, folder, as_json=False)

    async with fresh_database(migrated=False) as url:
        restored = await run_atrium("restore", str(folder / stamp), **server_settings(url, data_dir=tmp_path / "data"))
        there = settings_for(url, data_dir=tmp_path / "data")
        replaced = await asyncio.to_thread(backups.restore_backup, there, folder / stamp, replace_people=True)
        async with open_application(there) as house:
            read = await Client(house.app, found.writer.token).get(f"/api/repo-obj/{id}/content")

    said = capsys.readouterr().out
    assert (made.code, f"{folder / stamp}: " in made.output) == (0, True), made.output
    assert (drilled, "0 faults, restored on trial" in said) == (0, True), said
    assert (listed, f"{stamp}  " in said, ", verified " in said) == (0, True, True), said
    assert people.value.code == 2
    assert (restored.code, "as generation" in restored.output) == (0, True), restored.output
    assert (replaced, "making a backup of what is replaced" in said) == (0, True), said
    assert len(folders.list_backups(folder)) == 2
    assert (read.status, read.raw) == (200, b"by the command")
