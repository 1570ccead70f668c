"""Ending attempts: once each, in batches, with everything that follows from it in the same transaction."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.jobs import store
from atrium.engine.jobs.model import ENDED, Attempt, FinishedJob, Following, Report, Settled, StaleClaim
from atrium.ground.identity import service as identity
from atrium.ground.quotas import service as quotas
from atrium.kit.database import Transaction, refusal_of
from atrium.kit.log import log
from atrium.seams.context import Context, Services
from atrium.seams.jobs import Amounts, JobKind

Verdict = tuple[Settled, Attempt | None]


async def settle(services: Services, report: Report) -> Settled:
    """Where the job stands after this attempt; StaleClaim when the attempt was no longer the current one.

    Whatever ends at the same moment in one company shares a transaction.
    """
    return (await settle_and_take(services, report))[0]


async def settle_and_take(services: Services, report: Report) -> tuple[Settled, Attempt | None]:
    """The same for a worker that goes on with what follows from its job, when nothing else waits for it."""
    org_id = report.claim.org_id

    async def work(reports: list[Report]) -> list[Verdict | Exception]:
        try:
            return await _settle_together(services, org_id, reports)
        except Exception as error:
            log.warning("job.settled_alone", jobs=len(reports), error=str(error))
        # Something that follows from one of them failed; the others shall not share its fate.
        return [await _settle_alone(services, org_id, one) for one in reports]

    return await services.combiner.submit(("jobs", org_id), report, work)


async def settle_within(
    services: Services,
    db: Transaction,
    org_id: UUID,
    reports: list[Report],
    taken: list[Attempt] | None = None,
    *,
    careful: bool = False,
) -> list[Settled]:
    """End attempts of one company inside the caller's transaction; what is stale is not among what comes back.

    What follows from them and is handed on to their workers is appended to `taken`. When `careful`, what a kind makes of one
    job is undone where it fails, and the job ends all the same.
    """
    settled = await store.settle(db, org_id, reports)
    known = {report.claim.id: report.used for report in reports if report.used is not None}
    known |= {report.claim.id: {} for report in reports if report.outcome == "returned"}
    following = await _tell(services, db, org_id, settled, known, careful=careful)
    current = {one.id for one in settled}
    takers = [report.take for report in reports if report.take is not None and report.claim.id in current]
    if following.ids and takers and taken is not None:
        taken += await takers[0](db, following, len(takers))
    await _wake(db, following, {attempt.claim.id for attempt in taken or ()})
    return settled


async def follow(
    services: Services, db: Transaction, org_id: UUID, settled: list[Settled], known: dict[UUID, Amounts]
) -> None:
    """Quota, wake-up calls and events of attempts that have just ended; of some it is known what they cost."""
    await _wake(db, await _tell(services, db, org_id, settled, known, careful=True))


async def _wake(db: Transaction, following: Following, taken: Collection[UUID] = ()) -> None:
    if waiting := [id for id in following.ids if id not in taken]:
        await store.wake_jobs(db, following.org_id, waiting)


async def _tell(
    services: Services,
    db: Transaction,
    org_id: UUID,
    settled: list[Settled],
    known: dict[UUID, Amounts],
    *,
    careful: bool,
) -> Following:
    """Quota and events; the jobs that their kinds queued after them."""
    ended = [one for one in settled if one.state in ENDED]
    spent = [one for one in settled if one.admission_id is not None]
    waiting = [one for one in settled if one.state == "queued"]
    heard = [one for one in ended if (kind := services.registry.job_kinds.get(one.kind)) and kind.finished]
    endings = await _endings(db, org_id, heard + spent)
    if spent:
        costs = {one.admission_id: _cost(services, one, known, endings) for one in spent if one.admission_id}
        await quotas.settle_each_within(db, org_id, costs)
    if waiting:
        await store.wake(db, org_id, waiting)
    if not heard:
        return Following(org_id, [], {})
    owners = await identity.list_principals(db, org_id, list({one.user_id for one in heard}))
    jobs: dict[str, list[FinishedJob]] = {}
    for one in heard:
        owner = owners.get(one.user_id)
        there = identity.narrowed(owner, one.scope) if owner and owner.team_id == one.team_id else None
        jobs.setdefault(one.kind, []).append(FinishedJob(one.id, one.state, *endings[one.id], there))
    ctx, following = Context.of_company(services, db, org_id), list[UUID]()
    for name, some in jobs.items():
        tell = _tell_carefully if careful else _tell_kind
        following += await tell(ctx, services.registry.job_kinds[name], some)
    return Following(org_id, following, owners)


async def _settle_together(
    services: Services, org_id: UUID, reports: list[Report], *, careful: bool = False
) -> list[Verdict | Exception]:
    # Of two words about one attempt only the first can count; about two attempts at one job, only the current one's.
    first = {(report.claim.id, report.claim.token): report for report in reversed(reports)}
    taken: list[Attempt] = []
    async with services.database.begin(org_id) as db:
        ended = await settle_within(services, db, org_id, list(first.values()), taken, careful=careful)
    settled = {(one.id, one.token): one for one in ended}
    verdicts: list[Verdict | Exception] = []
    for report in reports:
        verdict = _verdict(report, first, settled)
        if isinstance(verdict, Exception):
            verdicts.append(verdict)
        else:
            verdicts.append((verdict, taken.pop() if taken and report.take is not None else None))
    return verdicts


async def _settle_alone(services: Services, org_id: UUID, report: Report) -> Verdict | Exception:
    try:
        return (await _settle_together(services, org_id, [report], careful=True))[0]
    except Exception as error:  # raised to the caller who reported it
        return error


def _verdict(
    report: Report, first: dict[tuple[UUID, UUID], Report], settled: dict[tuple[UUID, UUID | None], Settled]
) -> Settled | Exception:
    key = report.claim.id, report.claim.token
    if first[key] is report and key in settled:
        return settled[key]
    return StaleClaim("this attempt is over: it was settled, its lease ran out, or another worker has the job now")


Endings = dict[UUID, tuple[Any, Any, str | None]]


async def _endings(db: Transaction, org_id: UUID, wanted: list[Settled]) -> Endings:
    return await store.read_endings(db, org_id, list({one.id for one in wanted})) if wanted else {}


def _cost(services: Services, one: Settled, known: dict[UUID, Amounts], endings: Endings) -> Amounts | None:
    """What an attempt used: what is known, what its result says when it succeeded, else all it reserved."""
    if one.id in known:
        return known[one.id]
    kind = services.registry.job_kinds.get(one.kind)
    if one.state != "succeeded" or kind is None or kind.used is None:
        return None
    given, result, _ = endings[one.id]
    return kind.used(msgspec.convert(given, kind.arguments), result)


async def _tell_kind(ctx: Context, kind: JobKind, jobs: list[FinishedJob]) -> Sequence[UUID]:
    """A kind hears of its own jobs, once for all of them."""
    return (await kind.finished(ctx, jobs) if kind.finished else None) or ()


async def _tell_carefully(ctx: Context, kind: JobKind, jobs: list[FinishedJob]) -> Sequence[UUID]:
    """A kind hears of each job alone; what it makes of one is undone where it fails, and the kind is told so."""
    if kind.broken is None:
        return await _tell_kind(ctx, kind, jobs)
    following: list[UUID] = []
    for job in jobs:
        try:
            async with ctx.db.savepoint():
                following += await _tell_kind(ctx, kind, [job])
        except Exception as error:  # the job has ended, so nothing would ever try again
            if refusal_of(error) is not None:
                # The database's trouble, and not the job's: the lease runs out, and another attempt follows.
                raise
            log.error("job.following_failed", job=job.id, kind=kind.name, exc_info=error)
            await kind.broken(ctx, job)
    return following
