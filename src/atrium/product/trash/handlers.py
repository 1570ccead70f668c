"""The wire of the trash."""

from typing import Annotated
from uuid import UUID

import msgspec

from atrium.kit.web.pages import Cursor, Limit, Page
from atrium.product.trash import service
from atrium.product.trash.model import Kind, Restored, TrashItem
from atrium.seams.context import Context, Operation


async def list_trash(
    ctx: Context, *, kind: Kind | None = None, limit: Limit = 50, cursor: Cursor | None = None
) -> Page[TrashItem]:
    """What was deleted and can be restored: the caller's own, and what they manage of the team's."""
    return await service.list_trash(ctx, kind, limit, cursor)


class RestoreChoice(msgspec.Struct, forbid_unknown_fields=True):
    """Where to; an object whose key is taken comes back under another one."""

    key: Annotated[str, msgspec.Meta(min_length=1, max_length=1024)] | None = None


async def restore(ctx: Context, id: UUID, body: RestoreChoice) -> Restored:
    """Bring something back as it was: the same id, versions and shares."""
    return await service.restore(ctx, id, body.key)


class Purged(msgspec.Struct, frozen=True):
    """The id of what is gone for good."""

    id: UUID


async def purge(ctx: Context, id: UUID) -> Purged:
    """Take something out of the trash for good."""
    await service.purge(ctx, id)
    return Purged(id)


class Emptied(msgspec.Struct, frozen=True):
    """How much is gone for good."""

    purged: int


async def empty(op: Operation) -> Emptied:
    """Take what the caller deleted out of the trash for good."""
    return Emptied(await service.empty(op))
