"""Jobs owned by something else, such as a turn: that pays for them, streams their output and ends them."""

from datetime import timedelta
from uuid import UUID

import msgspec

from atrium.engine.jobs import child_rows, queue_rows, store
from atrium.engine.jobs.model import Claim, JobPart, NewJob, StaleClaim, WordsMissing, pool_of
from atrium.engine.jobs.settlement import follow
from atrium.kit.ids import new_id
from atrium.kit.postgres.database import Transaction
from atrium.seams.context import Context, Services
from atrium.seams.jobs import JobPlacement

# A person waits for it: before the team's other jobs.
_PRIORITY = 50
# Of one worker that has gone silent; it says something new more often than that.
_LEASE = timedelta(seconds=20)
# Longer than anything waits for a part, so that what is left was left by a process that died.
_LEFT, _ENDED = timedelta(hours=1), timedelta(minutes=1)
_AT_ONCE = 500
topic_of = child_rows.topic_of


async def enqueue(ctx: Context, kind: str, given: msgspec.Struct, place: JobPlacement, whole: UUID) -> UUID:
    """Queue a job as part of something, tried once: a worker that has begun to speak is not followed by another."""
    draft = NewJob(
        id=new_id(),
        kind=kind,
        model=place.model,
        pool=pool_of(kind, str(place.worker) if place.worker else None),
        priority=_PRIORITY,
        max_attempts=1,
        lease=_LEASE,
        run_at=None,
        input=msgspec.to_builtins(given),
        listed=False,
        part_of=whole,
    )
    await store.insert_jobs(ctx.db, ctx.who, [draft])
    return draft.id


async def read(ctx: Context, id: UUID, after: int) -> tuple[JobPart | None, str]:
    """Where a part stands, None when it was dropped, and what was said after a position."""
    # The end first: what was said before it is then there as well.
    found = await child_rows.find_part(ctx.db, ctx.who.org_id, id)
    return found, await child_rows.read_words(ctx.db, ctx.who.org_id, id, after)


async def hear(services: Services, claim: Claim, at: int, text: str) -> None:
    """Keep what a worker says from a position on; what was heard before is ignored."""
    async with services.database.begin(claim.org_id) as db:
        await _hear_within(db, claim, at, text)


async def _hear_within(db: Transaction, claim: Claim, at: int, text: str) -> None:
    found = await child_rows.hold_hearing(db, claim.org_id, claim)
    if found is None:
        raise StaleClaim("this claim is no longer held")
    if at > found.heard:
        raise WordsMissing(f"only the first {found.heard} characters of it were heard so far", heard=found.heard)
    new = text[found.heard - at :]
    if new:
        await child_rows.note_heard(db, claim.org_id, claim, found.heard + len(new))
        if found.wanted:
            await child_rows.insert_words(db, claim.org_id, claim.id, found.heard, new)


async def end(ctx: Context, whole: UUID) -> None:
    """Nothing waits for the part any more: cancelled, or its worker is told so; what it was about is deleted."""
    org_id = ctx.who.org_id
    cancelled = await child_rows.cancel_waiting_part(ctx.db, org_id, whole)
    if cancelled is not None:
        await follow(ctx.services, ctx.db, org_id, [cancelled], {cancelled.id: {}})
    await child_rows.empty_part(ctx.db, org_id, whole)


async def forget(services: Services) -> None:
    """Drop parts that have ended, and end those that a process left behind when it died."""
    async with services.database.begin_system() as db:
        await queue_rows.forget_parts(db, _ENDED)
        left = await queue_rows.list_left_parts(db, _LEFT, _AT_ONCE)
    for org_id, whole in left:
        async with services.database.begin(org_id) as db:
            await end(Context.of_company(services, db, org_id), whole)
