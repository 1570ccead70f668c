"""Attempts: what a claimed job needs before it may begin (content, owner, quota), behind the wall of its own company."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import timedelta
from itertools import groupby
from uuid import UUID

import msgspec

from atrium.engine.jobs import attempt_rows, queue_rows, store
from atrium.engine.jobs.kinds import ask_kind
from atrium.engine.jobs.model import Attempt, AttemptInput, AttemptReport, Claim, JobStream
from atrium.engine.jobs.settlement import settle_within
from atrium.ground.identity import service as identity
from atrium.ground.quotas import service as quotas
from atrium.kit.errors import AppError
from atrium.kit.postgres.database import Database, Transaction
from atrium.kit.telemetry.log import log
from atrium.seams.context import Principal, Services
from atrium.seams.jobs import Amounts, JobKind

# Only the books' own way out for a hold whose job row is gone: a lapsed attempt is refunded when its lease is swept.
HOLD_SECONDS = 86_400
# A quota can open before its window ends, when something reserved more than it used.
LONGEST_WAIT = 30
COMPANIES_AT_ONCE = 3


async def claim(
    database: Database,
    pools: list[str],
    worker: UUID,
    most: int,
    bound_to: UUID | None,
    passing: Sequence[UUID] = (),
) -> list[Claim]:
    """Up to `most` attempts, of every company or of one; each has a unique claim token.

    Teams in `passing` are passed over.
    """
    # A claim lost with PostgreSQL is a job still queued; its worker's token is then worth nothing.
    async with database.begin_system(repeatable=True) as db:
        return await queue_rows.claim(db, pools, worker, most, bound_to, passing)


async def begin(services: Services, claims: list[Claim]) -> list[Attempt]:
    """The attempts that may start now; one that its quota refuses goes back to its queue uncounted."""
    limit = asyncio.Semaphore(COMPANIES_AT_ONCE)

    async def begin_some(org_id: UUID, some: list[Claim]) -> list[Attempt]:
        async with limit, services.database.begin(org_id) as db:
            return await _begin_within(services, db, org_id, some)

    begun = await asyncio.gather(
        *(begin_some(org_id, some) for org_id, some in _by_company(claims)), return_exceptions=True
    )
    for failure in begun:
        if isinstance(failure, BaseException):
            # Their leases run out and they are claimed again; the other companies' attempts go on.
            log.error("job.begin_failed", exc_info=failure)
    return [attempt for some in begun if not isinstance(some, BaseException) for attempt in some]


async def _begin_within(services: Services, db: Transaction, org_id: UUID, claims: list[Claim]) -> list[Attempt]:
    kinds = services.registry.job_kinds
    spending = any(kinds[claim.kind].reserves for claim in claims)
    read = attempt_rows.hold_attempts if spending else attempt_rows.read_attempts
    contents = {content.id: content for content in await read(db, org_id, claims)}
    owners = await identity.list_principals(db, org_id, list({claim.user_id for claim in claims}))
    made = [
        _attempt(claim, kinds[claim.kind], owners.get(claim.user_id), contents[claim.id])
        for claim in claims
        if claim.id in contents
    ]
    attempts = [one for one in made if isinstance(one, Attempt)]
    if len(attempts) < len(made):
        await settle_within(services, db, org_id, [one for one in made if isinstance(one, AttemptReport)])
    return await _admitted(services, db, org_id, attempts) if spending else attempts


async def claim_next(
    services: Services, db: Transaction, following: JobStream, worker: UUID, most: int
) -> list[Attempt]:
    """Queue what follows, and claim of it for a worker of ours that settles there what it follows from.

    Only of kinds that spend nothing: what others may spend is admitted when they begin.
    """
    kinds = services.registry.job_kinds
    here = [kind for kind in kinds.values() if kind.run and kind.at_once is None]
    served, handed_on = [kind.name for kind in here], [kind.name for kind in here if kind.reserves is None]
    attempts: list[Attempt] = []
    for drafts in following.drafts:
        left = most - len(attempts)
        handed = await store.insert_following(db, drafts.owner, drafts.jobs, worker, served, handed_on, left)
        made = [_attempt(one, kinds[one.kind], following.owners.get(one.user_id), content) for one, content in handed]
        attempts += [one for one in made if isinstance(one, Attempt)]
    return attempts


def _attempt(claim: Claim, kind: JobKind, owner: Principal | None, content: AttemptInput) -> Attempt | AttemptReport:
    if owner is None or owner.team_id != claim.team_id:
        return AttemptReport(claim=claim, outcome="failed", error="its owner has left the team")
    if content.part_of is not None and content.heard:
        return AttemptReport(claim=claim, outcome="failed", error="its worker was taken away while it answered")
    try:
        arguments = msgspec.convert(content.input, kind.arguments)
    except msgspec.ValidationError as error:
        return AttemptReport(claim=claim, outcome="failed", error=f"the kind no longer takes this input: {error}")
    who = identity.narrow_principal(owner, content.scope)
    return Attempt(claim, kind, who, content.input, arguments, content.part_of is None, content.traceparent)


async def _admitted(services: Services, db: Transaction, org_id: UUID, attempts: list[Attempt]) -> list[Attempt]:
    # Before the locks: a plugin may take its time to say.
    wanted = await _reservations(services, org_id, attempts)
    # The books come last in the order of locks, and a refusal gives the attempt's place back while they are held.
    await attempt_rows.hold_slots(db, org_id, list({attempt.claim.team_id for attempt in attempts}))
    verdicts = await quotas.admit_each_within(
        db, org_id, [(attempt.claim.team_id, amounts) for attempt, amounts in wanted], lease=HOLD_SECONDS
    )
    admitted, refused = {}, {}
    for (attempt, _), verdict in zip(wanted, verdicts, strict=True):
        if isinstance(verdict, AppError):
            refused[attempt.claim.id] = attempt, verdict
        elif isinstance(verdict, Exception):
            raise verdict
        else:
            admitted[attempt.claim.id] = verdict.id
    if admitted:
        await attempt_rows.note_admissions(db, org_id, list(admitted), list(admitted.values()))
    if refused:
        await _put_back(services, db, org_id, list(refused.values()))
    return [attempt for attempt in attempts if attempt.claim.id not in refused]


async def _reservations(services: Services, org_id: UUID, attempts: list[Attempt]) -> list[tuple[Attempt, Amounts]]:
    """What each may spend; a kind may have to read all that it was given to know."""
    return [
        (attempt, await ask_kind(services, org_id, attempt.input, attempt.kind.reserves, attempt.arguments))
        for attempt in attempts
        if attempt.kind.reserves and attempt.pays
    ]


async def _put_back(services: Services, db: Transaction, org_id: UUID, refused: list[tuple[Attempt, AppError]]) -> None:
    """Queued again, and the lane stays out of the round until the quota may have opened."""
    refusals = {attempt.claim.id: refusal for attempt, refusal in refused}
    reports = [AttemptReport(claim=attempt.claim, outcome="returned") for attempt, _ in refused]
    waits = {
        (one.team_id, one.pool): timedelta(
            seconds=min(int(str(refusals[one.id].facts.get("retry_after", 1))), LONGEST_WAIT)
        )
        for one in await settle_within(services, db, org_id, reports)
    }
    await attempt_rows.close_lanes(
        db, org_id, [team_id for team_id, _ in waits], [pool for _, pool in waits], list(waits.values())
    )


def _by_company(claims: list[Claim]) -> Iterable[tuple[UUID, list[Claim]]]:
    ordered = sorted(claims, key=lambda claim: claim.org_id)
    return [(org_id, list(some)) for org_id, some in groupby(ordered, key=lambda claim: claim.org_id)]
