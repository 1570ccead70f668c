"""The nouns of upload triggers."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from atrium.engine.workflows.model import RunState
from atrium.engine.workflows.outcome import RunStanding
from atrium.engine.workflows.run_model import Starter
from atrium.ground.quotas.model import Dimension, Level, Window
from atrium.kit.errors import Conflict, Invalid, Missing, Stale
from atrium.kit.web.etags import etag_of
from atrium.kit.web.pages import Page
from atrium.seams.workflows import Slug

Name = Annotated[str, msgspec.Meta(max_length=120)]
Prefix = Annotated[str, msgspec.Meta(max_length=1024)]
# As `image/png` or `image/*`, without parameters.
MediaType = Annotated[
    str,
    msgspec.Meta(max_length=255, pattern=r"^[A-Za-z0-9!#$&^_.+-]+/([A-Za-z0-9!#$&^_.+-]+|\*)$(?!\n)"),
]
MediaTypes = Annotated[list[MediaType], msgspec.Meta(max_length=100)]
# Values, or references to the version that fires: {"$": "object.key"}.
Given = Annotated[dict[str, Any], msgspec.Meta(max_length=32)]
Reason = Literal[
    "derived",
    "loop",
    "depth",
    "storm",
    "no_permission",
    "feature_off",
    "disabled",
    "bad_input",
    "workflow_missing",
    "suspended",
    "too_many",
    "maker_gone",
    "maker_lost",
    "publisher_gone",
    "publisher_lost",
]


class FiredVersion(msgspec.Struct, frozen=True):
    """A version that matched a trigger."""

    id: UUID
    number: int


class Fire(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a version that matched; `object_id` and `key` are null where the reader cannot read the object."""

    id: UUID
    at: datetime
    object_id: UUID | None
    key: str | None
    version: FiredVersion
    outcome: Literal["fired", "skipped"]
    reason: Reason | None
    run_id: UUID | None
    run_state: RunState | None
    # How the run stands, in a word that tells failures and waits.
    standing: RunStanding | None = None
    by: Starter | None


class TriggerDraft(msgspec.Struct, frozen=True, kw_only=True):
    """What a trigger is made of."""

    workflow_slug: Slug
    name: Name = ""
    match_prefix: Prefix = ""
    match_types: MediaTypes = []
    input: Given = {}
    fire_on_derived: bool = False
    enabled: bool = True


class StoredTrigger(TriggerDraft, frozen=True, kw_only=True):
    """A trigger without its history; `maker_id` is who answers for it: who made it, changed it last, or was given it.

    `egress_digest` stands for the version that may send something elsewhere when it fires.
    """

    id: UUID
    created_by: UUID | None
    created_at: datetime
    maker_id: UUID | None
    egress_digest: str | None = None

    def tag(self) -> str:
        """Changes with every change of the trigger itself."""
        return etag_of(self).strip('"')


class Trigger(StoredTrigger, frozen=True, kw_only=True):
    """A trigger, with the newest entry of its history; each count is of the last 24 hours and ends at 1,000.

    `allow_egress` says whether its runs may send something elsewhere with the workflow's newest version.
    """

    allow_egress: bool = False
    last_fire: Fire | None = None
    fired_24h: int = 0
    skipped_24h: int = 0

    def etag(self) -> str:
        """What `If-Match` names."""
        return f'"{_settings_of(self).tag()}"'


class TriggerDetail(Trigger, frozen=True, kw_only=True):
    """A trigger with its history, newest first."""

    fires: Page[Fire]

    def etag(self) -> str:
        """Changes with the history too; its first half is what `If-Match` is compared by."""
        history = etag_of(self.fires, self.last_fire, self.fired_24h, self.skipped_24h, self.allow_egress).strip('"')
        return f'"{_settings_of(self).tag()}-{history}"'


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """How much of what models cost the team, or its company, has left in a window."""

    dimension: Dimension
    window: Window | None
    limit: int | None
    used: int
    remaining: int | None
    resets_at: datetime | None
    level: Level


class TriggerListing(msgspec.Struct, frozen=True):
    """A page of triggers, and what models may still cost."""

    items: list[Trigger]
    next_cursor: str | None
    budget: list[Budget]


class RehearsedFire(msgspec.Struct, frozen=True, kw_only=True):
    """What a trigger would do with a version that is there, and what its run would be given."""

    object_id: UUID
    key: str
    version: FiredVersion
    would: bool
    reason: Reason | None
    input: dict[str, Any] | None


class Rehearsal(msgspec.Struct, frozen=True):
    """What a trigger would have done: of so many versions, these match it."""

    checked: int
    would_fire: int
    items: list[RehearsedFire]


class TriggerState(msgspec.Struct, frozen=True):
    """A trigger that a version matches; `recent` is how often the same object fired it in the last minutes."""

    id: UUID
    workflow_slug: str
    input: dict[str, Any]
    fire_on_derived: bool
    enabled: bool
    recent: int = 0
    maker_id: UUID | None = None
    egress_digest: str | None = None


class TriggerMissing(Missing):
    """No such trigger in this team."""

    code, title = "triggers.missing", "No such trigger"


class TriggerStale(Stale):
    """The trigger was changed after it was read."""

    code, title = "triggers.stale", "This trigger was changed in the meantime"


class UnknownWorkflow(Invalid):
    """The team has no workflow of this name."""

    code, title = "triggers.unknown_workflow", "No such workflow"


class BadTriggerInput(Invalid):
    """The workflow would not take what the trigger gives it."""

    code, title = "triggers.bad_input", "The workflow does not take this input"


class BadPrefix(Invalid):
    """No key can begin with this."""

    code, title = "triggers.bad_prefix", "Not the beginning of a key"


class TooManyTriggers(Conflict):
    """The team has as many triggers as it may."""

    code, title = "triggers.full", "Too many triggers"


def _settings_of(trigger: StoredTrigger) -> StoredTrigger:
    """The trigger alone, whatever it was read with."""
    return StoredTrigger(**{name: getattr(trigger, name) for name in StoredTrigger.__struct_fields__})
