"""The verbs of tools."""

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from functools import cached_property

from atrium.engine.tools import store
from atrium.engine.tools.model import SwitchedTool, ToolChanged, ToolDisabled, ToolMissing, ToolState
from atrium.engine.tools.pins import definition_of, pin_of
from atrium.ground.audit import service as audit
from atrium.kit.errors import Invalid
from atrium.seams.context import Context
from atrium.seams.tools import Effect, Tool, schema_of


async def list_tools(ctx: Context) -> list[ToolState]:
    """Every tool with its state for the caller's team, by name."""
    return sorted([_state(known) async for known in _all(ctx)], key=lambda state: state.name)


async def switch_tool(ctx: Context, name: str, enabled: bool, digest: str | None = None) -> ToolState:
    """Let the team's models and workflows call a tool, or not; given the digest of a definition, only as that says."""
    known = await _find(ctx, name)
    pin = known.pin
    if digest is not None and pin is None:
        raise Invalid(
            "digest: this tool is the server's own and has none", errors=[{"path": "digest", "message": "leave it out"}]
        )
    if digest is not None and pin is not None and digest.lower() != pin.hex():
        raise ToolChanged(f"the tool {name} was changed after you looked at it; read what it does now, then decide")
    definition = definition_of(known.tool) if enabled and known.theirs else None
    switch = await store.put_switch(ctx.db, ctx.who, name, enabled, pin if enabled else None, definition)
    facts = {} if pin is None else {"digest": pin.hex()}
    await audit.record(ctx, "tools.switched", name, enabled=enabled, **facts)
    return _state(_Known(known.tool, known.theirs, switch))


async def list_enabled(ctx: Context) -> list[Tool]:
    """The tools that the caller's team has turned on and the caller may call, by name."""
    found = [known.tool async for known in _all(ctx) if known.is_on]
    return sorted((tool for tool in found if tool.permission in ctx.who.permissions), key=lambda tool: tool.name)


async def find_tools(ctx: Context, names: Collection[str]) -> dict[str, Tool]:
    """Those of these tools that there are now, whether the caller's team has turned them on or not."""
    found = {name: tool for name in names if (tool := ctx.services.registry.tools.get(name))}
    for source in ctx.services.registry.tool_sources if len(found) < len(names) else ():
        found |= {tool.name: tool for tool in await source.list_tools(ctx) if tool.name in names}
    return found


async def find_enabled(ctx: Context, name: str) -> Tool:
    """The tool of this name; refused unless the caller's team has it turned on, as it is now."""
    # Before the tool is looked for, so that a name that is taken takes no longer to refuse than one that is not.
    switch = await store.find_switch(ctx.db, ctx.who.org_id, ctx.who.team_id, name)
    known = await _find(ctx, name, switch)
    if known.is_changed:
        raise ToolDisabled(
            f"the tool {name} was changed since your team turned it on; an admin reviews that under Features and tools"
        )
    if not known.is_on:
        raise ToolDisabled(f"your team has not turned on the tool {name}; an admin does that under Features and tools")
    return known.tool


def effect_of(tool: Tool) -> Effect:
    """What a call does; a tool that does not say counts as one that writes."""
    return tool.effect or "write"


@dataclass(frozen=True)
class _Known:
    """A tool as one team has it; `theirs` when another server or a guest brings it."""

    tool: Tool
    theirs: bool
    switch: SwitchedTool | None = None

    @cached_property
    def pin(self) -> bytes | None:
        """What stands for the definition of a tool that is theirs."""
        return pin_of(self.tool) if self.theirs else None

    @cached_property
    def is_on(self) -> bool:
        """The server's own are on until they are turned off; others' only as they were when they were turned on."""
        if self.switch is None:
            return not self.theirs
        return self.switch.enabled and (not self.theirs or self.switch.pin == self.pin)

    @property
    def is_changed(self) -> bool:
        """It was turned on, and as something else than it is now."""
        return self.switch is not None and self.switch.enabled and not self.is_on


async def _all(ctx: Context) -> AsyncIterator[_Known]:
    """Every tool, with what the caller's team has switched."""
    registry, switches = ctx.services.registry, await store.list_switches(ctx.db, ctx.who.org_id, ctx.who.team_id)
    for tool in registry.tools.values():
        yield _Known(tool, False, switches.get(tool.name))
    for source in registry.tool_sources:
        for tool in await source.list_tools(ctx):
            yield _Known(tool, True, switches.get(tool.name))


async def _find(ctx: Context, name: str, switch: SwitchedTool | None = None) -> _Known:
    """The tool of this name, with what the caller's team has switched."""
    registry = ctx.services.registry
    if tool := registry.tools.get(name):
        return _Known(tool, False, switch)
    for source in registry.tool_sources:
        if tool := await source.find_tool(ctx, name):
            return _Known(tool, True, switch)
    raise ToolMissing(f"there is no tool {name[:64]}")


def _state(known: _Known) -> ToolState:
    tool, pin, switch = known.tool, known.pin, known.switch
    return ToolState(
        name=tool.name,
        description=tool.description,
        parameters=schema_of(tool),
        permission=tool.permission,
        source=tool.source,
        effect=effect_of(tool),
        untrusted=tool.untrusted,
        enabled=known.is_on,
        digest=None if pin is None else pin.hex(),
        changed=known.is_changed,
        pinned=switch.definition if known.is_changed and switch is not None else None,
        switched_by=None if switch is None else switch.switched_by,
        switched_at=None if switch is None else switch.switched_at,
    )
