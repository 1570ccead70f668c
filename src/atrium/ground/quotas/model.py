"""The nouns of quotas, and the arithmetic of admission; nothing here touches a database."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from atrium.kit.errors import Exhausted

Dimension = Literal["ai.requests", "ai.tokens.total", "ai.concurrency", "storage.bytes", "jobs.concurrency"]
Window = Literal["minute", "hour", "day", "month", "total"]
Level = Literal["team", "org"]
# Where the limit of a line of usage comes from: a person set it, the company's plan, the server's default; `none` where no limit holds.
Source = Literal["limit", "plan", "default", "none"]
Amounts = dict[str, int]
DIMENSIONS: tuple[Dimension, ...] = (
    "ai.requests",
    "ai.tokens.total",
    "ai.concurrency",
    "storage.bytes",
    "jobs.concurrency",
)
WINDOWS: tuple[Window, ...] = ("minute", "hour", "day", "month", "total")
# Counted while it lasts: what is settled leaves nothing behind.
CONCURRENCY = frozenset({"ai.concurrency", "jobs.concurrency"})
STORAGE: Dimension = "storage.bytes"
# What rows of the database are kept for; the rest of what is stored are files. Each has a meter of its own beside that of all.
Part = Literal["notes", "workflows", "jobs"]
PARTS: tuple[Part, ...] = ("notes", "workflows", "jobs")


def usual_window(dimension: Dimension) -> Window:
    """Over what a dimension is told where nothing limits it: what is kept counts until it is gone."""
    return "total" if dimension == STORAGE else "month"


class Limit(msgspec.Struct, frozen=True):
    """The most of a dimension in a window, for a team or a company."""

    dimension: Dimension
    limit: int | None
    window: Window
    level: Level = "team"


class LimitChange(msgspec.Struct, forbid_unknown_fields=True):
    """A limit to set for a window; `limit: null` clears it."""

    dimension: Dimension
    limit: Annotated[int, msgspec.Meta(ge=0, le=9_000_000_000_000_000)] | None
    window: Window


class Meter(msgspec.Struct):
    """Usage of one dimension by one scope; every window at once. `counted_at` says which windows the figures are of."""

    scope_id: UUID
    dimension: str
    reserved: int
    counted_at: datetime
    minute: int = 0
    hour: int = 0
    day: int = 0
    month: int = 0
    total: int = 0

    def roll(self, now: datetime) -> None:
        """Forget the windows that have ended."""
        for window in ("minute", "hour", "day", "month"):
            if start_of(window, self.counted_at) != start_of(window, now):
                setattr(self, window, 0)
        self.counted_at = max(now, self.counted_at)

    def used(self, window: str) -> int:
        """What was used in the current window."""
        return int(getattr(self, window))

    def use(self, amount: int) -> None:
        """Count in every window; a negative amount gives back, never below nothing."""
        for window in WINDOWS:
            setattr(self, window, max(0, self.used(window) + amount))


class Admission(msgspec.Struct, frozen=True):
    """Proof that a spend was admitted; hand it back to `settle` with what was really used."""

    id: UUID
    org_id: UUID
    team_id: UUID
    amounts: Amounts


class ReservationRequest(msgspec.Struct, frozen=True):
    """A request to reserve."""

    admission: Admission
    lease: timedelta


class Settlement(msgspec.Struct, frozen=True):
    """A request to settle."""

    admission: Admission
    actual: Amounts


class UsageEntry(msgspec.Struct, frozen=True):
    """What a transaction noted as used and no round has counted yet; `hold_id` is what it had reserved, if anything."""

    team_id: UUID
    hold_id: UUID | None
    amounts: Amounts


class StorageChange(msgspec.Struct, frozen=True):
    """How many more bytes (or, below nothing, less) a team keeps as one part; several statements' notes together."""

    team_id: UUID
    part: Part
    bytes: int

    def entry(self) -> UsageEntry:
        """As usage: of everything that is stored, and of its part."""
        return UsageEntry(self.team_id, None, {STORAGE: self.bytes, meter_of(self.part): self.bytes})


