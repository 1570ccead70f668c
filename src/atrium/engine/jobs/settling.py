"""Ending attempts: once each, in batches, with everything that follows from it in the same transaction."""

from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.jobs import store
from atrium.engine.jobs.model import ENDED, FinishedJob, Report, Settled, StaleClaim
from atrium.ground.identity import service as identity
from atrium.ground.quotas import service as quotas
from atrium.kit.database import Transaction
from atrium.seams.context import Context, Services
from atrium.seams.jobs import Amounts


async def settle(services: Services, report: Report) -> Settled:
    """Where the job stands after this attempt; StaleClaim when the attempt was no longer the current one.

    Whatever ends at the same moment in one company shares a transaction.
    """
    org_id = report.claim.org_id

    async def work(reports: list[Report]) -> list[Settled | Exception]:
        try:
            return await _settle_together(services, org_id, reports)
        except Exception:
            if len(reports) == 1:
                raise
        # Something that follows from one of them failed; the others shall not share its fate.
        return [await _settle_alone(services, org_id, one) for one in reports]

    return await services.combiner.submit(("jobs", org_id), report, work)


async def settle_within(services: Services, db: Transaction, org_id: UUID, reports: list[Report]) -> list[Settled]:
    """End attempts of one company inside the caller's transaction; what is stale is not among what comes back."""
    settled = await store.settle(db, org_id, reports)
    known = {report.claim.id: report.used for report in reports if report.used is not None}
    known |= {report.claim.id: {} for report in reports if report.outcome == "returned"}
    await follow(services, db, org_id, settled, known)
    return settled


async def follow(
    services: Services, db: Transaction, org_id: UUID, settled: list[Settled], known: dict[UUID, Amounts]
) -> None:
    """Quota, wake-up calls and events of attempts that have just ended; of some it is known what they cost."""
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
    if heard:
        await _tell_kinds(services, db, org_id, heard, endings)


async def _settle_together(services: Services, org_id: UUID, reports: list[Report]) -> list[Settled | Exception]:
    # Of two words about one attempt only the first can count; about two attempts at one job, only the current one's.
    first = {(report.claim.id, report.claim.token): report for report in reversed(reports)}
    async with services.database.begin(org_id) as db:
        settled = {(one.id, one.token): one for one in await settle_within(services, db, org_id, list(first.values()))}
    return [_verdict(report, first, settled) for report in reports]


async def _settle_alone(services: Services, org_id: UUID, report: Report) -> Settled | Exception:
    try:
        return (await _settle_together(services, org_id, [report]))[0]
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


async def _tell_kinds(
    services: Services, db: Transaction, org_id: UUID, heard: list[Settled], endings: Endings
) -> None:
    """Each kind hears of its own jobs, once for all of them."""
    owners = await identity.list_principals(db, org_id, list({one.user_id for one in heard}))
    jobs: dict[str, list[FinishedJob]] = {}
    for one in heard:
        owner = owners.get(one.user_id)
        there = identity.narrowed(owner, one.scope) if owner and owner.team_id == one.team_id else None
        jobs.setdefault(one.kind, []).append(FinishedJob(one.id, one.state, *endings[one.id], there))
    for kind, some in jobs.items():
        finished = services.registry.job_kinds[kind].finished
        if finished is not None:
            await finished(Context.of_company(services, db, org_id), some)
