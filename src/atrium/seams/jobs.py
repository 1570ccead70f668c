"""A job kind: named work that runs in the background, here or on another machine."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

from atrium.kit.signatures import is_async_of, is_struct

Amounts = dict[str, int]


class NoArguments(msgspec.Struct, forbid_unknown_fields=True):
    """Of a kind that needs nothing to be told."""


class Postponed(Exception):
    """Raised by a kind's `run`: nothing was done, the attempt does not count, and another begins after so many seconds.

    A `reason` is told as what the job waits for; with `quota` it begins at once when a limit of the company changes.
    """

    def __init__(self, seconds: float, reason: Literal["quota", "org_suspended"] | None = None) -> None:
        super().__init__(f"put off for {seconds:g} seconds")
        self.seconds, self.reason = seconds, reason


@dataclass(frozen=True, slots=True)
class JobPlacement:
    """Where a job runs: at one worker elsewhere, or (None) in this server; `model` is what its attempts are told."""

    model: str | None
    worker: UUID | None = None


@dataclass(frozen=True, slots=True)
class DoneBeside:
    """A waiting job that was done along with an attempt at another: what it was given, and what came out."""

    id: UUID
    input: Any
    result: Any


@dataclass(slots=True)
class Beside:
    """Waiting jobs that attempts of one worker do along; who chooses some holds the lock, so that no two choose the same."""

    ids: set[UUID] = field(default_factory=set)
    choosing: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobKind:
    """A declaration; a local kind has `run`, a remote one has `problem_with` and is claimed by workers over HTTP.

    A kind that can be either has both, and `place`, which takes (context, model asked for) and decides when a job is queued.

    `run` takes (operation as the job's owner, Assignment) and returns what becomes the result. It may run more than once:
    an attempt whose process died is repeated, so effects belong into transactions or must bear repetition.
    `problem_with` takes a worker's result and returns what is wrong with it, or nothing; `problem_between` does the same for the
    arguments and a result that is right by itself.
    `finished` takes (context of the company, the kind's jobs that ended for good in one settlement, all of them together) inside
    the transaction that ends them; it also hears of jobs whose owner has left. It may return drafts of jobs that follow, which are queued
    after it: the worker goes on with them where their turn is next.
    `beside` takes (operation, Assignment, Beside) when `run` took no time worth mentioning, and does waiting jobs of the same kind and
    owner along: only what may be done twice without harm, because another worker may be doing it, too. It returns those that succeeded,
    their ids added to those in Beside. What still waits when the attempt is settled ends with it, in the same transaction.
    `broken` takes (context, job) when `finished` raised for that job alone, after what it did was undone; without it the job ends
    only when `finished` does not raise.
    """

    name: str
    description: str
    arguments: type[msgspec.Struct] = NoArguments
    run: Callable[..., Awaitable[Any]] | None = None
    problem_with: Callable[[Any], str | None] | None = None
    problem_between: Callable[[Any, Any], str | None] | None = None
    place: Callable[..., Awaitable[JobPlacement]] | None = None
    # What an attempt may spend at most, and what it did; a kind without `reserves` never touches a quota.
    reserves: Callable[[Any], Amounts] | None = None
    used: Callable[[Any, Any], Amounts] | None = None
    # What an attempt used that ended with this exception here; all it reserved, unless the kind knows better.
    spent: Callable[[Exception], Amounts | None] | None = None
    finished: Callable[..., Awaitable[Sequence[Any] | None]] | None = None
    broken: Callable[..., Awaitable[None]] | None = None
    beside: Callable[..., Awaitable[Sequence[DoneBeside]]] | None = None
    # Most that one process runs at once, apart from its other jobs. Every process runs such a kind, first for teams that have none
    # running there. None: as many as there are free slots, in processes that run jobs.
    at_once: int | None = None
    attempts: int = 3
    lease: int = 60
    # Whether people may ask for it by POST /api/jobs; other kinds are queued by the product itself, and listed only when asked for.
    public: bool = True
    source: str = "core"

    @property
    def remote(self) -> bool:
        """Whether only a worker elsewhere runs it."""
        return self.run is None

    @property
    def claimable(self) -> bool:
        """Whether a worker elsewhere may run it."""
        return self.remote or self.place is not None


def problems_with(kind: JobKind) -> Iterator[str]:
    """What would come out only when the first such job runs."""
    if not is_struct(kind.arguments):
        yield "arguments must be a msgspec struct"
    if kind.run is not None and not is_async_of(kind.run, 2):
        yield "run must be async and take (operation, assignment)"
    if kind.run is None and kind.problem_with is None:
        yield "a remote kind must say what is wrong with a result (problem_with)"
    if kind.place is not None and (not is_async_of(kind.place, 2) or kind.run is None or kind.problem_with is None):
        yield "a kind that is placed has run and problem_with; place must be async and take (context, model)"
    if (kind.used or kind.spent) is not None and kind.reserves is None:
        yield "what is used must have been reserved"
    if kind.finished is not None and not is_async_of(kind.finished, 2):
        yield "finished must be async and take (context, jobs)"
    if kind.broken is not None and (kind.finished is None or not is_async_of(kind.broken, 2)):
        yield "broken goes with finished; it must be async and take (context, job)"
    if kind.beside is not None and (kind.run is None or kind.reserves is not None or not is_async_of(kind.beside, 3)):
        yield "only a local kind that spends nothing does others beside; it must be async and take (operation, assignment, beside)"
    if kind.at_once is not None and (kind.at_once < 1 or kind.run is None or kind.place is not None):
        yield "only a kind that runs here alone says how many at once, and at least one"
    if not (1 <= kind.attempts <= 100 and 1 <= kind.lease <= 86_400):
        yield "attempts are 1 to 100, a lease is 1 to 86,400 seconds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """One attempt at a job, as the kind's `run` sees it; `cancel` is set when the result is no longer wanted."""

    id: UUID
    kind: str
    model: str | None
    attempt: int
    arguments: Any
    lease_until: datetime
    cancel: asyncio.Event = field(default_factory=asyncio.Event)
    begun_at: datetime = field(default_factory=lambda: datetime.now(UTC))
