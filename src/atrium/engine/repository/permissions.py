"""Who may do what with an object: the one place where visibility, grants and roles meet."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from atrium.engine.repository import overwriting_rows, store
from atrium.engine.repository.model import KIND, PERMISSIONS, ObjectMissing, StoredObject
from atrium.ground.access import service as access
from atrium.ground.access.model import ReadersRefused
from atrium.seams.context import Context, Principal
from atrium.seams.sharing import Shareable, ThingName, hand_out, list_own


def reader_of(who: Principal) -> dict[str, Any]:
    """The values by which a statement of another domain asks PostgreSQL's `readable_objects` for what a person may know of."""
    return store.reader(who)


async def read_visible(ctx: Context, id: UUID, *, lock: bool = False) -> StoredObject:
    """The object, when the caller may know of it."""
    found = await store.find_object(ctx.db, ctx.who, id, lock=lock)
    if found is None or not await hand_out(ctx, KIND, [id]):
        raise ObjectMissing("there is no such object, or it is not shared with you")
    return found


async def admit_overwriting(ctx: Context, found: StoredObject) -> bool:
    """Whether the caller may know of what is at a key, so that they may write over it.

    What earlier runs made from the own objects of the caller's run, for its writer alone, is the run's own from then on.
    """
    if await store.find_object(ctx.db, ctx.who, found.id) is None:
        return False
    if await hand_out(ctx, KIND, [found.id]):
        return True
    if ctx.bound is None or found.owner_id != ctx.who.user_id or not await _is_made_from_own(ctx, found.id):
        return False
    if found.visibility != "private":
        raise ReadersRefused("others can read what is stored at this key, and not everybody who set up this run can")
    ctx.bound.own.add((KIND, found.id))
    return True


async def _is_made_from_own(ctx: Context, id: UUID) -> bool:
    """Whether the newest version with content was made from an object that is the own of the caller's run."""
    sources = await overwriting_rows.list_sources(ctx.db, ctx.who.org_id, id)
    return bool(await list_own(ctx, {(KIND, source) for source in sources}))


async def list_visible(ctx: Context, ids: Collection[UUID]) -> set[UUID]:
    """Those of these objects that the caller may know of."""
    return set(await store.list_names(ctx.db, ctx.who, list(ids), trashed=False))


async def list_names(ctx: Context, ids: list[UUID], trashed: bool) -> dict[UUID, ThingName]:
    """What those of these objects are called that the caller may know of; none for a token that reads no files."""
    return await store.list_names(ctx.db, ctx.who, ids, trashed=trashed) if ctx.who.within_scope("files:read") else {}


async def granted(ctx: Context, target: StoredObject) -> frozenset[str]:
    """The permissions that live grants give the caller on this object."""
    who = ctx.who
    principals = [who.user_id, who.team_id, who.org_id]
    held = await store.list_capabilities(ctx.db, who.org_id, target.id, principals)
    return frozenset(permission for capability in held for permission in PERMISSIONS[capability])


async def require(ctx: Context, target: StoredObject, permission: str, *, by_role: bool = True) -> None:
    """Refuse unless the caller owns it, was granted the permission, or holds it by a role in the object's team.

    The same holds for everybody by whom the caller is bound.
    """
    for each in ctx.each_bound((KIND, target.id)):
        given = frozenset[str]() if target.owner_id == each.who.user_id else await granted(each, target)
        access.require_shared(each, target, permission, given, by_role=by_role)
    if permission != "files:read":
        access.require_no_readers(ctx, target, shared=permission == "files:manage")


async def list_permissions(ctx: Context, target: StoredObject) -> list[str]:
    """Everything the caller may do with the object."""
    who, every = ctx.who, frozenset(PERMISSIONS["manage"])
    if target.owner_id == who.user_id:
        return sorted(permission for permission in every if who.within_scope(permission))
    held = await granted(ctx, target) | (who.permissions & every if access.counts_role(ctx, target) else frozenset())
    if "files:manage" not in held and "files:delete" in held:
        # Deleting by role alone is for one's own; another's needs the permission to manage.
        held -= {"files:delete"}
    return sorted(permission for permission in held | {"files:read"} if who.within_scope(permission))


OBJECT = Shareable(
    kind=KIND,
    family="files",
    table="objects",
    events=("repository.", "s3.presigned"),
    words=frozenset({"key", "before"}),
    list_names=list_names,
)
