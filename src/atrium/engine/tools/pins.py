"""Pins: a tool that another server brings is on only as it was when a team turned it on."""

import hashlib
from typing import Any

import msgspec

from atrium.seams.tools import Tool, schema_of


def definition_of(tool: Tool) -> dict[str, Any]:
    """What a model reads of a tool, and a person before they turn it on."""
    known = {"name": tool.name, "description": tool.description, "parameters": schema_of(tool)}
    return known | {"origin": tool.origin} if tool.origin else known


def pin_of(tool: Tool) -> bytes:
    """What stands for exactly this definition."""
    return hashlib.sha256(msgspec.json.encode(definition_of(tool), order="sorted")).digest()
