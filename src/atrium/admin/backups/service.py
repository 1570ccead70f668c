"""The verbs of backups: make one, look at it again, say how old the newest is."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from atrium import __version__
from atrium.admin.backups import folder as folders
from atrium.admin.backups import store
from atrium.admin.backups.model import (
    FORMAT,
    Age,
    BackupFailed,
    BackupManifest,
    BackupRefused,
    BackupTotals,
    BlobName,
    Facts,
    InstanceAccess,
    Verification,
)
from atrium.kit.crypto.keys import Keyring
from atrium.kit.postgres import dumps
from atrium.kit.postgres.database import Transaction
from atrium.kit.postgres.snapshots import begin_as_owner, export_snapshot
from atrium.product.changes.model import FEED
from atrium.seams.blobs import BlobMissing
from atrium.seams.settings import Settings

_AT_ONCE, _SMALL = 8, 4 << 20
_PURPOSE = "backup"
T = TypeVar("T")
Progress = Callable[[int], None]


class BackupTally(msgspec.Struct, frozen=True):
    """What a backup in the making has come to: `kept` blobs are there, `missing` ones the store had lost before."""

    taken_at: datetime
    facts: Facts
    kept: list[BlobName]
    missing: list[BlobName]
    copied: int


async def create(
    instance: InstanceAccess, folder: Path, progress: Progress | None = None
) -> tuple[Path, BackupManifest]:
    """Rows and bytes of one instant, while people go on writing and deleting; where it is, and what it holds."""
    with folders.alone_in(folder):
        now = datetime.now(UTC)
        with folders.open_draft(folder, now) as draft:
            facts = await _dump(instance, draft)
            copied, absent = await _copy(instance, folder, facts.blobs, progress or _silently)
            missing, gone = await _lost_before(instance, absent), {*absent}
            kept = [one for one in facts.blobs if one not in gone]
            found = BackupTally(now, facts, kept, missing, copied)
            manifest = await asyncio.to_thread(_written, instance.keys, draft, found)
            return await asyncio.to_thread(folders.finish, draft), manifest


async def _dump(instance: InstanceAccess, draft: Path) -> Facts:
    programs = await asyncio.to_thread(dumps.find_programs, instance.search_path)
    async with export_snapshot(instance.url) as (db, snapshot):
        server = await store.read_server(db)
        if not server.sees_everything:
            raise BackupRefused(
                "this login does not see every company's rows, so it cannot make a backup; set SERVICE_BACKUP_DATABASE_URL to a superuser,"
                " or to a login made for it: CREATE ROLE atrium_backup LOGIN BYPASSRLS; GRANT pg_read_all_data TO atrium_backup"
            )
        facts = await read_facts(db)
        await dumps.dump(dumps.dump_programs(programs, server.major), instance.url, snapshot, draft / folders.DUMP)
    return facts


async def read_facts(db: Transaction) -> Facts:
    """What the rows that this transaction sees add up to."""
    server, schema = await store.read_server(db), await store.read_schema(db)
    if schema is None:
        raise BackupRefused("this database was never migrated: there is nothing to back up")
    return Facts(
        server.version,
        server.major,
        schema,
        await store.read_generation(db),
        {table: await store.count_rows(db, table) for table in await store.list_tables(db) if table != FEED},
        await store.list_heads(db),
        await store.list_blobs(db, await store.list_referring(db)),
    )


async def _copy(
    instance: InstanceAccess, folder: Path, blobs: list[BlobName], progress: Progress
) -> tuple[int, list[BlobName]]:
    """Have every blob's bytes in the folder; how many bytes were not there yet, and which blobs the store does not have."""
    copied, absent = 0, []

    async def have(one: BlobName) -> None:
        nonlocal copied
        if not await asyncio.to_thread(folders.has_bytes, folder, one.sha256.hex(), one.size):
            if await _copy_one(instance, folder, one):
                copied += one.size
            else:
                absent.append(one)
        progress(one.size)

    await each(blobs, have)
    return copied, absent


async def _copy_one(instance: InstanceAccess, folder: Path, one: BlobName) -> bool:
    digest = one.sha256.hex()
    loop, pieces = asyncio.get_running_loop(), instance.blobs.get(one.org_id, one.sha256)
    try:
        if one.size <= _SMALL:
            whole = b"".join([piece async for piece in pieces])
            return await asyncio.to_thread(folders.write_bytes, folder, digest, [whole])

        def following() -> Iterable[bytes]:
            while piece := asyncio.run_coroutine_threadsafe(anext(pieces, b""), loop).result():
                yield piece

        return await asyncio.to_thread(folders.write_bytes, folder, digest, following())
    except BlobMissing:
        return False
    finally:
        await pieces.aclose()


async def _lost_before(instance: InstanceAccess, absent: list[BlobName]) -> list[BlobName]:
    """Bytes that the store had lost already; bytes that were released meanwhile make the backup worthless."""
    needed = [one for one in absent if one.needed]
    if not needed:
        return []
    async with begin_as_owner(instance.url) as db:
        referring = await store.list_referring(db)
        for one in needed:
            if not await store.is_referenced(db, referring, one.org_id, one.sha256):
                raise BackupFailed(
                    f"bytes were released while the backup was made (sha256 {one.sha256.hex()}): it took longer than"
                    " SERVICE_BLOB_KEEP_HOURS; nothing was kept"
                )
    return needed


