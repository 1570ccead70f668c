"""The wire of plugins."""

from atrium.admin.plugins import service
from atrium.admin.plugins.model import PluginCard
from atrium.kit.web.pages import Page
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Content


async def list_plugins(ctx: Context) -> Page[PluginCard]:
    """Loaded plugins with their tools and workflows."""
    return Page(service.list_plugins(ctx))


async def serve_landing(op: Operation, plugin: str, path: str) -> Content:
    """A file that a plugin shows to everybody."""
    return await service.read_landing(op, plugin, path)


async def serve_bundle(op: Operation, plugin: str, path: str) -> Content:
    """A file that a plugin shows to people who are signed in."""
    return await service.read_bundle(op, plugin, path)
