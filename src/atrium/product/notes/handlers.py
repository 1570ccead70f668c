"""The wire of notes."""

from typing import Annotated, Literal
from uuid import UUID

import msgspec

from atrium.kit.web.pages import Cursor, Limit, Page
from atrium.product.notes import permissions, service, trash, versions
from atrium.product.notes.model import (
    Body,
    Note,
    NoteGrant,
    NoteReply,
    NoteShare,
    NoteText,
    NoteVersion,
    Permission,
    Title,
    VersionName,
    Visibility,
)
from atrium.seams.context import Context
from atrium.seams.routes import Created, IfMatch


class NoteDraft(msgspec.Struct, forbid_unknown_fields=True):
    """A new note."""

    title: Title
    body: Body = ""
    visibility: Visibility = "private"


async def create_note(ctx: Context, body: NoteDraft) -> Created[NoteReply]:
    """Create a note with a visibility."""
    made = await service.create_note(ctx, body.title, body.body, body.visibility)
    return Created(await permissions.show(ctx, made))


async def list_notes(
    ctx: Context,
    *,
    scope: Literal["team", "org"] = "team",
    q: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None,
    limit: Limit = 50,
    cursor: Cursor | None = None,
) -> Page[Note]:
    """The notes the caller can read; `scope=org` spans the company, `q` searches titles and bodies; a page ends early at about 2 MB."""
    return await service.list_notes(ctx, scope, q, limit, cursor)


async def read_note(ctx: Context, id: UUID) -> NoteReply:
    """One note, and what the caller may do with it."""
    return await permissions.show(ctx, await service.read_note(ctx, id))


class NoteChange(msgspec.Struct, forbid_unknown_fields=True):
    """What to change; absent fields stay."""

    title: Title | None = None
    body: Body | None = None
    visibility: Visibility | None = None


async def change_note(ctx: Context, id: UUID, body: NoteChange, *, if_match: IfMatch | None = None) -> NoteReply:
    """Update a note; `If-Match` refuses to overwrite a newer version."""
    changed = await service.change_note(ctx, id, body.title, body.body, body.visibility, if_match)
    return await permissions.show(ctx, changed)


class DeletedNote(msgspec.Struct, frozen=True):
    """The id of the note that is gone."""

    id: UUID


async def delete_note(ctx: Context, id: UUID, *, if_match: IfMatch | None = None) -> DeletedNote:
    """Put a note in the trash."""
    await trash.delete_note(ctx, id, if_match)
    return DeletedNote(id)


class NoteShareChange(msgspec.Struct, forbid_unknown_fields=True):
    """Whom to let in and how far; a null permission withdraws the share."""

    user_id: UUID
    permission: Permission | None


async def share_note(ctx: Context, id: UUID, body: NoteShareChange) -> NoteGrant:
    """Share a note with a person of the company."""
    return await service.share_note(ctx, id, body.user_id, body.permission)


async def list_shares(ctx: Context, id: UUID, *, limit: Limit = 50, cursor: Cursor | None = None) -> Page[NoteShare]:
    """Whom a note is shared with."""
    return await service.list_shares(ctx, id, limit, cursor)


async def list_versions(
    ctx: Context, id: UUID, *, limit: Limit = 50, cursor: Cursor | None = None
) -> Page[NoteVersion]:
    """The versions of a note, newest first; the first is what it says now."""
    return await versions.list_versions(ctx, id, limit, cursor)


async def read_version(ctx: Context, id: UUID, number: int) -> NoteText:
    """One version of a note with its text."""
    return await versions.read_version(ctx, id, number)


class VersionNaming(msgspec.Struct, forbid_unknown_fields=True):
    """What to call a version; null takes its name away."""

    name: VersionName | None


async def name_version(ctx: Context, id: UUID, number: int, body: VersionNaming) -> NoteVersion:
    """Give a version of a note a name."""
    return await versions.name_version(ctx, id, number, body.name)


class VersionChoice(msgspec.Struct, forbid_unknown_fields=True):
    """Which version to bring back."""

    version: Annotated[int, msgspec.Meta(ge=1)]


async def restore_version(ctx: Context, id: UUID, body: VersionChoice, *, if_match: IfMatch | None = None) -> NoteReply:
    """Make an earlier text the newest version; `If-Match` refuses to overwrite a newer one."""
    return await permissions.show(ctx, await versions.restore_version(ctx, id, body.version, if_match))
