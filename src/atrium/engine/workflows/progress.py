"""Progress of runs: all runs of a settlement together, inside the transaction that settles their jobs."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.jobs import service as jobs
from atrium.engine.jobs.model import LAPSED, Drafts, FinishedJob
from atrium.engine.workflows import interpreter, map_rows, outcome_rows, run_rows, thing_rows
from atrium.engine.workflows.bindings import FEW_VALUES, size_of
from atrium.engine.workflows.interpreter import LARGEST_VALUE, NeedsOutputs, NewStep, RunSnapshot, Spec, Transition
from atrium.engine.workflows.run_rows import LockedRun, OpenStep, StepEnd
from atrium.engine.workflows.specs import read_spec
from atrium.kit.work.compute import heavy, run_bounded
from atrium.seams.context import Context, Principal
from atrium.seams.sharing import Thing
from atrium.seams.workflows import ChoiceStep, MapStep

STEP_KIND = "workflows.step"
OWNER_GONE = "workflows.owner_gone", "the person who started the run has left the team"
# A value that has no more bytes is searched for ids at once.
_SHORT = 100_000
# As a tool reads an id: in any case, with or without hyphens.
_UUID = re.compile(rb"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE)


class StepInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the job of a step is given; without a tool it is a choice, and `arguments` is what that comes to."""

    run_id: UUID
    step: str
    place: int = -1
    tool: str | None = None
    arguments: Any = None
    retry: int = 0
    seconds: int | None = None


class StepResult(msgspec.Struct, frozen=True, kw_only=True):
    """What the job of a step returns: the result, unless it was kept with the effect, what it spent, which things it touched and wrote."""

    result: Any = None
    kept: bool = False
    spent: dict[str, int] = {}
    things: list[Thing] = []
    made: list[Thing] = []


@dataclass(slots=True)
class _EndedJob:
    """One job of a run that ended, with the row of its step."""

    job: FinishedJob
    given: StepInput
    row: OpenStep

    @property
    def succeeded(self) -> bool:
        return self.job.state == "succeeded"

    @property
    def result(self) -> StepResult:
        return msgspec.convert(self.job.result, StepResult) if self.job.result is not None else StepResult()

    def error(self) -> dict[str, Any]:
        """Why it failed: what its last attempt noted, or that no attempt came to an end."""
        if self.job.owner is None:
            return dict(zip(("code", "message"), OWNER_GONE, strict=True))
        if self.job.state == "cancelled":
            return {"code": "jobs.cancelled", "message": "the step's job was cancelled"}
        if self.row.failures and self.job.error != LAPSED:
            last = self.row.failures[-1]
            return {"code": last["code"], "message": last["message"]}
        return {"code": "jobs.lapsed", "message": self.job.error or "no attempt came to an end"}


@dataclass(slots=True)
class _Advance:
    """One run, what ended in it, and what follows."""

    run: LockedRun
    spec: Spec
    owner: Principal | None
    ended: list[_EndedJob]
    step_ends: list[StepEnd] = field(default_factory=list)
    moves: Transition | None = None
    outputs: dict[str, Any] = field(default_factory=dict)
    looked_for: set[str] = field(default_factory=set)

    def situation(self) -> RunSnapshot:
        return situation_of(self.run, self.spec, self.outputs, self.looked_for)


def situation_of(run: LockedRun, spec: Spec, outputs: dict[str, Any], looked_for: set[str]) -> RunSnapshot:
    """A run as the interpreter sees it."""
    facts = {
        "run.id": str(run.id),
        "team.id": str(run.team_id),
        "user.id": str(run.user_id),
        "locale": run.locale,
        "principal.locale": run.locale,
    }
    return RunSnapshot(
        id=run.id,
        spec=spec,
        input=run.input or {},
        facts=facts,
        used=run.steps_used,
        outputs=outputs,
        looked_for=looked_for,
    )


async def advance(ctx: Context, finished: list[FinishedJob]) -> list[Drafts]:
    """Go on with the runs whose jobs have ended; the jobs that follow, not queued yet."""
    given = {job.id: msgspec.convert(job.input, StepInput) for job in finished}
    return await _advance(ctx, finished, given)


