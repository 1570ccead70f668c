"""Merging two entities, and undoing a merge."""

from uuid import UUID

from atrium.engine.repository import permissions
from atrium.ground.access import service as access
from atrium.ground.audit import service as audit
from atrium.product.knowledge import entity_rows, store
from atrium.product.knowledge.model import MergedAlready, MergeMissing, NotMergeable
from atrium.seams.context import Context


async def merge(ctx: Context, id: UUID, keep: UUID, drop: UUID) -> UUID:
    """Let one entity count as another from now on, also in documents that are read later; the same id twice merges once."""
    access.require(ctx, "files:manage")
    await store.lock_team(ctx.db, ctx.who.team_id)
    if await store.find_merge(ctx.db, ctx.who, id) is not None:
        return id
    kept, dropped = await _head(ctx, keep), await _head(ctx, drop)
    if kept == dropped:
        raise MergedAlready("these are one entity already")
    await _require_readable(ctx, kept)
    await _require_readable(ctx, dropped)
    await store.insert_merge(ctx.db, ctx.who, id, kept, dropped)
    await audit.record(ctx, "knowledge.merged", id, keep=str(kept), drop=str(dropped))
    return id


async def unmerge(ctx: Context, id: UUID, *, again: bool = False) -> None:
    """Undo a merge; what was merged before and after stays merged. `again` when an earlier attempt may have done it."""
    access.require(ctx, "files:manage")
    await store.lock_team(ctx.db, ctx.who.team_id)
    found = await store.find_merge(ctx.db, ctx.who, id)
    if found is None and again:
        return
    if found is None:
        raise MergeMissing("there is no such merge in your team, or it was undone")
    await _require_readable(ctx, found.head_id)
    await store.delete_merge(ctx.db, ctx.who, found)
    await audit.record(ctx, "knowledge.unmerged", id, keep=str(found.keep_id), drop=str(found.drop_id))


async def _head(ctx: Context, id: UUID) -> UUID:
    return await store.find_head(ctx.db, ctx.who.org_id, id) or id


async def _require_readable(ctx: Context, head: UUID) -> None:
    """Refuse unless the entity is of the caller's team, and every document that mentions it can be read by the caller."""
    reader, members = permissions.reader_of(ctx.who), await store.list_members(ctx.db, ctx.who.org_id, [head])
    of_team = await entity_rows.list_teams(ctx.db, reader, members) == {ctx.who.team_id}
    if not of_team or await entity_rows.has_unreadable(ctx.db, reader, members):
        # One sentence for both: that a colleague's private document names it is not the caller's to know.
        raise NotMergeable(
            "one of these is not an entity that you can merge: of your team's documents, and yours to read in all of them"
        )
