"""The wire of localization."""

from atrium.ground.identity.model import Locale
from atrium.product.localization import service
from atrium.product.localization.model import Catalog, Namespaces
from atrium.seams.context import Operation


async def read_catalog(op: Operation, *, locale: Locale | None = None, namespaces: Namespaces | None = None) -> Catalog:
    """The console's messages in a locale, gaps filled through the fallback chain; of some namespaces or of all."""
    return await service.read_catalog(op, locale, None if namespaces is None else namespaces.split(","))