async def break_off(ctx: Context, job: FinishedJob) -> None:
    """End a run that cannot be gone on with; no other shares its fate."""
    given = msgspec.convert(job.input, StepInput)
    error = {
        "code": "workflows.broken",
        "message": "the server could not go on with this run; its log has the cause",
        "step": given.step,
    }
    await cancel_waiting(ctx, given.run_id)
    await run_rows.break_off(ctx.db, ctx.who.org_id, given.run_id, error)
    await outcome_rows.keep_failed(ctx.db, ctx.who.org_id, [given.run_id])


async def _advance(ctx: Context, finished: list[FinishedJob], given: dict[UUID, StepInput]) -> list[Drafts]:
    advances = await _read(ctx, finished, given)
    if not advances:
        return []
    await _count_items(ctx, advances)
    for one in advances:
        if one.run.state == "running" and one.moves is None:
            _follow(one)
    await _interpret(ctx, advances)
    for one in advances:
        _require_owner(one)
    ends = [end for one in advances for end in one.step_ends]
    moved = [(one.run, one.spec, one.owner, one.moves) for one in advances if one.moves]
    things = [(one.run.id, thing) for one in advances for ended in one.ended for thing in ended.result.things]
    made = [(one.run.id, thing) for one in advances for ended in one.ended for thing in ended.result.made]
    following = await write(ctx, moved, ends, things=things, made=made)
    # What still ran when its run was ended may fail after it.
    await _keep_failed(ctx, [(one.run.id, one.spec) for one in advances if one.run.state != "running"])
    return following


async def _read(ctx: Context, finished: list[FinishedJob], given: dict[UUID, StepInput]) -> list[_Advance]:
    """The runs, held, with those of their jobs that are the current ones of open steps."""
    jobs_by_id = {job.id: job for job in finished}
    keys = [(one.run_id, one.step, one.place) for one in given.values()]
    advances: dict[UUID, _Advance] = {}
    for run, row in await run_rows.lock(ctx.db, ctx.who.org_id, keys):
        job = jobs_by_id.get(row.job_id) if row.job_id else None
        if job is None:
            continue
        if run.id not in advances:
            spec = await read_spec(ctx, run.team_id, run.slug, run.version)
            advances[run.id] = _Advance(run, spec, job.owner, [])
        advances[run.id].ended.append(_EndedJob(job, given[job.id], row))
    for one in advances.values():
        one.step_ends = _step_ends(one.spec, one.ended)
    return list(advances.values())


def _step_ends(spec: Spec, ended: list[_EndedJob]) -> list[StepEnd]:
    return [
        StepEnd(
            run_id=one.given.run_id,
            step=one.given.step,
            place=one.given.place,
            state=one.job.state,
            output=None if not one.succeeded or one.row.kept else _output_of(spec, one),
            error=None if one.succeeded else one.error(),
            usage=one.result.spent,
        )
        for one in ended
    ]


def _output_of(spec: Spec, one: _EndedJob) -> dict[str, Any]:
    output = {"result": one.result.result}
    return {**output, "next": spec.after(one.given.step, output)} if one.given.tool is None else output


async def _count_items(ctx: Context, advances: list[_Advance]) -> None:
    """Items of maps: count them, and end a map whose last one has ended or one of whose items fails it."""
    counts = Counter(
        (one.run.id, ended.given.step) for one in advances for ended in one.ended if ended.given.place >= 0
    )
    if not counts:
        return
    left = await map_rows.count_down(ctx.db, ctx.who.org_id, [(run, step, n) for (run, step), n in counts.items()])
    for one in advances:
        for name in {ended.given.step for ended in one.ended if ended.given.place >= 0}:
            await _go_on_with_map(ctx, one, name, left[one.run.id, name])


