"""SQL of triggers; what they fire is in `fire_rows`."""

from typing import Any
from uuid import UUID

import msgspec

from atrium.kit.database import Transaction
from atrium.product.triggers.model import StoredTrigger, TriggerDraft
from atrium.seams.context import Principal

AFTER_ALL = UUID(int=(1 << 128) - 1)
_FIELDS = (
    "id", "name", "workflow_slug", "match_prefix", "match_types", "input", "fire_on_derived", "enabled", "created_by", "created_at",
)  # fmt: skip
_TRIGGER = ", ".join(_FIELDS)


async def lock_triggers(db: Transaction, team_id: UUID) -> None:
    """Let one new trigger of a team follow the other, so that they are counted right."""
    await db.value("SELECT pg_advisory_xact_lock(hashtextextended('triggers ' || :team_id, 0))", team_id=str(team_id))


async def count_triggers(db: Transaction, who: Principal) -> int:
    count: int = await db.value(
        "SELECT count(*) FROM doc_triggers WHERE org_id = :org_id AND team_id = :team_id",
        org_id=who.org_id,
        team_id=who.team_id,
    )
    return count


async def insert_trigger(db: Transaction, who: Principal, id: UUID, draft: TriggerDraft) -> StoredTrigger:
    rows = await db.rows(
        f"""
        INSERT INTO doc_triggers (id, org_id, team_id, name, workflow_slug, match_prefix, match_types, input, fire_on_derived, enabled,
                                  created_by)
        VALUES (:id, :org_id, :team_id, :name, :workflow_slug, :match_prefix, :match_types, :input, :fire_on_derived, :enabled, :user_id)
        RETURNING {_TRIGGER}
        """,
        id=id,
        org_id=who.org_id,
        team_id=who.team_id,
        user_id=who.user_id,
        **msgspec.structs.asdict(draft),
    )
    return _trigger_of(rows[0])


async def update_trigger(db: Transaction, who: Principal, trigger: StoredTrigger) -> None:
    await db.run(
        """
        UPDATE doc_triggers SET name = :name, workflow_slug = :workflow_slug, match_prefix = :match_prefix, match_types = :match_types,
               input = :input, fire_on_derived = :fire_on_derived, enabled = :enabled
         WHERE org_id = :org_id AND team_id = :team_id AND id = :id
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        **msgspec.structs.asdict(trigger),
    )


async def replace_matches(db: Transaction, who: Principal, id: UUID, prefix: str, types: list[str]) -> None:
    """What the trigger is found by from now on; the empty type stands for all."""
    await db.run("DELETE FROM trigger_matches WHERE org_id = :org_id AND trigger_id = :id", org_id=who.org_id, id=id)
    await db.run(
        """
        INSERT INTO trigger_matches (team_id, type, prefix, trigger_id, org_id)
        SELECT :team_id, t.type, :prefix, :id, :org_id FROM unnest(:types::text[]) AS t (type)
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        id=id,
        prefix=prefix,
        types=types or [""],
    )


async def find_trigger(db: Transaction, who: Principal, id: UUID, *, lock: bool = False) -> StoredTrigger | None:
    # Uploads under way hold the row's key, and are not waited for.
    rows = await db.rows(
        f"""
        SELECT {_TRIGGER} FROM doc_triggers WHERE org_id = :org_id AND team_id = :team_id AND id = :id
        {"FOR NO KEY UPDATE" if lock else ""}
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        id=id,
    )
    return _trigger_of(rows[0]) if rows else None


async def list_triggers(db: Transaction, who: Principal, before: UUID | None, limit: int) -> list[StoredTrigger]:
    rows = await db.rows(
        f"""
        SELECT {_TRIGGER} FROM doc_triggers WHERE org_id = :org_id AND team_id = :team_id
           AND id < :before ORDER BY id DESC LIMIT :limit
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        before=before or AFTER_ALL,
        limit=limit,
    )
    return [_trigger_of(row) for row in rows]


async def disarm_trigger(db: Transaction, who: Principal, id: UUID) -> None:
    """Switch a trigger off."""
    await db.run(
        "UPDATE doc_triggers SET enabled = false WHERE org_id = :org_id AND team_id = :team_id AND id = :id",
        org_id=who.org_id,
        team_id=who.team_id,
        id=id,
    )


async def delete_trigger(db: Transaction, who: Principal, id: UUID) -> None:
    """Delete a trigger with its history."""
    await db.run(
        "DELETE FROM doc_triggers WHERE org_id = :org_id AND team_id = :team_id AND id = :id",
        org_id=who.org_id,
        team_id=who.team_id,
        id=id,
    )


def _trigger_of(row: tuple[Any, ...]) -> StoredTrigger:
    return StoredTrigger(**dict(zip(_FIELDS, row, strict=True)))
