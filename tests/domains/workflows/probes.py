"""Tools of the tests: what a step can come to, counted where it happens."""

import asyncio
from typing import Any

from atrium.boot.wiring import DOMAINS
from atrium.engine.tools.calls import call_tool
from atrium.ground.quotas import service as quotas
from atrium.kit.errors import Exhausted, Invalid, Unavailable
from atrium.product.notes import service as notes
from atrium.seams.context import Context, Operation
from atrium.seams.tools import Parameter, RecordedResult, Tool
from atrium.seams.wiring import Domain

ANY = (Parameter(name="value", type="string", optional=True), Parameter(name="items", type="array", optional=True))


async def _echo(ctx: Context, arguments: dict[str, Any]) -> Any:
    return arguments.get("items", arguments.get("value"))


async def _write(ctx: Context, arguments: dict[str, Any]) -> dict[str, str]:
    """The effect: one note of this title."""
    note = await notes.create_note(ctx, arguments["value"], "", "team")
    return {"id": str(note.id)}


async def _write_slowly(op: Operation, arguments: dict[str, Any]) -> RecordedResult[dict[str, str]]:
    """The same for a tool that waits before it writes, and records its result with its effect."""
    await asyncio.sleep(0.01)
    async with op.begin() as ctx:
        return await ctx.record_result({"id": str((await notes.create_note(ctx, arguments["value"], "", "team")).id)})


async def _write_around(op: Operation, arguments: dict[str, Any]) -> RecordedResult[str]:
    """Calls the tool that writes, and is done only when it has recorded its own result."""
    await call_tool(op, "probe_write", arguments)
    async with op.begin() as ctx:
        return await ctx.record_result("around")


# What the stumbling tool still refuses, by value.
STUMBLES: dict[str, int] = {}
# How long the waiting tool waits for, by value.
GATES: dict[str, asyncio.Event] = {}
CALLS: list[str] = []


async def _stumble(ctx: Context, arguments: dict[str, Any]) -> str:
    value = arguments["value"]
    CALLS.append(value)
    if STUMBLES.get(value, 0):
        STUMBLES[value] -= 1
        raise Unavailable("not just now")
    return f"{value} done"


async def _refuse(ctx: Context, arguments: dict[str, Any]) -> str:
    raise Invalid("this can never work")


async def _break(ctx: Context, arguments: dict[str, Any]) -> str:
    raise KeyError("a defect")


async def _wait(op: Operation, arguments: dict[str, Any]) -> str:
    await GATES.setdefault(arguments["value"], asyncio.Event()).wait()
    return str(arguments["value"])


async def _nul(ctx: Context, arguments: dict[str, Any]) -> str:
    return "a\0b"


async def _send(op: Operation, arguments: dict[str, Any]) -> str:
    """Has an effect elsewhere."""
    CALLS.append(arguments["value"])
    await GATES.setdefault(arguments["value"], asyncio.Event()).wait()
    return "sent"


# What the tool that names an object names: nothing of it is in the run's input.
NAMED: list[str] = []


async def _name(ctx: Context, arguments: dict[str, Any]) -> dict[str, str]:
    return {"object": NAMED[0]}


async def _write_nul(ctx: Context, arguments: dict[str, Any]) -> str:
    await notes.create_note(ctx, arguments["value"], "", "team")
    return "a\0b"


async def _write_after_gate(op: Operation, arguments: dict[str, Any]) -> RecordedResult[dict[str, str]]:
    await GATES.setdefault(arguments["value"], asyncio.Event()).wait()
    return await _write_slowly(op, arguments)


async def _fail_after_gate(op: Operation, arguments: dict[str, Any]) -> str:
    """Waits, then fails in a way that passes."""
    CALLS.append(arguments["value"])
    await GATES.setdefault(arguments["value"], asyncio.Event()).wait()
    raise Unavailable("not just now")


async def _spend(op: Operation, arguments: dict[str, Any]) -> str:
    """Takes one request of the team's quota."""
    admission = await quotas.admit(op, {"ai.requests": 1})
    await quotas.settle(op, admission, {"ai.requests": 1})
    return "spent"


async def _model(ctx: Context, arguments: dict[str, Any]) -> dict[str, str]:
    """Stumbles as it is told, or has an effect."""
    if STUMBLES.get(arguments["value"], 0):
        raise Unavailable("not just now")
    return await _write(ctx, arguments)


async def _exhaust(ctx: Context, arguments: dict[str, Any]) -> str:
    """Is refused for a part of a second."""
    value = arguments["value"]
    CALLS.append(value)
    if STUMBLES.get(value, 0):
        STUMBLES[value] -= 1
        raise Exhausted("not so much at once", retry_after=0.5)
    return str(value)


async def _grow(ctx: Context, arguments: dict[str, Any]) -> str:
    return "x" * int(arguments["value"])


def _tool(name: str, effect: Any = "read", permission: str = "notes:read", **how: Any) -> Tool:
    return Tool(
        name=name, description="Of the tests.", permission=permission, effect=effect, parameters=ANY, untrusted=False, **how
    )  # fmt: skip


TOOLS = (
    _tool("probe_echo", act=_echo),
    _tool("probe_write", "write", "notes:write", act=_write),
    _tool("probe_write_slowly", "write", "notes:write", perform=_write_slowly),
    _tool("probe_write_around", "write", "notes:write", perform=_write_around),
    _tool("probe_stumble", act=_stumble),
    _tool("probe_refuse", act=_refuse),
    _tool("probe_break", act=_break),
    _tool("probe_wait", perform=_wait),
    _tool("probe_nul", act=_nul),
    _tool("probe_send", "egress", perform=_send),
    _tool("probe_name", "write", "notes:write", act=_name),
    _tool("probe_name_read", act=_name),
    _tool("probe_write_nul", "write", "notes:write", act=_write_nul),
    _tool("probe_write_after_gate", "write", "notes:write", perform=_write_after_gate),
    _tool("probe_fail_after_gate", perform=_fail_after_gate),
    _tool("probe_model", "write", "notes:write", act=_model),
    _tool("probe_spend", perform=_spend),
    _tool("probe_exhaust", act=_exhaust),
    _tool("probe_grow", act=_grow),
)
WITH_PROBES = (*DOMAINS, Domain("probes", tools=TOOLS))
