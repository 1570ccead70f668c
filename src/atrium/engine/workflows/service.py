"""The verbs of runs: start, resume, read, cancel."""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.jobs import service as jobs
from atrium.engine.repository import service as repository
from atrium.engine.repository.model import KIND as OBJECT
from atrium.engine.workflows import (
    bound_rows,
    definitions,
    interpreter,
    listing_rows,
    map_rows,
    outcome_rows,
    progress,
    resumption,
    run_outcomes,
    run_rows,
    run_view,
    store,
)
from atrium.engine.workflows.bindings import FEW_VALUES, check_input, size_of
from atrium.engine.workflows.interpreter import NeedsOutputs, RunEnd, Spec
from atrium.engine.workflows.listing_rows import RunFilter
from atrium.engine.workflows.model import RunnableSpec
from atrium.engine.workflows.outcome import RunStanding
from atrium.engine.workflows.process_cache import Memory
from atrium.engine.workflows.run_model import (
    BadRunInput,
    CannotResume,
    Lineage,
    NotYours,
    Origin,
    Resume,
    Run,
    RunEnded,
    RunSummary,
    StepProgress,
    TooManyRuns,
)
from atrium.engine.workflows.run_rows import LockedRun, NewRun
from atrium.engine.workflows.specs import read_spec
from atrium.ground.audit import service as audit
from atrium.ground.identity import service as identity
from atrium.ground.quotas import service as quotas
from atrium.kit.errors import TooLarge
from atrium.kit.ids import new_id
from atrium.kit.web.pages import Page, Pager
from atrium.kit.work.compute import run_bounded
from atrium.seams.context import Context
from atrium.seams.wiring import Keeper

LARGEST_INPUT = 256 << 10
MOST_OPEN = 100_000
_MOST_RUNS = 100
KEEPER = Keeper("jobs", run_rows.count_kept)


async def start_run(
    ctx: Context,
    slug: str,
    given: Mapping[str, Any] | None = None,
    *,
    version: int | None = None,
    found: RunnableSpec | None = None,
    resume: Resume | None = None,
    origin: Origin | None = None,
) -> UUID:
    """Start a run in the caller's transaction, as the caller within their credential's scope; of what was `found`, when that was looked up.

    A resumed run takes over what an ended one has done before a step, and begins there; its input and version are the old
    run's unless given. One that goes on with what a trigger fired is bound as that was, with the caller in the writer's place.
    """
    ended = await resumption.find_ended(ctx, resume) if resume else None
    if ended is not None:
        if ended.summary.workflow.slug != slug:
            raise CannotResume(f"this is a run of {ended.summary.workflow.slug}; resume it there")
        given = ended.input if given is None else given
        version = version or ended.summary.workflow.version
    found = found or await definitions.find(ctx, slug, version)
    spec = await read_spec(ctx, ctx.who.team_id, slug, found.version)
    input = _checked(spec, {} if given is None else given)
    await _require_fewer(ctx)
    taken = None
    if ended is not None and resume is not None:
        was = ended.summary.workflow
        old = await read_spec(ctx, ctx.who.team_id, was.slug, was.version)
        taken = await resumption.take_over(ctx, ended, resume, old, spec)
    descent = origin or (await resumption.read_origin(ctx, resume, found) if resume else None) or Origin(None)
    if origin is None and taken is None:
        # What a written file fires always starts; the write itself was admitted.
        await quotas.require_space(ctx, ctx.who.team_id, size_of(input))
    run = NewRun(
        id=new_id(),
        org_id=ctx.who.org_id,
        team_id=ctx.who.team_id,
        user_id=ctx.who.user_id,
        slug=slug,
        version=found.version,
        locale=await identity.read_locale(ctx),
        input=input,
        max_steps=spec.workflow.max_steps,
        trigger_id=descent.trigger_id,
        ancestry=list(descent.ancestry),
        depth=descent.depth,
        resumed_from=resume.run_id if resume else None,
        resumed_step=resume.step if resume else None,
        bound_to=list(descent.bound_to),
        fired_by=descent.fired_by,
        egress=descent.egress,
    )
    await run_rows.insert_run(ctx.db, run)
    await _begin(ctx, run, spec, taken, resume)
    await audit.record(ctx, "workflows.started", run.id, slug=slug, version=found.version)
    _memory(ctx).open_runs.add(ctx.who.team_id)
    return run.id


