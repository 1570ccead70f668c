"""A tool call of an MCP client: made as the agent makes one, and told in MCP's words."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import msgspec

from atrium.engine.tools.calls import call_tool, record_call
from atrium.engine.tools.model import BadArguments, ToolFailed, ToolMissing, ToolResult, ToolTimedOut
from atrium.engine.tools.service import effect_of
from atrium.kit.errors import AppError, Forbidden, Suspended, Unauthenticated
from atrium.product.mcp.server_model import INVALID_PARAMS, RpcError
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Disconnected
from atrium.seams.tools import Tool

VIA = "mcp"
_LOOK_SECONDS = 0.1
# What is told whole beside the text; what is larger would fill a model's memory a second time.
LARGEST_STRUCTURED = 64 << 10
# One sentence for a tool that does not exist, that the team has off, and that the token's scope does not allow.
NO_TOOL = "there is no such tool for this token; tools/list tells which there are"


class _Accepted:
    """Keeps the tool once the caller was found to be allowed to call it."""

    tool: Tool | None = None

    @property
    def waits(self) -> bool:
        """Whether the call waits for something else than this server's own database."""
        return self.tool is not None and self.tool.perform is not None

    def accept(self, tool: Tool) -> None:
        self.tool = tool

    async def begin(self, ctx: Context, tool: Tool) -> None:
        """An MCP client does not go on after a crash."""

    async def end(self, ctx: Context, result: ToolResult) -> None:
        """The same."""


async def call(op: Operation, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What came of the call; what the tool refuses is a result that says so, and not the end of the conversation."""
    accepted = _Accepted()
    try:
        return _told(await _unless_gone(op, call_tool(op, name, arguments, accepted, via=VIA), accepted))
    except (Unauthenticated, Suspended):
        raise
    except BadArguments as error:
        return _failed(f"{error.message}; tools/list has the schema of its arguments")
    except AppError as error:
        if accepted.tool is None:
            if isinstance(error, ToolMissing | Forbidden):
                raise RpcError(INVALID_PARAMS, NO_TOOL) from error
            return _failed(_sentence(op, None, error))
        if accepted.tool.perform is None:
            # Its own event was rolled back together with what it did.
            async with op.begin() as ctx:
                await record_call(ctx, accepted.tool, arguments, via=VIA, end=error.code)
        return _failed(_sentence(op, accepted.tool, error))


async def _unless_gone(op: Operation, calling: Coroutine[Any, Any, ToolResult], accepted: _Accepted) -> ToolResult:
    """The result; a client that hangs up takes back a call that waits. One that only uses the database is done soon, and breaking
    it off would cost its connection."""
    task, gone = asyncio.ensure_future(calling), asyncio.ensure_future(op.gone())
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        while not task.done():
            if accepted.waits:
                raise Disconnected
            await asyncio.wait({task}, timeout=_LOOK_SECONDS)
        return task.result()
    finally:
        gone.cancel()
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


def _told(result: ToolResult) -> dict[str, Any]:
    told: dict[str, Any] = {"content": [_text(result.text)], "isError": False}
    if isinstance(result.value, dict) and len(msgspec.json.encode(result.value)) <= LARGEST_STRUCTURED:
        told["structuredContent"] = result.value
    return told


def _failed(sentence: str) -> dict[str, Any]:
    return {"content": [_text(sentence)], "isError": True}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text.replace("\0", "")}


def _sentence(op: Operation, tool: Tool | None, error: AppError) -> str:
    """Why there is no result, and what to do about it."""
    if isinstance(error, ToolTimedOut):
        if tool is not None and tool.perform is not None and effect_of(tool) != "read":
            return f"{error.message}; whether it happened is not known, so look before you call it again"
        return f"{error.message}; ask for less at once, or try again later"
    if isinstance(error, ToolFailed):
        return f"{error.message}; an operator of the workspace finds the cause in its log under {op.request_id}"
    wait = error.facts.get("retry_after")
    return error.message if wait is None else f"{error.message}; try again in {wait} seconds"
