"""Settlement of attempts: once each, in batches, with everything that follows from it in the same transaction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.jobs import attempt_rows, store
from atrium.engine.jobs.model import (
    ENDED,
    Attempt,
    AttemptReport,
    Drafts,
    FinishedJob,
    JobStream,
    SettledJob,
    StaleClaim,
)
from atrium.ground.identity import service as identity
from atrium.ground.quotas import service as quotas
from atrium.kit.postgres.database import Transaction
from atrium.kit.postgres.failures import refusal_of
from atrium.kit.telemetry.log import log
from atrium.seams.context import Context, Principal, Services
from atrium.seams.jobs import Amounts, JobKind

Verdict = tuple[SettledJob, Attempt | None]
# Input, result and error of jobs.
Endings = dict[UUID, tuple[Any, Any, str | None]]


@dataclass(frozen=True, slots=True)
class _Prefetched:
    """What need not be read of jobs that end: what some used, were given and came to; of whom it is known, all their people."""

    used: dict[UUID, Amounts]
    endings: Endings = field(default_factory=dict)
    owners: dict[UUID, Principal] | None = None


async def settle(services: Services, report: AttemptReport) -> SettledJob:
    """Where the job stands after this attempt; StaleClaim when the attempt was no longer the current one.

    Whatever ends at the same moment in one company shares a transaction.
    """
    return (await settle_and_take(services, report))[0]


async def settle_and_take(services: Services, report: AttemptReport) -> tuple[SettledJob, Attempt | None]:
    """The same for a worker that goes on with what follows from its job, when nothing else waits for it."""
    org_id = report.claim.org_id

    async def work(reports: list[AttemptReport]) -> list[Verdict | Exception]:
        try:
            return await _settle_together(services, org_id, reports)
        except Exception as error:
            log.warning("job.settled_alone", jobs=len(reports), error=error)
        # Something that follows from one of them failed; the others shall not share its fate.
        return [await _settle_alone(services, org_id, one) for one in reports]

    return await services.combiner.submit(("jobs", org_id), report, work)


async def settle_within(
    services: Services,
    db: Transaction,
    org_id: UUID,
    reports: list[AttemptReport],
    taken: list[Attempt] | None = None,
    *,
    careful: bool = False,
) -> list[SettledJob]:
    """End attempts of one company inside the caller's transaction; what is stale is not among what comes back.

    What follows from them and is handed on to their workers is appended to `taken`. When `careful`, what a kind makes of one
    job is undone where it fails, and the job ends all the same.
    """
    settled, people = await attempt_rows.settle(db, org_id, reports)
    current = {(one.id, one.token) for one in settled}
    counted = [report for report in reports if (report.claim.id, report.claim.token) in current]
    if reasons := {report.claim.id: report.put_off_for for report in counted if report.put_off_for is not None}:
        await attempt_rows.note_put_off(db, org_id, reasons)
    # Only with an attempt that was current: what a worker did that has lost its lease is done again.
    if beside := {one.id: one for report in counted for one in report.beside}:
        settled += await attempt_rows.settle_beside(db, org_id, list(beside.values()))
    following = await _tell(services, db, org_id, settled, _known_from(counted, people), careful=careful)
    takers = [report.take for report in counted if report.take is not None]
    if following.drafts and takers and taken is not None:
        taken += await takers[0](db, following, len(takers))
    else:
        await _queue(db, following.drafts)
    return settled


def _known_from(reports: list[AttemptReport], people: dict[UUID, tuple[Any, ...]]) -> _Prefetched:
    used = {report.claim.id: report.used for report in reports if report.used is not None}
    used |= {report.claim.id: {} for report in reports if report.outcome == "returned"}
    endings = {
        report.claim.id: (report.input, report.result, report.error)
        for report in reports
        if report.input is not None and report.outcome != "returned"
    }
    endings |= {one.id: (one.input, one.result, None) for report in reports for one in report.beside}
    return _Prefetched(used, endings, {id: identity.principal_of(person, "job") for id, person in people.items()})


async def follow(
    services: Services, db: Transaction, org_id: UUID, settled: list[SettledJob], known: dict[UUID, Amounts]
) -> None:
    """Quota, wake-up calls and events of attempts that have just ended; of some it is known what they cost."""
    following = await _tell(services, db, org_id, settled, _Prefetched(known), careful=True)
    await _queue(db, following.drafts)


async def _queue(db: Transaction, following: Iterable[Drafts]) -> None:
    for drafts in following:
        await store.insert_jobs(db, drafts.owner, drafts.jobs)


async def _tell(
    services: Services,
    db: Transaction,
    org_id: UUID,
    settled: list[SettledJob],
    known: _Prefetched,
    *,
    careful: bool,
) -> JobStream:
    """Quota and events; the jobs that their kinds let follow."""
    ended = [one for one in settled if one.state in ENDED]
    spent = [one for one in settled if one.admission_id is not None]
    waiting = [one for one in settled if one.state == "queued"]
    heard = [one for one in ended if (kind := services.registry.job_kinds.get(one.kind)) and kind.finished]
    endings = await _endings(db, org_id, heard + spent, known.endings)
    if spent:
        costs = {one.admission_id: _cost(services, one, known.used, endings) for one in spent if one.admission_id}
        await quotas.settle_each_within(db, org_id, costs)
    if waiting:
        await attempt_rows.wake(db, org_id, waiting)
    if not heard:
        return JobStream([], {})
    owners = known.owners
    if owners is None:
        owners = await identity.list_principals(db, org_id, list({one.user_id for one in heard}))
    jobs: dict[str, list[FinishedJob]] = {}
    for one in heard:
        owner = owners.get(one.user_id)
        there = identity.narrow_principal(owner, one.scope) if owner and owner.team_id == one.team_id else None
        jobs.setdefault(one.kind, []).append(FinishedJob(one.id, one.state, *endings[one.id], there))
    ctx, following = Context.of_company(services, db, org_id), list[Drafts]()
    for name, some in jobs.items():
        tell = _tell_carefully if careful else _tell_kind
        following += await tell(ctx, services.registry.job_kinds[name], some)
    return JobStream(following, owners)


async def _settle_together(
    services: Services, org_id: UUID, reports: list[AttemptReport], *, careful: bool = False
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


async def _settle_alone(services: Services, org_id: UUID, report: AttemptReport) -> Verdict | Exception:
    try:
        return (await _settle_together(services, org_id, [report], careful=True))[0]
    except Exception as error:  # raised to the caller who reported it
        return error


def _verdict(
    report: AttemptReport,
    first: dict[tuple[UUID, UUID], AttemptReport],
    settled: dict[tuple[UUID, UUID | None], SettledJob],
) -> SettledJob | Exception:
    key = report.claim.id, report.claim.token
    if first[key] is report and key in settled:
        return settled[key]
    return StaleClaim("this attempt is over: it was settled, its lease ran out, or another worker has the job now")


async def _endings(db: Transaction, org_id: UUID, wanted: list[SettledJob], known: Endings) -> Endings:
    unknown = {one.id for one in wanted} - known.keys()
    return known | (await attempt_rows.read_endings(db, org_id, list(unknown)) if unknown else {})


def _cost(services: Services, one: SettledJob, known: dict[UUID, Amounts], endings: Endings) -> Amounts | None:
    """What an attempt used: what is known, what its result says when it succeeded, else all it reserved."""
    if one.id in known:
        return known[one.id]
    kind = services.registry.job_kinds.get(one.kind)
    if one.state != "succeeded" or kind is None or kind.used is None:
        return None
    given, result, _ = endings[one.id]
    return kind.used(msgspec.convert(given, kind.arguments), result)


async def _tell_kind(ctx: Context, kind: JobKind, jobs: list[FinishedJob]) -> Sequence[Drafts]:
    """A kind hears of its own jobs, once for all of them."""
    return (await kind.finished(ctx, jobs) if kind.finished else None) or ()


async def _tell_carefully(ctx: Context, kind: JobKind, jobs: list[FinishedJob]) -> Sequence[Drafts]:
    """A kind hears of each job alone; what it makes of one is undone where it fails, and the kind is told so.

    What follows is queued here, so that it is undone as well.
    """
    if kind.broken is None:
        return await _tell_kind(ctx, kind, jobs)
    for job in jobs:
        try:
            async with ctx.db.savepoint():
                await _queue(ctx.db, await _tell_kind(ctx, kind, [job]))
        except Exception as error:  # the job has ended, so nothing would ever try again
            if refusal_of(error) is not None:
                # The database's trouble, and not the job's: the lease runs out, and another attempt follows.
                raise
            log.error("job.following_failed", job=job.id, kind=kind.name, exc_info=error)
            await kind.broken(ctx, job)
    return ()
