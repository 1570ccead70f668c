"""Zip archives as streams: stored, of a length that is known beforehand, no more of them in memory than a piece."""

import zipfile
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import aclosing
from datetime import UTC, datetime

import msgspec

# A piece goes out once it has so many bytes: small files would each be three.
_PIECE = 1 << 16
_LOCAL, _CENTRAL, _END, _LARGE_END = 30, 46, 22, 56 + 20
_MOST_ENTRIES = 0xFFFF
_FIRST, _LAST = datetime(1980, 1, 1, tzinfo=UTC), datetime(2107, 12, 31, tzinfo=UTC)
_FILE, _FOLDER = 0o100644 << 16, 0o40755 << 16 | 0x10


class ArchiveEntry(msgspec.Struct, frozen=True):
    """What an archive says of a file; a name that ends in `/` is a folder's."""

    name: str
    size: int
    modified: datetime


def length_of(entries: Collection[ArchiveEntry]) -> int:
    """The exact number of bytes of an archive."""
    at, central = 0, 0
    for entry in entries:
        name, large = len(entry.name.encode()), entry.size > zipfile.ZIP64_LIMIT
        wide = (16 if large else 0) + (8 if at > zipfile.ZIP64_LIMIT else 0)
        central += _CENTRAL + name + (4 + wide if wide else 0)
        at += _LOCAL + name + (20 if large else 0) + entry.size + (24 if large else 16)
    beyond = max(at, central) > zipfile.ZIP64_LIMIT or len(entries) > _MOST_ENTRIES
    return at + central + (_LARGE_END if beyond else 0) + _END


async def pack(
    entries: Collection[ArchiveEntry], read: Callable[[int], AsyncGenerator[bytes, None]]
) -> AsyncGenerator[bytes, None]:
    """The archive of these, piece by piece; `read` gives the bytes of the entry at an index."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:  # type: ignore[call-overload]
        for index, entry in enumerate(entries):
            with archive.open(_info_of(entry), "w", force_zip64=entry.size > zipfile.ZIP64_LIMIT) as target:
                async with aclosing(read(index)) as source:
                    async for piece in source:
                        target.write(piece)
                        if sink.size >= _PIECE:
                            yield sink.take()
    yield sink.take()


def _info_of(entry: ArchiveEntry) -> zipfile.ZipInfo:
    at = min(max(entry.modified.astimezone(UTC), _FIRST), _LAST)
    info = zipfile.ZipInfo(entry.name, (at.year, at.month, at.day, at.hour, at.minute, at.second))
    info.external_attr = _FOLDER if info.is_dir() else _FILE
    return info


class _Sink:
    """Takes what is written until it is sent. It cannot go back, so sizes and checksums follow the bytes."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.size = 0

    def write(self, piece: bytes) -> int:
        self._pieces.append(bytes(piece))
        self.size += len(piece)
        return len(piece)

    def flush(self) -> None:
        """Nothing waits here but for `take`."""

    def take(self) -> bytes:
        """What was written since it was last asked."""
        taken = b"".join(self._pieces)
        self._pieces, self.size = [], 0
        return taken
