"""The rules of the trash: one listing over what the domains keep there. Who finds what is for each of them to say."""

from datetime import datetime
from uuid import UUID

from atrium.engine.repository import trash as repository_trash
from atrium.engine.repository.model import TrashedObject
from atrium.kit.web.pages import Page, Pager
from atrium.product.notes import trash as notes_trash
from atrium.product.notes.model import TrashedNote
from atrium.product.trash.model import Kind, NoteWithoutKey, Restored, TrashedMissing, TrashItem
from atrium.seams.context import Actor, Context, Operation, Services

_MISSING = "there is no such thing in your trash: it was restored, purged, or is not yours to restore"


async def list_trash(ctx: Context, kind: Kind | None, limit: int, cursor: str | None) -> Page[TrashItem]:
    """What the caller can restore, deleted last first."""
    pager = Pager(ctx.services.keys, "trash", ctx.who.user_id, kind)
    after = pager.read(cursor, tuple[datetime, UUID])
    found: list[TrashItem] = []
    if kind != "object":
        found += [_item(ctx, "note", note) for note in await notes_trash.list_trashed(ctx, after, limit + 1)]
    if kind != "note":
        found += [_item(ctx, "object", one) for one in await repository_trash.list_trashed(ctx, after, limit + 1)]
    found.sort(key=lambda item: (item.deleted_at, item.id), reverse=True)
    return pager.page(found, limit, lambda item: (item.deleted_at, item.id))


async def restore(ctx: Context, id: UUID, key: str | None) -> Restored:
    """Bring something back under its id, with its versions and whomever it was shared with."""
    if await notes_trash.restore_note(ctx, id) is not None:
        if key is not None:
            raise NoteWithoutKey("this is a note; restore it without a key")
        return Restored(id, "note")
    found = await repository_trash.restore_object(ctx, id, key)
    if found is None:
        raise TrashedMissing(_MISSING)
    return Restored(id, "object", found.key)


async def purge(ctx: Context, id: UUID) -> None:
    """Take something away for good."""
    if await notes_trash.purge_note(ctx, id) is None and await repository_trash.purge_object(ctx, id) is None:
        raise TrashedMissing(_MISSING)


async def empty(op: Operation) -> int:
    """Take away for good whatever the caller deleted; how much that was."""
    return await notes_trash.empty_trash(op) + await repository_trash.empty_trash(op)


async def purge_due(services: Services) -> int:
    """Take away what has been in the trash for as long as the settings keep it, in every company."""
    return await notes_trash.purge_due(services) + await repository_trash.purge_due(services)


def _item(acting: Actor, kind: Kind, found: TrashedNote | TrashedObject) -> TrashItem:
    until = found.deleted_at + acting.services.settings.trash_age()
    key = found.key if isinstance(found, TrashedObject) else None
    return TrashItem(found.id, kind, found.title, key, found.size, found.deleted_by, found.deleted_at, until)
