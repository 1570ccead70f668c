"""The verbs of tools."""

from collections.abc import AsyncIterator

from atrium.engine.tools import store
from atrium.engine.tools.model import Switch, ToolChanged, ToolMissing, ToolState
from atrium.engine.tools.pins import definition_of, pin_of
from atrium.ground.audit import service as audit
from atrium.kit.errors import Invalid
from atrium.seams.context import Context
from atrium.seams.tools import Effect, Tool, schema_of


async def list_tools(ctx: Context) -> list[ToolState]:
    """Every tool with its state for the caller's team, by name."""
    return sorted([_state(*one) async for one in _all(ctx)], key=lambda state: state.name)


async def switch_tool(ctx: Context, name: str, enabled: bool, digest: str | None = None) -> ToolState:
    """Let the team's models and workflows call a tool, or not; given the digest of a definition, only as that says."""
    tool, theirs = await _find(ctx, name)
    pin = pin_of(tool) if theirs else None
    if digest is not None and (pin is None or digest.lower() != pin.hex()):
        if pin is None:
            raise Invalid(
                "digest: this tool is the server's own and has none",
                errors=[{"path": "digest", "message": "leave it out"}],
            )
        raise ToolChanged(f"the tool {name} was changed after you looked at it; read what it does now, then decide")
    definition = definition_of(tool) if enabled and theirs else None
    switch = await store.put_switch(ctx.db, ctx.who, name, enabled, pin if enabled else None, definition)
    facts = {} if pin is None else {"digest": pin.hex()}
    await audit.record(ctx, "tools.switched", name, enabled=enabled, **facts)
    return _state(tool, theirs, switch)


async def list_enabled(ctx: Context) -> list[Tool]:
    """The tools that the caller's team has turned on and the caller may call, by name."""
    found = [tool async for tool, theirs, switch in _all(ctx) if _is_on(tool, theirs, switch)]
    return sorted((tool for tool in found if tool.permission in ctx.who.permissions), key=lambda tool: tool.name)


async def find_enabled(ctx: Context, name: str) -> Tool:
    """The tool of this name; refused unless the caller's team has it turned on, as it is now."""
    # Before the tool is looked for, so that a name that is taken takes no longer to refuse than one that is not.
    switch = await store.find_switch(ctx.db, ctx.who.org_id, ctx.who.team_id, name)
    tool, theirs = await _find(ctx, name)
    if _is_changed(tool, theirs, switch):
        raise ToolMissing(
            f"the tool {name} was changed since your team turned it on; an admin reviews that under Features and tools"
        )
    if not _is_on(tool, theirs, switch):
        raise ToolMissing(f"your team has not turned on the tool {name}; an admin does that under Features and tools")
    return tool


def effect_of(tool: Tool) -> Effect:
    """What a call does; a tool that does not say counts as one that writes."""
    return tool.effect or "write"


async def _all(ctx: Context) -> AsyncIterator[tuple[Tool, bool, Switch | None]]:
    """Every tool, whether another server or a guest brings it, and what the caller's team has switched."""
    registry, switches = ctx.services.registry, await store.list_switches(ctx.db, ctx.who.org_id, ctx.who.team_id)
    for tool in registry.tools.values():
        yield tool, False, switches.get(tool.name)
    for source in registry.tool_sources:
        for tool in await source.list_tools(ctx):
            yield tool, True, switches.get(tool.name)


async def _find(ctx: Context, name: str) -> tuple[Tool, bool]:
    """A tool, and whether another server or a guest brings it."""
    registry = ctx.services.registry
    if tool := registry.tools.get(name):
        return tool, False
    for source in registry.tool_sources:
        if tool := await source.find_tool(ctx, name):
            return tool, True
    raise ToolMissing(f"there is no tool {name[:64]}")


def _is_on(tool: Tool, theirs: bool, switch: Switch | None) -> bool:
    """The server's own are on until they are turned off; others' only as they were when they were turned on."""
    if not theirs:
        return switch is None or switch.enabled
    return switch is not None and switch.enabled and switch.pin == pin_of(tool)


def _is_changed(tool: Tool, theirs: bool, switch: Switch | None) -> bool:
    return theirs and switch is not None and switch.enabled and switch.pin != pin_of(tool)


def _state(tool: Tool, theirs: bool, switch: Switch | None) -> ToolState:
    changed = _is_changed(tool, theirs, switch)
    return ToolState(
        name=tool.name,
        description=tool.description,
        parameters=schema_of(tool),
        permission=tool.permission,
        source=tool.source,
        effect=effect_of(tool),
        untrusted=tool.untrusted,
        enabled=_is_on(tool, theirs, switch),
        digest=pin_of(tool).hex() if theirs else None,
        changed=changed,
        pinned=switch.definition if changed and switch is not None else None,
        switched_by=None if switch is None else switch.switched_by,
        switched_at=None if switch is None else switch.switched_at,
    )
