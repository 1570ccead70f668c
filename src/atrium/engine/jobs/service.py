"""The verbs of jobs: queue, look, cancel; and the doors to the worker's side."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.jobs import dispatcher, reaper, store
from atrium.engine.jobs.dispatcher import hand_back as hand_back
from atrium.engine.jobs.model import (
    BadInput,
    Draft,
    Job,
    JobEnded,
    JobMissing,
    JobSummary,
    State,
    UnknownKind,
    pool_of,
)
from atrium.engine.jobs.remote import claim_remote as claim_remote
from atrium.engine.jobs.remote import complete_remote as complete_remote
from atrium.engine.jobs.remote import extend_lease as extend_lease
from atrium.engine.jobs.remote import fail_remote as fail_remote
from atrium.engine.jobs.remote import return_held as return_held
from atrium.engine.jobs.remote import take_over as take_over
from atrium.engine.jobs.runner import Runner as Runner
from atrium.engine.jobs.settling import follow
from atrium.ground.access.model import NotPermitted
from atrium.ground.audit import service as audit
from atrium.kit.database import Database
from atrium.kit.ids import new_id
from atrium.kit.paging import Page, Pager
from atrium.seams.context import Context, Principal, Services
from atrium.seams.jobs import JobKind

MOST_AT_ONCE = 10_000


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
    registered = _registered(ctx, kind)
    model, pool = await _placed(ctx, registered, model)
    drafts = [
        Draft(
            id=new_id(),
            kind=kind,
            model=model,
            pool=pool,
            priority=priority,
            max_attempts=registered.attempts,
            lease=timedelta(seconds=registered.lease),
            run_at=run_at,
            input=_checked(registered, given),
        )
        for given in inputs
    ]
    scope = None if ctx.who.scope is None else sorted(ctx.who.scope)
    for start in range(0, len(drafts), MOST_AT_ONCE):
        batch = drafts[start : start + MOST_AT_ONCE]
        await store.insert_jobs(ctx.db, ctx.who.org_id, ctx.who.team_id, ctx.who.user_id, scope, batch)
    return [draft.id for draft in drafts]


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
    [id] = await enqueue(ctx, kind, [given], model=model, run_at=run_at, priority=priority)
    await audit.record(ctx, "jobs.queued", id, job_kind=kind)
    return await read_job(ctx, id)


async def read_job(ctx: Context, id: UUID) -> Job:
    """A job of the caller's team; input and result only for its owner and the team's admins."""
    job = await store.find_job(ctx.db, ctx.who.org_id, ctx.who.team_id, id, await store.list_served_pools(ctx.db))
    if job is None:
        raise JobMissing("there is no such job in your team")
    return job if _may_manage(ctx.who, job) else msgspec.structs.replace(job, input=None, result=None)


async def list_jobs(
    ctx: Context, state: State | None, kind: str | None, limit: int, cursor: str | None
) -> Page[JobSummary]:
    """The team's jobs, newest first."""
    pager = Pager(ctx.services.keys, "jobs", ctx.who.team_id, state, kind)
    states = {None: None, "queued": ["queued", "scheduled"]}.get(state, [str(state)])
    found = await store.list_jobs(
        ctx.db,
        ctx.who.org_id,
        ctx.who.team_id,
        states,
        kind,
        pager.read(cursor, UUID),
        limit + 1,
        await store.list_served_pools(ctx.db),
    )
    return pager.page(found, limit, lambda job: job.id)


async def cancel_job(ctx: Context, id: UUID) -> Job:
    """Cancel a job that waits; one that runs is told at its next heartbeat, and finishes as it likes."""
    job = await read_job(ctx, id)
    if not _may_manage(ctx.who, job):
        raise NotPermitted("this is somebody else's job; it takes settings:manage", permission="settings:manage")
    who = ctx.who
    cancelled = await store.cancel_waiting(ctx.db, who.org_id, who.team_id, id)
    if cancelled is not None:
        await follow(ctx.services, ctx.db, who.org_id, [cancelled], {id: {}})
    elif not await store.ask_to_cancel(ctx.db, who.org_id, who.team_id, id):
        raise JobEnded("this job has ended already", state=(await read_job(ctx, id)).state)
    await audit.record(ctx, "jobs.cancelled", id, job_kind=job.kind)
    return await read_job(ctx, id)


async def sweep(services: Services) -> int:
    """Return lapsed attempts to their queues, stage what is due, reopen what quotas had closed; whoever waits here looks."""
    lapsed = await reaper.sweep(services)
    await dispatcher.look_for_waiting(services)
    return lapsed


async def forget_finished(database: Database, days: int) -> int:
    """Drop jobs that ended more than so many days ago."""
    return await reaper.forget_finished(database, days)


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


def _may_manage(who: Principal, job: Job) -> bool:
    return job.user_id == who.user_id or "settings:manage" in who.permissions
