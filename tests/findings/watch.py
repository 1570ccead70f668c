"""A domain that only these tests assemble: how long the event loop stood still, and a parser that is too slow on purpose."""

import asyncio
import time
from pathlib import Path

import msgspec

from atrium.seams.context import Operation
from atrium.seams.routes import GET, POST, PUBLIC, Route, section

EVERY = 0.005
ROWS: tuple[Route, ...] = section(
    "Watch", GET("/api/watch", "watch.read_longest", PUBLIC), POST("/api/watch/slow", "watch.read_slowly", PUBLIC)
)


class Watch:
    """Ticks, and keeps the longest time between two of them."""

    def __init__(self) -> None:
        self._longest = 0.0
        self._before: tuple[float, float] | None = None

    def read(self) -> float:
        """The longest stall since the last time it was read."""
        if self._before is None:
            self._tick()
        longest, self._longest = self._longest, 0.0
        return longest

    def _tick(self) -> None:
        now = time.perf_counter(), waited_for_processor()
        if self._before is not None:
            # What the kernel gave to other processes meanwhile is this machine's doing, and not the server's.
            elapsed, waited = (after - before for after, before in zip(now, self._before, strict=True))
            self._longest = max(self._longest, elapsed - EVERY - waited)
        self._before = now
        asyncio.get_running_loop().call_later(EVERY, self._tick)


def waited_for_processor() -> float:
    """Seconds this thread was ready to run and did not, as far as the kernel tells."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


WATCH = Watch()


class Longest(msgspec.Struct, frozen=True):
    """The longest stall in seconds."""

    seconds: float


async def read_longest(op: Operation) -> Longest:
    """The longest stall since the last time this was asked."""
    return Longest(WATCH.read())


class Slow(msgspec.Struct):
    """For how long to parse."""

    seconds: float


async def read_slowly(op: Operation, body: Slow) -> Longest:
    """A parser that lets nobody else work."""
    until = time.thread_time() + body.seconds
    while time.thread_time() < until:
        pass
    return Longest(0)