async def _go_on_with_map(ctx: Context, one: _Advance, name: str, left: int) -> None:
    step, org_id = one.spec.steps[name], ctx.who.org_id
    assert isinstance(step, MapStep)  # noqa: S101 - only maps have items
    failed = next((end for end in one.ended if end.given.step == name and not end.succeeded), None)
    if one.run.state != "running":
        return
    gone = failed is not None and (failed.job.owner is None or failed.job.state == "cancelled")
    if failed is not None and (step.on_item_error == "fail" or gone):
        error = failed.error()
        one.moves = interpreter.fail(one.situation(), error["code"], error["message"], name)
        one.step_ends.append(StepEnd(run_id=one.run.id, step=name, place=-1, state="failed", error=error))
        await cancel_waiting(ctx, one.run.id)
    elif left == 0:
        await run_rows.end_steps(ctx.db, org_id, one.step_ends)
        one.step_ends = []
        output = interpreter.results_of(await map_rows.list_items(ctx.db, org_id, one.run.id, name))
        if size_of(output) > LARGEST_VALUE:
            error = {"code": "workflows.too_large", "message": f"its results have more than {LARGEST_VALUE} bytes"}
            one.moves = interpreter.fail(one.situation(), error["code"], error["message"], name)
            one.step_ends.append(StepEnd(run_id=one.run.id, step=name, place=-1, state="failed", error=error))
        else:
            one.step_ends.append(StepEnd(run_id=one.run.id, step=name, place=-1, state="succeeded", output=output))
            one.outputs[name] = output
            one.looked_for.add(name)
            # Not read with every item.
            [one.run] = await run_rows.lock_runs(ctx.db, org_id, [one.run.id])
    else:
        # Nothing follows yet.
        one.moves = Transition(one.run.steps_used)


def _follow(one: _Advance) -> None:
    """What the run is to be gone on from: note a failure, or that the step's output is known."""
    ended = one.ended[0]
    if ended.given.place >= 0:
        return
    if not ended.succeeded:
        error = ended.error()
        one.moves = interpreter.fail(one.situation(), error["code"], error["message"], ended.given.step)
    elif not ended.row.kept:
        one.outputs[ended.given.step] = {"result": ended.result.result}
        one.looked_for.add(ended.given.step)


async def _interpret(ctx: Context, advances: list[_Advance]) -> None:
    """Go on with every run; outputs of earlier steps are read for all that need some, until none does."""
    waiting = [one for one in advances if one.run.state == "running" and one.moves is None]
    needed: dict[UUID, frozenset[str]] = {one.run.id: _first_needs(one) for one in waiting}
    while waiting:
        await _load(ctx, waiting, needed)
        again = []
        for one in waiting:
            name = one.ended[0].given.step
            try:
                output = one.outputs.get(name)
                weight = one.spec.weight_after(name, output)
                one.moves = await run_bounded(
                    weight, interpreter.enter_next, one.situation(), name, output, small=FEW_VALUES
                )
            except NeedsOutputs as needs:
                needed[one.run.id] = needs.steps
                again.append(one)
        waiting = again


def _require_owner(one: _Advance) -> None:
    """Nothing follows in the name of a person who has left."""
    if one.owner is None and one.moves is not None and one.moves.end is None and one.moves.entered:
        one.moves = interpreter.fail(one.situation(), *OWNER_GONE, one.moves.entered[0].step)


def _first_needs(one: _Advance) -> frozenset[str]:
    """Outputs that the next step certainly needs."""
    name = one.ended[0].given.step
    following = one.spec.after(name, one.outputs.get(name))
    needs = one.spec.needs[following] if following is not None else one.spec.output_needs
    return frozenset(needs - one.outputs.keys())


async def _load(ctx: Context, waiting: Iterable[_Advance], needed: dict[UUID, frozenset[str]]) -> None:
    keys = [(one.run.id, name) for one in waiting for name in sorted(needed[one.run.id] - one.looked_for)]
    if not keys:
        return
    found = await run_rows.list_outputs(ctx.db, ctx.who.org_id, keys)
    advances = {one.run.id: one for one in waiting}
    for run_id, name in keys:
        advances[run_id].looked_for.add(name)
    for run_id, name, _, output in found:
        advances[run_id].outputs[name] = output


