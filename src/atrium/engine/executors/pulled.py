"""A pull executor as a model: a turn is a job of its worker, and what the worker says comes with its heartbeats, to any process."""

import asyncio
from collections.abc import AsyncGenerator
from uuid import UUID

import msgspec

from atrium.engine.executors import store
from atrium.engine.inference.estimates import Estimator
from atrium.engine.jobs import child_jobs
from atrium.engine.jobs.model import ENDED, JobPart
from atrium.kit.postgres.failures import refusal_of
from atrium.kit.postgres.notify import wait_for
from atrium.seams.context import Operation
from atrium.seams.jobs import JobPlacement
from atrium.seams.models import (
    Done,
    ModelEvent,
    ModelRefused,
    ModelReply,
    ModelUnavailable,
    TextPiece,
    ThinkingPiece,
    TokenUsage,
    Turn,
)

# Words wake it; the end is looked for.
_LOOK_SECONDS = 0.5
# A worker asks for work every half minute at least.
_ABSENT_SECONDS = 40.0
_WATCH_SECONDS = 5.0


class WorkerPort:
    """The model of a worker; `whole` is what the job is part of, and has to be ended by whatever opened this."""

    def __init__(self, op: Operation, kind: str, place: JobPlacement, whole: UUID) -> None:
        self._op, self._kind, self._place, self._whole = op, kind, place, whole

    async def stream(self, turn: Turn) -> AsyncGenerator[list[ModelEvent], None]:
        """What the worker says, as its heartbeats bring it; one that is not there or falls silent is unavailable."""
        id = await self._queue(turn)
        heard, absence = "", _Absence(self._op, self._place)
        with self._op.services.notifier.subscribe(frozenset({child_jobs.topic_of(id)})) as notified:
            while True:
                found, said = await self._look(id, len(heard))
                if said:
                    heard += said
                    yield [TextPiece(said)]
                if found is not None and found.state in ENDED:
                    yield await _ended(self._op, turn, found, heard)
                    return
                if found is not None and found.state != "running" and (reason := await absence.reason()):
                    raise ModelUnavailable(reason, await _estimate(self._op, turn, heard))
                await wait_for(notified, _LOOK_SECONDS)

    async def _queue(self, turn: Turn) -> UUID:
        try:
            async with self._op.begin(held=False) as ctx:
                return await child_jobs.enqueue(ctx, self._kind, turn, self._place, self._whole)
        except Exception as error:
            if (refusal := refusal_of(error)) is None:
                raise
            raise ModelUnavailable(f"the turn could not be queued: {refusal.message}") from error

    async def _look(self, id: UUID, after: int) -> tuple[JobPart | None, str]:
        try:
            async with self._op.begin(held=False) as ctx:
                found, said = await child_jobs.read(ctx, id, after)
        except Exception as error:
            if refusal_of(error) is None:
                raise
            # PostgreSQL is away; the worker goes on meanwhile.
            return None, ""
        if found is None:
            raise ModelUnavailable("the job was dropped")
        return found, said


class _Absence:
    """How long a worker that a turn waits for has not been there."""

    def __init__(self, op: Operation, place: JobPlacement) -> None:
        self._op, self._name, self._worker = op, place.model, place.worker
        self._since: float | None = None
        self._looked = asyncio.get_running_loop().time()

    async def reason(self) -> str | None:
        """Why not to wait for it any more: it is away for longer than it takes one to ask again, or retired."""
        now = asyncio.get_running_loop().time()
        if now - self._looked < _WATCH_SECONDS or self._worker is None:
            return None
        self._looked = now
        try:
            async with self._op.services.database.begin_system() as db:
                row = await store.find_executor(db, self._worker)
        except Exception as error:
            if refusal_of(error) is None:
                raise
            return None
        if row is None:
            return f"{self._name} is no longer in service"
        self._since = None if row.fresh else self._since or now
        away = self._since is not None and now - self._since >= _ABSENT_SECONDS
        return f"no worker of {self._name} asks for work" if away else None


async def _ended(op: Operation, turn: Turn, found: JobPart, heard: str) -> list[ModelEvent]:
    if found.state != "succeeded":
        raise ModelUnavailable(
            f"the worker did not finish: {found.error or found.state}", await _estimate(op, turn, heard)
        )
    reply = msgspec.convert(found.result, ModelReply)
    if not reply.text.startswith(heard):
        raise ModelRefused("the worker handed in another reply than the one it had begun", reply.usage)
    thinking = [ThinkingPiece(reply.thinking)] if reply.thinking else []
    rest = [TextPiece(reply.text[len(heard) :])] if len(reply.text) > len(heard) else []
    return [*thinking, *rest, *reply.calls, Done(reply.finish, reply.usage)]


async def _estimate(op: Operation, turn: Turn, heard: str) -> TokenUsage | None:
    return await Estimator.of(op).reply(turn, heard) if heard else None
