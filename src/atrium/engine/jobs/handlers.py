"""The wire of jobs."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import msgspec

from atrium.engine.jobs import service
from atrium.engine.jobs.model import Job, JobSummary, State
from atrium.kit.web.pages import Cursor, Limit, Page
from atrium.seams.context import Context
from atrium.seams.routes import Created

KindName = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
ModelName = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class JobDraft(msgspec.Struct, forbid_unknown_fields=True):
    """A job to queue: what the kind needs, and when; a higher priority goes first among the team's own."""

    kind: KindName
    input: dict[str, Any] = {}
    model: ModelName | None = None
    run_at: datetime | None = None
    priority: Annotated[int, msgspec.Meta(ge=-100, le=100)] = 0


async def enqueue_job(ctx: Context, body: JobDraft) -> Created[Job]:
    """Queue a job of a registered kind."""
    return Created(await service.create_job(ctx, body.kind, body.input, body.model, body.run_at, body.priority))


async def list_jobs(
    ctx: Context,
    *,
    state: State | None = None,
    kind: KindName | None = None,
    limit: Limit = 50,
    cursor: Cursor | None = None,
) -> Page[JobSummary]:
    """The team's jobs, newest first, each with what it is waiting for."""
    return await service.list_jobs(ctx, state, kind, limit, cursor)


async def cancel_job(ctx: Context, id: UUID) -> Job:
    """Cancel a job that waits; a running one is told at its next heartbeat."""
    return await service.cancel_job(ctx, id)


async def read_job(ctx: Context, id: UUID) -> Job:
    """One job, with its result or error."""
    return await service.read_job(ctx, id)
