"""The rules of notes. What a caller may not see is missing, never forbidden."""

from datetime import datetime
from uuid import UUID

from atrium.ground.access import service as access
from atrium.ground.audit import service as audit
from atrium.ground.identity import service as identity
from atrium.kit.ids import new_id
from atrium.kit.paging import Page, Pager
from atrium.product.notes import store
from atrium.product.notes.model import IMPLIED, Grant, Note, NoteMissing, NoteStale, NotSharable, OrgScopeRefused
from atrium.seams.context import Context


async def create_note(ctx: Context, title: str, body: str, visibility: str) -> Note:
    """Write a new note; the caller owns it."""
    note = await store.insert_note(ctx.db, ctx.who, new_id(), title, body, visibility)
    if note is None:
        raise NoteMissing("the note was not stored")
    await audit.record(ctx, "notes.created", note.id, visibility=visibility)
    return note


async def list_notes(ctx: Context, scope: str, search: str | None, limit: int, cursor: str | None) -> Page[Note]:
    """What the caller can read, last edited first; `org` spans the company's team-visible notes."""
    access.note_checked(ctx, "notes:read")
    if scope == "org" and "org:read" not in ctx.who.permissions:
        raise OrgScopeRefused("scope=org needs a role in the company, such as org_reader")
    pager = Pager(ctx.services.keys, "notes", ctx.who.user_id, scope, search)
    found = await store.list_notes(ctx.db, ctx.who, scope, pager.read(cursor, tuple[datetime, UUID]), search, limit + 1)
    return pager.page(found, limit, lambda note: (note.updated_at, note.id))


async def read_note(ctx: Context, id: UUID) -> Note:
    """One note the caller can read."""
    access.note_checked(ctx, "notes:read")
    return await _visible(ctx, id)


async def change_note(
    ctx: Context, id: UUID, title: str | None, body: str | None, visibility: str | None, if_match: str | None
) -> Note:
    """Save an edit; with `if_match` only on top of the version it names. Moving a note in or out of the team is managing it."""
    note = await _visible(ctx, id, lock=True)
    await _require(ctx, note, "notes:write", by_role=True)
    if visibility is not None and visibility != note.visibility:
        await _require(ctx, note, "notes:manage", by_role=True)
    _require_current(note, if_match)
    changed = await store.update_note(ctx.db, ctx.who.org_id, id, title, body, visibility)
    if changed is None:
        raise NoteMissing("there is no such note")
    await audit.record(ctx, "notes.changed", id, version=changed.version)
    return changed


async def delete_note(ctx: Context, id: UUID, if_match: str | None) -> None:
    """Remove a note: one's own, one granted, or any team-visible one when managing notes."""
    note = await _visible(ctx, id, lock=True)
    await _require(ctx, note, "notes:delete", by_role="notes:manage" in ctx.who.permissions)
    _require_current(note, if_match)
    await store.delete_note(ctx.db, ctx.who.org_id, id)
    await audit.record(ctx, "notes.deleted", id, title=note.title)


async def share_note(ctx: Context, id: UUID, user_id: UUID, permission: str | None) -> Grant:
    """Let a colleague in, change what they may do, or (`None`) withdraw it."""
    note = await _visible(ctx, id, lock=True)
    await _require(ctx, note, "notes:manage", by_role=True)
    if user_id == note.owner_id:
        raise NotSharable("this person owns the note")
    if await identity.find_colleague(ctx, user_id) is None:
        raise NotSharable(
            "there is no such person in your company", errors=[{"path": "user_id", "message": "nobody here"}]
        )
    if permission is None:
        await store.delete_grant(ctx.db, ctx.who.org_id, id, user_id)
        grant = Grant(id, user_id, None, ctx.who.user_id)
    else:
        grant = await store.put_grant(ctx.db, ctx.who.org_id, id, user_id, permission, ctx.who.user_id) or Grant(
            id, user_id, None, ctx.who.user_id
        )
    await audit.record(ctx, "notes.shared" if permission else "notes.unshared", id, user=user_id, permission=permission)
    return grant


async def count_notes(ctx: Context) -> int:
    """How many notes the instance holds; only a system transaction sees them all, and only their ids."""
    return await store.count_notes(ctx.db)


async def _visible(ctx: Context, id: UUID, *, lock: bool = False) -> Note:
    note = await store.find_note(ctx.db, ctx.who, id, lock=lock)
    if note is None:
        raise NoteMissing("there is no such note, or it is not shared with you")
    return note


async def _require(ctx: Context, note: Note, permission: str, *, by_role: bool) -> None:
    granted: frozenset[str] = frozenset()
    if note.owner_id != ctx.who.user_id:
        granted = IMPLIED[await store.find_grant(ctx.db, ctx.who.org_id, note.id, ctx.who.user_id)]
    # A role reaches as far as its own team: being let in from elsewhere gives what was granted and no more.
    inside = note.team_id == ctx.who.team_id and note.visibility == "team"
    access.require_on(ctx, note, permission, granted, by_role=by_role and inside)


def _require_current(note: Note, if_match: str | None) -> None:
    if if_match is not None and if_match not in ("*", note.etag()):
        raise NoteStale(
            "somebody saved a newer version; read it, merge, and save again", current=note.etag(), version=note.version
        )
