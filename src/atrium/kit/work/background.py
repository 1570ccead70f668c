"""Work of this process that goes on after the request that began it, and that later requests find by its id."""

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any
from uuid import UUID

from atrium.kit.ids import new_id
from atrium.kit.telemetry.log import log
from atrium.kit.work.shares import Capacity, Permit


class Background:
    """What is under way in one process; `process_id` tells this process from every other that ever ran.

    `capacity` counts it for whom it is done, with the readers in this process of work that goes on in another.
    """

    def __init__(self, capacity: Capacity) -> None:
        self.process_id = new_id()
        self.capacity = capacity
        self._under_way: dict[UUID, tuple[Any, asyncio.Task[None]]] = {}

    def __len__(self) -> int:
        return len(self._under_way)

    def __iter__(self) -> Iterator[object]:
        """What is under way now."""
        return iter([work for work, _ in self._under_way.values()])

    def start(self, id: UUID, permit: Permit, work: Any, running: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Run it in a task of its own, which keeps the permit; found by its id until it ends."""
        task = asyncio.create_task(running)
        self._under_way[id] = (work, task)
        permit.keep()
        task.add_done_callback(lambda ended: self._forget(id, permit, ended))
        return task

    def find(self, id: UUID) -> object:
        """What was started under this id and has not ended; None when there is none."""
        found = self._under_way.get(id)
        return found and found[0]

    async def settled(self) -> None:
        """Wait until everything has ended."""
        while self._under_way:
            await asyncio.wait([task for _, task in self._under_way.values()])

    def _forget(self, id: UUID, permit: Permit, ended: "asyncio.Task[None]") -> None:
        del self._under_way[id]
        permit.leave()
        if not ended.cancelled() and (error := ended.exception()) is not None:
            log.error("background.failed", id=id, exc_info=error)
