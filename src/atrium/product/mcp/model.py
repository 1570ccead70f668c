"""The nouns of MCP."""

from datetime import datetime
from typing import Literal

import msgspec

from atrium.engine.tools.model import ToolFailed

Transport = Literal["http", "stdio"]
ServerState = Literal["connected", "connecting", "failed"]


class LeftOut(msgspec.Struct, frozen=True):
    """A tool of a server that is not offered, and why."""

    tool: str
    reason: str


class McpServerState(msgspec.Struct, frozen=True, kw_only=True):
    """A server whose tools the caller's company may turn on, as the process that answers sees it."""

    name: str
    transport: Transport
    state: ServerState
    protocol: str | None
    # As a team turns them on.
    tools: list[str]
    left_out: list[LeftOut]
    error: str | None
    # When it last told its tools.
    seen_at: datetime | None


class ServerAway(ToolFailed):
    """The server that brings the tool cannot be asked now."""

    code, title = "mcp.away", "The tool's server cannot be reached"


class DefinitionChanged(ToolFailed):
    """The tool is not what the team turned on any more; found out before it was called."""

    code, title = "mcp.changed", "The tool has changed"
