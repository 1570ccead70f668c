"""The wire of plugins."""

from atrium.admin.plugins import service
from atrium.admin.plugins.model import PluginCard
from atrium.kit.paging import Page
from atrium.seams.context import Context


async def list_plugins(ctx: Context) -> Page[PluginCard]:
    """Loaded plugins with their tools and workflows."""
    return Page(service.list_plugins(ctx))
