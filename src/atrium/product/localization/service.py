"""The verbs of localization."""

from collections.abc import Sequence
from functools import lru_cache

from atrium.kit import catalogs
from atrium.kit.paths import shipped
from atrium.product.localization import store
from atrium.product.localization.model import Catalog
from atrium.seams.context import Operation


async def read_catalog(op: Operation, locale: str | None) -> Catalog:
    """Every message in the locale asked for; gaps are filled from its language, the instance's default and English."""
    async with op.begin_system() as ctx:
        chosen = await store.find_default_locale(ctx.db)
    default = chosen or op.services.settings.default_locale
    chain = tuple(catalogs.fallback_chain(locale or default, default))
    return _merged(chain)


# Catalogs travel with the program and change only with it.
@lru_cache(maxsize=64)
def _merged(chain: Sequence[str]) -> Catalog:
    root = shipped("locales")
    known = [locale for locale in chain if locale in catalogs.available(root)]
    messages: dict[str, str] = {}
    for locale in reversed(known):
        messages |= catalogs.read_locale(root, locale)
    return Catalog(known[0] if known else catalogs.BASE, messages)
