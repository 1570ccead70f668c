"""Handing jobs to workers elsewhere: a waiting worker holds neither a connection nor a transaction, and many share a claim."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import NamedTuple
from uuid import UUID

from atrium.engine.jobs import attempts, queue_rows
from atrium.engine.jobs.model import Attempt, AttemptReport, StaleClaim
from atrium.engine.jobs.settlement import settle
from atrium.kit.postgres.wait_queues import Fetch
from atrium.kit.telemetry.log import log
from atrium.seams.context import Services

Gone = Callable[[], Awaitable[None]]


class _Wants(NamedTuple):
    """What makes workers interchangeable: the company they are bound to, and the pools they serve."""

    bound_to: UUID | None
    pools: frozenset[str]


async def claim_one(
    services: Services, worker: UUID, bound_to: UUID | None, pools: frozenset[str], seconds: float, gone: Gone
) -> Attempt | None:
    """One attempt for this worker, waiting up to so many seconds for it; None when nothing came, or when the worker left.

    A worker that leaves while it waits is given nothing: what was claimed for it goes back to its queue at once.
    """
    wants = _Wants(bound_to, pools)
    leaving = asyncio.ensure_future(gone())
    try:
        if seconds <= 0 or services.state.draining:
            found: Attempt | None = await services.combiner.submit(wants, worker, _fetch(services, wants, noting=True))
        else:
            # The first waiter fetches at once; later ones wait for a notification, because the queue was empty.
            fetch, give_back = _fetch(services, wants), partial(hand_back, services)
            with services.wait_queues.join(wants, pools, worker, fetch, give_back) as waiter:
                await asyncio.wait({waiter, leaving}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
                found = waiter.result() if waiter.done() else None
        if found is not None and leaving.done():
            await hand_back(services, found)
            return None
        return found
    finally:
        leaving.cancel()


async def look_for_waiting(services: Services) -> None:
    """Record which workers arrived, and poll for what no notification announces: freed slots, and lost notifications."""
    for wants, workers in services.wait_queues.arrivals().items():
        async with services.database.begin_system(repeatable=True) as db:
            await queue_rows.note_workers(db, workers, wants.bound_to, sorted(wants.pools))
    pools = services.wait_queues.topics()
    if not pools:
        return
    async with services.database.begin_system() as db:
        ready = await queue_rows.list_ready(db, sorted(pools))
    for pool in ready:
        services.notifier.notify(pool)


def _fetch(services: Services, wants: _Wants, *, noting: bool = False) -> Fetch:
    bound_to, pools = wants.bound_to, sorted(wants.pools)

    async def fetch(workers: list[UUID]) -> list[Attempt | None]:
        async with services.database.begin_system(repeatable=True) as db:
            if noting:
                await queue_rows.note_workers(db, workers, bound_to, pools)
            claims = await queue_rows.claim(db, pools, workers[0], len(workers), bound_to)
            if len(claims) > 1:
                ids, tokens = [claim.id for claim in claims], [claim.token for claim in claims]
                await queue_rows.assign(db, ids, tokens, workers[: len(claims)])
        begun = {attempt.claim.id: attempt for attempt in await attempts.begin(services, claims)} if claims else {}
        handed = [begun.get(claim.id) for claim in claims]
        return handed + [None] * (len(workers) - len(handed))

    return fetch


async def hand_back(services: Services, attempt: Attempt) -> None:
    """Return an attempt that its worker never saw; it counts for nothing."""
    log.info("job.handed_back", job=attempt.claim.id, kind=attempt.claim.kind)
    with contextlib.suppress(StaleClaim):
        await settle(services, AttemptReport(claim=attempt.claim, outcome="returned"))
