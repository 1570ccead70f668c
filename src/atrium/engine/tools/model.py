"""The nouns of tools."""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from atrium.kit.errors import AppError, Conflict, Forbidden, Invalid, Kind, Missing
from atrium.seams.tools import Artifact, Effect


class SwitchedTool(msgspec.Struct, frozen=True):
    """That a team has turned a tool on or off, and as what."""

    name: str
    enabled: bool
    pin: bytes | None
    definition: dict[str, Any] | None
    switched_by: UUID | None
    switched_at: datetime


class ToolState(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as one team has it.

    `changed`: it was turned on as `pinned` says and is defined otherwise now, so that it is off until it is turned on again.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    permission: str
    source: str
    effect: Effect
    untrusted: bool
    enabled: bool
    # Of a tool that another server brings: what stands for its definition as it is now.
    digest: str | None = None
    changed: bool = False
    pinned: dict[str, Any] | None = None
    switched_by: UUID | None = None
    switched_at: datetime | None = None


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a call returned: the value for a workflow step, and the text for a model, shortened where it is long."""

    name: str
    effect: Effect
    untrusted: bool
    value: Any
    text: str
    artifact: Artifact | None = None


class ToolMissing(Missing):
    """No tool has this name, or the team has not turned it on."""

    code = "tools.missing"
    title = "No such tool"


class ToolDisabled(ToolMissing):
    """The team has not turned it on, or not as it is now; to callers it looks as if it were not there."""


class ToolChanged(Conflict):
    """The tool is not defined any more as it was when it was looked at or turned on."""

    code = "tools.changed"
    title = "The tool has changed"


class BadArguments(Invalid):
    """The arguments do not fit the tool's schema."""

    code = "tools.bad_arguments"
    title = "The tool does not take these arguments"


class EffectRefused(Forbidden):
    """A tool that only reads called one that does more."""

    code = "tools.effect_refused"
    title = "A tool that only reads has no effect"


class EgressRefused(Forbidden):
    """A run that no person started would send something elsewhere, and no admin has said that it may."""

    code = "tools.egress_refused"
    title = "This run sends nothing elsewhere"


class EgressConfined(Forbidden):
    """A run would send something elsewhere, and not everybody who set it up can read the file that fired it: no one can allow that."""

    code = "tools.egress_confined"
    title = "What a private file fires is not sent elsewhere"


class UnboundRead(Forbidden):
    """A tool reads by statements of its own, for a run that reads only what several people can read."""

    code = "tools.unbound_read"
    title = "This tool cannot be used by a trigger of another person"


class ToolFailed(AppError):
    """The tool broke off, or its result cannot be used; the log has the cause."""

    kind, code, title = Kind.UPSTREAM, "tools.failed", "The tool failed"


class ResultTooLarge(ToolFailed):
    """The tool came to more than a caller can be given."""

    lasting = True


class ToolTimedOut(ToolFailed):
    """The tool took longer than it may."""

    code, title = "tools.timed_out", "The tool took too long"
