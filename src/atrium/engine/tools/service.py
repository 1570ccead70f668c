"""The verbs of tools."""

from atrium.engine.tools import store
from atrium.engine.tools.model import ToolMissing, ToolState
from atrium.ground.audit import service as audit
from atrium.seams.context import Context
from atrium.seams.tools import Tool, schema_of


async def list_tools(ctx: Context) -> list[ToolState]:
    """Every registered tool with its state for the caller's team, by name."""
    off = await store.list_switched_off(ctx.db, ctx.who.org_id, ctx.who.team_id)
    registered = ctx.services.registry.tools
    return [_state(registered[name], name not in off) for name in sorted(registered)]


async def switch_tool(ctx: Context, name: str, enabled: bool) -> ToolState:
    """Let the team's models and workflows call a tool, or not."""
    tool = ctx.services.registry.tools.get(name)
    if tool is None:
        raise ToolMissing(f"there is no tool {name}")
    await store.put_switch(ctx.db, ctx.who.org_id, ctx.who.team_id, name, enabled)
    await audit.record(ctx, "tools.switched", name, enabled=enabled)
    return _state(tool, enabled)


def _state(tool: Tool, enabled: bool) -> ToolState:
    return ToolState(tool.name, tool.description, schema_of(tool.parameters), tool.permission, tool.source, enabled)
