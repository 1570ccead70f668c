"""SQL of fires: which triggers a version matches, and what became of it."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.workflows.run_model import Starter
from atrium.kit.ids import new_id
from atrium.kit.postgres.database import Transaction, old_rows
from atrium.product.triggers.guard import MINUTES, MOST_RECENT
from atrium.product.triggers.model import Fire, FiredVersion, Reason, TriggerState
from atrium.product.triggers.store import AFTER_ALL
from atrium.seams.context import Principal

COUNTED = 1000
_FIRE = "f.id, f.at, f.object_id, f.version_id, f.number, f.reason, f.run_id, r.state, f.user_id, u.username"
# OFFSET 0 keeps each a lookup by id: joined freely, a planner without statistics yet reads all runs of the company for a page.
_NAMED = """
  LEFT JOIN LATERAL (SELECT state FROM runs WHERE org_id = :org_id AND id = f.run_id OFFSET 0) AS r ON true
  LEFT JOIN LATERAL (SELECT username FROM users WHERE org_id = :org_id AND id = f.user_id OFFSET 0) AS u ON true
"""
# The object is held by who writes it, so that no other version of it is being counted at the same moment.
_MATCHING = f"""
  SELECT t.id, t.workflow_slug, t.input, t.fire_on_derived, t.enabled,
         (SELECT count(*) FROM (
            SELECT FROM trigger_fires f WHERE f.org_id = :org_id AND f.trigger_id = t.id AND f.object_id = :object_id
               AND f.run_id IS NOT NULL AND f.at > clock_timestamp() - interval '{MINUTES} minutes' LIMIT {MOST_RECENT}) AS recent),
         coalesce(t.maker_id, t.created_by), t.egress_digest
    FROM doc_triggers t
   WHERE t.org_id = :org_id AND t.team_id = :team_id
     AND t.id = ANY (ARRAY(SELECT matching_triggers(:org_id, :team_id, :key, :types))) ORDER BY t.id
