"""Merging as jobs that people ask for."""

from typing import Any
from uuid import UUID

import msgspec

from atrium.product.knowledge import merges
from atrium.seams.context import Operation
from atrium.seams.jobs import Assignment, JobKind


class MergeOf(msgspec.Struct, forbid_unknown_fields=True):
    """Which entity stays, and which one counts as it from now on."""

    keep: UUID
    drop: UUID


class UnmergeOf(msgspec.Struct, forbid_unknown_fields=True):
    """Which merge to undo."""

    merge: UUID


async def _merge(op: Operation, job: Assignment) -> dict[str, Any]:
    async with op.begin() as ctx:
        # The job's id is the merge's, so that an attempt which ended unseen is not repeated.
        return {"merge": await merges.merge(ctx, job.id, job.arguments.keep, job.arguments.drop)}


async def _unmerge(op: Operation, job: Assignment) -> dict[str, Any]:
    async with op.begin() as ctx:
        await merges.unmerge(ctx, job.arguments.merge, again=job.attempt > 1)
    return {"merge": job.arguments.merge}


KINDS = (
    JobKind(
        name="knowledge.merge",
        description="Count one entity as another; needs files:manage, and documents that the caller can all read.",
        arguments=MergeOf,
        run=_merge,
    ),
    JobKind(
        name="knowledge.unmerge",
        description="Undo a merge of two entities; needs files:manage, and documents that the caller can all read.",
        arguments=UnmergeOf,
        run=_unmerge,
    ),
)
