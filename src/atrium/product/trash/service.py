"""The rules of the trash: one listing over what the domains keep there. Who finds what is for each of them to say."""

from datetime import datetime
from uuid import UUID

from atrium.engine.repository.object_keys import name_in
from atrium.engine.repository.trash import OBJECT_TRASH, restore_object
from atrium.ground.sharing import trash
from atrium.ground.sharing.model import Trashed
from atrium.ground.sharing.trash import Trash
from atrium.kit.web.pages import Page, Pager
from atrium.product.notes.trash import NOTE_TRASH, restore_note
from atrium.product.trash.model import Kind, NoteWithoutKey, Restored, TrashedMissing, TrashItem
from atrium.seams.context import Actor, Context, Operation, Services

_TRASHES: dict[Kind, Trash] = {"note": NOTE_TRASH, "object": OBJECT_TRASH}
_MISSING = "there is no such thing in your trash: it was restored, purged, or is not yours to restore"


async def list_trash(ctx: Context, kind: Kind | None, limit: int, cursor: str | None) -> Page[TrashItem]:
    """What the caller can restore, deleted last first."""
    pager = Pager(ctx.services.keys, "trash", ctx.who.user_id, kind)
    after = pager.read(cursor, tuple[datetime, UUID])
    found: list[TrashItem] = []
    for of, each in _TRASHES.items():
        if kind in (None, of):
            found += [_item(ctx, of, one) for one in await trash.list_trashed(ctx, each.of, after, limit + 1)]
    found.sort(key=lambda item: (item.deleted_at, item.id), reverse=True)
    return pager.page(found, limit, lambda item: (item.deleted_at, item.id))


async def restore(ctx: Context, id: UUID, key: str | None) -> Restored:
    """Bring something back under its id, with its versions and whomever it was shared with."""
    if await restore_note(ctx, id):
        if key is not None:
            raise NoteWithoutKey("this is a note; restore it without a key")
        return Restored(id, "note")
    found = await restore_object(ctx, id, key)
    if found is None:
        raise TrashedMissing(_MISSING)
    return Restored(id, "object", found.key)


async def purge(ctx: Context, id: UUID) -> None:
    """Take something away for good."""
    for each in _TRASHES.values():
        if await trash.purge(ctx, each, id):
            return
    raise TrashedMissing(_MISSING)


async def empty(op: Operation) -> int:
    """Take away for good whatever the caller deleted; how much that was."""
    return sum([await trash.empty(op, each) for each in _TRASHES.values()])


async def purge_due(services: Services) -> int:
    """Take away what has been in the trash for as long as the settings keep it, in every company."""
    return sum([await trash.purge_due(services, each) for each in _TRASHES.values()])


def _item(acting: Actor, kind: Kind, found: Trashed) -> TrashItem:
    until = found.deleted_at + acting.services.settings.trash_age()
    title = found.title or name_in(found.key or "")
    return TrashItem(found.id, kind, title, found.key, found.size, found.deleted_by, found.deleted_at, until)
