"""What the change feed does in the background: tell of shares that came to their date, and forget what is old."""

from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby

from atrium.engine.repository.model import OBJECTS
from atrium.ground.sharing import grants
from atrium.product.changes import store
from atrium.product.changes.hub import Hub
from atrium.seams.context import Services
from atrium.seams.retention import Retention, always
from atrium.seams.wiring import Chore

# Looked back so far, because a share may be written shortly before its date and committed after it.
_BACK = timedelta(minutes=1)
_DAY = timedelta(hours=24)


async def tell_expired(services: Services) -> None:
    """Tell people whose shares came to their date since the last look; after a start since a day ago."""
    hub: Hub | None = services.started.get("changes")
    if hub is None:
        return
    now = datetime.now(UTC)
    since = hub.expired_until - _BACK if hub.expired_until is not None else now - _DAY
    found = await grants.list_ended(services, OBJECTS, since)
    for org_id, things in groupby(sorted(found), key=lambda one: one[0]):
        async with services.database.begin(org_id) as db:
            if await store.tell_expired(db, org_id, [id for _, id in things]):
                db.after_commit(partial(hub.committed, org_id))
    hub.expired_until = now


ROWS = Retention("changes.forget", always(timedelta(days=30)), store.forget)
CHORES = (Chore("changes.expired", 5, tell_expired), ROWS.chore())
