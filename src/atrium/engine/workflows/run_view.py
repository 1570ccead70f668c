"""Runs as people read them: steps with their attempts, and values only for who may see them."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from atrium.engine.jobs import service as jobs
from atrium.engine.jobs.model import JobSummary
from atrium.engine.workflows import labels, outcome_rows, run_outcomes, store
from atrium.engine.workflows.interpreter import Spec
from atrium.engine.workflows.outcome import ItemCounts, Waiting
from atrium.engine.workflows.run_model import (
    MapItem,
    Run,
    RunError,
    RunFacts,
    RunMissing,
    StepAttempt,
    StepError,
    StepState,
    WorkflowStep,
    error_of,
)
from atrium.engine.workflows.specs import read_spec
from atrium.engine.workflows.store import FoundRun, FoundStep, MapFacts
from atrium.kit.web.pages import Pager
from atrium.seams.context import Context
from atrium.seams.sharing import Thing, list_unreadable
from atrium.seams.workflows import ChoiceStep

MOST_ITEMS = 200
_NO_ITEMS = ItemCounts(total=0, succeeded=0, failed=0, cancelled=0, waiting=0, running=0)
# The permission that tools of MCP servers and guests ask for.
_OF_OTHERS = "chat:use"


async def read_run(ctx: Context, id: UUID, step: str | None = None, cursor: str | None = None) -> Run:
    """A run of the caller's team, with its steps; with `step` only that one, its items from the cursor on."""
    found = await find_run(ctx, id)
    shown = id in await list_shown(ctx, [found.summary], found.team_id)
    spec = await read_spec(ctx, found.team_id, found.summary.workflow.slug, found.summary.workflow.version)
    after = None if step is None else _items_pager(ctx, id, step).read(cursor, int)
    if step is None:
        rows = await store.list_steps(ctx.db, ctx.who.org_id, id, MOST_ITEMS + 1)
    else:
        last = -1 if after is None else after
        rows = await store.list_items(ctx.db, ctx.who.org_id, id, step, -2, 1)
        rows += await store.list_items(ctx.db, ctx.who.org_id, id, step, last, MOST_ITEMS + 1)
    waiting = [row.job_id for row in rows if row.state == "open" and row.job_id is not None]
    states = {job.id: job for job in await jobs.list_states(ctx, waiting)}
    maps, counts = {}, {}
    if any(row.kind == "map" for row in rows):
        maps = {one.step: one for one in await store.list_map_facts(ctx.db, ctx.who.org_id, id)}
        counts = await outcome_rows.count_items(ctx.db, ctx.who.org_id, id)
    waits = await run_outcomes.list_step_waits(ctx, id) if found.summary.state == "running" else {}
    steps = [
        _with_items(one, maps.get(one.name), counts.get(one.name), waits.get(one.name))
        for one in _steps(ctx, rows, states, shown, found)
    ]
    if shown:
        steps = [await _labelled(ctx, id, one) for one in steps]
    if step is None and found.summary.state != "running":
        steps += _skipped(spec, {one.name for one in steps})
    output = found.output
    if found.output_step is not None:
        output = next((row.output for row in rows if row.step == found.output_step and row.place < 0), None)
    [summarized] = await run_outcomes.summarize(ctx, [found.summary if shown else without_values(found.summary)])
    summary = msgspec.structs.asdict(summarized)
    return Run(
        **summary,
        input=found.input if shown else None,
        output=output if shown else None,
        redacted=not shown,
        steps=steps,
    )


async def find_run(ctx: Context, id: UUID) -> FoundRun:
    """A run of the caller's team."""
    found = await store.find_run(ctx.db, ctx.who.org_id, ctx.who.team_id, id)
    if found is None:
        raise RunMissing("there is no such run in your team")
    return found


async def list_shown(ctx: Context, runs: Sequence[RunFacts], team_id: UUID) -> set[UUID]:
    """Those of a team's runs whose values the caller may see: who started it, or an admin who can read everything that it touched today.

    A credential with a scope also needs there what the run's tools need and what reading those things needs: all of it is in the values.
    """
    who = ctx.who
    mine = {run.id for run in runs if run.started_by.user_id == who.user_id}
    others = {run.id for run in runs} - mine if "settings:manage" in who.permissions else set()
    if who.scope is None and not others:
        return mine
    touched = await store.list_things(ctx.db, who.org_id, sorted(mine | others))
    unreadable = await list_unreadable(ctx, {thing for id in others for thing in touched[id]})
    shown = mine | {id for id in others if touched[id].isdisjoint(unreadable)}
    if who.scope is None:
        return shown
    return {run.id for run in runs if run.id in shown and await _is_in_scope(ctx, run, team_id, touched[run.id])}


async def _is_in_scope(ctx: Context, run: RunFacts, team_id: UUID, touched: set[Thing]) -> bool:
    shareables = ctx.services.registry.shareables
    needed = {f"{shareables[kind].family}:read" for kind, _ in touched if kind in shareables}
    needed |= await _permissions_of_tools(ctx, run, team_id)
    return all(ctx.who.within_scope(permission) for permission in needed)


def without_values(run: RunFacts) -> RunFacts:
    """A run as it is shown to who may not see its values: its error may hold some."""
    if run.error is None:
        return run
    return msgspec.structs.replace(run, error=error_of(RunError, msgspec.structs.asdict(run.error), shown=False))


async def _permissions_of_tools(ctx: Context, run: RunFacts, team_id: UUID) -> set[str]:
    """What the tools of a run's spec ask for; a tool that is not the server's own asks for what those of others do."""
    spec = await read_spec(ctx, team_id, run.workflow.slug, run.workflow.version)
    own = ctx.services.registry.tools
    names = [step.tool for step in spec.workflow.steps if not isinstance(step, ChoiceStep)]
    return {own[name].permission if name in own else _OF_OTHERS for name in names}


