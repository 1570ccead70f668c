"""Putting a backup back: bytes first, then the rows in one transaction, and a new generation last."""

import asyncio
import hashlib
import os
from pathlib import Path
from uuid import UUID, uuid4

from atrium.admin.backups import folder as folders
from atrium.admin.backups import service, store
from atrium.admin.backups.model import FORMAT, BackupFailed, BackupManifest, BackupRefused, BlobName, InstanceAccess
from atrium.kit.crypto.keys import Keyring
from atrium.kit.postgres import dumps
from atrium.kit.postgres.migrate import ROLES, make_roles, migrate, read_migrations
from atrium.kit.postgres.snapshots import begin_as_owner
from atrium.seams.blobs import BlobMissing


async def require_restorable(backup: Path, keys: Keyring) -> BackupManifest:
    """The manifest of a backup that this program and this key can restore."""
    manifest, faults = await asyncio.to_thread(service.read_manifest, backup, keys)
    if manifest is None or faults:
        raise BackupRefused(f"{backup} cannot be restored: {'; '.join(faults)}")
    if manifest.format > FORMAT:
        raise BackupRefused(f"the backup has format {manifest.format} and this program knows {FORMAT}; use a newer one")
    known = read_migrations()
    if manifest.schema.number > len(known):
        raise BackupRefused(
            f"the backup's schema is at {manifest.schema.number} and this program knows {len(known)};"
            " use a program as new as the schema"
        )
    if known[manifest.schema.number - 1].checksum != manifest.schema.checksum:
        raise BackupRefused("the backup's schema was made by other migrations than this program's")
    return manifest


async def require_empty(url: str, *, replace: bool) -> bool:
    """Refuse a database that holds people, unless they are to be replaced, or another program's tables; whether it holds people."""
    async with begin_as_owner(url) as db:
        if await store.read_schema(db) is None:
            if await store.list_tables(db):
                raise BackupRefused("this database holds tables of another program; restore into an empty one")
            return False
        people = await store.has_people(db)
        if people and not replace:
            raise BackupRefused(
                "this instance has people; restore into an empty one, or say --replace, which makes a backup of it first"
            )
        if await store.count_others(db):
            raise BackupRefused("other processes are connected to this database; stop every `atrium` process first")
        return people


async def restore(
    instance: InstanceAccess, backup: Path, manifest: BackupManifest, progress: service.Progress | None = None
) -> int:
    """Put bytes and rows back, bring the schema to this program's, and begin a new generation, which is returned."""
    await _require_whole(backup, manifest)
    await put_blobs(instance, backup, progress)
    before = await _empty(instance.url)
    await load(instance.url, backup, instance.search_path)
    await _require_equal(instance.url, backup, manifest)
    await migrate(instance.url)
    async with begin_as_owner(instance.url) as db:
        await store.empty_feed(db)
        await store.analyze(db)
        return await store.raise_generation(db, max(before, manifest.generation))


async def load(url: str, backup: Path, search_path: str) -> None:
    """The rows of a backup into an empty database: roles first, everything in one transaction, then what those roles own."""
    programs, file = await asyncio.to_thread(dumps.find_programs, search_path), backup / folders.DUMP
    contents = await dumps.list_contents(programs, file)
    await make_roles(url)
    async with begin_as_owner(url) as db:
        server = await store.read_server(db)
    await dumps.load(dumps.load_programs(programs, contents.major, server.major), url, file)
    async with begin_as_owner(url) as db:
        for name, owner in contents.functions:
            if owner in ROLES:
                await store.give_function(db, owner, name)


async def _require_whole(backup: Path, manifest: BackupManifest) -> None:
    for name, digest in manifest.files.items():
        fault = await asyncio.to_thread(folders.fault_of, backup / name, name, digest, manifest.sizes.get(name))
        if fault is not None:
            raise BackupFailed(f"{fault}; nothing was changed")


async def put_blobs(instance: InstanceAccess, backup: Path, progress: service.Progress | None = None) -> None:
    """Bytes before rows: what stops here leaves bytes that no row names, and changes nothing else."""
    await asyncio.to_thread(lambda: instance.staging.mkdir(parents=True, exist_ok=True))

    async def put(item: tuple[str, str, int]) -> None:
        one = BlobName(UUID(item[0]), bytes.fromhex(item[1]), item[2], True)
        if not await _has(instance, one):
            await _put_one(instance, backup, one)
        if progress is not None:
            progress(one.size)

    await service.each(folders.read_list(backup), put)
    # Once, before any row names them, in place of waiting for the disk with each.
    await asyncio.to_thread(os.sync)


async def _has(instance: InstanceAccess, one: BlobName) -> bool:
    """Whether the store has these bytes, read again; damaged ones are dropped to make way."""
    if await instance.blobs.stat(one.org_id, one.sha256) is None:
        return False
    hashed = hashlib.sha256()
    try:
        async for piece in instance.blobs.get(one.org_id, one.sha256):
            await asyncio.to_thread(hashed.update, piece)
    except BlobMissing:
        return False
    if hashed.digest() == one.sha256:
        return True
    await instance.blobs.delete(one.org_id, one.sha256)
    return False


async def _put_one(instance: InstanceAccess, backup: Path, one: BlobName) -> None:
    digest, staged = one.sha256.hex(), instance.staging / f"restore-{uuid4().hex}"
    try:
        fault = await asyncio.to_thread(_stage, folders.place_of(backup.parent, digest), staged, digest, one.size)
        if fault is not None:
            raise BackupFailed(f"{fault}; the database was not changed")
        await instance.blobs.put(one.org_id, one.sha256, staged)
    finally:
        await asyncio.to_thread(lambda: staged.unlink(missing_ok=True))


def _stage(source: Path, staged: Path, digest: str, size: int) -> str | None:
    """A copy of its own: bytes that the store and the backup shared would be damaged together."""
    try:
        with source.open("rb") as file, staged.open("xb") as target:
            return folders.fault_in(file, f"blob {digest}", digest, size, target)
    except FileNotFoundError:
        return f"blob {digest} is missing"


async def _empty(url: str) -> int:
    """Drop what is there; the generation it had."""
    async with begin_as_owner(url) as db:
        if await store.read_schema(db) is None:
            return 0
        before = await store.read_generation(db)
        await store.empty_database(db)
    return before


async def _require_equal(url: str, backup: Path, manifest: BackupManifest) -> None:
    async with begin_as_owner(url) as db:
        if not (await store.read_server(db)).sees_everything:
            return
        found = service.differences(manifest, backup, await service.read_facts(db))
    if found:
        raise BackupFailed(f"the restored rows differ from the backup: {'; '.join(found)}")
