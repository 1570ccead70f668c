"""The verbs of jobs: queue, read, cancel; and the entry points of workers."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.jobs import dispatcher, queue_rows, reaper, store
from atrium.engine.jobs.model import (
    Backlog,
    BadInput,
    Drafts,
    FoundJob,
    Job,
    JobEnded,
    JobMissing,
    JobSummary,
    NewJob,
    State,
    UnknownKind,
    error_of,
    pool_of,
)
from atrium.engine.jobs.settlement import follow
from atrium.ground.access.model import NotPermitted
from atrium.ground.audit import service as audit
from atrium.ground.quotas import service as quotas
from atrium.kit.ids import new_id
from atrium.kit.postgres.database import Database
from atrium.kit.web.pages import Page, Pager, count_fitting
from atrium.seams.context import Context, Principal, Services
from atrium.seams.jobs import JobKind
from atrium.seams.wiring import Keeper

MOST_AT_ONCE = 10_000
KEEPER = Keeper("jobs", store.count_kept)


async def enqueue(
    ctx: Context,
    kind: str,
    inputs: Sequence[Any],
    *,
    model: str | None = None,
    run_at: datetime | None = None,
    priority: int = 0,
) -> list[UUID]:
    """Queue jobs in the caller's transaction: they exist when it commits, and only then. They act as the caller, no further."""
    drafts = await draft(ctx, kind, inputs, model=model, run_at=run_at, priority=priority)
    await queue(ctx, drafts)
    return [one.id for one in drafts.jobs]


async def draft(
    ctx: Context,
    kind: str,
    inputs: Sequence[Any],
    *,
    model: str | None = None,
    run_at: datetime | None = None,
    priority: int = 0,
) -> Drafts:
    """Jobs that act as the caller, checked and not queued yet: for `queue`, or for a kind's `finished` to return."""
    registered = _registered(ctx, kind)
    model, pool = await _placed(ctx, registered, model)
    drafts = [
        NewJob(
            id=new_id(),
            kind=kind,
            model=model,
            pool=pool,
            priority=priority,
            max_attempts=registered.attempts,
            lease=timedelta(seconds=registered.lease),
            run_at=run_at,
            input=_checked(registered, given),
            listed=registered.public,
        )
        for given in inputs
    ]
    return Drafts(ctx.who, drafts)


async def queue(ctx: Context, drafts: Drafts) -> None:
    """Queue jobs in the caller's transaction."""
    for start in range(0, len(drafts.jobs), MOST_AT_ONCE):
        await store.insert_jobs(ctx.db, drafts.owner, drafts.jobs[start : start + MOST_AT_ONCE])


async def create_job(
    ctx: Context, kind: str, given: Any, model: str | None, run_at: datetime | None, priority: int
) -> Job:
    """Queue one job that a person asks for."""
    registered = _registered(ctx, kind)
    if not registered.public:
        raise UnknownKind(f"{kind} is queued by the product itself", kind=kind)
    if model is not None and not registered.claimable:
        raise BadInput(f"{kind} runs in this server and has no model to choose")
    if run_at is not None and run_at.tzinfo is None:
        run_at = run_at.replace(tzinfo=UTC)
    await quotas.require_space(ctx, ctx.who.team_id, len(msgspec.json.encode(given)))
    [id] = await enqueue(ctx, kind, [given], model=model, run_at=run_at, priority=priority)
    await audit.record(ctx, "jobs.queued", id, job_kind=kind)
    return await read_job(ctx, id)


async def read_job(ctx: Context, id: UUID) -> Job:
    """A job of the caller's team; input, result and the words of its error only for its owner and the team's admins."""
    job = await store.find_job(ctx.db, ctx.who.org_id, ctx.who.team_id, id, await store.list_served_pools(ctx.db))
    if job is None:
        raise JobMissing("there is no such job in your team")
    shown = _may_read(ctx, job)
    facts = msgspec.structs.asdict(_summary(job, shown=shown))
    return Job(**facts, input=job.input if shown else None, result=job.result if shown else None)


async def list_jobs(
    ctx: Context, state: State | None, kind: str | None, limit: int, cursor: str | None
) -> Page[JobSummary]:
    """The team's jobs, newest first; those that the product queued for itself only when their kind is asked for."""
    pager = Pager(ctx.services.keys, "jobs", ctx.who.team_id, state, kind)
    states = {None: None, "queued": ["queued", "scheduled"]}.get(state, [str(state)])
    served = await store.list_served_pools(ctx.db)
    listing = store.list_jobs if _is_listed(ctx, kind) else store.list_unlisted_jobs
    found = await listing(ctx.db, ctx.who, states, kind, pager.read(cursor, UUID), limit + 1, served)
    fits = count_fitting([job.error or "" for job in found])
    shown = [_summary(job, shown=_may_read(ctx, job)) for job in found]
    return pager.page(shown, min(limit, fits), lambda job: job.id)


