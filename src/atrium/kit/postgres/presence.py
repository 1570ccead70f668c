"""That this process is there, told from a thread and a connection of its own: a loop that is busy does not look dead.

A direct connection holds an advisory lock for as long as the process lives, whatever its threads do; PostgreSQL lets go of it when the
process is gone. Behind a pooler that hands connections from transaction to transaction a lock says nothing: there the thread tells.
"""

import asyncio
import contextlib
import threading
from uuid import UUID

import asyncpg

from atrium.kit.postgres.database import SYSTEM_ROLE
from atrium.kit.telemetry.log import log

# The first key of the locks.
SPACE = 0x6174726D
# So that PostgreSQL notices after half a minute when a host is gone without a word.
_NOTICED = {"tcp_keepalives_idle": 10, "tcp_keepalives_interval": 5, "tcp_keepalives_count": 4}
_BEAT_SECONDS, _RETRY_SECONDS = 2.0, 1.0


def key_of(process_id: UUID) -> int:
    """The second key of a process's lock: the last four bytes of its id, which are random."""
    return int.from_bytes(process_id.bytes[-4:], "big", signed=True)


class Presence:
    """Holds the lock of a process, or tells that it is there every two seconds."""

    def __init__(self, url: str, process_id: UUID, beat: str) -> None:
        """`beat` is what the system role says where a lock says nothing; $1 is the process."""
        self._url, self._process_id, self._beat = url, process_id, beat
        self._thread = threading.Thread(target=self._run, name="presence", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended: asyncio.Event | None = None
        self._started = threading.Event()

    def start(self) -> None:
        """Begin; the lock is there a moment later."""
        self._thread.start()

    async def stop(self) -> None:
        """Let go of the lock."""
        if not self._thread.is_alive():
            return
        await asyncio.to_thread(self._started.wait)
        if self._loop is not None and self._ended is not None:
            self._loop.call_soon_threadsafe(self._ended.set)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        asyncio.run(self._tell())

    async def _tell(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        self._started.set()
        while not self._ended.is_set():
            try:
                await self._tell_once(self._ended)
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError) as error:
                log.warning("presence.connection_lost", error=error)
                await _within(self._ended, _RETRY_SECONDS)

    async def _tell_once(self, ended: asyncio.Event) -> None:
        connection = await asyncpg.connect(self._url, statement_cache_size=0)
        try:
            lost = asyncio.Event()
            connection.add_termination_listener(lambda _: lost.set())
            # A pooler says a number of its own.
            direct = await connection.fetchval("SELECT pg_backend_pid()") == connection.get_server_pid()
            if direct:
                for name, value in _NOTICED.items():
                    await connection.execute(f"SET {name} = {value}")
                await connection.execute("SELECT pg_advisory_lock_shared($1, $2)", SPACE, key_of(self._process_id))
            while not (ended.is_set() or lost.is_set()):
                if not direct:
                    async with connection.transaction():
                        await connection.execute(f"SET LOCAL ROLE {SYSTEM_ROLE}")
                        await connection.execute(self._beat, self._process_id)
                await _within(ended, _BEAT_SECONDS)
        finally:
            connection.terminate()


async def _within(event: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
