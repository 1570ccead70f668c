"""The rules of notes. What a caller may not see is missing, never forbidden."""

from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter, itemgetter
from typing import cast
from uuid import UUID

from atrium.ground.access import service as access
from atrium.ground.audit import service as audit
from atrium.ground.identity import service as identity
from atrium.ground.sharing import abilities, grants
from atrium.ground.sharing import model as sharing
from atrium.ground.sharing.model import Grantee
from atrium.kit.ids import new_id
from atrium.kit.web.pages import Page, Pager, count_fitting
from atrium.product.notes import permissions, space, store
from atrium.product.notes.model import (
    KIND,
    NOTES,
    Note,
    NoteGrant,
    NoteMissing,
    NoteSaved,
    NoteShare,
    NotesScopeRefused,
    NotSharable,
    Permission,
)
from atrium.seams.context import Context
from atrium.seams.sharing import Shareable, ThingName, fill, list_handed_out


async def create_note(ctx: Context, title: str, body: str, visibility: str) -> Note:
    """Write a new note; the caller owns it."""
    visibility = "private" if abilities.is_confined(ctx) else visibility
    await space.require_space(ctx, ctx.who.team_id, title, body)
    note = await store.insert_note(ctx.db, ctx.who, new_id(), title, body, visibility)
    if note is None:
        raise NoteMissing("the note was not stored")
    ctx.note_made(KIND, note.id)
    await audit.record(ctx, "notes.created", note.id, visibility=visibility)
    await ctx.announce(NoteSaved(note))
    return note


async def list_notes(ctx: Context, scope: str, search: str | None, limit: int, cursor: str | None) -> Page[Note]:
    """What the caller can read, last edited first, a few at a time when they are long; `org` spans the company's team-visible notes."""
    access.note_checked(ctx, "notes:read")
    access.require_org_scope(ctx, scope, NotesScopeRefused)
    pager = Pager(ctx.services.keys, "notes", ctx.who.user_id, scope, search)
    after = pager.read(cursor, tuple[datetime, UUID])

    async def read(last: Note | None, count: int) -> list[Note]:
        behind = after if last is None else (last.updated_at, last.id)
        return await store.list_notes(ctx.db, ctx.who, scope, behind, search, count)

    async def hand(found: Sequence[Note]) -> list[Note]:
        return await list_handed_out(ctx, KIND, found, attrgetter("id"))

    found = await fill(ctx, limit + 1, read, hand)
    fits = count_fitting([note.body for note in found])
    return pager.page(found, min(limit, fits), lambda note: (note.updated_at, note.id))


async def read_note(ctx: Context, id: UUID) -> Note:
    """One note the caller can read."""
    access.note_checked(ctx, "notes:read")
    return await permissions.read_visible(ctx, id)


async def change_note(
    ctx: Context, id: UUID, title: str | None, body: str | None, visibility: str | None, if_match: str | None
) -> Note:
    """Save an edit; with `if_match` only on top of the version it names. Moving a note in or out of the team is managing it."""
    note = await permissions.read_visible(ctx, id, lock=True)
    await permissions.require(ctx, note, "write")
    if visibility is not None and visibility != note.visibility:
        await permissions.require(ctx, note, "manage")
        abilities.require_no_readers(ctx, note, shared=True)
    permissions.require_current(note, if_match)
    new_title, new_body = title or note.title, note.body if body is None else body
    # Keeping a note from others is never refused. It is free once: showing it again asks for space as any save does.
    if visibility != "private" or visibility == note.visibility or (new_title, new_body) != (note.title, note.body):
        await space.require_space(ctx, note.team_id, new_title, new_body)
    changed = await store.update_note(ctx.db, ctx.who, id, title, body, visibility)
    if changed is None:
        raise NoteMissing("there is no such note")
    await audit.record(ctx, "notes.changed", id, version=changed.version)
    await ctx.announce(NoteSaved(changed))
    return changed


async def share_note(ctx: Context, id: UUID, user_id: UUID, permission: str | None) -> NoteGrant:
    """Let a colleague in, change what they may do, or (`None`) withdraw it."""
    colleague = await identity.hold_colleague(ctx, user_id)
    note = await permissions.read_visible(ctx, id, lock=True)
    await permissions.require(ctx, note, "manage")
    abilities.require_no_readers(ctx, note, shared=True)
    if user_id == note.owner_id:
        raise NotSharable("this person owns the note")
    if colleague is None:
        raise NotSharable(
            "there is no such person in your company",
            errors=[{"path": "user_id", "message": "not a person of your company"}],
        )
    grant = NoteGrant(id, user_id, cast(Permission | None, permission), ctx.who.user_id)
    if permission is not None:
        await grants.give(ctx, NOTES, note, Grantee("user", user_id), permission)
    elif not await grants.withdraw(ctx, NOTES, note, user_id):
        return grant
    await audit.record(ctx, "notes.shared" if permission else "notes.unshared", id, user=user_id, permission=permission)
    return grant


async def list_shares(ctx: Context, id: UUID, limit: int, cursor: str | None) -> Page[NoteShare]:
    """People a note is shared with, in the order of sharing; for callers who may change that."""
    note = await permissions.read_visible(ctx, id)
    await permissions.require(ctx, note, "manage")
    pager = Pager(ctx.services.keys, "note shares", ctx.who.user_id, id)
    found = await grants.list_grants(ctx, NOTES, id, pager.read(cursor, tuple[datetime, UUID]), limit + 1)
    return pager.page([_shown(one) for one in found], limit, lambda share: (share.created_at, share.user_id))


async def list_by_ids(ctx: Context, ids: list[UUID], characters: int) -> dict[UUID, Note]:
    """Those of these notes that the caller can read, with the beginning of each text; none for a token that reads no notes."""
    ctx.checked.add("notes:read")
    if not ids or not ctx.who.within_scope("notes:read"):
        return {}
    found = await store.list_by_ids(ctx.db, ctx.who, ids, characters)
    return dict(await list_handed_out(ctx, KIND, found.items(), itemgetter(0)))


async def list_names(ctx: Context, ids: list[UUID], trashed: bool) -> dict[UUID, ThingName]:
    """What those of these notes are called that the caller may read; none for a token that reads no notes."""
    return await store.list_names(ctx.db, ctx.who, ids, trashed=trashed) if ctx.who.within_scope("notes:read") else {}


async def count_notes(ctx: Context) -> int:
    """How many notes the instance holds; only a system transaction sees them all, and only their ids."""
    return await store.count_notes(ctx.db)


def _shown(grant: sharing.Grant) -> NoteShare:
    permission = cast(Permission, grant.level)
    name, display_name = grant.name or "", grant.display_name or ""
    return NoteShare(grant.principal_id, name, display_name, permission, grant.granted_by, grant.created_at)


NOTE = Shareable(
    kind=KIND,
    family="notes",
    table="notes",
    events=("notes.",),
    words=frozenset({"title", "name"}),
    list_names=list_names,
)