async def start_accepted(
    ctx: Context, slug: str, given: Mapping[str, Any] | None, accept: str, *, version: int | None, resume: Resume | None
) -> UUID:
    """The same, of the version alone that this digest stands for; that the caller has looked at it is kept."""
    if resume is not None and version is None:
        version = (await run_view.find_run(ctx, resume.run_id)).summary.workflow.version
    found = await definitions.find(ctx, slug, version)
    await definitions.accept(ctx, found, accept)
    return await start_run(ctx, slug, given, version=version, found=found, resume=resume)


async def _begin(
    ctx: Context, run: NewRun, spec: Spec, taken: resumption.ReusedStep | None, resume: Resume | None
) -> None:
    """Enter the first step, or the one to resume at, with what was taken over."""
    row = LockedRun(
        run.id, run.team_id, run.user_id, run.slug, run.version, "running", run.locale, run.input, taken.used if taken else 0
    )  # fmt: skip
    outputs: dict[str, Any] = {}
    looked_for: set[str] = set() if taken else set(spec.names)
    while True:
        try:
            situation, step = progress.situation_of(row, spec, outputs, looked_for), resume.step if resume else None
            weight = spec.weights[step or spec.workflow.start]
            moves = await run_bounded(weight, interpreter.begin, situation, step, small=FEW_VALUES)
            break
        except NeedsOutputs as needs:
            looked_for |= needs.steps
            keys = [(taken.run.summary.id, name) for name in needs.steps if taken and name in taken.steps]
            found = await run_rows.list_outputs(ctx.db, run.org_id, keys)
            outputs |= {name: output for _, name, _, output in found}
    if taken is not None and resume is not None:
        reused = await resumption.reuse_items(ctx, taken, resume, spec, moves)
        source = taken.run.summary.id
        copied = await store.read_size(ctx.db, run.org_id, source, taken.steps, resume.step, reused)
        await quotas.require_space(ctx, run.team_id, size_of(run.input) + copied)
        await store.copy_steps(ctx.db, run.org_id, run.id, source, taken.steps, resume.step, reused)
        await store.copy_things(ctx.db, run.org_id, run.id, source)
    # The input may say what it is called: a run's values are for those who can read what fired it.
    fired_by = [] if run.fired_by is None else [(run.id, (OBJECT, run.fired_by))]
    for drafts in await progress.write(
        ctx, [(row, spec, ctx.who, moves)], given=[(run.id, run.input)], things=fired_by
    ):
        await jobs.queue(ctx, drafts)


def _checked(spec: Spec, given: Mapping[str, Any]) -> dict[str, Any]:
    if problems := check_input(spec.workflow, given):
        first = problems[0]
        raise BadRunInput(
            f"{first.path}: {first.message}", errors=[msgspec.to_builtins(problem) for problem in problems[:20]]
        )
    if size_of(given) > LARGEST_INPUT:
        raise TooLarge(f"a run's input has at most {LARGEST_INPUT} bytes", limit=LARGEST_INPUT)
    return dict(given)


async def _require_fewer(ctx: Context) -> None:
    open_runs, team_id = _memory(ctx).open_runs, ctx.who.team_id
    count = open_runs.find(team_id)
    if count is None:
        count = await store.count_open(ctx.db, ctx.who.org_id, team_id, MOST_OPEN)
        open_runs.put(team_id, count)
    if count >= MOST_OPEN:
        raise TooManyRuns(f"your team has {MOST_OPEN} runs that have not ended; wait for some of them", retry_after=60)


