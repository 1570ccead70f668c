"""Blobs as local files: linked into place when complete and synced, so that what can be opened can be trusted."""

import asyncio
import errno
import os
import re
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID, uuid4

from atrium.sdk import BlobMissing

T = TypeVar("T")
PIECE = 256 << 10
# What a filesystem answers that cannot link: another device, or no hard links at all.
_UNLINKABLE = frozenset({errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.EMLINK})
_NOWAIT: int = os.RWF_NOWAIT
_SHA256 = re.compile(r"[0-9a-f]{64}")


class LocalStore:
    """`<root>/<namespace>/<aa>/<bb>/<sha256>`."""

    def __init__(self, root: Path, threads: int = 16) -> None:
        self._root = root
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="rs3")

    async def put(self, namespace: UUID, sha256: bytes, staged: Path) -> None:
        """Link the staged file into place."""
        await self._run(_put, self._root, self._place(namespace, sha256), staged)

    async def get(
        self, namespace: UUID, sha256: bytes, start: int = 0, stop: int | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Pieces of the file: what the kernel has in memory at once, the rest by a thread that may wait for the disk."""
        # Opening asks the kernel for a name, like `stat`: a thread's detour costs more than the answer.
        file, size = _open(self._place(namespace, sha256))
        end = size if stop is None else min(stop, size)
        try:
            while start < end:
                wanted = min(PIECE, end - start)
                if _is_in_memory(file, wanted, start):
                    piece = os.pread(file, wanted, start)
                else:
                    piece = await self._run(os.pread, file, wanted, start)
                if not piece:
                    raise BlobMissing(f"{sha256.hex()} ends early")
                start += len(piece)
                yield piece
        finally:
            os.close(file)

    async def delete(self, namespace: UUID, sha256: bytes) -> None:
        """Unlink the file."""
        await self._run(lambda: self._place(namespace, sha256).unlink(missing_ok=True))

    async def stat(self, namespace: UUID, sha256: bytes) -> int | None:
        """The file's size. One call to the kernel, which a thread would only slow down."""
        try:
            return os.stat(self._place(namespace, sha256)).st_size
        except FileNotFoundError:
            return None

    async def walk(self) -> AsyncIterator[tuple[UUID, bytes]]:
        """Every file that has a blob's name, folder by folder."""
        for namespace in await self._run(_folders, self._root):
            for first in await self._run(_folders, namespace):
                for name in await self._run(_names_below, first):
                    yield UUID(namespace.name), bytes.fromhex(name)

    async def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=True)

    def _place(self, namespace: UUID, sha256: bytes) -> Path:
        name = sha256.hex()
        return self._root / str(namespace) / name[:2] / name[2:4] / name

    def _run(self, work: Callable[..., T], *arguments: Any) -> asyncio.Future[T]:
        return asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)


def _put(root: Path, place: Path, staged: Path) -> None:
    try:
        _link(place, staged)
    except FileNotFoundError:
        if not staged.exists():
            raise
        _make_folders(root, place.parent)
        _link(place, staged)
    # Also when another process has just linked it: its sync may not have happened yet, and we are about to rely on it.
    _sync(place.parent)


def _link(place: Path, staged: Path) -> None:
    try:
        os.link(staged, place)
    except FileExistsError:
        return
    except OSError as error:
        if error.errno not in _UNLINKABLE:
            raise
        _copy(place, staged)


def _copy(place: Path, staged: Path) -> None:
    near = place.with_name(f".{uuid4().hex}")
    try:
        with staged.open("rb") as source, near.open("xb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
            target.flush()
            os.fsync(target.fileno())
        near.rename(place)
    finally:
        near.unlink(missing_ok=True)


def _make_folders(root: Path, folder: Path) -> None:
    if not folder.is_dir():
        if folder != root:
            _make_folders(root, folder.parent)
        folder.mkdir(exist_ok=True, parents=folder == root)
        _sync(folder.parent)


def _sync(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _open(place: Path) -> tuple[int, int]:
    try:
        file = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise BlobMissing(place.name) from error
    size = os.fstat(file).st_size
    if size > PIECE:
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_SEQUENTIAL)
    return file, size


def _is_in_memory(file: int, size: int, start: int) -> bool:
    """Whether no disk needs to be asked for a piece, by its two ends: the kernel reads ahead and forgets in runs.

    Then a thread's detour would cost more than copying it.
    """
    byte = bytearray(1)
    try:
        return all(os.preadv(file, [byte], at, _NOWAIT) == 1 for at in (start, start + size - 1))
    except OSError:  # not in memory, or a filesystem that cannot tell
        return False


def _folders(path: Path) -> list[Path]:
    return sorted(one for one in path.iterdir() if one.is_dir()) if path.is_dir() else []


def _names_below(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.glob("*/*") if _SHA256.fullmatch(one.name))
