"""Space for bytes: what is counted, what lets go of it, and the trash that gives way when a write would not fit."""

from uuid import UUID

from atrium.engine.repository import blob_rows, trash_rows
from atrium.ground.audit import service as audit
from atrium.ground.quotas import service as quotas
from atrium.seams.context import Context
from atrium.seams.wiring import Keeper

STORAGE = "storage.bytes"
KEEPER = Keeper("files", blob_rows.count_kept)


async def let_go(ctx: Context, ids: list[UUID]) -> int:
    """Let go of objects the caller has locked and of their bytes; how many those were."""
    digests, counted = await trash_rows.list_bytes_of(ctx.db, ctx.who.org_id, ids)
    await trash_rows.delete_objects(ctx.db, ctx.who.org_id, ids)
    await blob_rows.insert_hints(ctx.db, ctx.who.org_id, sorted(digests))
    for team_id, size in counted.items():
        if size:
            await quotas.use_within(ctx, team_id, {STORAGE: -size})
    return sum(counted.values())


async def give_way(ctx: Context, team_id: UUID, lacking: int) -> bool:
    """Let go of the team's oldest trash where that makes so many bytes; False, and nothing goes, where it does not."""
    found = await trash_rows.claim_oldest(ctx.db, ctx.who.org_id, team_id, lacking)
    if sum(one.size for one in found) < lacking:
        return False
    size = await let_go(ctx, [one.id for one in found])
    await audit.record(ctx, "repository.gave_way", team_id, count=len(found), bytes=size)
    return True
