"""Places that companies share: while others wait, a place that becomes free goes to the company that holds fewest."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from atrium.kit.errors import Unavailable


class Busy(Unavailable):
    """No place became free in time, or too many of the same company's wait already."""

    code, title = "instance.busy", "Busy right now"


def _ending() -> Busy:
    return Busy("this server is being restarted; try again in a moment", retry_after=2)


class Shares:
    """A number of places; none is kept back while no other owner wants it, and no owner's queue delays another's first in line."""

    def __init__(self, places: int, *, waiting: int = 64) -> None:
        self._free, self._most_waiting = places, waiting
        self._held: Counter[Hashable] = Counter()
        # Owners in line; the first to have come stands first.
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}
        self._closed = False

    def held_by(self, owner: Hashable) -> int:
        """How many places an owner holds now."""
        return self._held[owner]

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        return sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def hold(self, owner: Hashable, seconds: float) -> AsyncIterator[None]:
        """A place until the block ends; raises Busy when none becomes free in so many seconds."""
        await self._take(owner, seconds)
        try:
            yield
        finally:
            self._give_back(owner)

    def close(self) -> None:
        """Give no place any more: who waits is refused now, who asks later at once."""
        self._closed, waiting = True, self._waiting
        self._waiting = {}
        for turn in (turn for line in waiting.values() for turn in line):
            turn.set_exception(_ending())

    async def _take(self, owner: Hashable, seconds: float) -> None:
        if self._closed:
            raise _ending()
        if self._free:
            self._free -= 1
            self._held[owner] += 1
            return
        line = self._waiting.setdefault(owner, deque())
        if len(line) >= self._most_waiting:
            raise Busy("too much of your company's is waiting already; try again in a moment", retry_after=2)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        line.append(turn)
        try:
            async with asyncio.timeout(seconds):
                await turn
        except Busy:
            raise
        except BaseException as error:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                # The place came in the moment of leaving.
                self._give_back(owner)
            elif not self._closed:
                self._leave(owner, turn)
            if isinstance(error, TimeoutError):
                raise Busy("the server has too much to do; try again in a moment", retry_after=2) from error
            raise

    def _leave(self, owner: Hashable, turn: asyncio.Future[None]) -> None:
        line = self._waiting[owner]
        line.remove(turn)
        if not line:
            del self._waiting[owner]

    def _give_back(self, owner: Hashable) -> None:
        self._held[owner] -= 1
        if not self._held[owner]:
            del self._held[owner]
        if not self._waiting:
            self._free += 1
            return
        if owner in self._waiting:
            # Of two who hold as many, the one who was served longer ago comes first.
            self._waiting[owner] = self._waiting.pop(owner)
        following = min(self._waiting, key=lambda one: self._held[one])
        turn = self._waiting[following].popleft()
        if not self._waiting[following]:
            del self._waiting[following]
        self._held[following] += 1
        turn.set_result(None)
