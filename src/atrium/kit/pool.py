"""Connections between requests: kept open and ready, because the driver's own pool costs more than most statements."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import asyncpg

Connection = Any  # asyncpg hands out proxies of its connections; only the kit calls them.
Slot = Connection | None

ACQUIRE_SECONDS = 10
CROWDED_SECONDS = 0.05
TIDY_SECONDS = 60
T = TypeVar("T")


class Unreachable(ConnectionError):
    """PostgreSQL is not there: a socket without a file, a name without an address, a host without a route."""


async def patiently(connect: Callable[[], Awaitable[T]]) -> T:
    """Connect; while PostgreSQL has no slot left, try again for a while, because others come and go."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + ACQUIRE_SECONDS
    while True:
        try:
            return await connect()
        except asyncpg.TooManyConnectionsError:
            if loop.time() > deadline:
                raise
            await asyncio.sleep(CROWDED_SECONDS)


class Pool:
    """At most `size` connections. A free slot holds one that is ready, or nothing; the driver's pool makes and ends them."""

    def __init__(self, driver: Any, size: int) -> None:
        self._driver, self._size = driver, size
        self._free: list[Slot] = [None] * size
        self._waiting: deque[asyncio.Future[Slot]] = deque()
        self._closing = False
        self._tidying = asyncio.create_task(self._tidy())

    async def take(self) -> Connection:
        """The connection that was used last, or a new one; the caller must give it back."""
        if self._free and (slot := self._free[-1]) is not None and _is_ready(slot):
            return self._free.pop()
        return await patiently(self._take)

    async def _take(self) -> Connection:
        slot = self._free.pop() if self._free else await self._wait()
        if slot is not None and _is_ready(slot):
            return slot
        try:
            if slot is not None:
                await self._driver.release(slot)
            return await self._connect()
        except BaseException:
            self._offer(None)
            raise

    async def _connect(self) -> Connection:
        try:
            return await self._driver.acquire(timeout=ACQUIRE_SECONDS)
        except OSError as error:
            # Translated here only: elsewhere a missing file is a defect and not an outage.
            raise Unreachable(f"PostgreSQL cannot be reached: {error}") from error

    async def give_back(self, connection: Connection, *, clean: bool) -> None:
        """Keep a connection whose work ended well; any other is for the driver to clean up or replace."""
        if clean and not self._closing and _is_ready(connection):
            self._offer(connection)
            return
        try:
            # The driver shields this from the caller's cancellation.
            await self._driver.release(connection)
        finally:
            self._offer(None)

    def count(self) -> tuple[int, int, int]:
        """Connections in use, ready ones, and those who wait for one."""
        ready = sum(slot is not None for slot in self._free)
        waiting = sum(not waiter.done() for waiter in self._waiting)
        return self._size - len(self._free), ready, waiting

    async def close(self) -> None:
        """Wait for connections in use, then end them all."""
        self._closing = True
        self._tidying.cancel()
        await asyncio.gather(self._tidying, return_exceptions=True)
        await self._put_away()
        await self._driver.close()

    def _offer(self, slot: Slot) -> None:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(slot)
                return
        # A ready connection is taken before an empty slot: it costs nothing, and PostgreSQL may have no other to give.
        self._free.insert(0 if slot is None else len(self._free), slot)

    async def _wait(self) -> Slot:
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[Slot] = loop.create_future()
        self._waiting.append(waiter)
        deadline = loop.call_later(ACQUIRE_SECONDS, _give_up, waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            # Cancelled between being offered a slot and taking it: offer the slot to the next waiter.
            if not waiter.cancelled() and waiter.exception() is None:
                self._offer(waiter.result())
            raise
        finally:
            deadline.cancel()

    async def _tidy(self) -> None:
        while True:
            await asyncio.sleep(TIDY_SECONDS)
            with contextlib.suppress(asyncpg.InterfaceError, OSError):
                await self._put_away()

    async def _put_away(self) -> None:
        """Return unused connections to the driver, which closes idle ones."""
        for slot in list(self._free):
            # It may have been taken while the one before was put away.
            if slot is not None and slot in self._free:
                self._free.remove(slot)
                await self.give_back(slot, clean=False)


def _give_up(waiter: asyncio.Future[Slot]) -> None:
    if not waiter.done():
        waiter.set_exception(TimeoutError("no connection became free"))


def _is_ready(connection: Connection) -> bool:
    try:
        return not (connection.is_closed() or connection.is_in_transaction())
    except asyncpg.InterfaceError:  # the driver has noticed the end already
        return False
