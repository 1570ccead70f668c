"""The nouns of runs: what they descend from, their steps, why they failed, and what is refused about them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, TypeVar
from uuid import UUID

import msgspec

from atrium.engine.repository.model import Derivation
from atrium.engine.workflows.model import RunState
from atrium.engine.workflows.outcome import ItemCounts, Outcome, Waiting
from atrium.kit.errors import AppError, Conflict, Exhausted, Forbidden, Invalid, Kind, Missing, title_of
from atrium.kit.web.etags import etag_of
from atrium.seams.tools import ArtifactRef

StepState = Literal["queued", "running", "succeeded", "failed", "cancelled", "skipped"]


class Origin(msgspec.Struct, frozen=True):
    """What a run descends from: triggers, and how deep; `trigger_id` is the one that fired it, or the run that it goes on with.

    Then the run is bound by these people beside its writer, was fired by an object, and may send something elsewhere or not.
    """

    trigger_id: UUID | None
    ancestry: tuple[UUID, ...] = ()
    depth: int = 0
    bound_to: tuple[UUID, ...] = ()
    fired_by: UUID | None = None
    egress: bool = False


class Lineage(msgspec.Struct, frozen=True):
    """The triggers that a run descends from, how deep it is, and by whom it is bound."""

    run_id: UUID
    ancestry: list[UUID]
    depth: int
    bound_to: list[UUID] = []


class FiredResumed(msgspec.Struct):
    """A run that a trigger fired is gone on with: a listener says whether it may send something elsewhere now, with this version."""

    trigger_id: UUID
    digest: str
    egress: bool = False


class Resume(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Begin a new run where an ended one shall go on; of a map only what did not succeed, or all its items."""

    run_id: UUID
    step: str
    items: Literal["failed", "all"] = "failed"


class StepError(msgspec.Struct, frozen=True, kw_only=True):
    """Why a step failed: `title` is the code's own sentence; `message` may hold values, and is the title where they are left out."""

    code: str
    title: str = ""
    message: str
    redacted: bool = False


class RunError(StepError, frozen=True, kw_only=True):
    """Why a run failed, and at which step."""

    step: str | None = None


# Codes of runs that no refusal has.
_TITLES = {
    "access.denied": "The person who started the run may not do this",
    "jobs.cancelled": "The step's job was cancelled",
    "jobs.lapsed": "No attempt at the step came to its end",
    "tool.bad_arguments": "The tool does not take these arguments",
    "tool.failed": "The tool failed",
    "tools.disabled": "The tool is not turned on",
    "workflows.binding": "A value that the step needs is not there",
    "workflows.broken": "The server could not go on with this run",
    "workflows.max_steps": "The run has used up its steps",
    "workflows.owner_gone": "The person who started the run has left the team",
    "workflows.predicate": "The choice cannot be made with this value",
    "workflows.timeout": "The step took too long",
    "workflows.too_large": "A value is too large",
}
AnyError = TypeVar("AnyError", bound=StepError)


def error_of(kind: type[AnyError], stored: Mapping[str, Any], *, shown: bool) -> AnyError:
    """An error as it is stored, for a person to whom values are `shown` or not."""
    title = _TITLES.get(stored["code"]) or title_of(stored["code"])
    if shown:
        return msgspec.convert({**stored, "title": title or _TITLES["tool.failed"]}, kind)
    # A code that nothing of ours has may be anything.
    code, title = (stored["code"], title) if title else ("tool.failed", _TITLES["tool.failed"])
    return msgspec.convert({**stored, "code": code, "title": title, "message": title, "redacted": True}, kind)


class Starter(msgspec.Struct, frozen=True):
    """Who started a run."""

    user_id: UUID
    username: str


class WorkflowName(msgspec.Struct, frozen=True):
    """Which version of which workflow."""

    slug: str
    version: int


