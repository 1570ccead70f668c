"""The folder of backups: one subfolder for each, and the bytes of all of them once, by digest."""

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, TypeVar
from uuid import uuid4

import msgspec

from atrium.admin.backups.model import BackupManifest, BackupRefused, StoredBackup, Verification

MANIFEST, DUMP, BLOBS, VERIFIED = "manifest.json", "database.dump", "blobs.txt", "verified.json"
_MAKING, _PIECE = ".making-", 1 << 20
_STAMP = "%Y%m%dT%H%M%SZ"
T = TypeVar("T")


class BackupBusy(BackupRefused):
    """Another process is working on the folder."""


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """The folder, made when it is not there, for one process at a time; what an ended one left half done is dropped."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise BackupRefused(f"the folder {str(folder)!r} cannot be used for backups: {error.strerror}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BackupBusy(
                f"another process is making or pruning backups in {folder}; try again when it is done"
            ) from error
        for left in folder.glob(f"{_MAKING}*"):
            shutil.rmtree(left, ignore_errors=True)
        yield


@contextlib.contextmanager
def open_draft(folder: Path, now: datetime) -> Iterator[Path]:
    """A subfolder for a backup in the making; it counts once `finish` gave it its name, and is dropped if that never happens."""
    draft = folder / f"{_MAKING}{now.astimezone(UTC).strftime(_STAMP)}"
    draft.mkdir(mode=0o700)
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def finish(draft: Path) -> Path:
    """Everything on disk, then the name: a backup that can be seen is whole."""
    os.sync()
    stamp = draft.name.removeprefix(_MAKING)
    names = (stamp if number == 1 else f"{stamp}-{number}" for number in range(1, 1000))
    place = next(place for name in names if not (place := draft.with_name(name)).exists())
    draft.rename(place)
    os.sync()
    return place


def list_backups(folder: Path) -> list[StoredBackup]:
    """What is there, oldest first."""
    return [_kept(one) for one in _stamped(folder)]


def find_newest(folder: Path) -> StoredBackup | None:
    """The newest backup whose manifest can be read; None when there is none, or the folder cannot be read."""
    try:
        kept = (_kept(one) for one in reversed(_stamped(folder)))
        return next((one for one in kept if one.manifest is not None), None)
    except OSError:
        return None


def _stamped(folder: Path) -> list[Path]:
    found = (one for one in folder.iterdir() if _is_stamp(one.name)) if folder.is_dir() else ()
    return sorted(found, key=lambda one: one.name)


def prune(folder: Path, keep: int) -> tuple[list[str], int]:
    """Drop all but the newest backups, and the bytes that none of those names; which ones, and how many bytes were freed.

    Nothing is dropped while a backup that stays does not say for certain which bytes it needs.
    """
    kept = list_backups(folder)
    dropped = [one.stamp for one in kept[: max(0, len(kept) - keep)]]
    for one in kept[len(dropped) :]:
        _require_list(folder / one.stamp, one.manifest)
    for stamp in dropped:
        shutil.rmtree(folder / stamp)
    named = {digest for one in kept[len(dropped) :] for _, digest, _ in read_list(folder / one.stamp)}
    freed = 0
    for file in (folder / "blobs").glob("*/*"):
        if file.name not in named:
            freed += file.stat().st_size
            file.unlink()
    return dropped, freed


def _require_list(backup: Path, manifest: BackupManifest | None) -> None:
    fault = f"{MANIFEST} cannot be read"
    if manifest is not None:
        fault = fault_of(backup / BLOBS, BLOBS, manifest.files.get(BLOBS, ""), manifest.sizes.get(BLOBS)) or ""
    if fault:
        raise BackupRefused(
            f"nothing was dropped: in the backup {backup.name} {fault}, so the bytes it needs are not known;"
            " keep more backups, or delete that one's folder first"
        )


def place_of(folder: Path, digest: str) -> Path:
    """Where bytes are kept, for all backups of a folder."""
    return folder / "blobs" / digest[:2] / digest


def has_bytes(folder: Path, digest: str, size: int) -> bool:
    """Whether so many bytes are there; what a crash cut short is not."""
    try:
        return place_of(folder, digest).stat().st_size == size
    except OSError:
        return False


def write_bytes(folder: Path, digest: str, pieces: Iterable[bytes]) -> bool:
    """Keep bytes under their digest; False, with nothing kept, when they have another."""
    place = place_of(folder, digest)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    near, hashed = place.with_name(f".{uuid4().hex}"), hashlib.sha256()
    try:
        with near.open("xb") as file:
            for piece in pieces:
                hashed.update(piece)
                file.write(piece)
        if hashed.hexdigest() != digest:
            return False
        near.rename(place)
    finally:
        near.unlink(missing_ok=True)
    return True


def digest_of(path: Path) -> tuple[str, int]:
    """The SHA-256 of a file, and its size."""
    with path.open("rb") as file:
        return _hashed(file, None)


def _hashed(file: BinaryIO, copy: BinaryIO | None) -> tuple[str, int]:
    hashed, size = hashlib.sha256(), 0
    while piece := file.read(_PIECE):
        hashed.update(piece)
        size += len(piece)
        if copy is not None:
            copy.write(piece)
    return hashed.hexdigest(), size


def fault_of(path: Path, name: str, digest: str, size: int | None) -> str | None:
    """What is wrong with a file, in words; None when it is as it was written."""
    try:
        with path.open("rb") as file:
            return fault_in(file, name, digest, size)
    except FileNotFoundError:
        return f"{name} is missing"
    except OSError as error:
        return f"{name} cannot be read: {error.strerror}"


def fault_in(file: BinaryIO, name: str, digest: str, size: int | None, copy: BinaryIO | None = None) -> str | None:
    """The same for an open one, copied on the way when there is somewhere to."""
    found, length = _hashed(file, copy)
    if size is not None and length < size:
        return f"{name} was cut: it has {length} of {size} bytes"
    if found != digest or size not in (None, length):
        return f"{name} is damaged: its bytes are not those that were written"
    return None


def read_list(backup: Path) -> Iterator[tuple[str, str, int]]:
    """Company, digest and size of every blob of a backup; a list that cannot be read has none."""
    with contextlib.suppress(OSError, ValueError), (backup / BLOBS).open() as lines:
        for line in lines:
            org_id, digest, size = line.split()
            yield org_id, digest, int(size)


def measure(backup: Path) -> int:
    """How many bytes there are to read."""
    files = (backup / name for name in (DUMP, BLOBS))
    return sum(one.stat().st_size for one in files if one.exists()) + sum(
        {d: n for _, d, n in read_list(backup)}.values()
    )


def write_manifest(backup: Path, manifest: BackupManifest) -> None:
    """In one spelling, so that every edit shows."""
    (backup / MANIFEST).write_bytes(encode_manifest(manifest))


def encode_manifest(manifest: BackupManifest) -> bytes:
    """The one spelling of a manifest."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"


def write_verification(backup: Path, found: Verification) -> None:
    """Remember that it was looked at; a folder that cannot be written to remembers nothing."""
    with contextlib.suppress(OSError):
        (backup / VERIFIED).write_bytes(msgspec.json.encode(found) + b"\n")


def _kept(backup: Path) -> StoredBackup:
    return StoredBackup(
        backup.name, _decoded(backup / MANIFEST, BackupManifest), _decoded(backup / VERIFIED, Verification)
    )


def _decoded(path: Path, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _is_stamp(name: str) -> bool:
    try:
        datetime.strptime(name.partition("-")[0], _STAMP)
    except ValueError:
        return False
    return True
