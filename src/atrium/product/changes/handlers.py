"""The wire of the change feed."""

from typing import Literal

from atrium.kit.web.pages import Cursor, Limit, Page
from atrium.product.changes import service
from atrium.product.changes.hub import bye
from atrium.product.changes.model import After, Kinds, ListedChange
from atrium.seams.context import Operation
from atrium.seams.routes import Accept, EventStream, LastEventId


async def watch_changes(  # noqa: PLR0913 - the wire's own list
    op: Operation,
    *,
    accept: Accept | None = None,
    last_event_id: LastEventId | None = None,
    scope: Literal["team", "org"] = "team",
    kinds: Kinds | None = None,
    after: After | None = None,
    limit: Limit = 50,
    cursor: Cursor | None = None,
) -> EventStream | Page[ListedChange]:
    """What changes of what the caller can read: a stream for `Accept: text/event-stream`, else a page, newest first."""
    if "text/event-stream" in (accept or "").lower():
        return EventStream(await service.listen(op, scope, kinds, last_event_id or after), bye)
    return await service.list_changes(op, scope, kinds, limit, cursor)
