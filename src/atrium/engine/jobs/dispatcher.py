"""Handing jobs to workers elsewhere: a waiting worker holds neither a connection nor a transaction, and many share a claim."""

import time
from uuid import UUID

from atrium.engine.jobs import claiming, queue_rows
from atrium.engine.jobs.claiming import Attempt
from atrium.kit.bell import wait_for
from atrium.seams.context import Services

# Only for what no bell rings for: a place that became free, a bell that could not be heard.
POLL_SECONDS = 5.0


async def claim_one(
    services: Services, worker: UUID, bound_to: UUID | None, pools: frozenset[str], seconds: float
) -> Attempt | None:
    """One attempt for this worker, waiting up to so many seconds for it; None when nothing came."""
    async with services.database.begin_system() as db:
        await queue_rows.note_worker(db, worker, bound_to, sorted(pools))
    deadline = time.monotonic() + seconds
    with services.bell.attend(pools) as rung:
        while True:
            found = await _claim_together(services, worker, bound_to, pools)
            left = deadline - time.monotonic()
            if found is not None or left <= 0 or services.state.draining:
                return found
            await wait_for(rung, min(left, POLL_SECONDS))


async def _claim_together(
    services: Services, worker: UUID, bound_to: UUID | None, pools: frozenset[str]
) -> Attempt | None:
    """Workers that can do the same and ask at the same moment share one claim."""

    async def work(workers: list[UUID]) -> list[Attempt | Exception | None]:
        async with services.database.begin_system(repeatable=True) as db:
            claims = await queue_rows.claim(db, sorted(pools), workers[0], len(workers), bound_to)
            if len(claims) > 1:
                ids, tokens = [claim.id for claim in claims], [claim.token for claim in claims]
                await queue_rows.assign(db, ids, tokens, workers[: len(claims)])
        begun = {attempt.claim.id: attempt for attempt in await claiming.begin(services, claims)} if claims else {}
        handed: list[Attempt | Exception | None] = [begun.get(claim.id) for claim in claims]
        return handed + [None] * (len(workers) - len(handed))

    return await services.combiner.submit(("claims", bound_to, pools), worker, work)
