"""Periodic maintenance: expire leases, promote scheduled jobs, reopen lanes whose quota recovered, delete old jobs."""

from itertools import groupby
from uuid import UUID

from atrium.engine.jobs import attempt_rows, queue_rows
from atrium.engine.jobs.settlement import follow
from atrium.kit.telemetry.log import log
from atrium.seams.context import Services

AT_ONCE = 500


async def sweep(services: Services) -> int:
    """Return what lapsed, stage what is due, reopen what was closed; how many jobs lapsed. Any process may, at any time."""
    async with services.database.begin_system() as db:
        await queue_rows.stage_due(db, AT_ONCE)
        await queue_rows.reopen_lanes(db, AT_ONCE)
        await queue_rows.reopen_teams(db, AT_ONCE)
        lapsed = await queue_rows.list_lapsed(db, AT_ONCE)
    lapsed.sort(key=lambda one: one.org_id)
    return sum(
        [
            await _lapse(services, org_id, [one.id for one in some])
            for org_id, some in groupby(lapsed, key=lambda one: one.org_id)
        ]
    )


async def _lapse(services: Services, org_id: UUID, ids: list[UUID]) -> int:
    async with services.database.begin(org_id) as db:
        settled = await attempt_rows.lapse(db, org_id, ids)
        await follow(services, db, org_id, settled, {one.id: {} for one in settled})
    for one in settled:
        log.warning("job.lapsed", job=one.id, kind=one.kind, attempt=one.attempt, state=one.state)
    return len(settled)
