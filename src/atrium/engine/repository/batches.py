"""Many objects in one request, each on its own: what one is refused changes nothing for the others."""

from collections.abc import Awaitable, Callable
from uuid import UUID

import msgspec

from atrium.engine.repository import moves, sharing, trash
from atrium.engine.repository.model import Visibility
from atrium.kit.errors import AppError, Unauthenticated
from atrium.seams.context import Context, Operation


class BatchFailure(msgspec.Struct, frozen=True):
    """Why one of them was refused."""

    id: UUID
    code: str
    detail: str


class BatchResult(msgspec.Struct, frozen=True):
    """What became of each."""

    done: list[UUID]
    failed: list[BatchFailure]


async def move(op: Operation, ids: list[UUID], folder: str) -> BatchResult:
    """Put objects into a folder, each under the name it has."""
    return await _each(op, ids, lambda ctx, one: moves.move_into(ctx, one, folder))


async def delete(op: Operation, ids: list[UUID]) -> BatchResult:
    """Put objects in the trash."""
    return await _each(op, ids, trash.delete_object)


async def set_visibility(op: Operation, ids: list[UUID], visibility: Visibility) -> BatchResult:
    """Change who sees objects besides their owners."""
    return await _each(op, ids, lambda ctx, one: sharing.set_visibility(ctx, one, visibility))


async def move_folder(op: Operation, before: str, after: str) -> BatchResult:
    """Move a folder, all of it or nothing."""
    async with op.begin() as ctx:
        return BatchResult(await moves.move_folder(ctx, before, after), [])


async def _each(op: Operation, ids: list[UUID], act: Callable[[Context, UUID], Awaitable[object]]) -> BatchResult:
    result = BatchResult([], [])
    for id in dict.fromkeys(ids):
        try:
            async with op.begin() as ctx:
                await act(ctx, id)
        except Unauthenticated:
            # The credential has ended: nothing of what follows is this caller's to do, or to be told about.
            raise
        except AppError as refusal:
            result.failed.append(BatchFailure(id, refusal.code, refusal.message))
        else:
            result.done.append(id)
    return result
