"""Work in a thread that leaves the interpreter to the event loop again and again."""

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
# A thread that computes gives the interpreter up after 5 ms at the earliest, and a request needs it several times: once for each reply
# of the database.
TURN, PAUSE = 0.001, 0.00005


def pace(items: Iterable[T]) -> Iterator[T]:
    """The items, with a short pause after each millisecond of work on them; for threads alone."""
    began = time.perf_counter()
    for item in items:
        yield item
        if time.perf_counter() - began > TURN:
            time.sleep(PAUSE)
            began = time.perf_counter()
