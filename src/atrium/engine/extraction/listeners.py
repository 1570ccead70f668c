"""What extraction does when an object is written: a plain text is kept with its version, any other is awaited and read by a job."""

from atrium.engine.extraction import service
from atrium.engine.extraction.text_process import is_extractable, read_plain
from atrium.engine.repository import texts
from atrium.engine.repository.model import ObjectWritten, Text
from atrium.seams.context import Context
from atrium.seams.wiring import Listener


async def on_object_written(ctx: Context, event: ObjectWritten) -> None:
    """Keep the version's text with it where its bytes say it at once, or queue the reading of it in the same transaction."""
    settings, version = ctx.services.settings, event.version
    if not settings.extraction or not is_extractable(version.content_type, version.filename, version.size):
        return
    body = event.body if version.size <= settings.extraction_input else None
    read = None if body is None else read_plain(body, settings.extraction_output)
    if read is not None:
        await texts.keep_text(ctx, event.object.id, version, Text("done", read.text, truncated=read.truncated))
        return
    await texts.await_text(ctx, event.object.id, version)
    await service.await_text(ctx, [version.id])


LISTENERS = (Listener(ObjectWritten, on_object_written),)
