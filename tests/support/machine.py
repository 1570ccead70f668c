"""How fast this machine is at the moment: a shared one may be a third of what it was when limits in seconds were set."""

import time

# What the loop below took where the limits were set.
_SECONDS = 0.065


def slowness() -> float:
    """How many times longer than there the same work takes now, at least 1; limits in seconds are multiplied by it."""
    return max(1.0, min(_work() for _ in range(3)) / _SECONDS)


def _work() -> float:
    started, total = time.perf_counter(), 0
    for number in range(1_000_000):
        total += number
    return time.perf_counter() - started
