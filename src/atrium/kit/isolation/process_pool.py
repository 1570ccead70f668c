"""Processes that are kept between uses: one per key, a bounded number in all, the longest idle ended for a new one."""

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager
from typing import Any, Generic, Protocol, TypeVar


class PooledProcess(Protocol):
    """A process as the pool sees it."""

    @property
    def is_alive(self) -> bool:
        """Whether it can be used again."""

    async def end(self) -> Any:
        """End it and wait until it is gone."""


P = TypeVar("P", bound=PooledProcess)


class PoolBusy(Exception):
    """No place became free in time."""


class ProcessPool(Generic[P]):
    """Hands each key's process to one caller at a time.

    An owner of keys, such as a company, has at most half of the places in use, so that the others find some.
    """

    def __init__(self, most: int) -> None:
        self._most, self._share = most, max(1, most // 2)
        self._idle: OrderedDict[Hashable, tuple[P, float, Hashable]] = OrderedDict()
        self._busy: dict[Hashable, P | None] = {}
        self._in_use: Counter[Hashable] = Counter()
        self._changed = asyncio.Condition()
        self._ending: set[asyncio.Task[Any]] = set()

    def owns_any(self, matches: Callable[[Any], bool]) -> bool:
        """Whether a key like that has a process now."""
        return any(matches(key) for key in (*self._idle, *self._busy))

    @asynccontextmanager
    async def hold(
        self, key: Hashable, owner: Hashable, start: Callable[[], Awaitable[P]], seconds: float
    ) -> AsyncIterator[P]:
        """The key's process for one caller, started if there is none; PoolBusy when that takes longer than `seconds` to begin."""
        await self._take(key, owner, seconds)
        process = None
        try:
            kept = self._idle.pop(key, None)
            if kept is not None and kept[0].is_alive:
                process = kept[0]
            else:
                self._let_go(kept)
                self._make_place()
                process = await start()
            self._busy[key] = process
            yield process
        finally:
            self._give_back(key, owner, process)
            async with self._changed:
                self._changed.notify_all()

    def retire(self, matches: Callable[[Any], bool], *, idle: float = 0) -> None:
        """End processes of keys like that which have been idle for so many seconds."""
        before = time.monotonic() - idle
        for key in [key for key, (_, since, _) in self._idle.items() if matches(key) and since <= before]:
            self._let_go(self._idle.pop(key))

    async def close(self) -> None:
        """End every process and wait until they are gone."""
        self.retire(lambda key: True)
        for process in self._busy.values():
            if process is not None:
                self._end(process)
        while self._ending:
            await asyncio.wait(self._ending)

    async def _take(self, key: Hashable, owner: Hashable, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds), self._changed:
                await self._changed.wait_for(lambda: self._is_free(key, owner))
                self._busy[key] = None
                self._in_use[owner] += 1
        except TimeoutError as error:
            raise PoolBusy from error

    def _is_free(self, key: Hashable, owner: Hashable) -> bool:
        return key not in self._busy and self._in_use[owner] < self._share and len(self._busy) < self._most

    def _make_place(self) -> None:
        while self._idle and len(self._idle) + len(self._busy) > self._most:
            self._let_go(self._idle.popitem(last=False)[1])

    def _give_back(self, key: Hashable, owner: Hashable, process: P | None) -> None:
        del self._busy[key]
        self._in_use[owner] -= 1
        if not self._in_use[owner]:
            del self._in_use[owner]
        if process is not None and process.is_alive:
            self._idle[key] = (process, time.monotonic(), owner)
        elif process is not None:
            self._end(process)

    def _let_go(self, kept: tuple[P, float, Hashable] | None) -> None:
        if kept is not None:
            self._end(kept[0])

    def _end(self, process: P) -> None:
        ending = asyncio.ensure_future(process.end())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)
