"""Recording events, and reading them back."""

from collections.abc import AsyncIterator, Collection
from typing import Any
from uuid import UUID

from atrium.ground.audit import store, words
from atrium.ground.audit.model import AuditEvent, ExportedEvent, Head
from atrium.kit.ids import new_id
from atrium.kit.postgres.database import Database, Transaction
from atrium.kit.web.pages import Page, Pager
from atrium.seams.context import Context, Principal
from atrium.seams.sharing import Shareable

EXPORTED = 1_000


async def record(ctx: Context, kind: str, subject: object, **facts: Any) -> None:
    """Write one event in the caller's transaction: the change and its trace stand or fall together."""
    await store.insert_event(ctx.db, new_id(), ctx.who, kind, str(subject), facts)


async def record_as(db: Transaction, who: Principal, kind: str, subject: object, **facts: Any) -> None:
    """The same where there is no server around, as for a command."""
    await store.insert_event(db, new_id(), who, kind, str(subject), facts)


async def list_team_events(ctx: Context, limit: int, cursor: str | None) -> Page[AuditEvent]:
    """What happened in the caller's team, newest first."""
    pager = Pager(ctx.services.keys, "audit", ctx.who.team_id)
    before = pager.read(cursor, UUID)
    found = await store.list_team_events(ctx.db, ctx.who.org_id, ctx.who.team_id, before, limit + 1)
    return await _page(ctx, pager, found, limit)


async def list_company_events(ctx: Context, limit: int, cursor: str | None) -> Page[AuditEvent]:
    """What happened in the caller's company, newest first."""
    pager = Pager(ctx.services.keys, "company audit", ctx.who.org_id)
    found = await store.list_company_events(ctx.db, ctx.who.org_id, pager.read(cursor, UUID), limit + 1)
    return await _page(ctx, pager, found, limit)


async def list_by_token(ctx: Context, token_id: UUID, limit: int) -> list[AuditEvent]:
    """What was given by this API token of the caller's company, newest first."""
    found = await store.list_by_token(ctx.db, ctx.who.org_id, token_id, limit)
    return await words.for_reader(ctx, found)


async def _page(ctx: Context, pager: Pager, found: list[AuditEvent], limit: int) -> Page[AuditEvent]:
    page = pager.page(found, limit, lambda event: event.id)
    return Page(await words.for_reader(ctx, page.items), page.next_cursor)


async def count_events(ctx: Context) -> int:
    """How many events the instance holds; only a system transaction sees them all."""
    return await store.count_events(ctx.db)


async def read_oldest_unsealed(database: Database) -> float:
    """Seconds since the oldest event, of any company, that has no place in its chain yet."""
    async with database.begin_system() as db:
        return await store.read_oldest_unsealed(db)


async def list_heads(database: Database) -> list[Head]:
    """The end of every company's chain."""
    async with database.begin_system() as db:
        return await store.list_heads(db)


async def export(
    database: Database, company: str | None, shareables: Collection[Shareable]
) -> AsyncIterator[ExportedEvent]:
    """Every event, or those of the company with this id or slug, without words of notes and files; a transaction for each batch."""
    after: tuple[UUID, UUID] | None = None
    while True:
        async with database.begin_system() as db:
            events = await store.list_exported(db, company, after, EXPORTED)
        for event in events:
            yield words.without_words(event, shareables)
        if len(events) < EXPORTED:
            return
        after = events[-1].org_id, events[-1].id
