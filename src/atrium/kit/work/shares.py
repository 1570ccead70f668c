"""Places that companies share: while others wait, a place that becomes free goes to the company that holds fewest.

`Shares` are places that are given back soon, and that can be waited for. `Capacity` is for what stays, such as a stream.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Self

from atrium.kit.errors import Unavailable

# What the server does for no company, and the look whether it is well: each on an account of its own.
SERVER: Hashable = object()
HEALTH: Hashable = object()
# On whose account what is done here takes places: a company, or the address of a caller as long as no company is known.
account: ContextVar[Hashable] = ContextVar("account", default=SERVER)


class Busy(Unavailable):
    """No place became free in time, or too many of the same company's wait already."""

    code, title = "instance.busy", "Busy right now"


def _ending() -> Busy:
    return Busy("this server is being restarted; try again in a moment", retry_after=2)


class Capacity:
    """Places that are held for long and cannot be taken back: one owner has at most GENEROSITY times as many as are free.

    So an owner with many leaves some to others, however many come later, and no place is kept for one of them by name.
    """

    GENEROSITY = 3

    def __init__(self, places: int, *, shared: bool = True) -> None:
        self._places, self._shared = places, shared
        self._held: Counter[Hashable] = Counter()
        self._taken = 0

    def __len__(self) -> int:
        return self._taken

    def held_by(self, owner: Hashable) -> int:
        """How many places an owner holds now."""
        return self._held[owner]

    def admits(self, owner: Hashable) -> bool:
        """Whether there is a place for one more of this owner's."""
        free = self._places - self._taken
        return free > 0 and (not self._shared or self._held[owner] < self.GENEROSITY * free)

    def take(self, owner: Hashable) -> "Permit | None":
        """A permit for a place until it is left; None when there is none for one more of this owner's."""
        if not self.admits(owner):
            return None
        self._held[owner] += 1
        self._taken += 1
        return Permit(self, owner)

    def _leave(self, owner: Hashable) -> None:
        self._taken -= 1
        self._held[owner] -= 1
        if not self._held[owner]:
            del self._held[owner]


class Permit:
    """One place of a Capacity: until the end of the block, or where it is kept, until it is left."""

    __slots__ = ("_capacity", "_kept", "_owner")

    def __init__(self, capacity: Capacity, owner: Hashable) -> None:
        self._capacity: Capacity | None = capacity
        self._owner, self._kept = owner, False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._kept:
            self.leave()

    def keep(self) -> None:
        """Hold it beyond the block."""
        self._kept = True

    def leave(self) -> None:
        """Give it back; once is enough."""
        capacity, self._capacity = self._capacity, None
        if capacity is not None:
            capacity._leave(self._owner)


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
        await self.take(owner, seconds)
        try:
            yield
        finally:
            self.give_back(owner)

    def close(self) -> None:
        """Give no place any more: who waits is refused now, who asks later at once."""
        self._closed, waiting = True, self._waiting
        self._waiting = {}
        for turn in (turn for line in waiting.values() for turn in line):
            # Whose caller has left stands in line until its task runs.
            if not turn.done():
                turn.set_exception(_ending())

    def transfer(self, owner: Hashable, other: Hashable) -> None:
        """From now on a place is another owner's, as it turned out."""
        if other != owner:
            self._held[other] += 1
            self._forget(owner)

    async def take(self, owner: Hashable, seconds: float) -> None:
        """A place until it is given back; raises Busy when none becomes free in so many seconds."""
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
                self.give_back(owner)
            else:
                self._leave(owner, turn)
            if isinstance(error, TimeoutError):
                raise Busy("the server has too much to do; try again in a moment", retry_after=2) from error
            raise

    def _leave(self, owner: Hashable, turn: asyncio.Future[None]) -> None:
        line = self._waiting.get(owner)
        # A place that became free meanwhile has passed it over.
        if line is not None and turn in line:
            line.remove(turn)
            if not line:
                del self._waiting[owner]

    def _forget(self, owner: Hashable) -> None:
        self._held[owner] -= 1
        if not self._held[owner]:
            del self._held[owner]

    def give_back(self, owner: Hashable) -> None:
        """The place goes to the owner in line who holds fewest."""
        self._forget(owner)
        if owner in self._waiting:
            # Of two who hold as many, the one who was served longer ago comes first.
            self._waiting[owner] = self._waiting.pop(owner)
        while self._waiting:
            following = min(self._waiting, key=lambda one: self._held[one])
            turn = self._waiting[following].popleft()
            if not self._waiting[following]:
                del self._waiting[following]
            # A caller who has left is in line until its task runs, and takes no place.
            if not turn.done():
                self._held[following] += 1
                turn.set_result(None)
                return
        self._free += 1
