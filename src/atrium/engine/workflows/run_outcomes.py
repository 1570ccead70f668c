"""How the runs of one page stand: read together, and only what a listing of them tells."""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any, TypeVar
from uuid import UUID

import msgspec

from atrium.engine.jobs import service as jobs
from atrium.engine.workflows import outcome_rows
from atrium.engine.workflows.outcome import OpenJobs, RunStanding, Waiting, outcome_of, waiting_of
from atrium.engine.workflows.outcome_rows import CountedRun
from atrium.engine.workflows.run_model import RunFacts, RunSummary
from atrium.seams.context import Context

K = TypeVar("K", bound=Hashable)


async def summarize(ctx: Context, runs: Sequence[RunFacts]) -> list[RunSummary]:
    """Runs as listings show them."""
    counted = await _list_counted(ctx, {run.id for run in runs})
    waits = await _list_waits(ctx, {run.id for run in runs if run.state == "running"}, lambda one: one.run_id)
    return [
        RunSummary(
            **msgspec.structs.asdict(run),
            title=counted[run.id].title,
            **_standing(run.state, counted[run.id].failed_items, waits.get(run.id)),
        )
        for run in runs
    ]


async def list_standings(ctx: Context, ids: Collection[UUID]) -> dict[UUID, RunStanding]:
    """How runs of the caller's company stand; those that are gone are not among them."""
    counted = await _list_counted(ctx, ids)
    going_on = {one.id for one in counted.values() if one.state == "running"}
    waits = await _list_waits(ctx, going_on, lambda one: one.run_id)
    return {id: RunStanding(**_standing(one.state, one.failed_items, waits.get(id))) for id, one in counted.items()}


async def list_step_waits(ctx: Context, run_id: UUID) -> dict[str, Waiting]:
    """What the steps of a run wait for, of which nothing runs."""
    return await _list_waits(ctx, {run_id}, lambda one: one.step)


async def _list_counted(ctx: Context, ids: Collection[UUID]) -> dict[UUID, CountedRun]:
    found = await outcome_rows.list_counted(ctx.db, ctx.who.org_id, ids) if ids else []
    return {one.id: one for one in found}


async def _list_waits(ctx: Context, run_ids: Collection[UUID], by: Callable[[OpenJobs], K]) -> dict[K, Waiting]:
    if not run_ids:
        return {}
    groups: dict[K, list[OpenJobs]] = defaultdict(list)
    for one in await outcome_rows.list_open_jobs(ctx.db, ctx.who.org_id, run_ids):
        groups[by(one)].append(one)
    states = {
        job.id: job for job in await jobs.list_states(ctx, [one.job_id for some in groups.values() for one in some])
    }
    waits: dict[K, Waiting] = {}
    for key, some in groups.items():
        told = [(one, job.state if job else None, job.waiting_reason if job else None)
                for one in some for job in [states.get(one.job_id)]]  # fmt: skip
        if (waiting := waiting_of(told)) is not None:
            waits[key] = waiting
    return waits


def _standing(state: str, failed_items: int, waiting: Waiting | None) -> dict[str, Any]:
    return {"outcome": outcome_of(state, failed_items, waiting), "failed_items": failed_items, "waiting": waiting}
