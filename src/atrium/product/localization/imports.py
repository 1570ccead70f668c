"""Imports: what a file says against what a message has, batch by batch, one small transaction each.

A person's approval outranks a file. A file that is lost or empty removes nothing. What does not differ is not written.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

from atrium.ground.tenancy.locales import locale_folders
from atrium.kit.text import catalogs
from atrium.kit.text.catalogs import BASE, LocaleFiles
from atrium.product.localization import comparison, disk, import_rows, store
from atrium.product.localization.comparison import Columns, ImportBatch, ImportReport, Wanted
from atrium.product.localization.disk import DiskSource
from atrium.product.localization.model import ImportRunning
from atrium.seams.context import Context, Operation, Services

BATCH = 1_000
# While PostgreSQL writes one batch, a thread judges the next.
AT_ONCE = 2
_KEYS = 5_000
Begin = Callable[[], AbstractAsyncContextManager[Context]]


@dataclass(slots=True)
class Import:
    """One import under way; `tell` hears how many of how many messages are done."""

    begin: Begin
    org_id: UUID
    by: UUID | None = None
    dry_run: bool = False
    wanted: Sequence[str] | None = None
    report: ImportReport = field(default_factory=ImportReport)
    tell: Callable[[int, int], Awaitable[None]] | None = None
    done: int = 0
    total: int = 0
    cancel: asyncio.Event | None = None
    # How many batches are under way at a time; one where all of them share a transaction.
    at_once: int = 1

    @property
    def is_cancelled(self) -> bool:
        """Whether the result is no longer wanted; what was taken in stays."""
        return self.cancel is not None and self.cancel.is_set()


async def ensure_loaded(op: Operation, org_id: UUID) -> None:
    """Take in the catalogs on disk if none ever was; until then the files themselves are served."""
    async with op.begin(reading=True) as ctx:
        if (await import_rows.find_import(ctx.db, org_id))[0] is not None:
            return
    async with op.begin() as ctx:
        await import_rows.lock_imports(ctx.db)
        if (await import_rows.find_import(ctx.db, org_id))[0] is None:
            await _run(op.services, Import(_within(ctx), org_id))


async def import_disk(services: Services, work: Import) -> ImportReport:
    """Take in what is on disk."""
    await _run(services, work)
    return work.report


async def import_start(services: Services, org_id: UUID) -> ImportReport | None:
    """Take in other catalogs than the last ones, in one process; None where nothing changed or none was ever taken in."""
    mark = await asyncio.to_thread(catalogs.fingerprint, *locale_folders(services.settings))
    # This transaction holds the turn and nothing else: what it wrote would be locked against reviewers until the last batch.
    async with services.database.begin(org_id) as turn:
        is_first = await import_rows.take_import_turn(turn)
        last, job = await import_rows.find_import(turn, org_id)
        if last is None or last == mark:
            return None
        if job is not None or not is_first:
            raise ImportRunning("another import has not ended yet")
        # A process that has one connection alone has no other for the batches.
        alone = services.settings.database_pool < 2
        begin = _within(Context.of_company(services, turn, org_id)) if alone else _company(services, org_id)
        work = Import(begin, org_id)
        await _run(services, work)
    return work.report


def _company(services: Services, org_id: UUID) -> Begin:
    @asynccontextmanager
    async def begin() -> AsyncIterator[Context]:
        async with services.database.begin(org_id) as db:
            yield Context.of_company(services, db, org_id)

    return begin


def _within(ctx: Context) -> Begin:
    @asynccontextmanager
    async def begin() -> AsyncIterator[Context]:
        yield ctx

    return begin


async def _run(services: Services, work: Import) -> None:
    roots = locale_folders(services.settings)
    mark = await asyncio.to_thread(catalogs.fingerprint, *roots)
    found = await asyncio.to_thread(disk.read_source, roots, work.wanted)
    work.report.refused += found.refused
    async with work.begin() as ctx:
        known = await store.list_locales(ctx.db, work.org_id)
    asked = [name for name in work.wanted or () if name != BASE]
    locales = sorted({*found.locales, *asked, *(name for name in known if name != BASE)})
    work.total = len(found.keys) * (1 + len(locales))
    await _take_locale(work, found, BASE, found.source)
    for locale in locales:
        # One at a time: all of them at once would be most of what the process holds.
        files = await asyncio.to_thread(disk.read_texts, roots, locale, found)
        work.report.refused += files.refused
        await _take_locale(work, found, locale, files)
    await _retire(work, found, [BASE, *locales])
    if not work.dry_run and work.wanted is None and not work.is_cancelled:
        async with work.begin() as ctx:
            await import_rows.note_import(ctx.db, work.org_id, mark)


async def _take_locale(work: Import, found: DiskSource, locale: str, files: LocaleFiles) -> None:
    work.report.of(locale)

    async def take(keys: Sequence[str]) -> None:
        wanted, columns = await asyncio.to_thread(comparison.wanted_of, found, files.messages, keys)
        await _take_batch(work, ImportBatch(locale, work.by), wanted, columns)

    await _in_batches(work, found.keys, take)


async def _in_batches(work: Import, keys: Sequence[str], take: Callable[[Sequence[str]], Awaitable[None]]) -> None:
    """Take batches of the keys, some at once; the first that fails ends the others."""
    waiting = _batches(keys)

    async def take_some() -> None:
        for batch in waiting:
            if work.is_cancelled:
                return
            await take(batch)
            work.done += len(batch)
            if work.tell is not None:
                await work.tell(work.done, work.total)

    tasks = [asyncio.create_task(take_some()) for _ in range(work.at_once)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _batches(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(keys), BATCH):
        yield keys[start : start + BATCH]


async def _take_batch(work: Import, batch: ImportBatch, wanted: Sequence[Wanted], columns: Columns) -> None:
    async with work.begin() as ctx:
        differing = await store.list_differing(ctx.db, work.org_id, batch.locale, columns)
        batch.count["unchanged"] += len(wanted) - len(differing)
        if differing:
            await _write(work, ctx, batch, [one for one in wanted if one.key in differing], differing)
    work.report.add(batch)


async def _write(
    work: Import, ctx: Context, batch: ImportBatch, wanted: Sequence[Wanted], known: dict[str, bool]
) -> None:
    """Write what differs by one statement, so that messages are locked before counts, and counts before locales."""
    there = sorted(key for key, is_there in known.items() if is_there)
    if not there:
        columns = await asyncio.to_thread(comparison.fresh, batch, wanted)
        if not work.dry_run:
            await store.insert_messages(ctx.db, work.org_id, batch.locale, columns, work.by)
        return
    rows = {row.key: row for row in await store.lock_messages(ctx.db, work.org_id, batch.locale, there)}
    merged = await asyncio.to_thread(comparison.columns_to_write, batch, wanted, rows)
    if merged is not None and not work.dry_run:
        await store.put_messages(ctx.db, work.org_id, batch.locale, merged)


async def _retire(work: Import, found: DiskSource, locales: Sequence[str]) -> None:
    """Put aside what is gone from a source file that is there; a file that is lost or empty takes nothing with it."""
    gone = await _list_gone(work, found)
    for locale in locales if gone else ():
        for batch in _batches(gone):
            if work.dry_run:
                work.report.of(locale)["retired"] += len(batch)
                continue
            async with work.begin() as ctx:
                work.report.of(locale)["retired"] += await store.retire(ctx.db, work.org_id, locale, batch, work.by)


async def _list_gone(work: Import, found: DiskSource) -> list[str]:
    named, namespaces = {one.key for one in found.source.refused}, sorted(found.source.namespaces)
    gone, after = list[str](), ""
    while True:
        async with work.begin() as ctx:
            there = await store.list_keys(ctx.db, work.org_id, BASE, namespaces, after, _KEYS)
        gone += [key for key in there if key not in found.source.messages and key not in named]
        if len(there) < _KEYS:
            return gone
        after = there[-1]


async def propose(work: Import, locale: str, texts: dict[str, str]) -> None:
    """Texts out of an object: each becomes a proposal where it says something else than what is served or proposed already."""
    work.total = len(texts)

    async def take(keys: Sequence[str]) -> None:
        batch = ImportBatch(locale, work.by)
        async with work.begin() as ctx:
            found = await store.lock_messages(ctx.db, work.org_id, locale, keys)
            rows = {row.key: row for row in found if not row.retired}
            made = await asyncio.to_thread(comparison.proposals, batch, {key: texts[key] for key in keys}, rows)
            if made is not None and not work.dry_run:
                await store.put_messages(ctx.db, work.org_id, locale, made)
        work.report.add(batch)

    work.report.of(locale)
    await _in_batches(work, sorted(texts), take)
