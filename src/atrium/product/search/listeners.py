"""What search hears: everything that changes what can be found, or who may find it."""

from atrium.engine.repository import texts
from atrium.engine.repository.model import ObjectWritten
from atrium.ground.sharing.model import ThingsChanged
from atrium.product.notes.model import NoteSaved
from atrium.product.search import index
from atrium.seams.context import Context
from atrium.seams.wiring import Listener


async def on_note_saved(ctx: Context, event: NoteSaved) -> None:
    """Write the note's row, together with the note."""
    await index.put_note(ctx.db, ctx.services.compute, ctx.who.org_id, event.note)


async def on_object_written(ctx: Context, event: ObjectWritten) -> None:
    """Write the object's row: by its name, and with its text where that was kept with it."""
    text = None
    if event.body is not None:
        # Extraction has heard of the version before.
        text = await texts.find_whole(ctx, event.version)
    await index.put_object(ctx.db, ctx.services.compute, ctx.who.org_id, event.object, text)


async def on_things_changed(ctx: Context, event: ThingsChanged) -> None:
    """Follow the things, and objects to their new keys."""
    if event.change == "moved":
        await index.follow_moved(ctx.db, ctx.services.compute, ctx.who.org_id, event.ids)
    else:
        await index.refresh(ctx.db, ctx.services.compute, ctx.who.org_id, event.of.table, event.ids)


LISTENERS = (
    Listener(NoteSaved, on_note_saved),
    Listener(ObjectWritten, on_object_written),
    Listener(ThingsChanged, on_things_changed),
)
