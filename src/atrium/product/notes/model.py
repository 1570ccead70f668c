"""The nouns of notes, and what they announce."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec

from atrium.ground.sharing.model import Ability, GrantTable, PrincipalType, ThingTable
from atrium.kit.errors import Forbidden, Invalid, Missing, Stale

# What a note is called where several kinds of things meet.
KIND = "note"
Title = Annotated[str, msgspec.Meta(min_length=1, max_length=300, pattern=r"\S")]
Body = Annotated[str, msgspec.Meta(max_length=500_000)]
VersionName = Annotated[str, msgspec.Meta(min_length=1, max_length=100, pattern=r"\S")]
Visibility = Literal["private", "team"]
Permission = Literal["notes:read", "notes:write", "notes:delete", "notes:manage"]
NOTES = ThingTable(
    kind=KIND,
    table="notes",
    family="notes",
    grants=GrantTable(
        name="note_grants",
        thing="note_id",
        principal="user_id",
        level="permission",
        gives={
            "notes:read": frozenset({"read"}),
            "notes:write": frozenset({"read", "write"}),
            "notes:delete": frozenset({"read", "delete"}),
            "notes:manage": frozenset({"read", "write", "delete", "manage"}),
        },
        order=("created_at", "user_id"),
    ),
    title="{t}.title",
    size="octet_length({t}.body)",
    weight="{t}.version",
    on_hand_over="updated_by = coalesce({t}.updated_by, {t}.owner_id)",
)


class Note(msgspec.Struct, frozen=True, gc=False):
    """A note as its readers see it."""

    id: UUID
    team_id: UUID
    owner_id: UUID
    title: str
    body: str
    visibility: Visibility
    version: int
    created_at: datetime
    updated_at: datetime
    updated_by: UUID

    def etag(self) -> str:
        """Changes with every edit."""
        return f'"{self.version}"'


class FoundNote(Note, frozen=True, gc=False):
    """A note as one caller finds it, with the levels at which it was granted to them."""

    held: list[str]


class NoteReply(Note, frozen=True):
    """A note, and what the caller may do with it: `share_with`, `levels` and `expires` say what a share can be."""

    abilities: list[Ability]
    share_with: list[PrincipalType]
    levels: list[Permission]
    expires: bool

    def etag(self) -> str:
        """Changes with every edit, and with what the caller may do."""
        return NOTES.tag(str(self.version), self.abilities)


class NoteGrant(msgspec.Struct, frozen=True):
    """What one person may do with a note; `permission` is null once withdrawn."""

    note_id: UUID
    user_id: UUID
    permission: Permission | None
    granted_by: UUID


class NoteShare(msgspec.Struct, frozen=True):
    """A person a note is shared with, and how far."""

    user_id: UUID
    username: str
    display_name: str
    permission: Permission
    granted_by: UUID
    created_at: datetime


class NoteVersion(msgspec.Struct, frozen=True):
    """One save of a note; `size` and `sha256` are of its text in UTF-8, `name` is what a person called it."""

    number: int
    title: str
    size: int
    sha256: str
    created_by: UUID
    created_at: datetime
    name: str | None


class NoteText(NoteVersion, frozen=True):
    """One save of a note with its text."""

    body: str


class NoteSaved(msgspec.Struct, frozen=True):
    """Announced inside the transaction that wrote a note, new or changed."""

    note: Note


class NoteMissing(Missing):
    """Absent, or not visible to the caller."""

    code = "notes.missing"
    title = "No such note"


class NoteVersionMissing(Missing):
    """The note has no such version."""

    code = "notes.version_missing"
    title = "No such version"


class NoteStale(Stale):
    """A newer version was saved first."""

    code = "notes.stale"
    title = "This note was changed in the meantime"


class NotSharable(Invalid):
    """The person cannot be given a share."""

    code = "notes.not_sharable"
    title = "Cannot be shared with this person"


class NotesScopeRefused(Forbidden):
    """Looking across the company needs a role in the company."""

    code = "notes.org_scope"
    title = "Company-wide reading needs a company role"
