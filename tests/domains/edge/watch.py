"""A domain that only these tests assemble: how long the event loop stood still, and a parser that is too slow on purpose."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from atrium.kit.crypto.passwords import Passwords
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
        self._before: tuple[float, float, float] | None = None

    def read(self) -> float:
        """The longest stall since the last time it was read."""
        if self._before is None:
            self._tick()
        longest, self._longest = self._longest, 0.0
        return longest

    def _tick(self) -> None:
        now = time.perf_counter(), waited_for_processor(), time.process_time()
        if self._before is not None:
            # What the kernel gave to other processes meanwhile is this machine's doing, and not the server's: no stall is longer than
            # the processor time that this process took.
            elapsed, waited, worked = (after - before for after, before in zip(now, self._before, strict=True))
            self._longest = max(self._longest, min(elapsed - EVERY - waited, worked))
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
    """The longest stall in seconds, and the longest wait for the thread of signing in."""

    seconds: float
    waited: float = 0.0


class Queue:
    """Asks the thread of signing in for nothing, again and again, and keeps how long that took beside the sign-ins in front of it."""

    def __init__(self) -> None:
        self._longest = self._signing_in = 0.0
        self._asking: asyncio.Task[None] | None = None

    def read(self, passwords: Passwords) -> float:
        """The longest wait since the last time it was read."""
        if self._asking is None:
            self._hash, passwords._run = passwords._run, self._signed_in  # type: ignore[method-assign]
            self._asking = asyncio.create_task(self._ask())
        longest, self._longest = self._longest, 0.0
        return longest

    async def _signed_in(self, function: Callable[..., Any], *arguments: str) -> Any:
        def timed() -> Any:
            began = time.perf_counter()
            try:
                return function(*arguments)
            finally:
                self._signing_in += time.perf_counter() - began

        return await self._hash(timed)

    async def _ask(self) -> None:
        while True:
            before = time.perf_counter(), waited_for_processor(), self._signing_in, time.process_time()
            await self._hash(str, "")
            after = time.perf_counter(), waited_for_processor(), self._signing_in, time.process_time()
            elapsed, waited, signing_in, worked = (then - now for then, now in zip(after, before, strict=True))
            self._longest = max(self._longest, min(elapsed - waited - signing_in, worked))
            await asyncio.sleep(EVERY)


QUEUE = Queue()


async def read_longest(op: Operation) -> Longest:
    """The longest stall and the longest wait since the last time this was asked."""
    return Longest(WATCH.read(), QUEUE.read(op.services.passwords))


class Slow(msgspec.Struct):
    """For how long to parse."""

    seconds: float


async def read_slowly(op: Operation, body: Slow) -> Longest:
    """A parser that lets nobody else work."""
    until = time.thread_time() + body.seconds
    while time.thread_time() < until:
        pass
    return Longest(0)
