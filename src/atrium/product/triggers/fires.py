"""Fires: a version that was just written starts the workflows of the triggers it matches, or leaves a reason why not.

The version never fails because of a trigger: each starts its run in a part of the transaction that can be undone.
"""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from atrium.engine.repository.model import ObjectWritten
from atrium.engine.workflows import bounds, definitions
from atrium.engine.workflows import service as workflows
from atrium.engine.workflows.model import RunnableSpec, WorkflowMissing
from atrium.engine.workflows.run_model import Lineage
from atrium.ground.identity import service as identity
from atrium.kit.errors import AppError, Conflict, Kind
from atrium.kit.ids import NIL
from atrium.kit.postgres.failures import refusal_of
from atrium.kit.telemetry.log import log
from atrium.product.triggers import fire_rows, guard, inputs, store
from atrium.product.triggers.fire_rows import MatchedTrigger
from atrium.product.triggers.guard import Descent
from atrium.product.triggers.model import Reason, TriggerState
from atrium.seams.context import Context, Principal

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


class _NotStarted(Exception):
    """The trigger's maker or the version's publisher is gone, or may not run workflows any more."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


async def fire(ctx: Context, event: ObjectWritten) -> None:
    """Start what the version starts, as who wrote it and within what makers and publishers may do, in the transaction that writes it."""
    matched = matched_by(event)
    armed = await fire_rows.list_matching(ctx.db, ctx.who.org_id, matched)
    if not armed:
        return
    descent = Descent(event.derived, await _lineage_of(ctx, event.run_id))
    makers = await _people(ctx, [trigger.maker_id for trigger in armed])
    skipped: list[tuple[UUID, UUID | None, Reason | None]] = []
    for number, trigger in enumerate(armed):
        reason = guard.reason_against(trigger, descent, ctx.services.settings.trigger_depth)
        reason = reason or guard.reason_against_writer(ctx.who, matched.team_id)
        if trigger.maker_id is not None:
            reason = reason or guard.reason_against_maker(makers.get(trigger.maker_id), matched.team_id)
        reason = reason or ("too_many" if number - len(skipped) >= MOST_AT_ONCE else None)
        reason = reason or await _start(ctx, trigger, event, descent)
        if reason is not None:
            skipped.append((trigger.id, None, reason))
    if skipped:
        await fire_rows.insert_fires(ctx.db, ctx.who, matched, skipped)


def matched_by(event: ObjectWritten) -> MatchedTrigger:
    """What triggers look at."""
    written, version = event.object, event.version
    return MatchedTrigger(written.team_id, written.id, written.key, version.content_type, version.id, version.number)


async def _lineage_of(ctx: Context, run_id: UUID | None) -> Lineage | None:
    return None if run_id is None else await workflows.read_lineage(ctx, run_id)


async def _start(ctx: Context, trigger: TriggerState, event: ObjectWritten, descent: Descent) -> Reason | None:
    for attempt in range(_ATTEMPTS):
        try:
            async with ctx.db.savepoint():
                await _start_run(ctx, trigger, event, descent)
        except _NotNoted:
            return None
        except _NotStarted as refused:
            return refused.reason
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


async def _start_run(ctx: Context, trigger: TriggerState, event: ObjectWritten, descent: Descent) -> None:
    found = await definitions.find(ctx, trigger.workflow_slug)
    publisher_id = await _publisher_of(ctx, found, event.object.team_id)
    given = inputs.bind_input(trigger.input, found.spec, inputs.facts_of(event.object, event.version))
    origin = msgspec.structs.replace(
        descent.origin(trigger.id),
        bound_to=_bound_to(ctx, descent, trigger.maker_id, publisher_id),
        fired_by=event.object.id,
        egress=trigger.egress_digest == found.digest and await may_send(ctx, trigger.id, found.digest),
    )
    run_id = await workflows.start_run(ctx, trigger.workflow_slug, given, found=found, origin=origin)
    if not await fire_rows.insert_fires(ctx.db, ctx.who, matched_by(event), [(trigger.id, run_id, None)]):
        raise _NotNoted


async def may_send(ctx: Context, trigger_id: UUID, digest: str) -> bool:
    """Whether runs of a trigger may send something elsewhere with this version; held until the transaction ends."""
    return await store.hold_egress(ctx.db, ctx.who.org_id, trigger_id) == digest


async def _publisher_of(ctx: Context, found: RunnableSpec, team_id: UUID) -> UUID | None:
    """Who published the version; None when it came with a plugin."""
    if reason := await reason_against_publisher(ctx, found, team_id):
        raise _NotStarted(reason)
    return found.published_by if found.source == "team" else None


async def reason_against_publisher(ctx: Context, found: RunnableSpec, team_id: UUID) -> Reason | None:
    """Why this version is not run by a trigger of the team; one that came with a plugin has no publisher."""
    if found.source != "team":
        return None
    people = await _people(ctx, [found.published_by])
    return guard.reason_against_publisher(people.get(found.published_by or NIL), team_id)


async def _people(ctx: Context, ids: Sequence[UUID | None]) -> dict[UUID, Principal]:
    """Those of these people who are in the company, with what they may do now."""
    wanted = sorted({id for id in ids if id is not None})
    return await identity.list_principals(ctx.db, ctx.who.org_id, wanted) if wanted else {}


def _bound_to(ctx: Context, descent: Descent, *people: UUID | None) -> tuple[UUID, ...]:
    """By whom the run is bound beside its writer: these people, and those who bound the runs that it descends from."""
    return bounds.bound_to(ctx, *(descent.lineage.bound_to if descent.lineage is not None else ()), *people)
