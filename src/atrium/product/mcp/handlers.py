"""The wire of MCP."""

from atrium.kit.paging import Page
from atrium.product.mcp import service
from atrium.product.mcp.model import McpServerState
from atrium.seams.context import Context


async def list_servers(ctx: Context) -> Page[McpServerState]:
    """MCP servers whose tools the caller's company may turn on, with their state."""
    return Page(await service.list_servers(ctx))
