"""Items of a map that only read, done beside the one that a worker holds: one transaction reads for all of them."""

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.tools import calls
from atrium.engine.workflows import map_rows
from atrium.engine.workflows.bounds import bind
from atrium.engine.workflows.progress import StepInput, StepResult
from atrium.kit.web.strict_json import has_nul
from atrium.seams.context import Operation, RunStep
from atrium.seams.jobs import Assignment, Beside, DoneBeside
from atrium.seams.sharing import Thing

# So many for so long hold a worker's place that others may wait for. Fewer are soon claimed one by one.
_LEAST, _MOST, _SECONDS = 10, 50, 0.25
_MOST_BYTES = 1 << 20


async def read_beside(op: Operation, job: Assignment, beside: Beside) -> list[DoneBeside]:
    """Items of the same map that wait, and what their tool returns, up to the first that fails."""
    given: StepInput = job.arguments
    if given.place < 0 or given.tool is None or not calls.reads_within(op.services, given.tool):
        return []
    acting = await bind(op, given.run_id)
    if acting.is_bound:
        return []
    chosen: list[tuple[UUID, Any]] = []
    read: list[DoneBeside] = []
    done: list[DoneBeside] = []
    try:
        async with acting.begin(reading=True) as ctx:
            async with beside.choosing:
                key = given.run_id, given.step
                chosen = await map_rows.list_waiting_items(ctx.db, op.who, key, beside.ids, _MOST)
                if len(chosen) < _LEAST:
                    chosen = []
                beside.ids.update(id for id, _ in chosen)
            if chosen:
                inputs = [msgspec.convert(input, StepInput) for _, input in chosen]
                async with asyncio.timeout(given.seconds):
                    asked = [_call_of(one) for one in inputs]
                    found = await calls.call_together(ctx, given.tool, asked, _SECONDS)
                read = _kept(
                    chosen, [(one.value, sorted(step.touched)) for one, (step, _) in zip(found, asked, strict=False)]
                )
        done = read
        return done
    finally:
        beside.ids.difference_update({id for id, _ in chosen} - {one.id for one in done})


def _call_of(given: StepInput) -> tuple[RunStep, Any]:
    return RunStep(run_id=given.run_id, name=given.step, index=given.place), given.arguments


def _kept(chosen: Sequence[tuple[UUID, Any]], results: Sequence[tuple[Any, list[Thing]]]) -> list[DoneBeside]:
    """As many as one settlement takes well; what cannot be stored is left to an attempt of its own, which says so."""
    kept, bytes_left = [], _MOST_BYTES
    for (id, input), (value, things) in zip(chosen, results, strict=False):
        raw = msgspec.json.encode(value)
        bytes_left -= len(raw)
        if bytes_left < 0 or has_nul(raw):
            break
        kept.append(DoneBeside(id, input, StepResult(result=value, things=things)))
    return kept
