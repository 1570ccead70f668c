"""A folder of files in the making: bytes arrive here, are hashed on the way, and wait until they are taken.

A file is locked while its writer lives. The kernel drops the lock with the process, so a file that can be locked was left
by a process that died: its name then says what it was to become.
"""

import asyncio
import contextlib
import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar
from uuid import UUID

from atrium.kit.crypto.checksums import new_hasher
from atrium.kit.ids import new_id

T = TypeVar("T")
LARGEST_BATCH, SMALLEST_BATCH, MEMORY = 1 << 20, 1 << 16, 12 << 20
PART, SEALED = ".part", ".sealed"


class Digests(Protocol):
    """What some bytes hash to."""

    @property
    def sha256(self) -> bytes:
        """Always computed."""

    @property
    def hashes(self) -> dict[str, bytes]:
        """Those that were asked for."""


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A finished file: complete, synced to disk, hashed."""

    path: Path
    namespace: UUID
    sha256: bytes
    size: int
    hashes: dict[str, bytes]


@dataclass(frozen=True, slots=True)
class _Hashed:
    sha256: bytes
    hashes: dict[str, bytes]


def digests_of(whole: bytes, hashes: Iterable[str]) -> Digests:
    """The same for a few bytes in memory."""
    found = {name: new_hasher(name) for name in hashes}
    for one in found.values():
        one.update(whole)
    return _Hashed(hashlib.sha256(whole).digest(), {name: one.digest() for name, one in found.items()})


@dataclass(frozen=True, slots=True)
class Leftover:
    """A file whose writer died; `namespace` and `sha256` are known when it had been finished."""

    path: Path
    namespace: UUID | None
    sha256: bytes | None


class StagingArea:
    """The folder, and the threads that hash and write; made once per process."""

    def __init__(self, folder: Path, threads: int = 8) -> None:
        self.folder = folder
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="staging")
        self.writing = 0

    def writer(self, namespace: UUID, hashes: Iterable[str] = ()) -> "Writer":
        """A fresh file; SHA-256 is always computed, others when named."""
        return Writer(self, namespace, hashes)

    @property
    def batch(self) -> int:
        """Bytes a writer gathers before they go to a thread: less each when many write, so that memory stays bounded."""
        return max(SMALLEST_BATCH, min(LARGEST_BATCH, MEMORY // max(1, self.writing)))

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """Do something slow beside the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

    def leftovers(self, seconds: float) -> list[Leftover]:
        """Files untouched for this long that no process has locked."""
        if not self.folder.is_dir():
            return []
        before = time.time() - seconds
        return [_leftover(path) for path in self.folder.iterdir() if _is_left(path, before)]

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=True)


class Writer:
    """Takes chunks, hands them in batches to a thread (one batch in flight), and ends as a Staged or as nothing."""

    def __init__(self, area: StagingArea, namespace: UUID, hashes: Iterable[str]) -> None:
        self._area, self._namespace = area, namespace
        self._path = area.folder / f"{new_id().hex}{PART}"
        self._sha256 = hashlib.sha256()
        self._others = {name: new_hasher(name) for name in hashes}
        self._chunks: list[bytes] = []
        self._waiting = self.size = 0
        self._file: int | None = None
        self._flight: asyncio.Future[None] | None = None
        area.writing += 1

    async def write(self, chunk: bytes) -> None:
        """Take a chunk; waits while a whole batch is still being written."""
        self._chunks.append(chunk)
        self._waiting += len(chunk)
        self.size += len(chunk)
        if self._waiting >= self._area.batch:
            await self._landed()
            self._depart()

    async def finish(self) -> StagedFile:
        """Everything on disk, under a name that says what it is."""
        await self._landed()
        chunks, self._chunks = self._chunks, []
        self._path = await self._area.run(self._seal, chunks)
        hashes = {name: one.digest() for name, one in self._others.items()}
        return StagedFile(self._path, self._namespace, self._sha256.digest(), self.size, hashes)

    async def discard(self) -> None:
        """Remove the file."""
        await self._end(self._path)

    async def leave(self) -> None:
        """Close the file without removing it: the next sweep decides what happens to it."""
        await self._end(None)

    def _depart(self) -> None:
        chunks, self._chunks, self._waiting = self._chunks, [], 0
        self._flight = asyncio.ensure_future(self._area.run(self._absorb, chunks))

    async def _landed(self) -> None:
        if self._flight is not None:
            flight, self._flight = self._flight, None
            await flight

    async def _end(self, remove: Path | None) -> None:
        if self._flight is not None:
            await asyncio.wait({self._flight})
        self._area.writing -= 1
        await self._area.run(_close, self._file, remove)

    def _absorb(self, chunks: list[bytes]) -> None:
        data = b"".join(chunks)
        self._sha256.update(data)
        for one in self._others.values():
            one.update(data)
        if self._file is None:
            self._file = _create(self._path)
        _write_all(self._file, data)

    def _seal(self, chunks: list[bytes]) -> Path:
        self._absorb(chunks)
        if self._file is None:
            raise RuntimeError("absorbing opens the file")
        os.fsync(self._file)
        sealed = self._path.with_name(
            f"{self._path.stem}.{self._namespace.hex}.{self._sha256.hexdigest()}{SEALED}",
        )
        os.rename(self._path, sealed)
        return sealed


def _create(path: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        file = os.open(path, flags, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, flags, 0o600)
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _close(file: int | None, remove: Path | None) -> None:
    if file is None:
        return
    if remove is not None:
        remove.unlink(missing_ok=True)
    os.close(file)


def _is_left(path: Path, before: float) -> bool:
    with contextlib.suppress(OSError):
        if path.stat().st_mtime > before:
            return False
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        finally:
            os.close(file)
    return False


def _leftover(path: Path) -> Leftover:
    parts = path.name.split(".")
    if len(parts) == 4 and path.name.endswith(SEALED):
        with contextlib.suppress(ValueError):
            return Leftover(path, UUID(hex=parts[1]), bytes.fromhex(parts[2]))
    return Leftover(path, None, None)
