"""The worker's side over HTTP: claim, keep, complete, fail; every word about an attempt is checked against its token."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.jobs import attempt_rows, child_jobs, queue_rows, store
from atrium.engine.jobs.dispatcher import Gone, claim_one
from atrium.engine.jobs.kinds import ask_kind
from atrium.engine.jobs.model import (
    Attempt,
    AttemptReport,
    Claim,
    JobMissing,
    Lease,
    ResultRefused,
    SettledJob,
    StaleClaim,
    UnknownKind,
    backoff,
    pool_of,
    readable,
)
from atrium.engine.jobs.settlement import settle, settle_within
from atrium.kit.postgres.database import Transaction
from atrium.seams.context import Services
from atrium.seams.jobs import JobKind

_STALE = "this claim is no longer held: it was settled, its lease ran out, or the token is not the current one"


async def claim_remote(
    services: Services,
    worker: UUID,
    bound_to: UUID | None,
    kinds: list[str],
    models: list[str],
    seconds: float,
    gone: Gone,
) -> Attempt | None:
    """A job of these remote kinds, for any model or one of these, as soon as there is one and while the worker is there."""
    for kind in kinds:
        found = services.registry.job_kinds.get(kind)
        if found is None or not found.claimable:
            raise UnknownKind(f"no remote job kind is called {kind}", kind=kind)
    pools = frozenset(pool for kind in kinds for pool in _pools(services.registry.job_kinds[kind], worker, models))
    return await claim_one(services, worker, bound_to, pools, seconds, gone) if pools else None


def _pools(kind: JobKind, worker: UUID, models: list[str]) -> Iterator[str]:
    """What a worker may take of a kind: what was meant for it by name, or whatever it has the model for."""
    if kind.place is not None:
        yield pool_of(kind.name, str(worker))
    else:
        yield from (pool_of(kind.name, model) for model in (None, *models))


async def hear(
    services: Services, worker: UUID, bound_to: UUID | None, id: UUID, token: str | None, at: int, text: str
) -> None:
    """What the current attempt has said, from a position on."""
    async with services.database.begin_system() as db:
        claim = await _held(db, worker, bound_to, id, token)
    await child_jobs.hear(services, claim, at, text)


async def extend_lease(services: Services, worker: UUID, bound_to: UUID | None, id: UUID, token: str | None) -> Lease:
    """A longer lease for the current attempt."""
    async with services.database.begin_system() as db:
        claim = await _held(db, worker, bound_to, id, token)
        leases = await queue_rows.extend(db, [claim.id], [claim.token])
    if not leases:
        raise StaleClaim(_STALE)
    return leases[0]


async def complete_remote(
    services: Services, worker: UUID, bound_to: UUID | None, id: UUID, token: str | None, result: Any
) -> SettledJob:
    """End the current attempt well, unless the kind finds something wrong with the result."""
    async with services.database.begin_system() as db:
        claim = await _held(db, worker, bound_to, id, token)
    problem = await _problem(services, claim, result)
    if problem:
        raise ResultRefused(f"{claim.kind} refuses this result: {problem}", problem=problem)
    return await settle(services, AttemptReport(claim=claim, outcome="succeeded", result=result))


async def _problem(services: Services, claim: Claim, result: Any) -> str | None:
    kind = services.registry.job_kinds.get(claim.kind)
    if kind is None or kind.problem_with is None:
        return "its kind is no longer registered"
    problem = await ask_kind(services, claim.org_id, result, kind.problem_with, result)
    if problem or kind.problem_between is None:
        return problem
    async with services.database.begin(claim.org_id) as db:
        found = await attempt_rows.read_attempts(db, claim.org_id, [claim])
    if not found:
        raise StaleClaim(_STALE)
    if found[0].part_of is not None:
        # What it is part of judges the result itself.
        return None
    arguments = msgspec.convert(found[0].input, kind.arguments)
    return await ask_kind(services, claim.org_id, [found[0].input, result], kind.problem_between, arguments, result)


async def fail_remote(
    services: Services, worker: UUID, bound_to: UUID | None, id: UUID, token: str | None, error: str
) -> SettledJob:
    """End the current attempt badly; another follows while there are attempts left."""
    async with services.database.begin_system() as db:
        claim = await _held(db, worker, bound_to, id, token)
    report = AttemptReport(claim=claim, outcome="failed", error=readable(error), again=backoff(claim.attempt))
    return await settle(services, report)


async def return_held(services: Services, worker: UUID) -> int:
    """Everything a worker holds goes back to its queue, uncounted; how many jobs that were."""
    async with services.database.begin_system() as db:
        await queue_rows.forget_worker(db, worker)
        held = await queue_rows.list_held(db, worker)
    held.sort(key=lambda claim: claim.org_id)
    returned = 0
    for org_id, some in groupby(held, key=lambda claim: claim.org_id):
        reports = [AttemptReport(claim=claim, outcome="returned") for claim in some]
        async with services.database.begin(org_id) as db:
            returned += len(await settle_within(services, db, org_id, reports))
    return returned


async def take_over(services: Services, worker: UUID) -> int:
    """What waits for this worker alone is run here instead, where its kind says what becomes of it; how many jobs that were."""
    kinds = services.registry.job_kinds.values()
    pools = [pool_of(kind.name, str(worker)) for kind in kinds if kind.place is not None]
    async with services.database.begin_system() as db:
        companies = await queue_rows.list_waiting_companies(db, pools)
    taken = 0
    for org_id in companies:
        async with services.database.begin(org_id) as db:
            taken += await store.move_waiting(db, org_id, pools)
    return taken


async def _held(db: Transaction, worker: UUID, bound_to: UUID | None, id: UUID, token: str | None) -> Claim:
    """The worker's own current attempt; a job it could never have had is missing, any other claim is stale."""
    org_id = await queue_rows.find_company(db, id)
    if org_id is None or bound_to not in (None, org_id):
        raise JobMissing("there is no such job for this worker")
    try:
        claim = await queue_rows.find_attempt(db, id, UUID(token or ""), worker)
    except ValueError:
        claim = None
    if claim is None:
        raise StaleClaim(_STALE)
    return claim
