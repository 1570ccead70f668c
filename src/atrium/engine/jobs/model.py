"""The nouns of jobs."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

import msgspec

from atrium.kit.errors import AppError, Conflict, Invalid, Kind, Missing
from atrium.kit.postgres.database import Transaction
from atrium.kit.web.etags import etag_of
from atrium.seams.context import Principal
from atrium.seams.jobs import Amounts, DoneBeside, JobKind

State = Literal["queued", "running", "succeeded", "failed", "cancelled"]
WaitingReason = Literal["team_cap", "quota", "org_suspended", "no_worker", "scheduled"]
Outcome = Literal["succeeded", "failed", "returned"]
LONGEST_BACKOFF = 600
# The error of a job whose last attempt ended without a word; PostgreSQL writes it.
LAPSED = "the worker went silent and its lease ran out"
ENDED = frozenset({"succeeded", "failed", "cancelled"})


class JobError(msgspec.Struct, frozen=True):
    """Why a job failed: `title` is the code's own sentence; `message` may hold values, and is the title where they are left out."""

    code: str
    title: str
    message: str
    redacted: bool = False


# What PostgreSQL or the queue itself writes, which holds no value.
_OWN_ERRORS = {LAPSED: "jobs.lapsed"}
_TITLES = {"jobs.failed": "The job failed", "jobs.lapsed": "Its worker went silent"}


def error_of(text: str | None, *, shown: bool) -> JobError | None:
    """Why a job failed, for a person to whom what it carries is `shown` or not."""
    if text is None:
        return None
    code = _OWN_ERRORS.get(text, "jobs.failed")
    hidden = not shown and code == "jobs.failed"
    return JobError(code, _TITLES[code], _TITLES[code] if hidden else text, hidden)


class _JobFacts(msgspec.Struct, frozen=True):
    id: UUID
    kind: str
    model: str | None
    user_id: UUID
    state: State
    waiting_reason: WaitingReason | None
    priority: int
    attempt: int
    max_attempts: int
    cancel_requested: bool
    created_at: datetime
    run_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class FoundJob(_JobFacts, frozen=True):
    """A job as it is stored, with what it was given and what came out where that was asked for."""

    error: str | None
    input: Any = None
    result: Any = None


class JobSummary(_JobFacts, frozen=True):
    """A job as listings show it: where it stands, not what it is about."""

    error: JobError | None


class Job(JobSummary, frozen=True):
    """A job with what it was given and what came out; both are for its owner and the team's admins."""

    input: Any
    result: Any

    def etag(self) -> str:
        """Differs whenever anything of it does, as it is shown to this reader."""
        return etag_of(self)


class NewJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job about to be queued."""

    id: UUID
    kind: str
    model: str | None
    pool: str
    priority: int
    max_attempts: int
    lease: timedelta
    run_at: datetime | None
    input: Any
    listed: bool
    # What it belongs to: that pays for it, shows it and ends it.
    part_of: UUID | None = None


@dataclass(frozen=True, slots=True)
class Drafts:
    """Jobs about to be queued, in the name of one person."""

    owner: Principal
    jobs: list[NewJob]


class Claim(msgspec.Struct, frozen=True):
    """One attempt, as the scheduler hands it out: whose it is and what fences it, nothing of its content."""

    id: UUID
    org_id: UUID
    team_id: UUID
    user_id: UUID
    kind: str
    model: str | None
    attempt: int
    token: UUID
    lease_until: datetime


@dataclass(frozen=True, slots=True)
class Attempt:
    """A claimed job with everything it needs: the owner it acts for and its arguments, checked once more."""

    claim: Claim
    kind: JobKind
    owner: Principal
    input: Any
    arguments: Any
    # Not of a part: the whole has reserved what it may spend, and pays.
    pays: bool = True
    # The place in a trace that it follows from.
    traceparent: str | None = None


class AttemptInput(msgspec.Struct, frozen=True):
    """What an attempt needs beyond its claim."""

    id: UUID
    scope: list[str] | None
    input: Any
    part_of: UUID | None
    heard: int
    traceparent: str | None = None


class Lease(msgspec.Struct, frozen=True):
    """A lease after a heartbeat."""

    id: UUID
    lease_until: datetime
    cancel_requested: bool


class WorkerMessage(msgspec.Struct, frozen=True):
    """How much of a running attempt's reply has been heard, and whether anything waits for it."""

    heard: int
    wanted: bool


