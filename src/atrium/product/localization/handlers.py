"""The wire of localization."""

from atrium.ground.identity.model import Locale
from atrium.product.localization import service
from atrium.product.localization.model import Catalog
from atrium.seams.context import Operation


async def read_catalog(op: Operation, *, locale: Locale | None = None) -> Catalog:
    """The console's messages in a locale, gaps filled through the fallback chain."""
    return await service.read_catalog(op, locale)
