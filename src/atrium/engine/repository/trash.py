"""Deleting objects and single versions, and bringing objects back; what a trash does is in `ground/sharing/trash`."""

from uuid import UUID

import msgspec

from atrium.engine.repository import blob_rows, permissions, space, store, writes
from atrium.engine.repository.model import (
    OBJECTS,
    Conditions,
    KeyTaken,
    StoredObject,
    Version,
    VersionMissing,
)
from atrium.engine.repository.object_keys import require_key
from atrium.ground.audit import service as audit
from atrium.ground.quotas import service as quotas
from atrium.ground.sharing import trash
from atrium.ground.sharing.announcements import announce_change
from atrium.ground.sharing.model import Trashed
from atrium.ground.sharing.trash import Trash
from atrium.seams.context import Context


async def delete_object(ctx: Context, id: UUID, if_match: str | None = None) -> StoredObject:
    """Put an object with all versions in the trash: one's own, one granted, or any of the team's when managing files."""
    target = await _deletable(ctx, id)
    writes.require_conditions(target, Conditions(if_match=if_match))
    await _delete(ctx, target, keep=True)
    return target


async def delete_version(ctx: Context, id: UUID, version_id: UUID, *, keep: bool) -> Version:
    """Take one version away for good, so that the one before it is current; with `keep` the last goes to the trash instead."""
    target = await _deletable(ctx, id)
    gone = await store.find_version(ctx.db, ctx.who.org_id, id, None, version_id)
    if gone is None:
        raise VersionMissing("this object has no such version")
    if await store.count_versions(ctx.db, ctx.who.org_id, id) == 1:
        await _delete(ctx, target, keep=keep)
        return gone
    await store.delete_version(ctx.db, ctx.who.org_id, id, version_id)
    if gone.sha256 is not None:
        await blob_rows.insert_hints(ctx.db, ctx.who.org_id, [bytes.fromhex(gone.sha256)])
        await quotas.use_within(ctx, target.team_id, {space.STORAGE: -gone.size})
    await audit.record(ctx, "repository.version_deleted", id, version=gone.number)
    await announce_change(ctx, OBJECTS, [id], "changed")
    return gone


async def restore_object(ctx: Context, id: UUID, key: str | None) -> Trashed | None:
    """Bring an object back as it was, to its key or another one; None when it is not in the caller's trash."""
    found = await trash.find_trashed(ctx, OBJECTS, id)
    if found is None:
        return None
    wanted = found.key if key is None else require_key(key)
    if not await trash.take_out(ctx, OBJECT_TRASH, id, wanted):
        raise KeyTaken("something is stored at this key by now; name another one as `key`", key=wanted)
    return msgspec.structs.replace(found, key=wanted)


async def _deletable(ctx: Context, id: UUID) -> StoredObject:
    target = await permissions.read_visible(ctx, id, lock=True)
    await permissions.require(ctx, target, "delete")
    return target


async def _delete(ctx: Context, target: StoredObject, *, keep: bool) -> None:
    gone = await trash.delete(ctx, OBJECT_TRASH, target.id, keep=keep)
    if gone is None:
        await audit.record(ctx, "repository.deleted", target.id)
    else:
        await audit.record(ctx, "repository.purged", target.id, **gone)


async def _let_go(ctx: Context, ids: list[UUID]) -> dict[str, int]:
    return {"bytes": await space.let_go(ctx, ids)}


OBJECT_TRASH = Trash(of=OBJECTS, events="repository", let_go=_let_go)
