"""Doing together what many ask for at the same moment: one round of work per key at a time, for all who wait."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar

from atrium.kit.telemetry import trace_context
from atrium.kit.telemetry.trace_context import Trace

I = TypeVar("I")  # noqa: E741 - item
R = TypeVar("R")
Work = Callable[[list[I]], Awaitable[list[R | Exception]]]


class Combiner:
    """Calls with one key queue up while that key's work runs, and share the next round."""

    def __init__(self, most: int = 100) -> None:
        self._most = most
        self._waiting: dict[Hashable, list[tuple[Any, asyncio.Future[Any], Trace | None]]] = {}
        self._rounds: set[asyncio.Task[None]] = set()

    async def submit(self, key: Hashable, item: I, work: Work[I, R]) -> R:
        """The result of one item; an exception in its place is raised here. Alone, an item is worked on at once."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        asked = item, future, trace_context.current()
        if key in self._waiting:
            self._waiting[key].append(asked)
        else:
            self._waiting[key] = [asked]
            task = asyncio.create_task(self._run(key, work))
            self._rounds.add(task)
            task.add_done_callback(self._rounds.discard)
        return await future

    async def _run(self, key: Hashable, work: Work[Any, Any]) -> None:
        while batch := self._waiting[key][: self._most]:
            self._waiting[key] = self._waiting[key][self._most :]
            # What is done for several is part of no one trace.
            trace_context.move(batch[0][2] if len(batch) == 1 else None)
            try:
                results = await work([item for item, _, _ in batch])
            except Exception as error:  # whatever stopped the round stopped it for everyone in it
                results = [error] * len(batch)
            for (_, future, _), result in zip(batch, results, strict=True):
                _give(future, result)
        del self._waiting[key]


def _give(future: asyncio.Future[Any], result: Any) -> None:
    if future.done():
        return
    if isinstance(result, Exception):
        future.set_exception(result)
    else:
        future.set_result(result)
