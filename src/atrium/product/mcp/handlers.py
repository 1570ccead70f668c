"""The wire of MCP: the servers whose tools we use, and the row that speaks MCP itself."""

from atrium.kit.web.pages import Page
from atrium.product.mcp import server, service
from atrium.product.mcp.model import McpServerState
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Content, WireMessage


async def list_servers(ctx: Context) -> Page[McpServerState]:
    """MCP servers whose tools the caller's company may turn on, with their state."""
    return Page(await service.list_servers(ctx))


async def serve_message(op: Operation, body: WireMessage) -> Content:
    """One message of an MCP client: which tools there are, or a call of one."""
    return await server.serve(op, body)