def _memory(ctx: Context) -> Memory:
    memory: Memory = ctx.services.started["workflows"]
    return memory


async def read_run(ctx: Context, id: UUID, step: str | None = None, cursor: str | None = None) -> Run:
    """A run with its steps; with `step` only that one, its items from the cursor on."""
    return await run_view.read_run(ctx, id, step, cursor)


async def list_runs(ctx: Context, chosen: RunFilter, limit: int, cursor: str | None) -> Page[RunSummary]:
    """The team's runs, newest first."""
    filters = [str(value) for value in msgspec.structs.astuple(chosen)]
    pager = Pager(ctx.services.keys, "runs", ctx.who.team_id, *filters)
    found = await listing_rows.list_runs(
        ctx.db, ctx.who.org_id, ctx.who.team_id, chosen, pager.read(cursor, UUID), limit + 1
    )
    page = pager.page(found, limit, lambda run: run.id)
    failed = [run for run in page.items if run.error is not None]
    shown = await run_view.list_shown(ctx, failed, ctx.who.team_id) if failed else set()
    told = [run if run.id in shown else run_view.without_values(run) for run in page.items]
    return Page(await run_outcomes.summarize(ctx, told), page.next_cursor)


async def list_standings(ctx: Context, ids: Collection[UUID]) -> dict[UUID, RunStanding]:
    """How runs of the caller's company stand; those that are gone are not among them."""
    return await run_outcomes.list_standings(ctx, ids)


async def withdraw_egress(ctx: Context, trigger_id: UUID) -> None:
    """From now on no run that a trigger started sends anything elsewhere."""
    await bound_rows.withdraw_egress(ctx.db, ctx.who.org_id, trigger_id)


async def find_open_run(ctx: Context, slug: str) -> UUID | None:
    """The team's newest run of a workflow that has not ended."""
    chosen = RunFilter(state="running", workflow=slug)
    found = await listing_rows.list_runs(ctx.db, ctx.who.org_id, ctx.who.team_id, chosen, None, 1)
    return found[0].id if found else None


async def cancel_run(ctx: Context, id: UUID) -> Run:
    """Cancel a run: what waits of it never starts, a step that is executing finishes."""
    found = await run_view.find_run(ctx, id)
    mine = found.summary.started_by.user_id == ctx.who.user_id
    if not mine and "settings:manage" not in ctx.who.permissions:
        raise NotYours(
            f"{found.summary.started_by.username} started this run; they or an admin can cancel it",
            permission="settings:manage",
        )
    [run] = await run_rows.lock_runs(ctx.db, ctx.who.org_id, [id])
    if run.state != "running":
        raise RunEnded("this run has ended already", state=run.state)
    await run_rows.update_runs(ctx.db, ctx.who.org_id, [(id, run.steps_used, RunEnd("cancelled"))])
    await progress.cancel_waiting(ctx, id)
    await map_rows.cancel_open_map(ctx.db, ctx.who.org_id, id)
    await outcome_rows.keep_failed(ctx.db, ctx.who.org_id, [id])
    await audit.record(ctx, "workflows.cancelled", id, slug=run.slug)
    return await run_view.read_run(ctx, id)


async def read_lineage(ctx: Context, run_id: UUID) -> Lineage | None:
    """The triggers that a run of the caller's company descends from."""
    return await store.find_lineage(ctx.db, ctx.who.org_id, run_id)


async def read_processing(ctx: Context, object_id: UUID) -> StepProgress:
    """What an object was made from, what was made from it, and the newest runs that touched it."""
    sources, derived = await repository.read_derivations(ctx, object_id), await repository.read_uses(ctx, object_id)
    runs = [one.run_id for one in [*derived, *sources] if one.run_id is not None]
    if "workflows:read" in ctx.who.permissions:
        runs += await store.list_runs_of(ctx.db, ctx.who.org_id, ctx.who.team_id, object_id, _MOST_RUNS)
    return StepProgress(derived, sources, sorted(set(runs), reverse=True))
