"""What extraction does when an object is written: its text is awaited, and a job reads it."""

from atrium.engine.extraction import service
from atrium.engine.extraction.reading import is_extractable
from atrium.engine.repository import texts
from atrium.engine.repository.model import ObjectWritten
from atrium.seams.context import Context
from atrium.seams.wiring import Listener


async def on_object_written(ctx: Context, event: ObjectWritten) -> None:
    """Queue the reading of a document, together with the version itself."""
    version = event.version
    if ctx.services.settings.extraction and is_extractable(version.content_type, version.filename, version.size):
        await texts.await_text(ctx, event.object.id, version)
        await service.await_text(ctx, [version.id])


LISTENERS = (Listener(ObjectWritten, on_object_written),)
