"""Connections between requests: kept open and ready, because the driver's own pool costs more than most statements."""

import asyncio
from typing import Any

import asyncpg

Connection = Any  # asyncpg hands out proxies of its connections; only the kit calls them.

ACQUIRE_SECONDS = 10
TIDY_SECONDS = 60


class Pool:
    """At most `size` connections. Each place holds one that is ready, or nothing; the driver's pool makes and ends them."""

    def __init__(self, driver: Any, size: int) -> None:
        self._driver = driver
        self._places: asyncio.LifoQueue[Connection | None] = asyncio.LifoQueue()
        for _ in range(size):
            self._places.put_nowait(None)
        self._closing = False
        self._tidying = asyncio.create_task(self._tidy())

    async def take(self) -> Connection:
        """A connection that was just used if there is one; whoever takes it gives it back."""
        place = await self._free_place()
        if place is not None and _is_ready(place):
            return place
        try:
            if place is not None:
                await self._driver.release(place)
            return await self._driver.acquire(timeout=ACQUIRE_SECONDS)
        except BaseException:
            self._places.put_nowait(None)
            raise

    async def give_back(self, connection: Connection, *, clean: bool) -> None:
        """Keep a connection whose work ended well; any other is for the driver to clean up or replace."""
        if clean and not self._closing and _is_ready(connection):
            self._places.put_nowait(connection)
            return
        try:
            # The driver shields this from the caller's cancellation.
            await self._driver.release(connection)
        finally:
            self._places.put_nowait(None)

    async def close(self) -> None:
        """Wait for connections in use, then end them all."""
        self._closing = True
        self._tidying.cancel()
        await self._put_away()
        await self._driver.close()

    async def _free_place(self) -> Connection | None:
        try:
            return self._places.get_nowait()
        except asyncio.QueueEmpty:
            async with asyncio.timeout(ACQUIRE_SECONDS):
                return await self._places.get()

    async def _tidy(self) -> None:
        while True:
            await asyncio.sleep(TIDY_SECONDS)
            await self._put_away()

    async def _put_away(self) -> None:
        """Leave what nobody uses to the driver, which ends connections that stay idle."""
        found = [self._places.get_nowait() for _ in range(self._places.qsize())]
        for connection in found:
            if connection is None:
                self._places.put_nowait(None)
            else:
                await self.give_back(connection, clean=False)


def _is_ready(connection: Connection) -> bool:
    try:
        return not (connection.is_closed() or connection.is_in_transaction())
    except asyncpg.InterfaceError:  # the driver has noticed the end already
        return False
