"""Whether a version may fire a trigger that it matches: a pure decision, so that a rehearsal makes the same one."""

from uuid import UUID

import msgspec

from atrium.engine.workflows.run_model import Lineage, Origin
from atrium.product.triggers.model import Reason, TriggerState
from atrium.seams.context import Principal

FEATURE, PERMISSION = "workflows", "workflows:run"
# The same object fires the same trigger so often within so many minutes, no matter who writes it.
MOST_RECENT, MINUTES = 20, 10


class Descent(msgspec.Struct, frozen=True):
    """Where a version comes from: whether something was derived, and the run that wrote it."""

    derived: bool = False
    lineage: Lineage | None = None

    def origin(self, trigger_id: UUID) -> Origin:
        """What a run that this trigger starts descends from."""
        if self.lineage is None:
            return Origin(trigger_id, (trigger_id,))
        return Origin(trigger_id, (*self.lineage.ancestry, trigger_id), self.lineage.depth + 1)


def reason_against(trigger: TriggerState, descent: Descent, most_depth: int) -> Reason | None:
    """Why this version must not fire the trigger, no matter who wrote it."""
    if not trigger.enabled:
        return "disabled"
    if descent.derived and not trigger.fire_on_derived:
        return "derived"
    if descent.lineage is not None and trigger.id in descent.lineage.ancestry:
        return "loop"
    if descent.origin(trigger.id).depth > most_depth:
        return "depth"
    if trigger.recent >= MOST_RECENT:
        return "storm"
    return None


def reason_against_maker(maker: Principal | None, team_id: UUID) -> Reason | None:
    """Why this maker's trigger starts no run: it goes no further than they may go themselves."""
    if maker is None:
        return "maker_gone"
    return None if _may_run(maker, team_id) else "maker_lost"


def reason_against_publisher(publisher: Principal | None, team_id: UUID) -> Reason | None:
    """Why this publisher's version is not run by a trigger."""
    if publisher is None:
        return "publisher_gone"
    return None if _may_run(publisher, team_id) else "publisher_lost"


def _may_run(who: Principal, team_id: UUID) -> bool:
    return who.team_id == team_id and PERMISSION in who.permissions


def reason_against_writer(who: Principal, team_id: UUID) -> Reason | None:
    """Why this writer starts no run in the object's team: a run acts as they do, within their credential's scope."""
    if who.suspended:
        return "suspended"
    if not _may_run(who, team_id):
        return "no_permission"
    return "feature_off" if FEATURE not in who.features else None
