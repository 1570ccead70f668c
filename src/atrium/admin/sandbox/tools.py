"""Tools of guests, off until a team turns them on."""

from collections.abc import Sequence

from atrium.admin.sandbox import service
from atrium.seams.context import Context
from atrium.seams.tools import Tool


class GuestTools:
    """A source of tools; listing starts no process."""

    async def list_tools(self, ctx: Context) -> Sequence[Tool]:
        """Every tool of every guest, for every company."""
        return service.list_tools(ctx.services)

    async def find_tool(self, ctx: Context, name: str) -> Tool | None:
        """The tool of this name."""
        return next((tool for tool in service.list_tools(ctx.services) if tool.name == name), None)


SOURCES = (GuestTools(),)
