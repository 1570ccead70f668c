"""What workflows do in the background."""

from datetime import timedelta

from atrium.engine.workflows import definition_rows, definitions, run_rows
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


async def remove_unnamed(services: Services) -> int:
    """Remove versions of workflows that nothing names any more, a batch per transaction; how many."""
    async with services.database.begin_system() as db:
        companies = await definition_rows.list_companies_of_many(db)
    removed = 0
    for org_id in companies:
        more = definitions.REMOVED_AT_ONCE
        while more == definitions.REMOVED_AT_ONCE:
            async with services.database.begin(org_id) as db:
                more = await definitions.remove_unnamed(db, org_id)
            removed += more
    return removed


CHORES = (Chore("workflows.forget", 300, _forget), Chore("workflows.remove_unnamed", 3600, remove_unnamed))
