"""Writes the index in the transaction that changes a thing, and rebuilds it beside writers."""

from uuid import UUID

from atrium.engine.repository.model import StoredObject, is_markdown
from atrium.kit.postgres.database import Transaction
from atrium.kit.work.compute import ComputePool, TooHeavy
from atrium.kit.work.shares import Busy
from atrium.product.notes.model import Note
from atrium.product.search import index_rows, store
from atrium.product.search.words import IndexEntry, index

# A text that is not longer is cut into words at once.
_SHORT = 20_000
# The text of a written object is cut into words for so many seconds, and waits so many for a process; its transaction is open meanwhile.
_WRITTEN_SECONDS, _WRITTEN_WAITS = 5.0, 0.5
# So many objects that were moved have their words read in the transaction that moves them.
_FEW = 20


async def put_note(db: Transaction, compute: ComputePool, org_id: UUID, note: Note) -> None:
    """Write the row of a note that this transaction has written."""
    words = await read(compute, org_id, note.title, "", note.body)
    if note.version == 1:
        await store.insert_note(db, org_id, note, words)
    else:
        await index_rows.put_rows(db, org_id, "notes", [note.id], [words])


async def put_object(
    db: Transaction, compute: ComputePool, org_id: UUID, stored: StoredObject, text: str | None = None
) -> None:
    """Write the row of an object that this transaction has written, with its text where that was read; a slow one follows soon."""
    version = stored.version
    title = version.metadata.get("title", version.filename) if is_markdown(version.content_type) else version.filename
    new = version.number == 1 and not version.deleted
    words = await _read_at_once(compute, org_id, title, stored.key, text) if text else None
    named = words or await read(compute, org_id, title, stored.key, "")
    if not (new and await store.insert_object(db, org_id, stored, named, read=text is not None)):
        await index_rows.put_rows(db, org_id, "objects", [stored.id], [named])
    if text and words is None:
        await store.insert_moved(db, org_id, [stored.id])


async def _read_at_once(compute: ComputePool, org_id: UUID, title: str, key: str, text: str) -> IndexEntry | None:
    try:
        return await compute.run(
            org_id, len(text), index, title, key, text,
            small=_SHORT, seconds=_WRITTEN_SECONDS, waits=_WRITTEN_WAITS,
        )  # fmt: skip
    except (Busy, TooHeavy):
        return None


async def refresh(
    db: Transaction, compute: ComputePool, org_id: UUID, source: str, ids: list[UUID], *, again: bool = False
) -> None:
    """Make the rows of these things agree with them; words that the index has are read only `again`."""
    if not ids:
        return
    await index_rows.lock_sources(db, org_id, source, ids)
    await index_rows.delete_rows(db, org_id, source, ids)
    await index_rows.follow_access(db, org_id, source, ids)
    found = await index_rows.list_unread(db, org_id, source, ids, again=again)
    if found:
        rows = [await read(compute, org_id, one.title, one.key or "", one.text) for one in found]
        await index_rows.put_rows(db, org_id, source, [one.id for one in found], rows)


async def follow_moved(db: Transaction, compute: ComputePool, org_id: UUID, ids: list[UUID]) -> None:
    """Write the new keys of objects; the words of few are read at once, those of many soon after."""
    if len(ids) <= _FEW:
        # What still waits since an earlier move has its newest key in the index then.
        await store.take_moved(db, org_id, ids)
        await refresh(db, compute, org_id, "objects", ids, again=True)
        return
    await store.insert_moved(db, org_id, ids)


async def read_moved(db: Transaction, compute: ComputePool, org_id: UUID, ids: list[UUID]) -> None:
    """Read the words of those of these objects that still wait for it since they were moved."""
    await refresh(db, compute, org_id, "objects", await store.take_moved(db, org_id, ids), again=True)


async def read(compute: ComputePool, org_id: UUID, title: str, key: str, text: str) -> IndexEntry:
    """What the index keeps of a thing."""
    return await compute.run(org_id, len(text), index, title, key, text, small=_SHORT)
