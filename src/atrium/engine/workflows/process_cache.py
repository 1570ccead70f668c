"""What a process keeps of workflows between requests: how many runs teams have open, specs, and which runs people started."""

from dataclasses import dataclass, field
from time import monotonic
from uuid import UUID

from atrium.engine.workflows.plugin_specs import BroughtSpecs
from atrium.engine.workflows.specs import SpecCache
from atrium.seams.context import Services

_SECONDS = 5.0
_MOST_TEAMS = 10_000
_MOST_RUNS = 100_000


@dataclass(slots=True)
class OpenRuns:
    """How many runs a team has open: counted now and then, and by one more with every start in between."""

    _counts: dict[UUID, tuple[float, int]] = field(default_factory=dict)

    def find(self, team_id: UUID) -> int | None:
        """The count, unless it is too old."""
        counted_at, count = self._counts.get(team_id, (-_SECONDS, 0))
        return count if monotonic() - counted_at < _SECONDS else None

    def put(self, team_id: UUID, count: int) -> None:
        """A fresh count."""
        if len(self._counts) >= _MOST_TEAMS:
            self._counts.clear()
        self._counts[team_id] = monotonic(), count

    def add(self, team_id: UUID) -> None:
        """One more was started here."""
        if team_id in self._counts:
            counted_at, count = self._counts[team_id]
            self._counts[team_id] = counted_at, count + 1


@dataclass(slots=True)
class UnboundRuns:
    """Runs that people started: what binds a run never changes."""

    _ids: set[UUID] = field(default_factory=set)

    def knows(self, run_id: UUID) -> bool:
        """Whether this run is known to be one."""
        return run_id in self._ids

    def add(self, run_id: UUID) -> None:
        """One more."""
        if len(self._ids) >= _MOST_RUNS:
            self._ids.clear()
        self._ids.add(run_id)


@dataclass(slots=True)
class Memory:
    """Of one process."""

    specs: SpecCache = field(default_factory=SpecCache)
    brought: BroughtSpecs = field(default_factory=BroughtSpecs)
    open_runs: OpenRuns = field(default_factory=OpenRuns)
    unbound: UnboundRuns = field(default_factory=UnboundRuns)


async def start(_: Services) -> Memory:
    """Begin with nothing."""
    return Memory()


async def stop(_: Services, __: Memory) -> None:
    """Nothing has to be ended."""
