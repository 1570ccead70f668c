"""Handing jobs to workers elsewhere: a waiting worker holds neither a connection nor a transaction, and many share a claim."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from uuid import UUID

from atrium.engine.jobs import claiming, queue_rows
from atrium.engine.jobs.claiming import Attempt
from atrium.engine.jobs.model import Report, StaleClaim
from atrium.engine.jobs.settling import settle
from atrium.kit.lines import Fetch
from atrium.kit.log import log
from atrium.seams.context import Services

Gone = Callable[[], Awaitable[None]]


async def claim_one(
    services: Services, worker: UUID, bound_to: UUID | None, pools: frozenset[str], seconds: float, gone: Gone
) -> Attempt | None:
    """One attempt for this worker, waiting up to so many seconds for it; None when nothing came, or when the worker left.

    A worker that leaves while it waits is given nothing: what was claimed for it goes back to its queue at once.
    """
    key = ("claims", bound_to, pools)
    leaving = asyncio.ensure_future(gone())
    try:
        # Workers that can do the same and ask at the same moment share one claim, which also says that they are there.
        look = _fetch(services, bound_to, pools, noting=True)
        found: Attempt | None = await services.combiner.submit(key, worker, look)
        if found is None and seconds > 0 and not services.state.draining:
            again, give_back = _fetch(services, bound_to, pools), partial(_hand_back, services)
            with services.lines.stand(key, pools, worker, again, give_back) as place:
                await asyncio.wait({place, leaving}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
                found = place.result() if place.done() else None
        if found is not None and leaving.done():
            await _hand_back(services, found)
            return None
        return found
    finally:
        leaving.cancel()


async def look_for_waiting(services: Services) -> None:
    """Ring for what no bell rang for: a place that became free, a bell that could not be heard."""
    pools = services.lines.topics()
    if not pools:
        return
    async with services.database.begin_system() as db:
        ready = await queue_rows.list_ready(db, sorted(pools))
    for pool in ready:
        services.bell.ring(pool)


def _fetch(services: Services, bound_to: UUID | None, pools: frozenset[str], *, noting: bool = False) -> Fetch:
    async def fetch(workers: list[UUID]) -> list[Attempt | None]:
        async with services.database.begin_system(repeatable=True) as db:
            if noting:
                await queue_rows.note_workers(db, workers, bound_to, sorted(pools))
            claims = await queue_rows.claim(db, sorted(pools), workers[0], len(workers), bound_to)
            if len(claims) > 1:
                ids, tokens = [claim.id for claim in claims], [claim.token for claim in claims]
                await queue_rows.assign(db, ids, tokens, workers[: len(claims)])
        begun = {attempt.claim.id: attempt for attempt in await claiming.begin(services, claims)} if claims else {}
        handed = [begun.get(claim.id) for claim in claims]
        return handed + [None] * (len(workers) - len(handed))

    return fetch


async def _hand_back(services: Services, attempt: Attempt) -> None:
    log.info("job.handed_back", job=attempt.claim.id, kind=attempt.claim.kind)
    with contextlib.suppress(StaleClaim):
        await settle(services, Report(claim=attempt.claim, outcome="returned"))
