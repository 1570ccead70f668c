"""Moves: an object gets another key, alone or with its folder; its id, versions, grants and provenance stay."""

from uuid import UUID

from atrium.engine.repository import moving_rows, permissions, writes
from atrium.engine.repository.model import OBJECTS, Conditions, KeyTaken, ObjectMissing, StoredObject
from atrium.engine.repository.object_keys import BadKey, name_in, require_key, require_plain
from atrium.ground.access import service as access
from atrium.ground.access.model import NotPermitted
from atrium.ground.audit import service as audit
from atrium.ground.sharing.announcements import announce_change
from atrium.kit.errors import TooLarge
from atrium.seams.context import Context

MOST = 10_000


async def move_object(ctx: Context, id: UUID, key: str, if_match: str | None = None) -> StoredObject:
    """Give an object the caller may edit another key of its team; with `if_match` only as the caller has seen it."""
    require_plain(require_key(key))
    target = await permissions.read_visible(ctx, id, lock=True)
    await permissions.require(ctx, target, "write")
    if target.version.deleted:
        raise ObjectMissing("this object was deleted; its earlier versions are still there")
    writes.require_conditions(target, Conditions(if_match=if_match))
    if key == target.key:
        return target
    if not await moving_rows.move_object(ctx.db, ctx.who.org_id, id, key):
        raise KeyTaken("something is stored at this key; choose another one", key=key)
    if name_in(key) != name_in(target.key):
        await moving_rows.rename_versions(ctx.db, ctx.who.org_id, id, name_in(target.key), name_in(key))
    await audit.record(ctx, "repository.moved", id)
    await announce_change(ctx, OBJECTS, [id], "moved")
    return await permissions.read_visible(ctx, id)


async def move_into(ctx: Context, id: UUID, folder: str) -> StoredObject:
    """Put an object into a folder under the name it has."""
    target = await permissions.read_visible(ctx, id)
    return await move_object(ctx, id, folder + target.key.rpartition("/")[2])


async def move_folder(ctx: Context, before: str, after: str) -> list[UUID]:
    """Move what the caller can read of a folder of their team, all of it or nothing; which objects those were."""
    require_plain(require_key(after))
    if after.startswith(before):
        raise BadKey("a folder cannot be moved into itself")
    access.note_checked(ctx, "files:write")
    held = await moving_rows.hold_folder(ctx.db, ctx.who, before, MOST + 1)
    _require_movable(held)
    ids, keys = [one.id for one in held], [require_key(after + one.key[len(before) :]) for one in held]
    if before.startswith(after):
        # On the way up, one of these may get the key that another has until its own turn.
        await moving_rows.step_aside(ctx.db, ctx.who.org_id, ids)
    if not await moving_rows.move_objects(ctx.db, ctx.who.org_id, ids, keys):
        taken = await moving_rows.find_taken(ctx.db, ctx.who.org_id, ctx.who.team_id, ids, keys)
        raise KeyTaken("something is stored at one of the new keys; nothing was moved", key=taken)
    await audit.record(ctx, "repository.folder_moved", ctx.who.team_id, count=len(ids))
    await announce_change(ctx, OBJECTS, ids, "moved")
    return ids


def _require_movable(held: list[moving_rows.Held]) -> None:
    if not held:
        raise ObjectMissing("there is nothing in this folder that you can see")
    if len(held) > MOST:
        raise TooLarge(f"at most {MOST} objects are moved at once; move the folders in it one by one", limit=MOST)
    if not all(one.writable for one in held):
        raise NotPermitted("you may not move everything in this folder; nothing was moved", permission="files:write")