def _written(keys: Keyring, draft: Path, found: BackupTally) -> BackupManifest:
    facts, kept = found.facts, found.kept
    (draft / folders.BLOBS).write_text("".join(f"{one.line()}\n" for one in kept))
    hashed = {name: folders.digest_of(draft / name) for name in (folders.DUMP, folders.BLOBS)}
    manifest = BackupManifest(
        format=FORMAT,
        atrium=__version__,
        postgres=facts.postgres,
        schema=facts.schema,
        taken_at=found.taken_at,
        generation=facts.generation,
        tables=facts.tables,
        blobs=BackupTotals(len(kept), sum(one.size for one in kept), found.copied),
        missing=[one.line() for one in found.missing],
        audit_heads=facts.heads,
        key_ids=keys.ids(),
        files={name: digest for name, (digest, _) in hashed.items()},
        sizes={name: size for name, (_, size) in hashed.items()},
    )
    made = sign_manifest(manifest, keys)
    folders.write_manifest(draft, made)
    return made


def sign_manifest(manifest: BackupManifest, keys: Keyring) -> BackupManifest:
    """With the signature of the instance's newest key over everything else it says."""
    bare = msgspec.structs.replace(manifest, signature="")
    return msgspec.structs.replace(bare, signature=keys.sign(_PURPOSE, folders.encode_manifest(bare)).hex())


async def verify(backup: Path, keys: Keyring, progress: Progress | None = None) -> list[str]:
    """Read and hash everything; every fault in words, none when the backup is whole."""
    manifest, faults = await asyncio.to_thread(read_manifest, backup, keys)
    if manifest is not None:
        faults += await _faulty_files(backup, manifest, progress or _silently)
    return faults


def read_manifest(backup: Path, keys: Keyring) -> tuple[BackupManifest | None, list[str]]:
    """The manifest as far as it can be read, and what is wrong with it."""
    if not backup.is_dir():
        raise BackupRefused(f"{backup} is not a backup: there is no such folder")
    try:
        raw = (backup / folders.MANIFEST).read_bytes()
    except FileNotFoundError:
        return None, [f"{folders.MANIFEST} is missing"]
    try:
        manifest = msgspec.json.decode(raw, type=BackupManifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return None, [f"{folders.MANIFEST} is damaged: {error}"]
    absent = [key_id for key_id in manifest.key_ids if key_id not in keys.ids()]
    if absent or not manifest.key_ids:
        return manifest, [
            f"the backup was made with another key ({', '.join(absent) or 'none'}): it needs the SERVICE_SECRET_KEY of its instance"
        ]
    bare = folders.encode_manifest(msgspec.structs.replace(manifest, signature=""))
    if raw != folders.encode_manifest(manifest) or not keys.verify(_PURPOSE, bare, _unhexed(manifest.signature)):
        return manifest, [f"{folders.MANIFEST} was edited after the backup was made"]
    return manifest, []


async def _faulty_files(backup: Path, manifest: BackupManifest, progress: Progress) -> list[str]:
    found: list[str] = []

    async def look(item: tuple[Path, str, str, int | None]) -> None:
        fault = await asyncio.to_thread(folders.fault_of, *item)
        if fault is not None:
            found.append(fault)
        progress(item[3] or 0)

    sizes = manifest.sizes
    await each([(backup / name, name, digest, sizes.get(name)) for name, digest in manifest.files.items()], look)
    named = {digest: size for _, digest, size in folders.read_list(backup)}
    places = [
        (folders.place_of(backup.parent, digest), f"blob {digest}", digest, size) for digest, size in named.items()
    ]
    await each(places, look)
    for name in {folders.DUMP, folders.BLOBS} - manifest.files.keys():
        found.append(f"{folders.MANIFEST} does not name {name}")
    return sorted(found)


def differences(manifest: BackupManifest, backup: Path, facts: Facts) -> list[str]:
    """Where the rows of a restored database differ from what the backup says."""
    found = [
        f"table {table}: {facts.tables.get(table)} rows, {rows} were backed up"
        for table, rows in sorted(manifest.tables.items())
        if facts.tables.get(table) != rows
    ]
    if facts.heads != manifest.audit_heads:
        found.append("the ends of the audit chains are not those that were backed up")
    listed = {f"{org_id} {digest} {size}" for org_id, digest, size in folders.read_list(backup)}
    if {one.line() for one in facts.blobs if one.needed} - listed - {*manifest.missing}:
        found.append("the rows name bytes that the backup does not list")
    return found


async def read_age(settings: Settings) -> Age | None:
    """How old the newest backup of this process's folder is; None when no folder is set."""
    if not settings.backup_dir:
        return None
    newest = await asyncio.to_thread(folders.find_newest, Path(settings.backup_dir))
    if newest is None or newest.manifest is None:
        return Age(settings.backup_hours, None, None, 0)
    seen, taken = newest.verification, newest.manifest.taken_at
    return Age(settings.backup_hours, taken, seen.verified_at if seen else None, seen.faults if seen else 0)


async def create_verified(instance: InstanceAccess, folder: Path) -> tuple[Path, list[str]]:
    """Make one and look at it at once, as a schedule does; where it is, and what is wrong with it."""
    backup, _ = await create(instance, folder)
    faults = await verify(backup, instance.keys)
    await note_verified(backup, faults, drill=False)
    return backup, faults


async def note_verified(backup: Path, faults: list[str], *, drill: bool) -> None:
    """Remember for the next look at the folder that this one was verified."""
    seen = Verification(datetime.now(UTC), drill, len(faults))
    await asyncio.to_thread(folders.write_verification, backup, seen)


async def each(items: Iterable[T], work: Callable[[T], Awaitable[None]]) -> None:
    """Work on all of them, a few at once; the first failure ends it."""
    waiting = iter(items)

    async def lane() -> None:
        for item in waiting:
            await work(item)

    lanes = [asyncio.create_task(lane()) for _ in range(_AT_ONCE)]
    try:
        await asyncio.gather(*lanes)
    finally:
        for one in lanes:
            one.cancel()


def _silently(size: int) -> None:
    """Progress that is not shown."""


def _unhexed(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""
