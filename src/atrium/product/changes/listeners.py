"""What the change feed hears: that something was changed, so that everybody is told once it is committed.

The rows themselves are written by triggers, whatever code changes the things; this only wakes the readers.
"""

from functools import partial

from atrium.engine.repository.model import ObjectWritten
from atrium.ground.sharing.model import ThingsChanged
from atrium.product.changes.hub import Hub
from atrium.product.notes.model import NoteSaved
from atrium.seams.context import Context
from atrium.seams.wiring import Listener


async def on_change(ctx: Context, event: object) -> None:
    """Tell the readers after the commit."""
    hub: Hub | None = ctx.services.started.get("changes")
    if hub is not None:
        ctx.db.after_commit(partial(hub.committed, ctx.who.org_id))


LISTENERS = tuple(Listener(event, on_change) for event in (NoteSaved, ObjectWritten, ThingsChanged))