def _summary(job: FoundJob, *, shown: bool) -> JobSummary:
    facts = {name: getattr(job, name) for name in JobSummary.__struct_fields__ if name != "error"}
    return JobSummary(**facts, error=error_of(job.error, shown=shown))


def _is_listed(ctx: Context, kind: str | None) -> bool:
    found = ctx.services.registry.job_kinds.get(kind) if kind else None
    return found is None or found.public


async def cancel_job(ctx: Context, id: UUID) -> Job:
    """Cancel a job that waits; one that runs is told at its next heartbeat, and finishes as it likes."""
    job = await read_job(ctx, id)
    if not _may_manage(ctx.who, job):
        raise NotPermitted("this job belongs to another person; it takes settings:manage", permission="settings:manage")
    who = ctx.who
    cancelled = await store.cancel_waiting(ctx.db, who.org_id, who.team_id, id)
    if cancelled is not None:
        await follow(ctx.services, ctx.db, who.org_id, [cancelled], {id: {}})
    elif not await store.ask_to_cancel(ctx.db, who.org_id, who.team_id, id):
        raise JobEnded("this job has ended already", state=(await read_job(ctx, id)).state)
    await audit.record(ctx, "jobs.cancelled", id, job_kind=job.kind)
    return await read_job(ctx, id)


async def cancel_jobs_of(ctx: Context, person_id: UUID) -> None:
    """Cancel a person's queued jobs; running ones are asked to stop."""
    org_id = ctx.who.org_id
    cancelled = await store.cancel_waiting_of(ctx.db, org_id, person_id)
    await follow(ctx.services, ctx.db, org_id, cancelled, {one.id: {} for one in cancelled})
    await store.ask_to_cancel_of(ctx.db, org_id, person_id)


async def is_any_cancelled(ctx: Context, kind: str, given: Mapping[str, Any]) -> bool:
    """Whether a person cancelled one of the team's jobs of this kind that have this in their input, or asked it to stop."""
    listed = _registered(ctx, kind).public
    return await store.is_any_cancelled(ctx.db, ctx.who.org_id, ctx.who.team_id, kind, given, listed=listed)


async def drop(ctx: Context, ids: Sequence[UUID]) -> list[UUID]:
    """Cancel those of these jobs that wait, for a caller who sees to what follows; which they were.

    One that runs finishes, and is not tried again. One that is being claimed or settled right now is left alone.
    """
    return await store.drop(ctx.db, ctx.who.org_id, list(ids)) if ids else []


async def list_states(ctx: Context, ids: Sequence[UUID]) -> list[JobSummary]:
    """Where jobs of the caller's company stand; those that are gone are not among them."""
    if not ids:
        return []
    found = await store.list_states(ctx.db, ctx.who.org_id, list(ids), await store.list_served_pools(ctx.db))
    return [_summary(job, shown=False) for job in found]


async def sweep(services: Services) -> int:
    """Requeue expired attempts, promote due jobs, reopen lanes whose quota recovered, and wake local waiters."""
    lapsed = await reaper.sweep(services)
    await dispatcher.look_for_waiting(services)
    return lapsed


def _registered(ctx: Context, kind: str) -> JobKind:
    found = ctx.services.registry.job_kinds.get(kind)
    if found is None:
        raise UnknownKind(f"no job kind is called {kind}", kind=kind)
    return found


async def _placed(ctx: Context, kind: JobKind, model: str | None) -> tuple[str | None, str]:
    """The model and the pool of a job; a kind that runs in several places says which it is."""
    if kind.place is None:
        return model, pool_of(kind.name, model)
    place = await kind.place(ctx, model)
    return place.model, pool_of(kind.name, str(place.worker) if place.worker else None)


def _checked(kind: JobKind, given: Any) -> Any:
    try:
        arguments = msgspec.convert(given, kind.arguments)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        raise BadInput(
            f"{kind.name} does not take this input: {message}",
            errors=[{"path": f"input{path.rstrip('`')}", "message": message}],
        ) from error
    return msgspec.to_builtins(arguments)


async def read_backlog(database: Database) -> Backlog:
    """What waits over all companies, and who is there to run it."""
    async with database.begin_system() as db:
        return await queue_rows.read_backlog(db)


def _may_read(ctx: Context, job: FoundJob) -> bool:
    """The owner and admins, where it is a kind that people ask for. The others are about what not every admin may see, and not
    every token of the owner: those show what they carry to the owner, signed in or with a token that has no scope.
    """
    kind = ctx.services.registry.job_kinds.get(job.kind)
    if kind is not None and kind.public:
        return _may_manage(ctx.who, job)
    return job.user_id == ctx.who.user_id and ctx.who.scope is None


def _may_manage(who: Principal, job: Job | FoundJob) -> bool:
    return job.user_id == who.user_id or "settings:manage" in who.permissions
