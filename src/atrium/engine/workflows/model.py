"""The nouns of workflows: their versions, what these may say and do, and what is refused about them."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

from atrium.engine.workflows.outcome import RunStanding
from atrium.kit.errors import Conflict, Invalid, Missing, Stale
from atrium.kit.web.etags import etag_of
from atrium.seams.tools import Effect
from atrium.seams.workflows import Input, Workflow

RunState = Literal["running", "succeeded", "failed", "cancelled"]
STATES: tuple[RunState, ...] = ("running", "succeeded", "failed", "cancelled")


class WorkflowPublication(msgspec.Struct, frozen=True):
    """That a version was published, by whom and when; without a person when it came with a plugin."""

    version: int
    created_by: UUID | None
    created_at: datetime


class LastRun(RunStanding, frozen=True, kw_only=True):
    """The newest run of a workflow."""

    id: UUID
    state: RunState
    created_at: datetime


class Upstream(msgspec.Struct, frozen=True):
    """A newer spec of the plugin whose workflow the team has replaced by its own."""

    version: int


class WorkflowSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow as listings show it; `steps` says how many it has."""

    slug: str
    version: int
    title: str
    description: str
    source: str
    inputs: dict[str, Input]
    steps: int
    last_run: LastRun | None = None


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a workflow, with its spec."""

    slug: str
    version: int
    title: str
    description: str
    source: str
    inputs: dict[str, Input]
    spec: dict[str, Any]
    created_by: UUID | None
    created_at: datetime

    def etag(self) -> str:
        """What `If-Match` names."""
        return tag_of(self.version)


class ToolReach(msgspec.Struct, frozen=True):
    """A tool that a version names; what it does and which permission it takes is null where there is no such tool now."""

    name: str
    effect: Effect | None
    permission: str | None


class Reach(msgspec.Struct, frozen=True):
    """What the steps of a version may do, as its spec says; `egress` where one may send something to another server."""

    tools: list[ToolReach]
    egress: bool


class DefinitionHistory(Definition, frozen=True, kw_only=True):
    """One version with the newest ones beside it, and what the plugin has brought since the team replaced its workflow.

    `digest` stands for exactly this version; `accepted` says whether the caller has accepted it as another person's.
    """

    versions: list[WorkflowPublication]
    upstream: Upstream | None = None
    digest: str
    reach: Reach
    accepted: bool


def tag_of(version: int) -> str:
    """The entity tag of a version."""
    return f'"{version}"'


class RunnableSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a workflow, ready to run; `published_by` no one when it came with a plugin, or its publisher's account is gone."""

    slug: str
    version: int
    source: str
    spec: Workflow
    digest: str
    published_by: UUID | None


class CheckedSpec(msgspec.Struct, frozen=True):
    """A spec that could be published, and how many steps the longest way through it takes, items of maps not counted."""

    longest_path: int
    valid: bool = True


class RetryRule(msgspec.Struct, frozen=True):
    """How often a step may be tried again, and how long before each time."""

    maximum: int
    backoff_seconds: list[int]


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """What a spec may say: kinds of steps, predicates of choices and references of bindings, each with its meaning."""

    format: int
    step_kinds: list[str]
    predicates: dict[str, str]
    references: dict[str, str]
    retry: RetryRule
    json_schema: dict[str, Any]

    def etag(self) -> str:
        """Differs between servers that read specs differently."""
        return etag_of(self)


class WorkflowMissing(Missing):
    """No such workflow in this team, or no such version of it."""

    code, title = "workflows.missing", "No such workflow"


class InvalidSpec(Invalid):
    """The spec does not hold to the format; `errors` has every problem."""

    code, title = "workflows.invalid", "The workflow is not valid"


class SpecStale(Stale):
    """Another version was published after the one that was edited."""

    code, title = "workflows.stale", "The workflow was changed"


class NotReviewed(Conflict):
    """What was accepted is not the version that would run."""

    code, title = "workflows.review", "The workflow was changed since you looked at it"