class Space(msgspec.Struct, frozen=True):
    """What is left of a team's and its company's storage as the books have it, and what was noted since; None is no limit."""

    left: int | None
    noted: int
    notes: int


class SpaceLacking(msgspec.Struct):
    """So many bytes do not fit below a limit of a team or its company; a listener that lets go of as many says so in `let_go`."""

    team_id: UUID
    bytes: int
    let_go: bool = False


class LimitOrigin(msgspec.Struct, frozen=True):
    """Where a limit comes from, and what it was before it was raised once to what was there already."""

    scope_id: UUID
    dimension: str
    per: str
    by_plan: bool
    set_by: UUID | None
    set_at: datetime | None
    raised_from: int | None
    raised_at: datetime | None


class Setter(msgspec.Struct, frozen=True):
    """The person who set a limit."""

    id: UUID
    name: str


class SettersShown(msgspec.Struct):
    """These people set limits that the caller reads; a listener names in `known` those whom the caller may know."""

    people: frozenset[UUID]
    known: dict[UUID, str] = msgspec.field(default_factory=dict)


class LimitReached(msgspec.Struct):
    """A limit of this level refused the caller; a listener names in `known` who may raise it, of those whom the caller may know."""

    level: Level
    team_id: UUID
    known: list[str] = msgspec.field(default_factory=list)


class QuotaHold(msgspec.Struct, frozen=True):
    """A stored reservation."""

    id: UUID
    team_id: UUID
    amounts: Amounts
    state: str


class StorageParts(msgspec.Struct, frozen=True):
    """How much of what is stored is files, notes with their versions, versions of workflows, and inputs and results of jobs and runs."""

    files: int
    notes: int
    workflows: int
    jobs: int


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a usage report; what is counted while it lasts has no window, and `used` is what runs now.

    `parts` says what `storage.bytes` is made of. `raised_from` is the limit that stood before it was raised, once, at `raised_at`,
    because more was there than it allowed when that began to count. `limit_window` is what the limit of something without a window
    was set for. `set_by` is left out where the caller may not know the person. `may_change`: whether the caller may set this limit.
    """

    level: Level
    dimension: Dimension
    window: Window | None
    used: int
    reserved: int
    limit: int | None
    remaining: int | None
    resets_at: datetime | None
    parts: StorageParts | None = None
    raised_from: int | None = None
    raised_at: datetime | None = None
    source: Source = "none"
    limit_window: Window | None = None
    set_by: Setter | None = None
    set_at: datetime | None = None
    may_change: bool = False


class QuotaExceeded(Exhausted):
    """The amount does not fit below the limit; nothing was reserved."""

    code = "quotas.exceeded"
    title = "Quota used up"


class TooManyAtOnce(Exhausted):
    """As many as allowed are running; one has to end first."""

    code = "quotas.concurrency"
    title = "Too many at once"


class Books:
    """The limits and meters of one company, loaded under its lock; admissions and settlements change the meters."""

    def __init__(
        self,
        org_id: UUID,
        now: datetime,
        limits: dict[tuple[UUID, str], dict[str, int]],
        meters: list[Meter],
        holds: list[QuotaHold],
    ) -> None:
        self._org_id, self.now, self._limits = org_id, now, limits
        self._holds = {hold.id: hold for hold in holds}
        self._meters = {(meter.scope_id, meter.dimension): meter for meter in meters}
        self.touched: dict[tuple[UUID, str], Meter] = {}
        for meter in meters:
            meter.roll(now)

    def admit(self, admission: Admission) -> None:
        """Reserve every amount at company and team, or none; the refusal says which limit stopped it."""
        for dimension, amount in admission.amounts.items():
            for level, scope_id in self._scopes(admission):
                self._require_capacity(level, scope_id, dimension, amount)
        self._reserve(admission, 1)

    def settle(self, admission: Admission, actual: Amounts) -> bool:
        """Replace what was reserved by what was used; False when that was done before."""
        hold = self._holds.pop(admission.id, None)
        if hold is None or hold.state == "settled":
            return False
        if hold.state == "held":
            self._reserve(admission, -1)
        self.use(admission.team_id, actual)
        return True

    def enter(self, entry: UsageEntry) -> None:
        """Count what a transaction noted."""
        if entry.hold_id is None:
            self.use(entry.team_id, entry.amounts)
        elif (hold := self._holds.get(entry.hold_id)) is not None:
            self.settle(Admission(hold.id, self._org_id, hold.team_id, hold.amounts), entry.amounts)

    def meter(self, scope_id: UUID, dimension: str) -> Meter:
        """What a scope has used and reserved so far."""
        return self._meters.get((scope_id, dimension)) or Meter(scope_id, dimension, 0, self.now)

    def parts(self, scope_id: UUID, window: str) -> StorageParts:
        """What a scope's storage is made of."""
        used = {part: self.meter(scope_id, meter_of(part)).used(window) for part in PARTS}
        return StorageParts(files=max(0, self.meter(scope_id, STORAGE).used(window) - sum(used.values())), **used)

    def free(self, hold: QuotaHold) -> None:
        """Give back what a hold reserved that has lapsed."""
        self._reserve(Admission(hold.id, self._org_id, hold.team_id, hold.amounts), -1)

    def use(self, team_id: UUID, actual: Amounts) -> None:
        """Count at company and team what was used, reserved or not."""
        for dimension, amount in actual.items():
            if dimension not in CONCURRENCY:
                for scope_id in (self._org_id, team_id):
                    self._touch(scope_id, dimension).use(amount)

    def _scopes(self, admission: Admission) -> tuple[tuple[Level, UUID], tuple[Level, UUID]]:
        return ("org", self._org_id), ("team", admission.team_id)

    def _require_capacity(self, level: Level, scope_id: UUID, dimension: str, amount: int) -> None:
        meter = self._meters.get((scope_id, dimension))
        for window, most in self._limits.get((scope_id, dimension), {}).items():
            taken = 0 if meter is None else meter.used(window) + meter.reserved
            if taken + amount > most:
                raise _refusal(level, dimension, window, most, taken, self.now)

    def _reserve(self, admission: Admission, sign: int) -> None:
        for dimension, amount in admission.amounts.items():
            for _, scope_id in self._scopes(admission):
                meter = self._touch(scope_id, dimension)
                meter.reserved = max(0, meter.reserved + sign * amount)

    def _touch(self, scope_id: UUID, dimension: str) -> Meter:
        key = scope_id, dimension
        meter = self._meters.get(key)
        if meter is None:
            meter = self._meters[key] = Meter(scope_id, dimension, 0, self.now)
        self.touched[key] = meter
        return meter


