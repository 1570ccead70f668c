"""What a server says of its tools, made into tools: named, bounded and screened, or left out with a reason."""

import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from atrium.engine.tools.descriptions import readable, readable_schema
from atrium.kit.schemas.cost import SchemaRefused
from atrium.kit.schemas.parse import compile_schema
from atrium.kit.text.plain import visible_text
from atrium.product.mcp.model import LeftOut
from atrium.seams.context import Operation
from atrium.seams.setting_values import McpServer
from atrium.seams.tools import Tool

MOST_TOOLS = 200
_LONGEST_NAME, _LONGEST_DESCRIPTION = 64, 4_000
_SECONDS = 60


class ServerTool(NamedTuple):
    """One tool as its server tells it."""

    name: str
    description: str
    schema: Mapping[str, Any]


class ServerOffer(NamedTuple):
    """The tools of a server, what was left out, and what stands for everything that it told."""

    tools: dict[str, Tool]
    left_out: list[LeftOut]
    digest: bytes = b""


# Calls a tool: takes the tool and the arguments.
Call = Callable[[Tool, dict[str, Any]], Awaitable[Any]]


def offered_by(
    server: McpServer, told: Iterable[ServerTool], call: Call, last: ServerOffer | None = None
) -> ServerOffer:
    """Tools out of what a server tells; the last ones where it tells the same. Takes a while: schemas are compiled."""
    told = list(told)
    # Unlike two values that are equal, two texts tell 1 from true.
    digest = hashlib.sha256(repr(told).encode(errors="surrogatepass")).digest()
    if last is not None and last.digest == digest:
        return last
    tools, left_out = dict[str, Tool](), list[LeftOut]()
    for one in told:
        name = name_of(server.name, one.name)
        if reason := _refusal_of(one, name, tools):
            left_out.append(LeftOut(visible_text(one.name)[:80], reason))
            continue
        tools[name] = _tool(server, one, name, call)
    return ServerOffer(tools, left_out, digest)


def name_of(server: str, tool: str) -> str:
    """A name by which models and teams know a tool; one that is too long ends with what stands for the whole."""
    name = f"mcp_{server}_{re.sub(r'[^a-z0-9]+', '_', tool.lower()).strip('_')}"
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME - 9]}_{hashlib.sha256(tool.encode(errors='replace')).hexdigest()[:8]}"


def _refusal_of(one: ServerTool, name: str, taken: Mapping[str, Tool]) -> str:
    if len(taken) >= MOST_TOOLS:
        return f"a server brings at most {MOST_TOOLS} tools"
    if name.endswith("_") or not one.name.isprintable():
        return "its name has no letter or digit, or characters that are not shown"
    if name in taken:
        return f"another tool of this server is called {name} too"
    if one.schema.get("type") != "object":
        return "its arguments are no JSON object"
    try:
        msgspec.json.encode(one.schema)
        compile_schema(dict(one.schema))
        readable_schema(one.schema)
    except (SchemaRefused, TypeError, ValueError, RecursionError) as error:
        return f"its schema is refused: {visible_text(str(error))[:200]}"
    return ""


def _tool(server: McpServer, one: ServerTool, name: str, call: Call) -> Tool:
    async def perform(op: Operation, arguments: dict[str, Any]) -> Any:
        return await call(tool, arguments)

    tool = Tool(
        name=name,
        origin=one.name,
        description=readable(one.description)[:_LONGEST_DESCRIPTION] or one.name,
        permission="chat:use",
        perform=perform,
        schema=readable_schema(one.schema),
        effect=server.effects.get(one.name, "egress"),
        untrusted=True,
        seconds=_SECONDS,
        source=f"mcp:{server.name}",
    )
    return tool
