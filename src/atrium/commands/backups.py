"""`atrium backup` and `atrium restore`: what a person does with backups at the machine."""

import asyncio
import sys
import time
from pathlib import Path

import msgspec

from atrium.admin.backups import folder as folders
from atrium.admin.backups import restoration, service
from atrium.admin.backups.model import BackupManifest, BackupRefused, StoredBackup
from atrium.boot.instance import LOCAL_EXTRA, back_up, instance_of, reach_instance
from atrium.boot.postgres import throwaway_postgres
from atrium.boot.requirements import explain_database_errors, require_keys, require_known_database, require_known_schema
from atrium.commands.blobs import Bar
from atrium.kit.crypto.keys import Keyring, find_secret
from atrium.kit.postgres.snapshots import begin_as_owner
from atrium.seams.blobs import close_store
from atrium.seams.settings import Settings, search_path


def create_backup(settings: Settings, folder: Path) -> int:
    """Make one, and say where."""
    with reach_instance(settings) as found:
        asyncio.run(_create(found, folder))
    return 0


async def _create(settings: Settings, folder: Path) -> Path:
    await require_known_database(settings)
    began = time.monotonic()
    backup, manifest = await back_up(settings, folder)
    print(f"{backup}: {_summary(manifest)}, in {time.monotonic() - began:.1f} s")
    for line in manifest.missing:
        print(f"the blob store had lost before: {line}", file=sys.stderr)
    return backup


def list_backups(folder: Path, *, as_json: bool) -> int:
    """What is there, oldest first."""
    kept = folders.list_backups(folder)
    if as_json:
        print(msgspec.json.format(msgspec.json.encode(kept), indent=1).decode())
    for one in () if as_json else kept:
        print(_line_of(one))
    return 0


def _line_of(one: StoredBackup) -> str:
    if one.manifest is None:
        return f"{one.stamp}  its manifest cannot be read"
    seen = one.verification
    verified = "never verified"
    if seen is not None:
        verified = f"verified {seen.verified_at:%Y-%m-%d %H:%M} UTC" + (
            f", {seen.faults} faults" if seen.faults else ""
        )
    return f"{one.stamp}  {_summary(one.manifest)}, {verified}"


def _summary(manifest: BackupManifest) -> str:
    rows, blobs = sum(manifest.tables.values()), manifest.blobs
    return (
        f"{rows} rows at schema {manifest.schema.number}, {blobs.count} blobs with {blobs.bytes / 1e6:,.1f} MB"
        f" ({blobs.copied / 1e6:,.1f} MB copied)"
    )


def prune_backups(folder: Path, keep: int) -> int:
    """Drop all but the newest, and bytes that only dropped ones name."""
    if keep < 1:
        raise BackupRefused("--keep takes a number of at least 1")
    with folders.alone_in(folder):
        dropped, freed = folders.prune(folder, keep)
    print("\n".join([*(f"dropped {stamp}" for stamp in dropped), f"{freed / 1e6:,.1f} MB of bytes freed"]))
    return 0


def verify_backup(settings: Settings, backup: Path, *, drill: bool) -> int:
    """Name every fault; 1 when there is one."""
    keys = _keys_of(settings)
    bar = Bar(folders.measure(backup))
    faults = asyncio.run(service.verify(backup, keys, bar.add))
    bar.clear()
    if drill and not faults:
        faults = _drill(settings, backup, keys)
    asyncio.run(service.note_verified(backup, faults, drill=drill))
    for fault in faults:
        print(f"fault: {fault}")
    print(f"{backup}: {len(faults)} faults" + (", restored on trial" if drill and not faults else ""))
    return 1 if faults else 0


def _keys_of(settings: Settings) -> Keyring:
    """A backup can be looked at where no database is; its key has to be there."""
    if find_secret(settings.secret_key, settings.data_dir) is None:
        raise BackupRefused("a backup is verified with its instance's key: set SERVICE_SECRET_KEY or SERVICE_DATA_DIR")
    return require_keys(settings)


def _drill(settings: Settings, backup: Path, keys: Keyring) -> list[str]:
    """Load the rows into a PostgreSQL that is thrown away, and compare."""
    try:
        with throwaway_postgres() as url:
            return asyncio.run(_trial(backup, keys, url))
    except ImportError as error:
        raise BackupRefused(LOCAL_EXTRA) from error


async def _trial(backup: Path, keys: Keyring, url: str) -> list[str]:
    manifest = await restoration.require_restorable(backup, keys)
    await restoration.load(url, backup, search_path())
    async with begin_as_owner(url) as db:
        return service.differences(manifest, backup, await service.read_facts(db))


def restore_backup(settings: Settings, backup: Path, *, replace_people: bool) -> int:
    """Put a backup in the place of nothing, or of what is there when that is asked for."""
    keys = _keys_of(settings)
    manifest = asyncio.run(restoration.require_restorable(backup, keys))
    with reach_instance(settings, new=True) as found:
        asyncio.run(_restore(found, backup, manifest, replace_people=replace_people))
    return 0


async def _restore(settings: Settings, backup: Path, manifest: BackupManifest, *, replace_people: bool) -> None:
    began = time.monotonic()
    await require_known_schema(settings)
    instance = instance_of(settings, restored=True)
    bar = Bar(manifest.blobs.bytes)
    try:
        with explain_database_errors():
            if await restoration.require_empty(instance.url, replace=replace_people):
                print("making a backup of what is replaced")
                await _create(settings, backup.parent)
            generation = await restoration.restore(instance, backup, manifest, bar.add)
    finally:
        await close_store(instance.blobs)
    bar.clear()
    print(f"restored {_summary(manifest)}, as generation {generation}, in {time.monotonic() - began:.1f} s")
