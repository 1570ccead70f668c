"""Deleting things without losing them: into the trash, out of it again, and away for good when their time has come."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Literal
from uuid import UUID

from atrium.ground.access import service as access
from atrium.ground.audit import service as audit
from atrium.ground.sharing import trash_rows
from atrium.ground.sharing.announcements import announce_change
from atrium.ground.sharing.model import ThingTable, Trashed
from atrium.seams.context import Context, Operation, Services
from atrium.seams.sharing import HandedOver

# How much one transaction takes away: so many things, and no more than so many of their versions.
_BATCH, _WEIGHT = 100, 2000
# How many times housekeeping looks again before it leaves the rest for the next time.
_ROUNDS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Trash:
    """The trash of one kind of things.

    Audit events about them begin with `events`. `let_go` takes (context, ids of things that are locked), takes them away for good, and
    returns what the trail tells of it.
    """

    of: ThingTable
    events: str
    let_go: Callable[[Context, list[UUID]], Awaitable[dict[str, int]]]


async def delete(ctx: Context, trash: Trash, id: UUID, *, keep: bool = True) -> dict[str, int] | None:
    """Put a thing that the caller has locked in the trash: None; or, where nothing is kept, let it go: what the trail tells of it."""
    gone = None
    if keep and ctx.services.settings.trash_days:
        await trash_rows.put_in_trash(ctx.db, trash.of, ctx.who.org_id, id, ctx.who.user_id)
    else:
        gone = await trash.let_go(ctx, [id])
    await announce_change(ctx, trash.of, [id], "deleted")
    return gone


async def list_trashed(ctx: Context, of: ThingTable, after: tuple[datetime, UUID] | None, limit: int) -> list[Trashed]:
    """What is in the caller's trash, deleted last first; nothing for a credential that could not delete it."""
    if not ctx.who.within_scope(of.permission("delete")):
        return []
    return await trash_rows.list_trashed(ctx.db, of, ctx.who, after, limit)


async def find_trashed(ctx: Context, of: ThingTable, id: UUID) -> Trashed | None:
    """A thing in the caller's trash, locked; None when it is not there."""
    found = await trash_rows.find_trashed(ctx.db, of, ctx.who, id)
    if found is not None:
        # What the statement finds is the caller's to own or manage; only the credential's scope is left to check.
        access.note_checked(ctx, of.permission("delete"))
    return found


async def take_out(ctx: Context, trash: Trash, id: UUID, key: str | None = None) -> bool:
    """Bring a thing that was found back as it was, grants and versions included; False when its key is taken."""
    if not await trash_rows.take_out(ctx.db, trash.of, ctx.who.org_id, id, key):
        return False
    await audit.record(ctx, f"{trash.events}.restored", id)
    await announce_change(ctx, trash.of, [id], "restored")
    return True


async def purge(ctx: Context, trash: Trash, id: UUID) -> bool:
    """Take a thing away for good; False when it is not in the caller's trash."""
    if await find_trashed(ctx, trash.of, id) is None:
        return False
    await audit.record(ctx, f"{trash.events}.purged", id, **await trash.let_go(ctx, [id]))
    return True


async def empty(op: Operation, trash: Trash) -> int:
    """Take away for good what the caller deleted and still finds in their trash; how many things."""
    purged = 0
    while op.who.within_scope(trash.of.permission("delete")):
        async with op.begin() as ctx:
            found = await trash_rows.list_deleted_by(ctx.db, trash.of, ctx.who, _BATCH)
            await trash.let_go(ctx, found)
            for id in found:
                await audit.record(ctx, f"{trash.events}.purged", id)
        purged += len(found)
        if not found:
            break
    return purged


async def purge_due(services: Services, trash: Trash) -> int:
    """Take away what has been in the trash for as long as the settings keep it; several processes may do so at once."""
    age = services.settings.trash_age()
    purged = 0
    for _ in range(_ROUNDS):
        async with services.database.begin_system() as db:
            due = await trash_rows.list_due(db, trash.of, age, _BATCH)
        done = 0
        for org_id, found in groupby(sorted(due, key=lambda one: one.org_id), key=lambda one: one.org_id):
            done += await _purge_of(services, trash, org_id, [one.id for one in found], age)
        if not done:
            break
        purged += done
    return purged


async def hand_over(
    ctx: Context, of: ThingTable, owner_id: UUID, to: UUID, private: Literal["trash", "transfer"]
) -> HandedOver:
    """Hand a person's shared things over to another member; their private ones go along, or into their own trash."""
    moved = await trash_rows.hand_over(ctx.db, of, ctx.who.org_id, owner_id, to, private=private == "transfer")
    trashed = await trash_rows.put_all_in_trash(ctx.db, of, ctx.who.org_id, owner_id, ctx.who.user_id)
    await announce_change(ctx, of, [*moved, *trashed], "handed over")
    return HandedOver(len(moved), len(trashed))


async def _purge_of(services: Services, trash: Trash, org_id: UUID, ids: list[UUID], age: timedelta) -> int:
    async with services.database.begin(org_id) as db:
        due = await trash_rows.claim_due(db, trash.of, org_id, ids, age, _WEIGHT)
        if due:
            ctx = Context.of_company(services, db, org_id)
            told = await trash.let_go(ctx, due)
            await audit.record(ctx, f"{trash.events}.expired", org_id, count=len(due), **told)
    return len(due)
