"""Catalogs in and out: imports as jobs, exports to the instance's folder or to an object of the caller's team."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.jobs import service as jobs
from atrium.engine.repository import service as repository
from atrium.engine.repository import writes
from atrium.engine.repository.model import ObjectDraft
from atrium.ground.access import service as access
from atrium.ground.audit import service as audit
from atrium.ground.tenancy.locales import locale_folders
from atrium.ground.tenancy.model import CompanyDraft, LocaleName
from atrium.product.localization import disk, formats, import_rows, imports, service, store
from atrium.product.localization.imports import Import
from atrium.product.localization.model import (
    BadFile,
    ExportedLocale,
    ExportedObject,
    FileFormat,
    ImportRunning,
    MessageRow,
    NothingApproved,
    QueuedImport,
)
from atrium.seams.context import Operation
from atrium.seams.jobs import Assignment

IMPORT_KIND = "localization.import"
_PAGE = 1_000
_OFTEN = 1.0


class ImportOf(msgspec.Struct, forbid_unknown_fields=True):
    """What to take in: the catalogs on disk, of some locales or of all, or an object for one locale."""

    locales: list[LocaleName] | None = None
    dry_run: bool = False
    object_id: UUID | None = None
    locale: LocaleName | None = None


async def start_import(op: Operation, given: ImportOf) -> QueuedImport:
    """Queue an import; one at a time."""
    founding = await service.open_manager(op)
    if given.object_id is not None:
        access.require(op, "files:read")
        async with op.begin(reading=True) as ctx:
            await repository.read_version(ctx, given.object_id, None)
    async with op.begin() as ctx:
        [job] = await jobs.enqueue(ctx, IMPORT_KIND, [msgspec.to_builtins(given)])
        if not await import_rows.claim_import(ctx.db, founding.org_id, job):
            raise ImportRunning("another import has not ended yet; wait for its job")
        await audit.record(ctx, "localization.import_started", job, dry_run=given.dry_run)
    return QueuedImport(job)


async def run_import(op: Operation, job: Assignment) -> dict[str, Any]:
    """Take in what the job names; its report."""
    founding = await service.open_manager(op)
    given: ImportOf = job.arguments
    work = Import(op.begin, founding.org_id, op.who.user_id, given.dry_run, given.locales)
    work.cancel, work.at_once, work.tell = job.cancel, imports.AT_ONCE, _teller(op, founding, job.id)
    if given.object_id is not None and given.locale is not None:
        await _import_object(op, founding, work, given.object_id, given.locale)
    else:
        await imports.import_disk(op.services, work)
    async with op.begin() as ctx:
        await audit.record(ctx, "localization.imported", job.id, dry_run=given.dry_run)
    return work.report.shown()


def _teller(op: Operation, founding: CompanyDraft, job: UUID) -> Callable[[int, int], Awaitable[None]]:
    """Notes how far an import is, about once a second."""
    noted = 0.0

    async def tell(done: int, total: int) -> None:
        nonlocal noted
        now = asyncio.get_running_loop().time()
        if now - noted < _OFTEN and done < total:
            return
        noted = now
        async with op.begin() as ctx:
            await import_rows.note_progress(ctx.db, founding.org_id, job, done, total)

    return tell


async def _import_object(op: Operation, founding: CompanyDraft, work: Import, id: UUID, locale: str) -> None:
    access.require(op, "files:read")
    async with op.begin(reading=True) as ctx:
        stored, version = await repository.read_version(ctx, id, None)
    if version.size > formats.LARGEST:
        raise BadFile(f"at most {formats.LARGEST} bytes are read; split the file")
    async with aclosing(repository.open_content(op, stored.id, version)) as found:
        body = b"".join([piece async for piece in found])
    texts = await op.services.compute.run(op.who.org_id, len(body), formats.read, body)
    async with op.begin(reading=True) as ctx:
        known = await store.list_locales(ctx.db, founding.org_id)
    if locale not in known:
        # A locale that is named in an import exists from then on.
        await imports.import_disk(
            op.services, Import(op.begin, founding.org_id, op.who.user_id, work.dry_run, [locale])
        )
    await imports.propose(work, locale, texts)


async def export_locale(op: Operation, locale: str) -> ExportedLocale:
    """Write what is approved to the instance's folder, each file whole or not at all."""
    founding = await service.open_manager(op)
    await service.require_target(op, founding.org_id, locale)
    async with op.begin(reading=True) as ctx:
        approved = dict(await store.list_approved(ctx.db, founding.org_id, locale))
    if not approved:
        raise NothingApproved(f"no text of {locale} is approved; review some first")
    _, own = locale_folders(op.services.settings)
    files = await asyncio.to_thread(disk.write_locale, own, locale, approved)
    async with op.begin() as ctx:
        await audit.record(ctx, "localization.exported", locale, strings=len(approved))
    return ExportedLocale(locale, len(approved), files)


async def export_object(op: Operation, locale: str, format: FileFormat) -> ExportedObject:
    """Write a locale to an object of the caller's team, in a format that translators' programs read."""
    founding = await service.open_manager(op)
    await service.require_target(op, founding.org_id, locale)
    access.require(op, "files:write")
    rows = await _all_rows(op, founding.org_id, locale)
    if not any(row.status == "approved" for row in rows):
        raise NothingApproved(f"no text of {locale} is approved; review some first")
    body = await asyncio.to_thread(formats.write_file, format, locale, rows)
    ending, content_type = formats.ENDINGS[format]
    draft = ObjectDraft(key=f"l10n/{locale}.{ending}", content_type=content_type, visibility="team")
    written = await writes.put_object(op, draft, _sent(body), len(body))
    async with op.begin() as ctx:
        await audit.record(ctx, "localization.exported", locale, format=format, object=str(written.id))
    return ExportedObject(written.id, written.key, written.version.number)


async def _all_rows(op: Operation, org_id: UUID, locale: str) -> list[MessageRow]:
    rows, after = list[MessageRow](), None
    while True:
        async with op.begin(reading=True) as ctx:
            page = await store.list_messages(ctx.db, org_id, locale, (None, None, None), after, _PAGE)
        rows += page
        if len(page) < _PAGE:
            return rows
        after = page[-1].key


async def _sent(body: bytes) -> AsyncIterator[bytes]:
    for piece in formats.pieces(body):
        yield piece
