"""Which objects a caller may know of, and what they may do with one."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from atrium.engine.repository import overwriting_rows, store
from atrium.engine.repository.model import KIND, OBJECTS, ObjectMissing, ObjectReply, StoredObject
from atrium.ground.access.model import ReadersRefused
from atrium.ground.sharing import abilities, grants
from atrium.ground.sharing.model import Ability
from atrium.seams.context import Context, Operation, Principal
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
    if not abilities.is_private(found):
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


async def require(ctx: Context, target: StoredObject, ability: Ability) -> None:
    """Refuse what the caller, or anybody by whom they are bound, may not do with an object."""
    for each in ctx.each_bound((KIND, target.id)):
        abilities.require(each, OBJECTS, target, ability, await grants.list_levels(ctx, OBJECTS, target, each.who))
    if ability != "read":
        abilities.require_no_readers(ctx, target, shared=ability == "manage")


async def show(ctx: Context, target: StoredObject) -> ObjectReply:
    """An object as the caller is answered, with what they may do."""
    return _shown_to(ctx.who, target, await grants.list_levels(ctx, OBJECTS, target, ctx.who))


async def show_written(op: Operation, target: StoredObject) -> ObjectReply:
    """The same outside of a transaction."""
    if target.owner_id == op.who.user_id:
        return _shown_to(op.who, target, [])
    async with op.begin() as ctx:
        return await show(ctx, target)


def _shown_to(who: Principal, target: StoredObject, levels: Collection[str]) -> ObjectReply:
    shown = {name: getattr(target, name) for name in StoredObject.__struct_fields__}
    return ObjectReply(**shown, **abilities.offer(who, OBJECTS, target, levels))


OBJECT = Shareable(
    kind=KIND,
    family="files",
    table="objects",
    events=("repository.", "s3.presigned"),
    words=frozenset({"key", "before"}),
    list_names=list_names,
)
