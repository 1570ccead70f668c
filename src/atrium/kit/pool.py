"""Connections between requests: kept open and ready, because the driver's own pool costs more than most statements."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import asyncpg

Connection = Any  # asyncpg hands out proxies of its connections; only the kit calls them.
Place = Connection | None

ACQUIRE_SECONDS = 10
CROWDED_SECONDS = 0.05
TIDY_SECONDS = 60
T = TypeVar("T")


class Unreachable(ConnectionError):
    """PostgreSQL is not there: a socket without a file, a name without an address, a host without a route."""


async def patiently(connect: Callable[[], Awaitable[T]]) -> T:
    """Connect; while PostgreSQL has no place left, try again for a while, because others come and go."""
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
    """At most `size` connections. A free place holds one that is ready, or nothing; the driver's pool makes and ends them."""

    def __init__(self, driver: Any, size: int) -> None:
        self._driver = driver
        self._free: list[Place] = [None] * size
        self._waiting: deque[asyncio.Future[Place]] = deque()
        self._closing = False
        self._tidying = asyncio.create_task(self._tidy())

    async def take(self) -> Connection:
        """The connection that was used last, or a new one; whoever takes it gives it back."""
        if self._free and (place := self._free[-1]) is not None and _is_ready(place):
            return self._free.pop()
        return await patiently(self._take)

    async def _take(self) -> Connection:
        place = self._free.pop() if self._free else await self._wait()
        if place is not None and _is_ready(place):
            return place
        try:
            if place is not None:
                await self._driver.release(place)
            return await self._connect()
        except BaseException:
            self._offer(None)
            raise

    async def _connect(self) -> Connection:
        try:
            return await self._driver.acquire(timeout=ACQUIRE_SECONDS)
        except OSError as error:
            # Said here and not to whoever reads the error: elsewhere a missing file is a defect and no outage.
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

    async def close(self) -> None:
        """Wait for connections in use, then end them all."""
        self._closing = True
        self._tidying.cancel()
        await asyncio.gather(self._tidying, return_exceptions=True)
        await self._put_away()
        await self._driver.close()

    def _offer(self, place: Place) -> None:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(place)
                return
        # A ready connection is taken before an empty place: it costs nothing, and PostgreSQL may have no other to give.
        self._free.insert(0 if place is None else len(self._free), place)

    async def _wait(self) -> Place:
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[Place] = loop.create_future()
        self._waiting.append(waiter)
        deadline = loop.call_later(ACQUIRE_SECONDS, _give_up, waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            # Cancelled between being offered a place and taking it: the place is for somebody else.
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
        """Leave what nobody uses to the driver, which ends connections that stay idle."""
        for place in list(self._free):
            # Somebody may have taken it while the one before was put away.
            if place is not None and place in self._free:
                self._free.remove(place)
                await self.give_back(place, clean=False)


def _give_up(waiter: asyncio.Future[Place]) -> None:
    if not waiter.done():
        waiter.set_exception(TimeoutError("no connection became free"))


def _is_ready(connection: Connection) -> bool:
    try:
        return not (connection.is_closed() or connection.is_in_transaction())
    except asyncpg.InterfaceError:  # the driver has noticed the end already
        return False
