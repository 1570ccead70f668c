"""Connections between requests: kept open and ready, because the driver's own pool costs more than most statements."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar

import asyncpg

from atrium.kit.work.shares import Shares

Connection = Any  # asyncpg hands out proxies of its connections; only the kit calls them.
Slot = Connection | None

ACQUIRE_SECONDS = 10
CROWDED_SECONDS = 0.05
TIDY_SECONDS = 60
# So many of one owner's may wait for a connection.
MOST_WAITING = 10_000
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
    """At most `size` connections that owners share.

    A free slot holds one that is ready, or nothing; the driver's pool makes and ends them.
    """

    def __init__(self, driver: Any, size: int) -> None:
        self._driver, self._size = driver, size
        # As many slots as there are places.
        self._shares = Shares(size, waiting=MOST_WAITING)
        self._free: list[Slot] = [None] * size
        self._owners: dict[Connection, Hashable] = {}
        self._closing = False
        self._tidying = asyncio.create_task(self._tidy())

    async def take(self, owner: Hashable) -> Connection:
        """The connection that was used last, or a new one; the caller must give it back.

        While others wait, the next is for the owner who holds fewest; raises Busy when none becomes free in time.
        """
        await self._shares.take(owner, ACQUIRE_SECONDS)
        try:
            connection = await patiently(self._find)
        except BaseException:
            self._shares.give_back(owner)
            raise
        self._owners[connection] = owner
        return connection

    def owned_by(self, connection: Connection, owner: Hashable) -> None:
        """Whose connection it is, where that was found out with it."""
        self._shares.transfer(self._owners[connection], owner)
        self._owners[connection] = owner

    async def _find(self) -> Connection:
        # There is a slot for every place. One that cannot be connected is put back: by the next try a ready one may be there.
        slot = self._free.pop()
        if slot is not None and _is_ready(slot):
            return slot
        try:
            if slot is not None:
                await self._driver.release(slot)
            return await self._connect()
        except BaseException:
            self._keep(None)
            raise

    async def _connect(self) -> Connection:
        try:
            return await self._driver.acquire(timeout=ACQUIRE_SECONDS)
        except OSError as error:
            # Translated here only: elsewhere a missing file is a defect and not an outage.
            raise Unreachable(f"PostgreSQL cannot be reached: {error}") from error

    async def give_back(self, connection: Connection, *, clean: bool) -> None:
        """Keep a connection whose work ended well; any other is for the driver to clean up or replace."""
        owner = self._owners.pop(connection)
        if clean and not self._closing and _is_ready(connection):
            self._offer(connection, owner)
            return
        try:
            # The driver shields this from the caller's cancellation.
            await self._driver.release(connection)
        finally:
            self._offer(None, owner)

    def count(self) -> tuple[int, int, int]:
        """Connections in use, ready ones, and those who wait for one."""
        ready = sum(slot is not None for slot in self._free)
        return self._size - len(self._free), ready, self._shares.waiting

    async def close(self) -> None:
        """Wait for connections in use, then end them all."""
        self._closing = True
        self._tidying.cancel()
        await asyncio.gather(self._tidying, return_exceptions=True)
        await self._put_away()
        await self._driver.close()

    def _offer(self, slot: Slot, owner: Hashable) -> None:
        self._keep(slot)
        self._shares.give_back(owner)

    def _keep(self, slot: Slot) -> None:
        # A ready connection is taken before an empty slot: it costs nothing, and PostgreSQL may have no other to give.
        self._free.insert(0 if slot is None else len(self._free), slot)

    async def _tidy(self) -> None:
        while True:
            await asyncio.sleep(TIDY_SECONDS)
            with contextlib.suppress(asyncpg.InterfaceError, OSError):
                await self._put_away()

    async def _put_away(self) -> None:
        """Return unused connections to the driver, which closes idle ones; their slots stay free."""
        for slot in list(self._free):
            # It may have been taken while the one before was put away.
            if slot is not None and slot in self._free:
                self._free[self._free.index(slot)] = None
                await self._driver.release(slot)


def _is_ready(connection: Connection) -> bool:
    try:
        return not (connection.is_closed() or connection.is_in_transaction())
    except asyncpg.InterfaceError:  # the driver has noticed the end already
        return False