def _steps(
    ctx: Context, rows: list[FoundStep], states: dict[UUID, JobSummary], shown: bool, run: FoundRun
) -> list[WorkflowStep]:
    items: dict[str, list[FoundStep]] = {}
    for row in rows:
        if row.place >= 0:
            items.setdefault(row.step, []).append(row)
    steps = []
    for row in rows:
        if row.place < 0:
            pager = _items_pager(ctx, run.summary.id, row.step)
            page = pager.page(items.get(row.step, []), MOST_ITEMS, lambda item: item.place)
            entries = [_item(item, states, shown) for item in page.items] if row.kind == "map" else None
            steps.append(_step(row, states, shown, run, entries, page.next_cursor))
    return steps


def _items_pager(ctx: Context, run_id: UUID, step: str) -> Pager:
    return Pager(ctx.services.keys, "run items", ctx.who.user_id, str(run_id), step)


def _step(
    row: FoundStep,
    states: dict[UUID, JobSummary],
    shown: bool,
    run: FoundRun,
    items: list[MapItem] | None,
    cursor: str | None,
) -> WorkflowStep:
    job = states.get(row.job_id) if row.job_id else None
    state: StepState = "running" if row.state == "open" and row.kind == "map" else _state(row, job)
    return WorkflowStep(
        name=row.step,
        kind=row.kind,  # type: ignore[arg-type]
        tool=row.tool,
        state=state,
        attempt=_attempt(row, job),
        job_id=row.job_id,
        waiting_reason=_waiting(row, job) if state == "queued" else None,
        input=row.input if shown and row.kind == "tool" else None,
        output=row.output if shown else None,
        error=_error(row, shown),
        attempts=_attempts(row, job, shown),
        items=items,
        next_cursor=cursor,
        reused_from=row.reused_from,
        usage=row.usage,
        omitted=row.omitted,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def _item(row: FoundStep, states: dict[UUID, JobSummary], shown: bool) -> MapItem:
    job = states.get(row.job_id) if row.job_id else None
    return MapItem(
        index=row.place,
        item=row.item if shown else None,
        state=_state(row, job),
        attempt=_attempt(row, job),
        job_id=row.job_id,
        result=row.output.get("result") if shown and isinstance(row.output, dict) else None,
        error=_error(row, shown),
        reused_from=row.reused_from,
        waiting_reason=_waiting(row, job) if _state(row, job) == "queued" else None,
        omitted=row.omitted,
    )


def _with_items(
    step: WorkflowStep, facts: MapFacts | None, counts: ItemCounts | None, waiting: Waiting | None
) -> WorkflowStep:
    """A step with what it waits for; a map with what its items have used together, how they stand, and what some of them wait for."""
    step = msgspec.structs.replace(step, waiting=waiting)
    if facts is None:
        return step
    reason = facts.waiting if step.state == "running" else None
    return msgspec.structs.replace(step, usage=facts.usage, waiting_reason=reason, counts=counts or _NO_ITEMS)


async def _labelled(ctx: Context, run_id: UUID, step: WorkflowStep) -> WorkflowStep:
    """A map whose items say what people call them: names of things are values too, so only for who sees those."""
    if not step.items:
        return step
    return msgspec.structs.replace(step, items=await labels.label(ctx, run_id, step.items))


def _waiting(row: FoundStep, job: JobSummary | None) -> str | None:
    """What the job waits for; of one that only waits for a time, why its last attempt put it off."""
    if job is None or job.waiting_reason == "scheduled":
        return row.waiting or (job.waiting_reason if job else None)
    return job.waiting_reason


def _state(row: FoundStep, job: JobSummary | None) -> StepState:
    if row.state != "open":
        return row.state  # type: ignore[return-value]
    return "running" if job is not None and job.state == "running" else "queued"


def _attempt(row: FoundStep, job: JobSummary | None) -> int:
    if job is not None:
        return job.attempt
    return len(row.failures) + (row.state == "succeeded" and row.reused_from is None)


def _error(row: FoundStep, shown: bool) -> StepError | None:
    return error_of(StepError, row.error, shown=shown) if row.error else None


def _attempts(row: FoundStep, job: JobSummary | None, shown: bool) -> list[StepAttempt]:
    """The attempts that failed, and the one that succeeded or is under way."""
    failed = [
        StepAttempt(
            attempt=failure["attempt"],
            job_id=row.job_id,
            state="failed",
            error=error_of(StepError, failure, shown=shown),
            # Failures of before did not say when they began.
            started_at=datetime.fromisoformat(failure["began"]) if "began" in failure else None,
            finished_at=datetime.fromisoformat(failure["at"]),
        )
        for failure in row.failures
    ]
    if row.kind == "map" or row.reused_from is not None:
        return failed
    number = job.attempt if job is not None else len(failed) + 1
    if row.state == "succeeded" or (row.state == "open" and job is not None and job.state == "running"):
        failed.append(
            StepAttempt(
                attempt=max(number, len(failed) + 1),
                job_id=row.job_id,
                state="succeeded" if row.state == "succeeded" else "running",
                started_at=job.started_at if job else row.started_at,
                finished_at=row.finished_at,
            )
        )
    return failed


def _skipped(spec: Spec, reached: set[str]) -> list[WorkflowStep]:
    return [
        WorkflowStep(
            name=name,
            kind=type(step).__struct_config__.tag,  # type: ignore[arg-type]
            tool=None if isinstance(step, ChoiceStep) else step.tool,
            state="skipped",
        )
        for name, step in spec.steps.items()
        if name not in reached
    ]
