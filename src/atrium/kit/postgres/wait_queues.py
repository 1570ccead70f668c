"""Queues of waiters by key; each notification triggers one batched fetch for up to `most` of them."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Hashable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from atrium.kit.postgres.notify import Notifier
from atrium.kit.telemetry.log import log

Fetch = Callable[[list[Any]], Awaitable[list[Any]]]
HandBack = Callable[[Any], Awaitable[None]]


@dataclass(slots=True)
class _Queue:
    topics: frozenset[str]
    fetch: Fetch
    hand_back: HandBack
    notified: asyncio.Event = field(default_factory=asyncio.Event)
    waiters: dict[asyncio.Future[Any], Any] = field(default_factory=dict)
    serving: "asyncio.Task[None] | None" = None


class WaitQueues:
    """The queues of this process, each served in order of arrival and removed with its last waiter.

    Waiting costs nothing, and a notification costs one fetch per queue, however many wait.
    """

    def __init__(self, notifier: Notifier, most: int = 100) -> None:
        self._notifier, self._most = notifier, most
        self._queues: dict[Hashable, _Queue] = {}
        self._arrived: dict[Any, list[Any]] = {}

    @contextlib.contextmanager
    def join(
        self, key: Hashable, topics: frozenset[str], item: Any, fetch: Fetch, hand_back: HandBack
    ) -> Iterator[asyncio.Future[Any]]:
        """Wait in the queue of this key until the block ends; the future has the result, None when the queue was released.

        `fetch` gets items from the front of the queue and returns one result or None for each; a result for a waiter that
        has left meanwhile is handed back.
        """
        waiter: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        queue = self._queues.get(key) or self._open(key, _Queue(topics, fetch, hand_back))
        queue.waiters[waiter] = item
        self._arrived.setdefault(key, []).append(item)
        try:
            yield waiter
        finally:
            waiter.cancel()
            if queue.waiters.pop(waiter, None) is not None and not queue.waiters:
                queue.notified.set()

    def waiting(self, topic: str) -> int:
        """How many wait for a topic."""
        return sum(len(queue.waiters) for queue in self._queues.values() if topic in queue.topics)

    def topics(self) -> set[str]:
        """Every topic that has waiters."""
        return {topic for queue in self._queues.values() for topic in queue.topics}

    def arrivals(self) -> dict[Any, list[Any]]:
        """Items that joined each queue since the last call, whether or not they still wait."""
        arrived, self._arrived = self._arrived, {}
        return arrived

    def release(self) -> None:
        """End every wait without a result."""
        for queue in self._queues.values():
            for waiter in queue.waiters:
                if not waiter.done():
                    waiter.set_result(None)

    def _open(self, key: Hashable, queue: _Queue) -> _Queue:
        self._queues[key] = queue
        queue.serving = asyncio.create_task(self._serve(key, queue))
        return queue

    async def _serve(self, key: Hashable, queue: _Queue) -> None:
        with self._notifier.subscribe(queue.topics, queue.notified):
            # The first fetch is for what came before the subscription.
            while queue.waiters:
                queue.notified.clear()
                if not await self._fetch_round(queue) and queue.waiters:
                    await queue.notified.wait()
        del self._queues[key]

    async def _fetch_round(self, queue: _Queue) -> bool:
        """Whether every waiter of the batch got a result, so that there may be more."""
        batch = list(islice(queue.waiters.items(), self._most))
        try:
            results = await queue.fetch([item for _, item in batch])
        except Exception as error:  # a failed fetch fails for every waiter of the batch
            results = [error] * len(batch)
        for (waiter, _), result in zip(batch, results, strict=True):
            await _give(queue, waiter, result)
        return all(result is not None for result in results)


async def _give(queue: _Queue, waiter: asyncio.Future[Any], result: Any) -> None:
    if result is None:
        return
    queue.waiters.pop(waiter, None)
    if isinstance(result, Exception):
        if not waiter.done():
            waiter.set_exception(result)
    elif not waiter.done():
        waiter.set_result(result)
    else:
        try:
            await queue.hand_back(result)
        except Exception as error:  # the queue goes on for the others; the lease of what was fetched runs out
            log.warning("waiting.hand_back_failed", error=error)
