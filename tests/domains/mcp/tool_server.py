"""A server made with the official SDK, over standard input or HTTP; run alone.

Usage: tool_server.py definitions.json [port]. The file holds `{name: {description, schema}}` and is read again for every listing.
Each tool answers with what it was called with, or, where its definition `says` texts, with the one of the given `number`; `shout` says it
as structured data, `fail` as an error, `environment` tells the variables it sees, and `send` adds it to the file beside the definitions.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server

DEFINITIONS = Path(sys.argv[1])


async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    """What the file says now."""
    known = json.loads(DEFINITIONS.read_text())
    return types.ListToolsResult(
        tools=[
            types.Tool(name=name, description=one["description"], input_schema=one["schema"])
            for name, one in known.items()
        ]
    )


async def call_tool(ctx: Any, params: Any) -> types.CallToolResult:
    """What came, and who was asked."""
    said = json.dumps(params.arguments)
    if params.name == "environment":
        said = json.dumps(sorted(os.environ))
    if says := json.loads(DEFINITIONS.read_text()).get(params.name, {}).get("says"):
        said = says[params.arguments["number"]]
    if params.name == "send":
        with DEFINITIONS.with_suffix(".sent").open("a") as sent:
            sent.write(said + "\n")
    if params.name == "slow":
        await anyio.sleep(30)
    structured = {"loud": said.upper()} if params.name == "shout" else None
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=said)],
        structured_content=structured,
        is_error=params.name == "fail",
    )


server = Server("tools", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


async def over_stdio() -> None:
    """Standard input and output."""
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    if len(sys.argv) == 2:
        anyio.run(over_stdio)
    else:
        import uvicorn

        uvicorn.run(server.streamable_http_app(streamable_http_path="/mcp"), port=int(sys.argv[2]), log_level="error")
