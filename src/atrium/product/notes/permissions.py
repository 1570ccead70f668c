"""Who may do what with a note: the one place where visibility, shares and roles meet."""

from uuid import UUID

from atrium.ground.access import service as access
from atrium.product.notes import store
from atrium.product.notes.model import IMPLIED, KIND, Note, NoteMissing, NoteStale
from atrium.seams.context import Context


async def read_visible(ctx: Context, id: UUID, *, lock: bool = False) -> Note:
    """The note, when the caller may know of it."""
    note = await store.find_note(ctx.db, ctx.who, id, lock=lock)
    if note is None:
        raise NoteMissing("there is no such note, or it is not shared with you")
    ctx.touch(KIND, [id])
    return note


async def require(ctx: Context, note: Note, permission: str, *, by_role: bool = True) -> None:
    """Refuse unless the caller owns the note, was given the permission on it, or holds it by a role in the note's team."""
    granted: frozenset[str] = frozenset()
    if note.owner_id != ctx.who.user_id:
        granted = IMPLIED[await store.find_grant(ctx.db, ctx.who.org_id, note.id, ctx.who.user_id)]
    access.require_shared(ctx, note, permission, granted, by_role=by_role)


def require_current(note: Note, if_match: str | None) -> None:
    """Refuse to act on a note that is no longer what the caller has seen."""
    if if_match is not None and if_match not in ("*", note.etag()):
        raise NoteStale(
            "a newer version was saved; read it, merge, and save again", current=note.etag(), version=note.version
        )
