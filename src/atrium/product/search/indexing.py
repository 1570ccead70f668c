"""Keeping the index: it follows things in the transaction that changes them, and is made anew beside writers."""

import asyncio
from uuid import UUID

from atrium.kit.database import Transaction
from atrium.product.notes.model import Note
from atrium.product.search import index_rows, store
from atrium.product.search.words import Indexed, index

# A longer text is cut into words in a thread, so that the others are served meanwhile.
_LONG = 20_000


async def put(db: Transaction, org_id: UUID, source: str, id: UUID, title: str, key: str, text: str) -> None:
    """Write the row of a thing that this transaction has written."""
    await index_rows.put_rows(db, org_id, source, [id], [await read(title, key, text)])


async def put_note(db: Transaction, org_id: UUID, note: Note) -> None:
    """Write the row of a note that this transaction has written."""
    if note.version == 1:
        await store.insert_note(db, org_id, note, await read(note.title, "", note.body))
    else:
        await put(db, org_id, "notes", note.id, note.title, "", note.body)


async def refresh(db: Transaction, org_id: UUID, source: str, ids: list[UUID], *, again: bool = False) -> None:
    """Make the rows of these things agree with them; words that the index has are read only `again`."""
    if not ids:
        return
    await index_rows.lock_sources(db, org_id, source, ids)
    await index_rows.delete_rows(db, org_id, source, ids)
    await index_rows.follow_access(db, org_id, source, ids)
    found = await index_rows.list_unread(db, org_id, source, ids, again=again)
    if found:
        rows = [await read(one.title, one.key or "", one.text) for one in found]
        await index_rows.put_rows(db, org_id, source, [one.id for one in found], rows)


async def read(title: str, key: str, text: str) -> Indexed:
    """What the index keeps of a thing."""
    if len(text) < _LONG:
        return index(title, key, text)
    return await asyncio.to_thread(index, title, key, text)
