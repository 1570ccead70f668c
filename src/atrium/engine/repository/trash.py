"""Deleting objects without losing them: into the trash, out of it again, and away for good when their time has come."""

from datetime import datetime, timedelta
from itertools import groupby
from typing import Literal
from uuid import UUID

import msgspec

from atrium.engine.repository import blob_rows, permissions, space, store, trash_rows, writes
from atrium.engine.repository.model import (
    OBJECTS,
    Conditions,
    KeyTaken,
    StoredObject,
    TrashedObject,
    Version,
    VersionMissing,
)
from atrium.engine.repository.object_keys import require_key
from atrium.ground.access import service as access
from atrium.ground.audit import service as audit
from atrium.ground.quotas import service as quotas
from atrium.ground.sharing.model import ThingsChanged
from atrium.seams.context import Context, Operation, Services
from atrium.seams.sharing import HandedOver

# How much one transaction takes away: so many objects, and no more than so many of their versions.
_BATCH, _WEIGHT = 100, 2000
# How many times housekeeping looks again before it leaves the rest for the next time.
_ROUNDS = 100


async def delete_object(ctx: Context, id: UUID, if_match: str | None = None) -> StoredObject:
    """Put an object with all versions in the trash: one's own, one granted, or any of the team's when managing files."""
    target = await _deletable(ctx, id)
    writes.require_conditions(target, Conditions(if_match=if_match))
    await _delete(ctx, target, keep=bool(ctx.services.settings.trash_days))
    return target


async def delete_version(ctx: Context, id: UUID, version_id: UUID, *, keep: bool) -> Version:
    """Take one version away for good, so that the one before it is current; with `keep` the last goes to the trash instead."""
    target = await _deletable(ctx, id)
    gone = await store.find_version(ctx.db, ctx.who.org_id, id, None, version_id)
    if gone is None:
        raise VersionMissing("this object has no such version")
    if await store.count_versions(ctx.db, ctx.who.org_id, id) == 1:
        await _delete(ctx, target, keep=keep and bool(ctx.services.settings.trash_days))
        return gone
    await store.delete_version(ctx.db, ctx.who.org_id, id, version_id)
    if gone.sha256 is not None:
        await blob_rows.insert_hints(ctx.db, ctx.who.org_id, [bytes.fromhex(gone.sha256)])
        await quotas.use_within(ctx, target.team_id, {space.STORAGE: -gone.size})
    await audit.record(ctx, "repository.version_deleted", id, version=gone.number)
    await ctx.announce(ThingsChanged(OBJECTS, [id], "changed"))
    return gone


async def list_trashed(ctx: Context, after: tuple[datetime, UUID] | None, limit: int) -> list[TrashedObject]:
    """What is in the caller's trash, deleted last first; nothing for a credential that could not delete it."""
    if not ctx.who.within_scope("files:delete"):
        return []
    return await trash_rows.list_trashed(ctx.db, ctx.who, after, limit)


async def restore_object(ctx: Context, id: UUID, key: str | None) -> TrashedObject | None:
    """Bring an object back as it was, to its key or another one; None when it is not in the caller's trash."""
    found = await _held(ctx, id)
    if found is None:
        return None
    wanted = found.key if key is None else require_key(key)
    if not await trash_rows.take_out(ctx.db, ctx.who.org_id, id, wanted):
        raise KeyTaken("something is stored at this key by now; name another one as `key`", key=wanted)
    await audit.record(ctx, "repository.restored", id)
    await ctx.announce(ThingsChanged(OBJECTS, [id], "restored"))
    return msgspec.structs.replace(found, key=wanted)


async def purge_object(ctx: Context, id: UUID) -> TrashedObject | None:
    """Take an object away for good; None when it is not in the caller's trash."""
    found = await _held(ctx, id)
    if found is not None:
        size = await space.let_go(ctx, [id])
        await audit.record(ctx, "repository.purged", id, bytes=size)
    return found


async def empty_trash(op: Operation) -> int:
    """Take away for good what the caller deleted and still finds in their trash; how many objects."""
    purged = 0
    while op.who.within_scope("files:delete"):
        async with op.begin() as ctx:
            found = await trash_rows.list_deleted_by(ctx.db, ctx.who, _BATCH)
            await space.let_go(ctx, [one.id for one in found])
            for one in found:
                await audit.record(ctx, "repository.purged", one.id)
        purged += len(found)
        if not found:
            break
    return purged


async def purge_due(services: Services) -> int:
    """Take away what has been in the trash for as long as the settings keep it; several processes may do so at once."""
    age = services.settings.trash_age()
    purged = 0
    for _ in range(_ROUNDS):
        async with services.database.begin_system() as db:
            due = await trash_rows.list_due(db, age, _BATCH)
        done = 0
        for org_id, found in groupby(sorted(due, key=lambda one: one.org_id), key=lambda one: one.org_id):
            done += await _purge_of(services, org_id, [one.id for one in found], age)
        if not done:
            break
        purged += done
    return purged


async def hand_over(ctx: Context, owner_id: UUID, to: UUID, private: Literal["trash", "transfer"]) -> HandedOver:
    """Hand a person's shared items over to another member; their private ones go along, or into their own trash."""
    moved = await trash_rows.hand_over(ctx.db, ctx.who.org_id, owner_id, to, private=private == "transfer")
    trashed = await trash_rows.put_all_in_trash(ctx.db, ctx.who.org_id, owner_id, ctx.who.user_id)
    await ctx.announce(ThingsChanged(OBJECTS, [*moved, *trashed], "handed over"))
    return HandedOver(len(moved), len(trashed))


async def _deletable(ctx: Context, id: UUID) -> StoredObject:
    target = await permissions.read_visible(ctx, id, lock=True)
    await permissions.require(ctx, target, "delete")
    return target


async def _delete(ctx: Context, target: StoredObject, *, keep: bool) -> None:
    if keep:
        await trash_rows.put_in_trash(ctx.db, ctx.who.org_id, target.id, ctx.who.user_id)
        await audit.record(ctx, "repository.deleted", target.id)
    else:
        size = await space.let_go(ctx, [target.id])
        await audit.record(ctx, "repository.purged", target.id, bytes=size)
    await ctx.announce(ThingsChanged(OBJECTS, [target.id], "deleted"))


async def _held(ctx: Context, id: UUID) -> TrashedObject | None:
    found = await trash_rows.find_trashed(ctx.db, ctx.who, id)
    if found is not None:
        # What the statement finds is the caller's to own or manage; only the credential's scope is left to check.
        access.note_checked(ctx, "files:delete")
    return found


async def _purge_of(services: Services, org_id: UUID, ids: list[UUID], age: timedelta) -> int:
    async with services.database.begin(org_id) as db:
        due = await trash_rows.claim_due(db, org_id, ids, age, _WEIGHT)
        if due:
            ctx = Context.of_company(services, db, org_id)
            size = await space.let_go(ctx, due)
            await audit.record(ctx, "repository.expired", org_id, count=len(due), bytes=size)
    return len(due)
