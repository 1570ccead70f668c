"""The nouns of tools."""

from typing import Any

import msgspec

from atrium.kit.errors import AppError, Invalid, Kind, Missing
from atrium.seams.tools import Artifact, Effect


class ToolState(msgspec.Struct, frozen=True):
    """A tool as one team has it."""

    name: str
    description: str
    parameters: dict[str, Any]
    permission: str
    source: str
    effect: Effect
    untrusted: bool
    enabled: bool


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


class BadArguments(Invalid):
    """The arguments do not fit the tool's schema."""

    code = "tools.bad_arguments"
    title = "The tool does not take these arguments"


class ToolFailed(AppError):
    """The tool broke off, or its result cannot be used; the log has the cause."""

    kind, code, title = Kind.UPSTREAM, "tools.failed", "The tool failed"


class ToolTimedOut(ToolFailed):
    """The tool took longer than it may."""

    code, title = "tools.timed_out", "The tool took too long"
