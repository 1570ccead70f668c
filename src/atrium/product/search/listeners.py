"""What search hears: everything that changes what can be found, or who may find it."""

from atrium.engine.repository.model import ObjectsChanged, ObjectWritten, is_markdown
from atrium.product.notes.model import NoteSaved, NotesChanged
from atrium.product.search import indexing
from atrium.seams.context import Context
from atrium.seams.wiring import Listener


async def on_note_saved(ctx: Context, event: NoteSaved) -> None:
    """Write the note's row, together with the note."""
    await indexing.put_note(ctx.db, ctx.who.org_id, event.note)


async def on_notes_changed(ctx: Context, event: NotesChanged) -> None:
    """Follow the notes."""
    await indexing.refresh(ctx.db, ctx.who.org_id, "notes", event.ids)


async def on_object_written(ctx: Context, event: ObjectWritten) -> None:
    """Write the object's row, by its name until its text has been read."""
    stored, version = event.object, event.version
    title = version.metadata.get("title", version.filename) if is_markdown(version.content_type) else version.filename
    await indexing.put(ctx.db, ctx.who.org_id, "objects", stored.id, title, stored.key, "")


async def on_objects_changed(ctx: Context, event: ObjectsChanged) -> None:
    """Follow the objects."""
    await indexing.refresh(ctx.db, ctx.who.org_id, "objects", event.ids)


LISTENERS = (
    Listener(NoteSaved, on_note_saved),
    Listener(NotesChanged, on_notes_changed),
    Listener(ObjectWritten, on_object_written),
    Listener(ObjectsChanged, on_objects_changed),
)
