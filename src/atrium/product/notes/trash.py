"""Deleting notes, and bringing them back; what a trash does is in `ground/sharing/trash`."""

from uuid import UUID

from atrium.ground.audit import service as audit
from atrium.ground.sharing import trash
from atrium.ground.sharing.trash import Trash
from atrium.product.notes import permissions, store
from atrium.product.notes.model import NOTES
from atrium.seams.context import Context


async def delete_note(ctx: Context, id: UUID, if_match: str | None) -> None:
    """Put a note in the trash: one's own, one granted, or any team-visible one when managing notes."""
    note = await permissions.read_visible(ctx, id, lock=True)
    await permissions.require(ctx, note, "delete")
    permissions.require_current(note, if_match)
    await trash.delete(ctx, NOTE_TRASH, id)
    await audit.record(ctx, "notes.deleted", id)


async def restore_note(ctx: Context, id: UUID) -> bool:
    """Bring a note back as it was, shares and versions included; False when it is not in the caller's trash."""
    found = await trash.find_trashed(ctx, NOTES, id)
    return found is not None and await trash.take_out(ctx, NOTE_TRASH, id)


async def _let_go(ctx: Context, ids: list[UUID]) -> dict[str, int]:
    await store.delete_notes(ctx.db, ctx.who.org_id, ids)
    return {}


NOTE_TRASH = Trash(of=NOTES, events="notes", let_go=_let_go)
