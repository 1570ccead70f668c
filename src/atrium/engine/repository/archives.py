"""Archives: what a caller can read of a folder, or of some objects, in one file."""

import re
from collections.abc import AsyncGenerator
from itertools import takewhile
from uuid import UUID

from atrium.engine.repository import listing_rows, permissions, service
from atrium.engine.repository.listing_rows import Packed
from atrium.engine.repository.model import Filter, ObjectMissing
from atrium.engine.repository.object_keys import name_in
from atrium.ground.access import service as access
from atrium.kit.errors import TooLarge
from atrium.kit.files.archive import ArchiveEntry, length_of, pack
from atrium.seams.context import Context, Operation

MOST, MOST_BYTES = 10_000, 20 << 30
# So many objects are looked at again together, before the first of them is sent.
_TOGETHER = 200
_UNSAFE = re.compile("[\x00-\x1f\x7f\\\\]")
_DRIVE = re.compile("^([A-Za-z]):")


async def find_packed(op: Operation, prefix: str, ids: list[UUID] | None) -> list[Packed]:
    """What an archive will hold: what the caller can read now of these objects, or below a prefix; too much is refused."""
    async with op.begin() as ctx:
        access.note_checked(ctx, "files:read")
        if ids is not None:
            found = await listing_rows.list_packed(ctx.db, ctx.who, ids)
        else:
            found = await listing_rows.list_packed_below(ctx.db, ctx.who, Filter(prefix=prefix), MOST + 1)
    if len(found) > MOST:
        raise TooLarge(f"an archive has at most {MOST} objects; take the folders in it one by one", limit=MOST)
    if sum(one.size for one in found) > MOST_BYTES:
        raise TooLarge(f"an archive has at most {MOST_BYTES} bytes of objects; take less of it", limit=MOST_BYTES)
    return found


def archive_of(op: Operation, found: list[Packed], prefix: str | None) -> tuple[int, AsyncGenerator[bytes, None]]:
    """The archive's length and bytes; names are below the prefix, or else below the folder that all have in common."""
    above = _common([one.key for one in found]) if prefix is None else prefix
    names = names_below(above[: above.rfind("/") + 1], [(one.key, one.size) for one in found])
    entries = [ArchiveEntry(name, one.size, one.modified) for name, one in zip(names, found, strict=True)]

    async def read(index: int) -> AsyncGenerator[bytes, None]:
        if index % _TOGETHER == 0:
            async with op.begin() as ctx:
                await _require_readable(ctx, found[index : index + _TOGETHER])
        async for piece in service.open_packed(op, found[index]):
            yield piece

    return length_of(entries), pack(entries, read)


async def _require_readable(ctx: Context, some: list[Packed]) -> None:
    """An archive takes long to send: what is not the caller's to read any more ends it."""
    access.note_checked(ctx, "files:read")
    wanted = {one.id for one in some}
    if await permissions.list_visible(ctx, wanted) != wanted:
        raise ObjectMissing("one of these objects was deleted, or is not shared with you any more")


def _common(keys: list[str]) -> str:
    """What keys in order all begin with."""
    pairs = zip(keys[0], keys[-1], strict=False) if keys else ()
    return "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def names_below(folder: str, keys: list[tuple[str, int]]) -> list[str]:
    """What objects are called in an archive: inside it wherever it is unpacked, and each by a name of its own."""
    plain = [_safe(key.removeprefix(folder), is_folder=key.endswith("/") and size == 0) for key, size in keys]
    folders = {name[: at.start() + 1] for name in plain for at in re.finditer("/", name)}
    taken: set[str] = set()
    return [_free(name, taken, folders) for name in plain]


def _safe(name: str, *, is_folder: bool) -> str:
    parts = [part for part in _UNSAFE.sub("_", name).split("/") if part]
    parts = ["_" * len(part) if part in (".", "..") else part for part in parts] or [name_in(name)]
    return _DRIVE.sub(r"\1_", "/".join(parts)) + ("/" if is_folder else "")


def _free(name: str, taken: set[str], folders: set[str]) -> str:
    head, slash, last = name.rstrip("/").rpartition("/")
    stem, dot, ending = last.rpartition(".") if "." in last[1:] else (last, "", "")
    free, count = name, 1
    while free in taken or (not free.endswith("/") and f"{free}/" in folders):
        count += 1
        free = f"{head}{slash}{stem} ({count}){dot}{ending}" + ("/" if name.endswith("/") else "")
    taken.add(free)
    return free
