"""What workflows do in the background."""

from datetime import timedelta

from atrium.engine.workflows import run_rows
from atrium.seams.context import Services
from atrium.seams.wiring import Chore

_AT_ONCE = 500


async def _forget(services: Services) -> None:
    """Drop runs that ended long ago, a batch per transaction."""
    age = timedelta(days=services.settings.run_retention_days)
    while True:
        async with services.database.begin_system() as db:
            if await run_rows.forget_ended(db, age, _AT_ONCE) < _AT_ONCE:
                return


CHORES = (Chore("workflows.forget", 300, _forget),)
