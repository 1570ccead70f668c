"""What workflows do in the background."""

from atrium.engine.workflows import definition_rows, definitions, run_rows
from atrium.seams.context import Services
from atrium.seams.retention import Retention, days
from atrium.seams.wiring import Chore

ENDED = Retention("workflows.forget", days("run_retention_days"), run_rows.forget_ended)


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


CHORES = (ENDED.chore(), Chore("workflows.remove_unnamed", 3600, remove_unnamed))
