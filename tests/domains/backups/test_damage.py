"""Whatever happens to a backup, `verify` names it; a whole one has no faults."""

import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec
import pytest

from atrium.admin.backups import folder as folders
from atrium.admin.backups import restoration, service
from atrium.admin.backups.model import BackupManifest, BackupRefused
from atrium.kit.crypto.keys import Keyring
from atrium.kit.postgres.migrate import read_migrations
from tests.domains.backups.instances import put, source
from tests.support.servers import SECRET

KEYS, OTHER = Keyring(SECRET), Keyring("another key that nothing here was ever sealed with")
BODY = b"bytes that are worth keeping " * 50


@pytest.fixture(scope="module")
async def made() -> AsyncIterator[Path]:
    async with source() as found:
        await put(found.writer, "a.txt", BODY)
        await found.writer.post("/api/notes", {"title": "a note"})
        yield await found.back_up()


@pytest.fixture
def backup(made: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    shutil.copytree(made.parent, tmp_path / "copy")
    return tmp_path / "copy" / made.name


def blob_of(backup: Path) -> Path:
    (found,) = (backup.parent / "blobs").glob("*/*")
    return found


def flip(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 1
    path.write_bytes(whole)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def edit(backup: Path, **changes: object) -> None:
    manifest = msgspec.json.decode((backup / folders.MANIFEST).read_bytes(), type=BackupManifest)
    folders.write_manifest(backup, msgspec.structs.replace(manifest, **changes))


def swap_dump(backup: Path) -> None:
    """Another dump, and a manifest made to agree with it by an editor without the key."""
    (backup / folders.DUMP).write_bytes(b"another dump")
    digest, size = folders.digest_of(backup / folders.DUMP)
    manifest = msgspec.json.decode((backup / folders.MANIFEST).read_bytes(), type=BackupManifest)
    edit(backup, files=manifest.files | {folders.DUMP: digest}, sizes=manifest.sizes | {folders.DUMP: size})


async def test_a_whole_backup_has_no_faults(backup: Path) -> None:
    assert await service.verify(backup, KEYS) == []


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (lambda b: flip(b / folders.DUMP), "database.dump is damaged"),
        (lambda b: cut(b / folders.DUMP), "database.dump was cut"),
        (lambda b: (b / folders.DUMP).unlink(), "database.dump is missing"),
        (lambda b: flip(b / folders.BLOBS), "blobs.txt is damaged"),
        (lambda b: cut(b / folders.BLOBS), "blobs.txt was cut"),
        (lambda b: (b / folders.BLOBS).unlink(), "blobs.txt is missing"),
        (lambda b: flip(blob_of(b)), "is damaged: its bytes are not those that were written"),
        (lambda b: cut(blob_of(b)), f"was cut: it has {len(BODY) - 7} of {len(BODY)} bytes"),
        (lambda b: blob_of(b).unlink(), "is missing"),
        (lambda b: (b / folders.MANIFEST).unlink(), "manifest.json is missing"),
        (lambda b: cut(b / folders.MANIFEST), "manifest.json is damaged"),
        (lambda b: edit(b, generation=7), "manifest.json was edited"),
        (lambda b: edit(b, tables={}), "manifest.json was edited"),
        (lambda b: edit(b, files={}), "manifest.json was edited"),
        (swap_dump, "manifest.json was edited"),
        (lambda b: edit(b, signature=""), "manifest.json was edited"),
        (lambda b: edit(b, key_ids=OTHER.ids()), "made with another key"),
        (lambda b: edit(b, key_ids=[]), "made with another key"),
    ],
)
async def test_damage_is_named(backup: Path, damage: Callable[[Path], object], named: str) -> None:
    damage(backup)

    faults = await service.verify(backup, KEYS)

    assert any(named in fault for fault in faults), faults


async def test_a_space_in_the_manifest_is_an_edit_too(backup: Path) -> None:
    file = backup / folders.MANIFEST
    file.write_bytes(file.read_bytes() + b" ")

    assert "manifest.json was edited after the backup was made" in await service.verify(backup, KEYS)


async def test_another_key_is_named_by_verify_and_refused_by_a_restore(backup: Path) -> None:
    faults = await service.verify(backup, OTHER)

    assert "made with another key" in faults[0]
    with pytest.raises(BackupRefused, match="made with another key"):
        await restoration.require_restorable(backup, OTHER)


async def test_a_newer_schema_is_refused_with_both_numbers(backup: Path) -> None:
    manifest = (service.read_manifest(backup, KEYS))[0]
    assert manifest is not None
    number = len(read_migrations())
    newer = msgspec.structs.replace(manifest, schema=msgspec.structs.replace(manifest.schema, number=number + 1))
    folders.write_manifest(backup, service.sign_manifest(newer, KEYS))

    with pytest.raises(BackupRefused, match=f"schema is at {number + 1} and this program knows {number};"):
        await restoration.require_restorable(backup, KEYS)
