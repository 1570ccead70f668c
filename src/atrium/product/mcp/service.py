"""The verbs of MCP: which servers there are for a company, and their tools."""

from atrium.ground.tenancy import service as tenancy
from atrium.product.mcp.model import McpServerState
from atrium.product.mcp.servers import ToolServer
from atrium.seams.context import Context
from atrium.seams.tools import Tool


async def list_servers(ctx: Context) -> list[McpServerState]:
    """The servers that serve the caller's company, by name."""
    return sorted((server.as_state() for server in await _serving(ctx)), key=lambda state: state.name)


class McpTools:
    """The tools of the servers that serve the caller's company."""

    async def list_tools(self, ctx: Context) -> list[Tool]:
        """Every tool there is now for the caller's company."""
        return [tool for server in await _serving(ctx) for tool in server.offered.tools.values()]

    async def find_tool(self, ctx: Context, name: str) -> Tool | None:
        """The tool of this name, or None."""
        if not name.startswith("mcp_"):
            return None
        return next((tool for server in await _serving(ctx) if (tool := server.offered.tools.get(name))), None)


async def _serving(ctx: Context) -> list[ToolServer]:
    servers: list[ToolServer] = ctx.services.started.get("mcp", [])
    if not any(server.settings.orgs for server in servers):
        return servers
    org, _ = await tenancy.read_own(ctx)
    return [server for server in servers if not server.settings.orgs or org.slug in server.settings.orgs]
