"""The verbs of tools."""

from atrium.engine.tools import store
from atrium.engine.tools.model import ToolMissing, ToolState
from atrium.ground.audit import service as audit
from atrium.seams.context import Context
from atrium.seams.tools import Effect, Tool, schema_of


async def list_tools(ctx: Context) -> list[ToolState]:
    """Every tool with its state for the caller's team, by name."""
    registry, switches = ctx.services.registry, await store.list_switches(ctx.db, ctx.who.org_id, ctx.who.team_id)
    found = [_state(tool, switches.get(tool.name, True)) for tool in registry.tools.values()]
    for source in registry.tool_sources:
        found += [_state(tool, switches.get(tool.name, False)) for tool in await source.list_tools(ctx)]
    return sorted(found, key=lambda state: state.name)


async def switch_tool(ctx: Context, name: str, enabled: bool) -> ToolState:
    """Let the team's models and workflows call a tool, or not."""
    tool, _ = await _find(ctx, name)
    await store.put_switch(ctx.db, ctx.who.org_id, ctx.who.team_id, name, enabled)
    await audit.record(ctx, "tools.switched", name, enabled=enabled)
    return _state(tool, enabled)


async def list_enabled(ctx: Context) -> list[Tool]:
    """The tools that the caller's team has turned on and the caller may call, by name."""
    registry, switches = ctx.services.registry, await store.list_switches(ctx.db, ctx.who.org_id, ctx.who.team_id)
    found = [tool for tool in registry.tools.values() if switches.get(tool.name, True)]
    for source in registry.tool_sources:
        found += [tool for tool in await source.list_tools(ctx) if switches.get(tool.name, False)]
    return sorted((tool for tool in found if tool.permission in ctx.who.permissions), key=lambda tool: tool.name)


async def find_enabled(ctx: Context, name: str) -> Tool:
    """The tool of this name; refused unless the caller's team has it turned on."""
    tool, usually = await _find(ctx, name)
    switched = await store.find_switch(ctx.db, ctx.who.org_id, ctx.who.team_id, name)
    if not (usually if switched is None else switched):
        raise ToolMissing(f"your team has not turned on the tool {name}; an admin does that under Features and tools")
    return tool


def effect_of(tool: Tool) -> Effect:
    """What a call does; a tool that does not say counts as one that writes."""
    return tool.effect or "write"


async def _find(ctx: Context, name: str) -> tuple[Tool, bool]:
    """A tool, and whether a team has it without turning it on: the tools of a source are off at first."""
    registry = ctx.services.registry
    if tool := registry.tools.get(name):
        return tool, True
    for source in registry.tool_sources:
        if tool := await source.find_tool(ctx, name):
            return tool, False
    raise ToolMissing(f"there is no tool {name[:64]}")


def _state(tool: Tool, enabled: bool) -> ToolState:
    return ToolState(
        name=tool.name,
        description=tool.description,
        parameters=schema_of(tool),
        permission=tool.permission,
        source=tool.source,
        effect=effect_of(tool),
        untrusted=tool.untrusted,
        enabled=enabled,
    )
