"""The team's tools as MCP describes them."""

from typing import Any

from atrium.engine.tools import service as tools
from atrium.kit.web.pages import Page, Pager
from atrium.product.mcp.server_model import HINTS
from atrium.seams.context import Context
from atrium.seams.tools import Tool, schema_of

LISTED = 100
# A client would repeat the argument in a header of this name. Ours are read from the message alone.
_HEADER = "x-mcp-header"
# Where a schema has names of the tool's own instead of keywords.
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_DATA = frozenset({"const", "default", "enum", "examples"})


async def list_tools(ctx: Context, cursor: str | None) -> Page[dict[str, Any]]:
    """The tools that the caller's team has on and the credential may call, by name."""
    pager = Pager(ctx.services.keys, "mcp tools", ctx.who.team_id)
    after = pager.read(cursor, str) or ""
    found = [tool for tool in await tools.list_enabled(ctx) if tool.name > after and _takes_object(tool)]
    page = pager.page(found[: LISTED + 1], LISTED, lambda tool: tool.name)
    return Page([_described(tool) for tool in page.items], page.next_cursor)


def _takes_object(tool: Tool) -> bool:
    """Whether MCP can express its arguments, which are an object there; a schema that does not say so is one that takes it."""
    return bool(schema_of(tool).get("type", "object") == "object")


def _described(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": {**_without_headers(schema_of(tool)), "type": "object"},
        "annotations": HINTS[tools.effect_of(tool)],
    }


def _without_headers(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_headers(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {word: _below(word, value) for word, value in schema.items() if word != _HEADER}


def _below(word: str, value: Any) -> Any:
    if word in _DATA:
        return value
    if word in _NAMED and isinstance(value, dict):
        return {name: _without_headers(one) for name, one in value.items()}
    return _without_headers(value)
