"""Firing: a version that was just written starts the workflows of the triggers it matches, or leaves a reason why not.

The version never fails because of a trigger: each starts its run in a part of the transaction that can be undone.
"""

from uuid import UUID

from atrium.engine.repository.model import ObjectWritten
from atrium.engine.workflows import definitions
from atrium.engine.workflows import service as workflows
from atrium.engine.workflows.model import Lineage, WorkflowMissing
from atrium.kit.database import refusal_of
from atrium.kit.errors import AppError, Conflict, Kind
from atrium.kit.log import log
from atrium.product.triggers import fire_rows, guard, inputs
from atrium.product.triggers.fire_rows import Matched
from atrium.product.triggers.guard import Descent
from atrium.product.triggers.model import Armed, Reason
from atrium.seams.context import Context

_ATTEMPTS = 3
# More than these in one transaction would keep other uploads of the company waiting.
MOST_AT_ONCE = 100
# What a refused start is noted as; any other refusal is a defect of ours, and logged.
_REASONS: dict[Kind, Reason] = {
    Kind.INVALID: "bad_input",
    Kind.TOO_LARGE: "bad_input",
    Kind.EXHAUSTED: "too_many",
    Kind.FORBIDDEN: "no_permission",
    Kind.SUSPENDED: "suspended",
}


class _NotNoted(Exception):
    """The trigger was deleted at this moment, or the version has fired it already: no run is started."""


async def fire(ctx: Context, event: ObjectWritten) -> None:
    """Start what the version starts, as who wrote it, in the transaction that writes it."""
    matched = matched_by(event)
    armed = await fire_rows.list_matching(ctx.db, ctx.who.org_id, matched)
    if not armed:
        return
    descent = Descent(event.derived, await _lineage_of(ctx, event.run_id))
    skipped: list[tuple[UUID, UUID | None, Reason | None]] = []
    for number, trigger in enumerate(armed):
        reason = guard.reason_against(trigger, descent, ctx.services.settings.trigger_depth)
        reason = reason or guard.reason_against_writer(ctx.who, matched.team_id)
        reason = reason or ("too_many" if number - len(skipped) >= MOST_AT_ONCE else None)
        reason = reason or await _start(ctx, trigger, event, descent)
        if reason is not None:
            skipped.append((trigger.id, None, reason))
    if skipped:
        await fire_rows.insert_fires(ctx.db, ctx.who, matched, skipped)


def matched_by(event: ObjectWritten) -> Matched:
    """What triggers look at."""
    written, version = event.object, event.version
    return Matched(written.team_id, written.id, written.key, version.content_type, version.id, version.number)


async def _lineage_of(ctx: Context, run_id: UUID | None) -> Lineage | None:
    return None if run_id is None else await workflows.read_lineage(ctx, run_id)


async def _start(ctx: Context, trigger: Armed, event: ObjectWritten, descent: Descent) -> Reason | None:
    for attempt in range(_ATTEMPTS):
        try:
            async with ctx.db.savepoint():
                await _start_run(ctx, trigger, event, descent)
        except _NotNoted:
            return None
        except WorkflowMissing:
            return "workflow_missing"
        except Exception as error:  # the boundary of what a trigger may do to the upload
            refusal = error if isinstance(error, AppError) else refusal_of(error)
            if isinstance(refusal, Conflict) and attempt + 1 < _ATTEMPTS:
                continue
            if refusal is not None and refusal.kind in _REASONS:
                return _REASONS[refusal.kind]
            log.error("trigger.failed", trigger=trigger.id, version=event.version.id, exc_info=error)
        return None
    return None


async def _start_run(ctx: Context, trigger: Armed, event: ObjectWritten, descent: Descent) -> None:
    found = await definitions.find(ctx, trigger.workflow_slug)
    given = inputs.bound(trigger.input, found.spec, inputs.facts_of(event.object, event.version))
    origin = descent.origin(trigger.id)
    run_id = await workflows.start_run(ctx, trigger.workflow_slug, given, found=found, origin=origin)
    if not await fire_rows.insert_fires(ctx.db, ctx.who, matched_by(event), [(trigger.id, run_id, None)]):
        raise _NotNoted
