"""The texts a note had: every save keeps the one it replaces, and any of them can be brought back."""

from uuid import UUID

from atrium.ground.access import service as access
from atrium.ground.audit import service as audit
from atrium.kit.web.pages import Page, Pager
from atrium.product.notes import permissions, space, store
from atrium.product.notes.model import Note, NoteMissing, NoteSaved, NoteText, NoteVersion, NoteVersionMissing
from atrium.seams.context import Context

_NEWEST = 2**31 - 1


async def list_versions(ctx: Context, id: UUID, limit: int, cursor: str | None) -> Page[NoteVersion]:
    """What a note has said so far, newest first; the first is what it says now."""
    access.note_checked(ctx, "notes:read")
    await permissions.read_visible(ctx, id)
    pager = Pager(ctx.services.keys, "note versions", ctx.who.user_id, id)
    before = pager.read(cursor, int)
    found = await store.list_versions(ctx.db, ctx.who.org_id, id, _NEWEST if before is None else before, limit + 1)
    return pager.page(found, limit, lambda version: version.number)


async def read_version(ctx: Context, id: UUID, number: int) -> NoteText:
    """One of a note's texts."""
    access.note_checked(ctx, "notes:read")
    await permissions.read_visible(ctx, id)
    return await _text(ctx, id, number)


async def name_version(ctx: Context, id: UUID, number: int, name: str | None) -> NoteVersion:
    """Call one of a note's texts something, or (`None`) nothing any more; the note itself stays as it is."""
    note = await permissions.read_visible(ctx, id, lock=True)
    await permissions.require(ctx, note, "write")
    if not await store.name_version(ctx.db, ctx.who.org_id, id, min(number, _NEWEST), name):
        raise NoteVersionMissing(f"this note has no version {number}")
    await audit.record(ctx, "notes.version_named", id, version=number)
    text = await _text(ctx, id, number)
    return NoteVersion(**{field: getattr(text, field) for field in NoteVersion.__struct_fields__})


async def restore_version(ctx: Context, id: UUID, number: int, if_match: str | None) -> Note:
    """Make an earlier title and text the newest version; with `if_match` only on top of the version it names."""
    note = await permissions.read_visible(ctx, id, lock=True)
    await permissions.require(ctx, note, "write")
    permissions.require_current(note, if_match)
    text = await _text(ctx, id, number)
    await space.require_space(ctx, note.team_id, text.title, text.body)
    restored = await store.update_note(ctx.db, ctx.who, id, text.title, text.body, None)
    if restored is None:
        raise NoteMissing("there is no such note")
    await audit.record(ctx, "notes.version_restored", id, version=restored.version, restored=number)
    await ctx.announce(NoteSaved(restored))
    return restored


async def _text(ctx: Context, id: UUID, number: int) -> NoteText:
    found = await store.find_version(ctx.db, ctx.who.org_id, id, min(number, _NEWEST))
    if found is None:
        raise NoteVersionMissing(f"this note has no version {number}")
    return found
