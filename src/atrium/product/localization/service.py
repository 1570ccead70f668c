"""The verbs of localization."""

from collections.abc import Collection, Sequence
from functools import lru_cache

from atrium.ground.tenancy import service as tenancy
from atrium.kit import catalogs
from atrium.kit.paths import shipped
from atrium.product.localization.model import Catalog
from atrium.seams.context import Operation


async def read_catalog(op: Operation, locale: str | None, namespaces: Collection[str] | None = None) -> Catalog:
    """The messages in the locale asked for; gaps are filled from its language, the instance's default and English."""
    async with op.begin_system() as ctx:
        default = (await tenancy.read_instance(ctx)).localization.default_locale
    # Only what there is: a language that anybody may invent must not cost reading the files again.
    there = catalogs.available(shipped("locales"))
    catalog = _merged(tuple(one for one in catalogs.fallback_chain(locale or default, default) if one in there))
    return catalog if namespaces is None else catalog.only(namespaces)


# Catalogs travel with the program and change only with it.
@lru_cache(maxsize=64)
def _merged(known: Sequence[str]) -> Catalog:
    messages: dict[str, str] = {}
    for locale in reversed(known):
        messages |= catalogs.read_locale(shipped("locales"), locale)
    return Catalog(known[0] if known else catalogs.BASE, messages)