async def write(
    ctx: Context,
    moved: Sequence[tuple[LockedRun, Spec, Principal | None, Transition]],
    ends: Sequence[StepEnd] = (),
    *,
    given: Sequence[tuple[UUID, Any]] = (),
    things: Sequence[tuple[UUID, Thing]] = (),
    made: Sequence[tuple[UUID, Thing]] = (),
) -> list[Drafts]:
    """Write what ended and what follows; the jobs of steps that runs enter, for the caller to queue.

    `things` that were handed out to runs, those that they `made`, and those named in these values and in what runs were `given`, are
    noted as theirs.
    """
    org_id = ctx.who.org_id
    entered: list[tuple[UUID, NewStep, UUID | None]] = []
    calls: dict[tuple[UUID, frozenset[str] | None], list[tuple[Principal, StepInput, int]]] = defaultdict(list)
    for run, spec, owner, moves in moved:
        for row in moves.entered:
            if row.call and owner is not None and moves.end is None:
                call = _input_of(run.id, spec, row)
                calls[owner.user_id, owner.scope].append((owner, call, len(entered)))
            entered.append((run.id, row, None))
    following: list[Drafts] = []
    for some in calls.values():
        drafts = await jobs.draft(ctx.acting_as(some[0][0]), STEP_KIND, [call for _, call, _ in some])
        for job, (_, _, place) in zip(drafts.jobs, some, strict=True):
            run_id, row, _ = entered[place]
            entered[place] = run_id, row, job.id
        following.append(drafts)
    changed = [
        (run.id, moves.used, moves.end) for run, _, _, moves in moved if moves.end or moves.used != run.steps_used
    ]
    await run_rows.write(ctx.db, org_id, ends, entered, changed)
    await _keep_failed(ctx, [(run.id, spec) for run, spec, _, moves in moved if moves.end])
    values = [*given, *((run_id, row.input) for run_id, row, _ in entered), *((end.run_id, end.output) for end in ends)]
    await note_things(ctx, things, [(run_id, value) for run_id, value in values if value is not None], made=made)
    return following


async def _keep_failed(ctx: Context, ended: Sequence[tuple[UUID, Spec]]) -> None:
    """Keep how many items failed of those of these runs that have maps; of the others it is known that none did."""
    with_items = {id for id, spec in ended if any(isinstance(step, MapStep) for step in spec.workflow.steps)}
    if with_items:
        await outcome_rows.keep_failed(ctx.db, ctx.who.org_id, with_items)


def _input_of(run_id: UUID, spec: Spec, row: NewStep) -> StepInput:
    step = spec.steps[row.step]
    if isinstance(step, ChoiceStep):
        return StepInput(run_id=run_id, step=row.step, arguments=row.input)
    return StepInput(
        run_id=run_id,
        step=row.step,
        place=row.place,
        tool=step.tool,
        arguments=row.input,
        retry=step.retry,
        seconds=step.timeout,
    )


async def note_things(
    ctx: Context,
    touched: Iterable[tuple[UUID, Thing]],
    values: Iterable[tuple[UUID, Any]] = (),
    *,
    made: Iterable[tuple[UUID, Thing]] = (),
) -> None:
    """Note the things that runs touched, which of them they `made`, and those whose ids are among values of theirs."""
    named: set[tuple[UUID, str]] = set()
    for run_id, value in values:
        text = msgspec.json.encode(value)
        found = await run_bounded(len(text), _ids_in, text, small=_SHORT)
        named |= {(run_id, id) for id in found if id != run_id.hex}
    written = set(made)
    handed_out = [(*one, one in written) for one in sorted(written.union(touched))]
    if handed_out or named:
        tables = {one.kind: one.table for one in ctx.services.registry.shareables.values() if one.table}
        await thing_rows.insert_things(ctx.db, ctx.who.org_id, handed_out, sorted(named), tables)


@heavy
def _ids_in(text: bytes) -> set[str]:
    return {found.decode().lower().replace("-", "") for found in _UUID.findall(text)}


async def cancel_waiting(ctx: Context, run_id: UUID) -> None:
    """Cancel what waits of a run that ends; what runs finishes, and is not tried again."""
    org_id = ctx.who.org_id
    open_jobs = await run_rows.list_open_jobs(ctx.db, org_id, run_id)
    if cancelled := await jobs.drop(ctx, open_jobs):
        await run_rows.cancel_open_steps(ctx.db, org_id, run_id, cancelled)
