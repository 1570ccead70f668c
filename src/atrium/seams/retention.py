"""Rows that are deleted when they are old: some at a time, each batch in a transaction of its own."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from atrium.seams.settings import Settings
from atrium.seams.wiring import Chore

EVERY_SECONDS = 300
# A round goes on to the end; its own end is for a table that fills faster than it empties.
BATCH, MOST_BATCHES = 1_000, 1_000
# A setting may name more days than a date can lie back.
LONGEST = timedelta(days=36_525)


@dataclass(frozen=True, slots=True)
class Retention:
    """One kind of row: how long it is kept, and `forget`, which takes (transaction, age, most) and returns how many it deleted.

    The transaction is the directory's, over all companies. Several processes may run it at the same moment.
    """

    name: str
    age: Callable[[Settings], timedelta]
    forget: Callable[[Any, timedelta, int], Awaitable[int]]

    async def run(self, services: Any) -> int:
        """Delete what is old, up to so many batches; how many rows."""
        age, gone = min(self.age(services.settings), LONGEST), 0
        for _ in range(MOST_BATCHES):
            async with services.database.begin_system() as db:
                dropped = await self.forget(db, age, BATCH)
            gone += dropped
            if dropped < BATCH:
                break
        return gone

    def chore(self) -> Chore:
        """The background work of it."""
        return Chore(self.name, EVERY_SECONDS, self.run)


def days(setting: str) -> Callable[[Settings], timedelta]:
    """As many days as a setting says."""
    return lambda settings: timedelta(days=min(getattr(settings, setting), LONGEST.days))


def always(age: timedelta) -> Callable[[Settings], timedelta]:
    """An age that no setting changes."""
    return lambda settings: age
