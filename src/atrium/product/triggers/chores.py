"""What triggers do in the background."""

from datetime import timedelta

from atrium.product.triggers import fire_rows
from atrium.seams.context import Services
from atrium.seams.wiring import Chore

_BATCH, _MOST_BATCHES = 1000, 20
_CENTURY = 36_525


async def forget(services: Services) -> int:
    """Delete entries of the history that are older than the setting says, some at a time; how many."""
    age, forgotten = timedelta(days=min(services.settings.run_retention_days, _CENTURY)), 0
    for _ in range(_MOST_BATCHES):
        async with services.database.begin_system() as db:
            dropped = await fire_rows.forget_fires(db, age, _BATCH)
        forgotten += dropped
        if dropped < _BATCH:
            break
    return forgotten


CHORES = (Chore("triggers.forget", 600, forget),)
