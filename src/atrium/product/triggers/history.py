"""What became of versions that matched: as much of it as a reader may see."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from atrium.engine.repository import service as repository
from atrium.engine.workflows import definitions
from atrium.engine.workflows import service as workflows
from atrium.kit.web.pages import Page, Pager
from atrium.product.triggers import fire_rows
from atrium.product.triggers.model import Fire, StoredTrigger, Trigger
from atrium.seams.context import Context, Operation

_AT_ONCE = 1000


async def list_fires(ctx: Context, trigger_id: UUID, limit: int, cursor: str | None) -> Page[Fire]:
    """A trigger's history, newest first."""
    pager = Pager(ctx.services.keys, "trigger fires", ctx.who.user_id, trigger_id)
    found = await fire_rows.list_fires(ctx.db, ctx.who.org_id, trigger_id, pager.read(cursor, UUID), limit + 1)
    return pager.page(await _shown(ctx, found), limit, lambda fire: fire.id)


async def is_long(ctx: Context, trigger_id: UUID) -> bool:
    """Whether a trigger's history is too long for one statement."""
    return await fire_rows.is_longer(ctx.db, ctx.who.org_id, trigger_id, _AT_ONCE)


async def delete_fires(op: Operation, trigger_id: UUID) -> None:
    """Delete the history of a trigger that the caller is about to delete, a part in each transaction."""
    deleted = _AT_ONCE
    while deleted == _AT_ONCE:
        async with op.begin_system() as ctx:
            await fire_rows.lock_history(ctx.db, trigger_id)
            deleted = await fire_rows.delete_fires(ctx.db, trigger_id, _AT_ONCE)


async def with_counts(ctx: Context, triggers: Sequence[StoredTrigger]) -> list[Trigger]:
    """The same with what happened last, and how often within a day."""
    ids, org_id = [trigger.id for trigger in triggers], ctx.who.org_id
    slugs = {trigger.workflow_slug for trigger in triggers if trigger.egress_digest is not None}
    digests = {slug: await definitions.find_digest(ctx, slug) for slug in sorted(slugs)}
    last = await fire_rows.list_last_fires(ctx.db, org_id, ids)
    shown = {fire.id: fire for fire in await _shown(ctx, list(last.values()))}
    counts = await fire_rows.count_fires(ctx.db, org_id, ids)
    return [
        Trigger(
            **{name: getattr(trigger, name) for name in StoredTrigger.__struct_fields__},
            last_fire=shown[last[trigger.id].id] if trigger.id in last else None,
            allow_egress=trigger.egress_digest is not None and trigger.egress_digest == digests[trigger.workflow_slug],
            fired_24h=counts[trigger.id][0],
            skipped_24h=counts[trigger.id][1],
        )
        for trigger in triggers
    ]


async def _shown(ctx: Context, fires: Sequence[Fire]) -> list[Fire]:
    """With how their runs stand, with the keys of the objects that the caller can read, and without the ids of the others."""
    standings = await workflows.list_standings(ctx, {fire.run_id for fire in fires if fire.run_id is not None})
    keys = await repository.list_keys(ctx, {fire.object_id for fire in fires if fire.object_id is not None})
    return [
        msgspec.structs.replace(
            fire,
            object_id=fire.object_id if fire.object_id in keys else None,
            key=keys.get(fire.object_id) if fire.object_id else None,
            standing=standings.get(fire.run_id) if fire.run_id else None,
        )
        for fire in fires
    ]
