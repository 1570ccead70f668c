"""The nouns of the trash."""

from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

from atrium.kit.errors import Invalid, Missing

Kind = Literal["note", "object"]


class TrashItem(msgspec.Struct, frozen=True):
    """Something that was deleted; it is gone for good at `purge_at`. A document is an object, and an object tells its key."""

    id: UUID
    kind: Kind
    title: str
    key: str | None
    size: int
    deleted_by: UUID
    deleted_at: datetime
    purge_at: datetime


class Restored(msgspec.Struct, frozen=True):
    """What is back under its id; an object says at which key."""

    id: UUID
    kind: Kind
    key: str | None = None


class TrashedMissing(Missing):
    """Not in the caller's trash."""

    code = "trash.missing"
    title = "Not in the trash"


class NoteWithoutKey(Invalid):
    """Only objects have keys."""

    code = "trash.no_key"
    title = "A note has no key"