"""


class MatchedTrigger(msgspec.Struct, frozen=True):
    """Which version of which object matched, and where the object is."""

    team_id: UUID
    object_id: UUID
    key: str
    content_type: str
    version_id: UUID
    number: int


async def list_matching(db: Transaction, org_id: UUID, matched: MatchedTrigger) -> list[TriggerState]:
    """The triggers of a team that a version matches, the first made first."""
    return await db.all(
        TriggerState,
        _MATCHING,
        org_id=org_id,
        team_id=matched.team_id,
        object_id=matched.object_id,
        key=matched.key,
        types=types_of(matched.content_type),
    )


async def insert_fires(
    db: Transaction,
    who: Principal,
    matched: MatchedTrigger,
    outcomes: Sequence[tuple[UUID, UUID | None, Reason | None]],
) -> int:
    """Note (trigger, run or None, reason or None); how many. None where the trigger is gone, or knows this version already."""
    return await db.run(
        """
        INSERT INTO trigger_fires (trigger_id, id, org_id, object_id, version_id, number, user_id, run_id, reason)
        SELECT t.id, n.id, t.org_id, :object_id, :version_id, :number, :user_id, n.run_id, n.reason
          FROM unnest(:triggers::uuid[], :ids::uuid[], :runs::uuid[], :reasons::text[]) AS n (trigger_id, id, run_id, reason)
          JOIN doc_triggers t ON t.org_id = :org_id AND t.id = n.trigger_id FOR KEY SHARE OF t
        ON CONFLICT (trigger_id, version_id) DO NOTHING
        """,
        org_id=who.org_id,
        user_id=who.user_id,
        object_id=matched.object_id,
        version_id=matched.version_id,
        number=matched.number,
        ids=[new_id() for _ in outcomes],
        triggers=[trigger for trigger, _, _ in outcomes],
        runs=[run for _, run, _ in outcomes],
        reasons=[reason for _, _, reason in outcomes],
    )


async def list_fires(db: Transaction, org_id: UUID, trigger_id: UUID, before: UUID | None, limit: int) -> list[Fire]:
    rows = await db.rows(
        f"""
        SELECT {_FIRE} FROM (
          SELECT * FROM trigger_fires WHERE org_id = :org_id AND trigger_id = :trigger_id
             AND id < :before ORDER BY id DESC LIMIT :limit
        ) AS f {_NAMED} ORDER BY f.id DESC
        """,
        org_id=org_id,
        trigger_id=trigger_id,
        before=before or AFTER_ALL,
        limit=limit,
    )
    return [_fire_of(row) for row in rows]


async def list_last_fires(db: Transaction, org_id: UUID, triggers: Collection[UUID]) -> dict[UUID, Fire]:
    """The newest entry of each."""
    rows = await db.rows(
        f"""
        SELECT f.trigger_id, {_FIRE} FROM unnest(:triggers::uuid[]) AS t (id) CROSS JOIN LATERAL (
          SELECT * FROM trigger_fires WHERE org_id = :org_id AND trigger_id = t.id ORDER BY id DESC LIMIT 1
        ) AS f {_NAMED}
        """,
        org_id=org_id,
        triggers=list(triggers),
    )
    return {row[0]: _fire_of(row[1:]) for row in rows}


async def count_fires(db: Transaction, org_id: UUID, triggers: Collection[UUID]) -> dict[UUID, tuple[int, int]]:
    """How often each fired and was skipped within a day; nothing is counted beyond `COUNTED`."""
    counted = f"""
      SELECT count(*) FROM (SELECT FROM trigger_fires f WHERE f.org_id = :org_id AND f.trigger_id = t.id AND f.run_id IS {{}}
                               AND f.at > now() - interval '24 hours' LIMIT {COUNTED}) AS counted
    """
    rows = await db.rows(
        f"SELECT t.id, ({counted.format('NOT NULL')}), ({counted.format('NULL')}) FROM unnest(:triggers::uuid[]) AS t (id)",
        org_id=org_id,
        triggers=list(triggers),
    )
    return {id: (fired, skipped) for id, fired, skipped in rows}


async def is_longer(db: Transaction, org_id: UUID, trigger_id: UUID, most: int) -> bool:
    """Whether a trigger's history has more entries than so many."""
    found: bool = await db.value(
        """
        SELECT EXISTS (SELECT FROM trigger_fires WHERE org_id = :org_id AND trigger_id = :trigger_id ORDER BY id OFFSET :most LIMIT 1)
        """,
        org_id=org_id,
        trigger_id=trigger_id,
        most=most,
    )
    return found


async def lock_history(db: Transaction, trigger_id: UUID) -> None:
    """One at a time deletes a trigger's history, until the transaction ends: two would lock its rows in different orders."""
    await db.value("SELECT pg_advisory_xact_lock(hashtextextended('trigger history ' || :id, 0))", id=str(trigger_id))


async def delete_fires(db: Transaction, trigger_id: UUID, most: int) -> int:
    """Delete the oldest entries of a trigger's history; how many."""
    return await db.run(
        """
        DELETE FROM trigger_fires WHERE trigger_id = :trigger_id AND id IN (
          SELECT id FROM trigger_fires WHERE trigger_id = :trigger_id ORDER BY id LIMIT :most
        )
        """,
        trigger_id=trigger_id,
        most=most,
    )


async def forget_fires(db: Transaction, age: timedelta, most: int) -> int:
    """Delete what is older; how many."""
    return await db.run(old_rows("trigger_fires", "at", key="trigger_id, id"), age=age, most=most)


def types_of(content_type: str) -> list[str]:
    """Under which types a version of this one may be matched; the empty one is every type."""
    bare = content_type.partition(";")[0].strip().lower()
    return ["", bare, bare.partition("/")[0] + "/*"]


def _fire_of(row: tuple[Any, ...]) -> Fire:
    id, at, object_id, version_id, number, reason, run_id, state, user_id, username = row
    return Fire(
        id=id,
        at=at,
        object_id=object_id,
        key=None,
        version=FiredVersion(version_id, number),
        outcome="skipped" if run_id is None else "fired",
        reason=reason,
        run_id=run_id,
        run_state=state,
        by=None if username is None else Starter(user_id, username),
    )
