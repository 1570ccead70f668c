"""The nouns of tools."""

from typing import Any

import msgspec

from atrium.kit.errors import Missing


class ToolState(msgspec.Struct, frozen=True):
    """A registered tool as one team has it."""

    name: str
    description: str
    parameters: dict[str, Any]
    permission: str
    source: str
    enabled: bool


class ToolMissing(Missing):
    """No tool has this name."""

    code = "tools.missing"
    title = "No such tool"
