"""Deleting notes without losing them: into the trash, out of it again, and away for good when their time has come."""

from datetime import datetime, timedelta
from itertools import groupby
from typing import Literal
from uuid import UUID

from atrium.ground.access import service as access
from atrium.ground.audit import service as audit
from atrium.ground.sharing.model import ThingsChanged
from atrium.product.notes import permissions, trash_rows
from atrium.product.notes.model import NOTES, Note, TrashedNote
from atrium.seams.context import Context, Operation, Services
from atrium.seams.sharing import HandedOver

# How much one transaction takes away: so many notes, and no more than so many of their versions.
_BATCH, _WEIGHT = 100, 2000
# How many times housekeeping looks again before it leaves the rest for the next time.
_ROUNDS = 100


async def delete_note(ctx: Context, id: UUID, if_match: str | None) -> None:
    """Put a note in the trash: one's own, one granted, or any team-visible one when managing notes."""
    note = await permissions.read_visible(ctx, id, lock=True)
    await permissions.require(ctx, note, "delete")
    permissions.require_current(note, if_match)
    await _delete(ctx, note)
    await audit.record(ctx, "notes.deleted", id)


async def list_trashed(ctx: Context, after: tuple[datetime, UUID] | None, limit: int) -> list[TrashedNote]:
    """What is in the caller's trash, deleted last first; nothing for a credential that could not delete it."""
    if not ctx.who.within_scope("notes:delete"):
        return []
    return await trash_rows.list_trashed(ctx.db, ctx.who, after, limit)


async def restore_note(ctx: Context, id: UUID) -> TrashedNote | None:
    """Bring a note back as it was, shares and versions included; None when it is not in the caller's trash."""
    note = await _held(ctx, id)
    if note is not None:
        await trash_rows.take_out(ctx.db, ctx.who.org_id, id)
        await audit.record(ctx, "notes.restored", id)
        await ctx.announce(ThingsChanged(NOTES, [id], "restored"))
    return note


async def purge_note(ctx: Context, id: UUID) -> TrashedNote | None:
    """Take a note away for good; None when it is not in the caller's trash."""
    note = await _held(ctx, id)
    if note is not None:
        await trash_rows.delete_notes(ctx.db, ctx.who.org_id, [id])
        await audit.record(ctx, "notes.purged", id)
    return note


async def empty_trash(op: Operation) -> int:
    """Take away for good what the caller deleted and still finds in their trash; how many notes."""
    purged = 0
    while op.who.within_scope("notes:delete"):
        async with op.begin() as ctx:
            found = await trash_rows.list_deleted_by(ctx.db, ctx.who, _BATCH)
            await trash_rows.delete_notes(ctx.db, ctx.who.org_id, [note.id for note in found])
            for note in found:
                await audit.record(ctx, "notes.purged", note.id)
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
        for org_id, notes in groupby(sorted(due, key=lambda note: note.org_id), key=lambda note: note.org_id):
            done += await _purge_of(services, org_id, [note.id for note in notes], age)
        if not done:
            break
        purged += done
    return purged


async def hand_over(ctx: Context, owner_id: UUID, to: UUID, private: Literal["trash", "transfer"]) -> HandedOver:
    """Hand a person's shared items over to another member; their private ones go along, or into their own trash."""
    moved = await trash_rows.hand_over(ctx.db, ctx.who.org_id, owner_id, to, private=private == "transfer")
    trashed = await trash_rows.put_all_in_trash(ctx.db, ctx.who.org_id, owner_id, ctx.who.user_id)
    await ctx.announce(ThingsChanged(NOTES, [*moved, *trashed], "handed over"))
    return HandedOver(len(moved), len(trashed))


async def _delete(ctx: Context, note: Note) -> None:
    if ctx.services.settings.trash_days:
        await trash_rows.put_in_trash(ctx.db, ctx.who.org_id, note.id, ctx.who.user_id)
    else:
        await trash_rows.delete_notes(ctx.db, ctx.who.org_id, [note.id])
    await ctx.announce(ThingsChanged(NOTES, [note.id], "deleted"))


async def _held(ctx: Context, id: UUID) -> TrashedNote | None:
    note = await trash_rows.find_trashed(ctx.db, ctx.who, id)
    if note is not None:
        # What the statement finds is the caller's to own or manage; only the credential's scope is left to check.
        access.note_checked(ctx, "notes:delete")
    return note


async def _purge_of(services: Services, org_id: UUID, ids: list[UUID], age: timedelta) -> int:
    async with services.database.begin(org_id) as db:
        due = await trash_rows.claim_due(db, org_id, ids, age, _WEIGHT)
        if due:
            await trash_rows.delete_notes(db, org_id, due)
            await audit.record(Context.of_company(services, db, org_id), "notes.expired", org_id, count=len(due))
    return len(due)
