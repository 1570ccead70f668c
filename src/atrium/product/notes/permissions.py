"""Who may do what with a note: the one place where visibility, shares and roles meet."""

from uuid import UUID

from atrium.ground.access import service as access
from atrium.product.notes import store
from atrium.product.notes.model import IMPLIED, KIND, Note, NoteMissing, NoteStale
from atrium.seams.context import Context
from atrium.seams.sharing import hand_out


async def read_visible(ctx: Context, id: UUID, *, lock: bool = False) -> Note:
    """The note, when the caller may know of it."""
    note = await store.find_note(ctx.db, ctx.who, id, lock=lock)
    if note is None or not await hand_out(ctx, KIND, [id]):
        raise NoteMissing("there is no such note, or it is not shared with you")
    return note


async def require(ctx: Context, note: Note, permission: str, *, by_role: bool = True) -> None:
    """Refuse unless the caller owns the note, was given the permission on it, or holds it by a role in the note's team.

    The same holds for everybody by whom the caller is bound.
    """
    for each in ctx.each_bound((KIND, note.id)):
        granted: frozenset[str] = frozenset()
        if note.owner_id != each.who.user_id:
            granted = IMPLIED[await store.find_grant(ctx.db, each.who.org_id, note.id, each.who.user_id)]
        access.require_shared(each, note, permission, granted, by_role=by_role)
    if access.is_confined(ctx) and permission != "notes:read":
        shared = await store.list_shares(ctx.db, ctx.who.org_id, note.id, store.FIRST_SHARE, 1)
        access.require_no_readers(ctx, note, shared=bool(shared))


def require_current(note: Note, if_match: str | None) -> None:
    """Refuse to act on a note that is no longer what the caller has seen."""
    if if_match is not None and if_match not in ("*", note.etag()):
        raise NoteStale(
            "a newer version was saved; read it, merge, and save again", current=note.etag(), version=note.version
        )
