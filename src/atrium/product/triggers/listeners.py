"""What triggers do when an object is written, whichever way."""

from atrium.engine.repository.model import ObjectWritten
from atrium.product.triggers import firing
from atrium.seams.context import Context
from atrium.seams.wiring import Listener


async def on_object_written(ctx: Context, event: ObjectWritten) -> None:
    """Start the workflows of the triggers that the version matches."""
    await firing.fire(ctx, event)


LISTENERS = (Listener(ObjectWritten, on_object_written),)
