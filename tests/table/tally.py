"""How many requests the probes made, kind by kind; pytest prints it at the end of a run, whichever processes shared it."""

from collections.abc import Iterable, Iterator
from typing import Any

PROPERTY = "probe"


class Tally:
    """Requests made so far in this process."""

    requests = 0


def note_request() -> None:
    """One more."""
    Tally.requests += 1


def lines(properties: Iterable[tuple[str, Any]]) -> Iterator[str]:
    """A line for each kind of probe: on how many rows it was played, with how many requests."""
    kinds: dict[str, list[int]] = {}
    for name, value in properties:
        if name == PROPERTY:
            kinds.setdefault(value[0], []).append(value[1])
    if kinds:
        yield f"{'rows':>6} {'requests':>9}  probe"
        yield from (f"{len(made):>6} {sum(made):>9}  {kind}" for kind, made in kinds.items())
        every = [made for each in kinds.values() for made in each]
        yield f"{len(every):>6} {sum(every):>9}  in all, none admitted that should not be"
