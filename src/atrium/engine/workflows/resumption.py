"""Resumption: a new run that takes over what an ended one has done, and goes on at a step."""

from dataclasses import dataclass, replace

import msgspec

from atrium.engine.workflows import bound_rows, map_rows, store
from atrium.engine.workflows.bindings import same
from atrium.engine.workflows.bounds import bound_to
from atrium.engine.workflows.interpreter import Spec, Transition
from atrium.engine.workflows.model import RunnableSpec
from atrium.engine.workflows.run_model import CannotResume, FiredResumed, Origin, Resume, RunMissing
from atrium.engine.workflows.run_view import list_shown
from atrium.engine.workflows.store import FoundRun, TakenStep
from atrium.seams.context import Context
from atrium.seams.workflows import MapStep


@dataclass(frozen=True, slots=True)
class ReusedStep:
    """What is taken over of an ended run: whole steps, and how much of the budget they had used."""

    run: FoundRun
    steps: list[str]
    used: int


async def find_ended(ctx: Context, resume: Resume) -> FoundRun:
    """The run that is to be gone on with, of the caller's team."""
    run = await store.find_run(ctx.db, ctx.who.org_id, ctx.who.team_id, resume.run_id)
    if run is None:
        raise RunMissing("there is no such run in your team")
    if run.summary.state == "running":
        raise CannotResume("this run has not ended; cancel it first, or wait for its end")
    if not await list_shown(ctx, [run.summary], run.team_id):
        raise CannotResume("this run has read what you may not; start a run of your own instead")
    return run


async def read_origin(ctx: Context, resume: Resume, found: RunnableSpec) -> Origin:
    """What a run that goes on with another descends from: what it writes starts no trigger again.

    Where a trigger fired the other one, it is bound as that one was, and by who published its version; whether it may send something
    elsewhere is asked anew.
    """
    lineage = await store.find_lineage(ctx.db, ctx.who.org_id, resume.run_id)
    bound = await bound_rows.find_bound(ctx.db, ctx.who.org_id, resume.run_id)
    if lineage is None or bound is None:
        raise RunMissing("there is no such run in your team")
    descent = Origin(None, tuple(lineage.ancestry), lineage.depth)
    if bound.trigger_id is None:
        return descent
    asked = FiredResumed(bound.trigger_id, found.digest)
    await ctx.announce(asked)
    return msgspec.structs.replace(
        descent,
        trigger_id=bound.trigger_id,
        bound_to=bound_to(ctx, *bound.bound_to, found.published_by if found.source == "team" else None),
        fired_by=bound.fired_by,
        egress=asked.egress,
    )


async def take_over(ctx: Context, run: FoundRun, resume: Resume, old: Spec, new: Spec) -> ReusedStep:
    """What of an ended run counts for one that begins at a step of the same or a newer version; refused where they differ."""
    if resume.step not in new.steps:
        raise CannotResume(f"the workflow has no step {resume.step}", step=resume.step)
    found = await store.list_taken(ctx.db, ctx.who.org_id, run.summary.id)
    names = [step.step for step in found]
    before = found[: names.index(resume.step)] if resume.step in names else found
    for step in before:
        name = step.step
        if step.state != "succeeded":
            raise CannotResume(f"{name}, which comes before, did not succeed; resume from there", step=name)
        if (
            name not in new.steps
            or _kind_of(new, name) != _kind_of(old, name)
            or not new.comes_before(name, resume.step)
        ):
            raise CannotResume(f"{name} is another step in this version; resume from there", step=name)
    if not _leads_to(new, before, resume.step):
        raise CannotResume(f"the run did not come to {resume.step}", step=resume.step)
    return ReusedStep(run, [step.step for step in before], sum(1 + step.items for step in before))


def _leads_to(spec: Spec, before: list[TakenStep], step: str) -> bool:
    """Whether a run that has done these steps would enter this one next."""
    if not before:
        return step == spec.workflow.start
    return spec.after(before[-1].step, before[-1].decision) == step


def _kind_of(spec: Spec, name: str) -> str:
    return str(type(spec.steps[name]).__struct_config__.tag)


async def reuse_items(ctx: Context, taken: ReusedStep, resume: Resume, new: Spec, moves: Transition) -> list[int]:
    """The items of the map to begin with that succeeded before and are the same now; their rows leave `moves`.

    None is reused where all succeeded, so that there is something to go on with.
    """
    if not isinstance(new.steps[resume.step], MapStep) or resume.items == "all":
        return []
    items = await map_rows.list_items(ctx.db, ctx.who.org_id, taken.run.summary.id, resume.step)
    done = {place: item for place, item, state, _, _ in items if state == "succeeded"}
    rows = [row for row in moves.entered if row.step == resume.step and row.place >= 0]
    reused = {row.place for row in rows if row.place in done and same(row.item, done[row.place])}
    if len(reused) == len(rows):
        return []
    left = [row for row in moves.entered if row.step != resume.step or row.place not in reused]
    moves.entered = [row if row.pending is None else replace(row, pending=row.pending - len(reused)) for row in left]
    return sorted(reused)
