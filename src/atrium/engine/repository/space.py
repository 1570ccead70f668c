"""Space for bytes: what is counted, what lets go of it, and the trash that gives way when a write would not fit."""

from uuid import UUID

from atrium.engine.repository import blob_rows, trash_rows
from atrium.ground.audit import service as audit
from atrium.ground.quotas import service as quotas
from atrium.ground.quotas.model import Admission, QuotaExceeded
from atrium.seams.context import Context

STORAGE = "storage.bytes"
# The company's limit and the team's: each may ask for more than the other.
_LIMITS = 2


async def admit_within(ctx: Context, team_id: UUID, size: int, *, lease: int = quotas.LEASE) -> Admission:
    """Reserve space in the caller's transaction; the team's oldest trash goes where that is enough, and stays where it is not."""
    for _ in range(_LIMITS):
        try:
            return await _admit(ctx, team_id, size, lease)
        except QuotaExceeded as refusal:
            if not await _give_way(ctx, team_id, _lacking(refusal, size)):
                raise
    return await _admit(ctx, team_id, size, lease)


async def let_go(ctx: Context, ids: list[UUID]) -> int:
    """Let go of objects the caller has locked and of their bytes; how many those were."""
    digests, counted = await trash_rows.list_bytes_of(ctx.db, ctx.who.org_id, ids)
    await trash_rows.delete_objects(ctx.db, ctx.who.org_id, ids)
    await blob_rows.insert_hints(ctx.db, ctx.who.org_id, sorted(digests))
    for team_id, size in counted.items():
        if size:
            await quotas.use_within(ctx, team_id, {STORAGE: -size})
    return sum(counted.values())


async def _admit(ctx: Context, team_id: UUID, size: int, lease: int) -> Admission:
    return await quotas.admit_within(ctx, ctx.who.org_id, team_id, {STORAGE: size}, lease=lease)


def _lacking(refusal: QuotaExceeded, size: int) -> int:
    """How many bytes too many; none where the limit is on how much is written in a time, which no trash gives back."""
    limit, used = refusal.facts["limit"], refusal.facts["used"]
    if refusal.facts["window"] != "total" or not isinstance(limit, int) or not isinstance(used, int):
        return 0
    return used + size - limit


async def _give_way(ctx: Context, team_id: UUID, lacking: int) -> bool:
    found = await trash_rows.claim_oldest(ctx.db, ctx.who.org_id, team_id, lacking) if lacking > 0 else []
    if sum(one.size for one in found) < max(lacking, 1):
        return False
    size = await let_go(ctx, [one.id for one in found])
    await audit.record(ctx, "repository.gave_way", team_id, count=len(found), bytes=size)
    return True