def meter_of(part: Part) -> str:
    """What the meter of a part of storage is called."""
    return f"storage.{part}"


def start_of(window: str, at: datetime) -> datetime:
    """When the window that contains a moment began, by the calendar in UTC."""
    at = at.astimezone(UTC).replace(second=0, microsecond=0)
    if window == "minute":
        return at
    if window == "hour":
        return at.replace(minute=0)
    if window == "day":
        return at.replace(minute=0, hour=0)
    return at.replace(minute=0, hour=0, day=1)


def end_of(window: str, at: datetime) -> datetime | None:
    """When the window resets; None for one that never does."""
    if window == "total":
        return None
    start = start_of(window, at)
    if window == "month":
        return (start + timedelta(days=32)).replace(day=1)
    return start + {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1)}[window]


def _refusal(level: Level, dimension: str, window: str, most: int, taken: int, now: datetime) -> Exhausted:
    facts: dict[str, Any] = {"dimension": dimension, "limit": most, "used": taken, "window": window, "level": level}
    owner = "your company" if level == "org" else "your team"
    if dimension in CONCURRENCY:
        return TooManyAtOnce(f"{owner} may run {most} at once ({dimension})", retry_after=1, resets_at=None, **facts)
    resets_at, left = end_of(window, now), max(0, most - taken)
    wait = int((resets_at - now).total_seconds()) + 1 if resets_at else 3600
    said = f"{owner} has used its {dimension} for this {window}"
    if left:
        said = f"{owner} has {left} of its {dimension} left for this {window}, and this could take more; ask for less"
    return QuotaExceeded(said, retry_after=wait, resets_at=resets_at, remaining=left, **facts)
