"""A rehearsal: what a trigger would do with versions that are there, without doing it."""

from uuid import UUID

from atrium.engine.repository import service as repository
from atrium.engine.repository.model import WrittenVersion
from atrium.engine.workflows import service as workflows
from atrium.engine.workflows.model import RunnableSpec
from atrium.product.triggers import fires, guard, inputs
from atrium.product.triggers.fire_rows import types_of
from atrium.product.triggers.guard import Descent
from atrium.product.triggers.model import FiredVersion, Reason, Rehearsal, RehearsedFire, TriggerDraft, TriggerState
from atrium.seams.context import Context

LOOKED_AT = 100


async def rehearse(
    ctx: Context, trigger_id: UUID, draft: TriggerDraft, found: RunnableSpec, object_id: UUID | None
) -> Rehearsal:
    """What the trigger would do with the newest versions that the caller can read, or with those of one object.

    It does not ask what their writers may do, nor how often they wrote.
    """
    looked_at = await repository.list_newest_versions(ctx, LOOKED_AT, object_id)
    armed = TriggerState(trigger_id, draft.workflow_slug, draft.input, draft.fire_on_derived, draft.enabled)
    against = await fires.reason_against_publisher(ctx, found, ctx.who.team_id)
    items = [await _rehearsed(ctx, armed, found, against, one) for one in looked_at if matches(draft, one)]
    return Rehearsal(len(looked_at), sum(item.would for item in items), items)


def matches(draft: TriggerDraft, written: WrittenVersion) -> bool:
    """Whether a version's key and type are what the trigger looks for."""
    types = draft.match_types or [""]
    key_matches = written.object.key.startswith(draft.match_prefix)
    return key_matches and any(one in types for one in types_of(written.version.content_type))


async def _rehearsed(
    ctx: Context, armed: TriggerState, found: RunnableSpec, against: Reason | None, written: WrittenVersion
) -> RehearsedFire:
    lineage = None if written.run_id is None else await workflows.read_lineage(ctx, written.run_id)
    descent = Descent(written.derived, lineage)
    reason = guard.reason_against(armed, descent, ctx.services.settings.trigger_depth) or against
    stored, version = written.object, written.version
    return RehearsedFire(
        object_id=stored.id,
        key=stored.key,
        version=FiredVersion(version.id, version.number),
        would=reason is None,
        reason=reason,
        input=inputs.bind_input(armed.input, found.spec, inputs.facts_of(stored, version)) if reason is None else None,
    )
