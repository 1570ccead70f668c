"""Letting others in: grants on any kind of thing, and who sees it besides. Who may do that, its domain has asked before."""

from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID

from atrium.ground.sharing import abilities, store
from atrium.ground.sharing.abilities import Thing
from atrium.ground.sharing.announcements import announce_change
from atrium.ground.sharing.model import Grant, Grantee, ThingTable
from atrium.seams.context import Context, Principal, Services


async def give(
    ctx: Context, of: ThingTable, thing: Thing, to: Grantee, level: str, expires_at: datetime | None = None
) -> None:
    """Let a principal in, or change how far; where a kind of thing can be `shared`, a private one becomes that."""
    await store.put_grant(ctx.db, of, ctx.who, thing, to, level, expires_at)
    await _follow(ctx, of, thing.id, "shared" if abilities.is_private(thing) else thing.visibility)


async def withdraw(ctx: Context, of: ThingTable, thing: Thing, principal_id: UUID) -> int:
    """End every grant that a principal holds on a thing; how many those were."""
    ended = await store.delete_grants(ctx.db, of, ctx.who.org_id, thing.id, principal_id)
    if ended:
        await _follow(ctx, of, thing.id, thing.visibility)
    return ended


async def _follow(ctx: Context, of: ThingTable, id: UUID, visibility: str) -> None:
    if of.grants.opens:
        await store.set_visibility(ctx.db, of, ctx.who.org_id, id, visibility)
    await announce_change(ctx, of, [id], "shared")


async def withdraw_all(ctx: Context, of: ThingTable, id: UUID) -> int:
    """End every grant on a thing that becomes private; how many those were. Who calls this announces the change."""
    return await store.delete_grants(ctx.db, of, ctx.who.org_id, id)


async def end_grants_to(ctx: Context, of: ThingTable, person_id: UUID) -> None:
    """Withdraw everything that was shared with a person of the caller's company."""
    await announce_change(ctx, of, await store.delete_grants_to(ctx.db, of, ctx.who.org_id, person_id), "shared")


async def set_visibility(ctx: Context, of: ThingTable, thing: Thing, visibility: str) -> int | None:
    """Who sees a thing besides its owner; private ends every grant. How many those were, None when nothing changed."""
    ended = await withdraw_all(ctx, of, thing.id) if visibility == "private" else 0
    if visibility == thing.visibility and not ended:
        return None
    await store.set_visibility(ctx.db, of, ctx.who.org_id, thing.id, visibility)
    await announce_change(ctx, of, [thing.id], "visibility")
    return ended


async def find_grant(ctx: Context, of: ThingTable, id: UUID, principal_id: UUID) -> Grant | None:
    """What a principal was granted on a thing."""
    return await store.find_grant(ctx.db, of, ctx.who.org_id, id, principal_id)


async def list_grants(ctx: Context, of: ThingTable, id: UUID, after: tuple[Any, ...] | None, limit: int) -> list[Grant]:
    """Who was let in, one entry for each principal, in the order of its `GrantTable`."""
    return await store.list_grants(ctx.db, of, ctx.who.org_id, id, after, limit)


async def is_granted(ctx: Context, of: ThingTable, id: UUID) -> bool:
    """Whether anybody was let in."""
    return await store.has_grants(ctx.db, of, ctx.who.org_id, id)


async def list_levels(ctx: Context, of: ThingTable, thing: Thing, who: Principal) -> list[str]:
    """The levels of the live grants that a person holds on a thing; an owner needs none."""
    if thing.owner_id == who.user_id:
        return []
    principals = [getattr(who, name) for name in of.grants.principals]
    return await store.list_levels(ctx.db, of, who.org_id, thing.id, principals)


async def list_ended(services: Services, of: ThingTable, since: datetime) -> list[tuple[UUID, UUID]]:
    """Company and thing of grants whose time has come since then, in every company."""
    async with services.database.begin_system() as db:
        return await store.list_ended(db, of, since)


async def forget_grants(services: Services, of: ThingTable) -> int:
    """Drop grants that ended a month ago; how many."""
    async with services.database.begin_system() as db:
        ended = await store.forget_grants(db, of)
    for org_id, found in groupby(sorted(ended), key=lambda one: one[0]):
        async with services.database.begin(org_id) as db:
            await announce_change(Context.of_company(services, db, org_id), of, [id for _, id in found], "shared")
    return len(ended)