class JobPart(msgspec.Struct, frozen=True):
    """Where a job stands that is part of something else."""

    id: UUID
    state: str
    result: Any
    error: str | None


class SettledJob(msgspec.Struct, frozen=True):
    """An attempt that has just ended, and where its job stands now; the token is None for a job that was never claimed."""

    id: UUID
    token: UUID | None
    team_id: UUID
    user_id: UUID
    scope: list[str] | None
    kind: str
    pool: str
    state: str
    attempt: int
    admission_id: UUID | None


class Backlog(msgspec.Struct, frozen=True):
    """What waits in all queues together, and who is there; `oldest_seconds` is of what no cap, quota or suspension holds back."""

    queued: int
    oldest_seconds: float
    workers: int
    served: list[str]


class ExpiredLease(msgspec.Struct, frozen=True):
    """A running job whose lease has run out."""

    id: UUID
    org_id: UUID


@dataclass(frozen=True, slots=True)
class JobStream:
    """Jobs that kinds let follow on what has just ended, not queued yet, and the people whose they may be."""

    drafts: Sequence[Drafts]
    owners: Mapping[UUID, Principal]


# Queues what follows, and claims so many of it at most for the worker that settles there.
Take = Callable[[Transaction, JobStream, int], Awaitable[list[Attempt]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptReport:
    """How an attempt ended; `again` is the delay before another, None for never; `used` is for one that knows what it spent.

    `input` is what the job was given, where the worker knows it; otherwise it is read.
    Of a worker that goes on with what follows from its job, `take` claims that in the transaction which settles the job.
    What was done `beside` it ends with it, where it still waits. `put_off_for` is what one waits for that was returned undone.
    """

    claim: Claim
    outcome: Outcome
    result: Any = None
    error: str | None = None
    again: timedelta | None = None
    used: Amounts | None = None
    take: Take | None = None
    input: Any = None
    beside: Sequence[DoneBeside] = ()
    put_off_for: str | None = None


@dataclass(frozen=True, slots=True)
class FinishedJob:
    """A job that ended for good, as its kind hears of it; without an `owner` when they have left the team."""

    id: UUID
    state: str
    input: Any
    result: Any
    error: str | None
    owner: Principal | None


class JobMissing(Missing):
    """No such job in this team."""

    code = "jobs.missing"
    title = "No such job"


class UnknownKind(Invalid):
    """The job kind is not registered, or is not public."""

    code = "jobs.unknown_kind"
    title = "No such job kind"


class BadInput(Invalid):
    """The input does not fit the kind's arguments."""

    code = "jobs.bad_input"
    title = "The job's input is not valid"


class JobEnded(Conflict):
    """There is nothing left to cancel."""

    code = "jobs.ended"
    title = "This job has ended"


class StaleClaim(Conflict):
    """The attempt this token stood for is over: settled, expired, or claimed by another worker."""

    code = "jobs.stale_claim"
    title = "This claim is no longer held"


class WordsMissing(Conflict):
    """What a worker says begins after what was heard of it; `heard` is where to begin."""

    code = "jobs.words_missing"
    title = "Something before this is missing"


class ResultRefused(AppError):
    """The kind's own check found the result wrong; the claim is still held."""

    kind = Kind.REFUSED
    code = "jobs.result_refused"
    title = "The result was refused"


def pool_of(kind: str, model: str | None = None) -> str:
    """Which workers can run it: those of the kind, or those of the kind that have the model."""
    return kind if model is None else f"{kind}@{model}"


def backoff(attempt: int) -> timedelta:
    """How long to wait before the next attempt: 1, 2, 4 … seconds."""
    return timedelta(seconds=min(2 ** (attempt - 1), LONGEST_BACKOFF))


def readable(text: str) -> str:
    """A text as PostgreSQL can keep it, no longer than people read."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()[:4000]
