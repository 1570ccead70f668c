"""The wire of tools."""

import msgspec

from atrium.engine.tools import service
from atrium.engine.tools.model import ToolState
from atrium.kit.web.pages import Page
from atrium.seams.context import Context


async def list_tools(ctx: Context) -> Page[ToolState]:
    """Registered tools with permission, source and whether the team has them enabled."""
    return Page(await service.list_tools(ctx))


class ToolSwitch(msgspec.Struct, forbid_unknown_fields=True):
    """On or off; with `digest`, only while another server's tool is defined as it was when it was looked at."""

    enabled: bool
    digest: str | None = None


async def switch_tool(ctx: Context, name: str, body: ToolSwitch) -> ToolState:
    """Enable or disable a tool for the team."""
    return await service.switch_tool(ctx, name, body.enabled, body.digest)
