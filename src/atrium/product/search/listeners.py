"""What search hears: everything that changes what can be found, or who may find it."""

from atrium.engine.repository import texts
from atrium.engine.repository.model import ObjectsChanged, ObjectsMoved, ObjectWritten
from atrium.product.notes.model import NoteSaved, NotesChanged
from atrium.product.search import indexing
from atrium.seams.context import Context
from atrium.seams.wiring import Listener


async def on_note_saved(ctx: Context, event: NoteSaved) -> None:
    """Write the note's row, together with the note."""
    await indexing.put_note(ctx.db, ctx.services.compute, ctx.who.org_id, event.note)


async def on_notes_changed(ctx: Context, event: NotesChanged) -> None:
    """Follow the notes."""
    await indexing.refresh(ctx.db, ctx.services.compute, ctx.who.org_id, "notes", event.ids)


async def on_object_written(ctx: Context, event: ObjectWritten) -> None:
    """Write the object's row: by its name, and with its text where that was kept with it."""
    text = None
    if event.body is not None:
        # Extraction has heard of the version before.
        text = await texts.find_whole(ctx, event.version)
    await indexing.put_object(ctx.db, ctx.services.compute, ctx.who.org_id, event.object, text)


async def on_objects_changed(ctx: Context, event: ObjectsChanged) -> None:
    """Follow the objects."""
    await indexing.refresh(ctx.db, ctx.services.compute, ctx.who.org_id, "objects", event.ids)


async def on_objects_moved(ctx: Context, event: ObjectsMoved) -> None:
    """Follow the objects to their new keys."""
    await indexing.follow_moved(ctx.db, ctx.services.compute, ctx.who.org_id, event.ids)


LISTENERS = (
    Listener(NoteSaved, on_note_saved),
    Listener(NotesChanged, on_notes_changed),
    Listener(ObjectWritten, on_object_written),
    Listener(ObjectsChanged, on_objects_changed),
    Listener(ObjectsMoved, on_objects_moved),
)
