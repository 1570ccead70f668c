"""One LISTEN connection per process; a NOTIFY wakes the local waiters of that topic."""

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

import asyncpg

from atrium.kit.postgres.database import APP_ROLE
from atrium.kit.telemetry.log import log

RETRY_SECONDS = 1.0
ALL = ""


class Notifier:
    """Listens on one channel; a notification's payload is the topic, an empty one wakes all waiters.

    A lost connection loses notifications, so all waiters are woken after every reconnection, and each waiter sets a
    timeout and polls as well.
    """

    def __init__(self, url: str, channel: str) -> None:
        self._url, self._channel = url, channel
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._listening: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to listen."""
        self._listening = asyncio.create_task(self._listen())

    async def stop(self) -> None:
        """Close the connection and wake all waiters, because no notification can come any more."""
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        self.notify(ALL)

    def notify(self, topic: str) -> None:
        """Wake the local waiters of a topic; the empty one wakes all."""
        groups = list(self._waiting.values()) if topic == ALL else [self._waiting.get(topic, set())]
        for group in groups:
            for event in group:
                event.set()

    @contextlib.contextmanager
    def subscribe(self, topics: frozenset[str], event: asyncio.Event | None = None) -> Iterator[asyncio.Event]:
        """An event, a new one unless given, that is set by every notification of these topics until the block ends."""
        event = event or asyncio.Event()
        for topic in topics:
            self._waiting.setdefault(topic, set()).add(event)
        try:
            yield event
        finally:
            for topic in topics:
                group = self._waiting[topic]
                group.discard(event)
                if not group:
                    del self._waiting[topic]

    async def _listen(self) -> None:
        while True:
            try:
                await self._listen_once()
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError) as error:
                log.warning("notify.connection_lost", error=error)
            await asyncio.sleep(RETRY_SECONDS)

    async def _listen_once(self) -> None:
        lost = asyncio.Event()
        connection = await asyncpg.connect(self._url, statement_cache_size=0)
        try:
            connection.add_termination_listener(lambda _: lost.set())
            await connection.execute(f"SET ROLE {APP_ROLE}")
            await connection.add_listener(self._channel, self._heard)
            self.notify(ALL)
            await lost.wait()
        finally:
            connection.terminate()

    def _heard(self, connection: Any, pid: int, channel: str, payload: Any) -> None:
        self.notify(payload)


async def wait_for(event: asyncio.Event, seconds: float) -> bool:
    """Whether the event came in time; it is ready to be waited for again."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    event.clear()
    return True
