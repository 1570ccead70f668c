"""This process' copies of the catalogs, each good for one revision of its locale."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import msgspec

from atrium.ground.tenancy.locales import locale_folders
from atrium.kit.postgres.database import Transaction
from atrium.kit.text import catalogs
from atrium.kit.text.catalogs import BASE
from atrium.product.localization import store
from atrium.product.localization.model import Catalog
from atrium.seams.context import Services

# Merged catalogs that are kept; a chain of locales makes one.
_MOST = 64
_DECODER = msgspec.json.Decoder(dict[str, str])


@dataclass(slots=True)
class Copies:
    """What was read, by locale and revision, and what was merged of it."""

    texts: dict[str, tuple[object, dict[str, str]]] = field(default_factory=dict)
    merged: OrderedDict[tuple[object, ...], Catalog] = field(default_factory=OrderedDict)
    # One reading of a locale at a time: a hundred requests after an approval read it once.
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    checked_disk: bool = False


async def start(services: Services) -> Copies:
    """No copies yet."""
    return Copies()


async def serve(
    services: Services, db: Transaction, org_id: UUID | None, chain: Sequence[str], *, machine: bool
) -> Catalog:
    """The messages of a chain of locales, the first one's before those behind it; read again only where a revision is new."""
    copies: Copies = services.started["localization"]
    revisions = await store.list_revisions(db, org_id) if org_id else {}
    roots = locale_folders(services.settings)
    stamp = None if revisions else _stamp(roots[1])
    there = set(revisions) or set(catalogs.available(*roots))
    known = [locale for locale in chain if locale in there]
    names = tuple((locale, revisions.get(locale, stamp), machine) for locale in known)
    if (found := copies.merged.get(names)) is not None:
        copies.merged.move_to_end(names)
        return found
    async with copies.reading:
        for locale, *version in names:
            if copies.texts.get(locale, (None,))[0] != version:
                copies.texts[locale] = (version, await _read(db, org_id if revisions else None, roots, locale, machine))
        made = await asyncio.to_thread(_merged, names, [copies.texts[locale][1] for locale in known])
    copies.merged[names] = made
    while len(copies.merged) > _MOST:
        copies.merged.popitem(last=False)
    return made


async def _read(
    db: Transaction, org_id: UUID | None, roots: Sequence[Path], locale: str, machine: bool
) -> dict[str, str]:
    if org_id is None:
        return (await asyncio.to_thread(catalogs.read_files, roots, locale)).messages
    return await asyncio.to_thread(_joined, await store.list_served(db, org_id, locale, machine=machine))


def _joined(said: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in said:
        found |= _DECODER.decode(one)
    return found


def _merged(names: tuple[object, ...], texts: Sequence[dict[str, str]]) -> Catalog:
    messages: dict[str, str] = {}
    for one in reversed(texts):
        messages |= one
    locale = names[0][0] if names and isinstance(names[0], tuple) else BASE
    return Catalog.of(str(locale), dict(sorted(messages.items()))).prepared()


def _stamp(own: Path) -> tuple[object, ...]:
    """Differs when the instance's own folder does, for as long as its files are served as they are."""
    try:
        files = sorted(own.glob("*/*.json"))
        return tuple((str(file), (found := file.stat()).st_mtime_ns, found.st_size) for file in files)
    except OSError:
        return ()