class ResumedFrom(msgspec.Struct, frozen=True):
    """The run whose outputs were taken over, and the step that this one began with."""

    run_id: UUID
    step: str


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A run as it is stored, without its values."""

    id: UUID
    workflow: WorkflowName
    state: RunState
    error: RunError | None
    started_by: Starter
    trigger_id: UUID | None
    resumed_from: ResumedFrom | None
    steps_used: int
    max_steps: int
    depth: int
    created_at: datetime
    finished_at: datetime | None


class RunSummary(RunFacts, frozen=True, kw_only=True):
    """A run as listings show it: also how it stands; `title` is what its workflow is called in the version that ran."""

    title: str
    outcome: Outcome
    failed_items: int
    waiting: Waiting | None


class StepAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt at a step."""

    attempt: int
    job_id: UUID | None
    state: StepState
    error: StepError | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None


class MapItem(msgspec.Struct, frozen=True, kw_only=True):
    """One item of a map and what came of it; `label` is what people call it, null where the reader may not know."""

    index: int
    item: Any
    label: str | None = None
    ref: ArtifactRef | None = None
    state: StepState
    attempt: int
    job_id: UUID | None
    result: Any = None
    error: StepError | None = None
    reused_from: UUID | None = None
    waiting_reason: str | None = None
    # Its values are left out because the page holds enough; it is read alone with `?step=`.
    omitted: bool = False


class WorkflowStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step of a run. One that an ended run did not come to is `skipped`; one that a run has not come to yet is not there."""

    name: str
    kind: Literal["tool", "map", "choice"]
    tool: str | None
    state: StepState
    index: int | None = None
    attempt: int = 0
    job_id: UUID | None = None
    waiting_reason: str | None = None
    # Of a map: when nothing of it runs and all that has not ended waits.
    waiting: Waiting | None = None
    # Of a map: how its items stand, all of them.
    counts: ItemCounts | None = None
    input: Any = None
    output: Any = None
    error: StepError | None = None
    attempts: list[StepAttempt] = []
    # The first items of a map; the rest is read with `?step=` and this cursor.
    items: list[MapItem] | None = None
    next_cursor: str | None = None
    reused_from: UUID | None = None
    usage: dict[str, int] = {}
    omitted: bool = False
    started_at: datetime | None = None
    finished_at: datetime | None = None


class Run(RunSummary, frozen=True, kw_only=True):
    """A run with its steps; `redacted` means that values are left out because the reader may not see them."""

    input: Any
    output: Any
    redacted: bool
    steps: list[WorkflowStep]

    @property
    def address(self) -> str:
        """Where it is read."""
        return f"/api/runs/{self.id}"

    def etag(self) -> str:
        """Differs whenever anything of it does, as it is shown to this reader."""
        return etag_of(self)


class StepProgress(msgspec.Struct, frozen=True):
    """What was made from an object, what it was made from, and the runs that touched it, newest first."""

    derived: list[Derivation]
    sources: list[Derivation]
    runs: list[UUID]


class BadRunInput(Invalid):
    """The input is not what the workflow declares."""

    code, title = "workflows.bad_input", "The workflow does not take this input"


class CannotResume(Conflict):
    """The run cannot be gone on with at this step."""

    code, title = "workflows.cannot_resume", "The run cannot be resumed there"


class TooManyRuns(Exhausted):
    """The team has as many unended runs as it may."""

    code, title = "workflows.too_many", "Too many runs are under way"


class RunMissing(Missing):
    """No such run in this team."""

    code, title = "workflows.run_missing", "No such run"


class RunEnded(Conflict):
    """There is nothing left to cancel."""

    code, title = "workflows.ended", "This run has ended"


class NotYours(Forbidden):
    """Only who started a run, or an admin, cancels it."""

    code, title = "workflows.not_yours", "Not your run"


class StepFailed(AppError):
    """An attempt at a step failed; its job's error."""

    kind, code, title = Kind.UPSTREAM, "workflows.step_failed", "The step failed"

    def __init__(self, message: str, *, again: bool) -> None:
        super().__init__(message)
        self.lasting = not again


class AlreadyDone(Conflict):
    """An earlier attempt at this step has kept its result."""

    code, title = "workflows.already_done", "This step was done already"
