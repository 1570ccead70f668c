"""SQL of triggers; what they fire is in `fire_rows`."""

from typing import Any
from uuid import UUID

import msgspec

from atrium.kit.postgres.database import Transaction
from atrium.kit.web.pages import MOST_TEXT
from atrium.product.triggers.model import StoredTrigger, TriggerDraft
from atrium.seams.context import Principal

AFTER_ALL = UUID(int=(1 << 128) - 1)
_FIELDS = (
    "id", "name", "workflow_slug", "match_prefix", "match_types", "input", "fire_on_derived", "enabled", "created_by", "created_at",
    "maker_id", "egress_digest",
)  # fmt: skip
# One that was made before makers were noted is answered for by who made it.
_TRIGGER = ", ".join(_FIELDS).replace("maker_id", "coalesce(maker_id, created_by)")


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


async def insert_trigger(
    db: Transaction, who: Principal, id: UUID, draft: TriggerDraft, egress_digest: str | None
) -> StoredTrigger:
    rows = await db.rows(
        f"""
        INSERT INTO doc_triggers (id, org_id, team_id, name, workflow_slug, match_prefix, match_types, input, fire_on_derived, enabled,
                                  created_by, maker_id, egress_digest)
        VALUES (:id, :org_id, :team_id, :name, :workflow_slug, :match_prefix, :match_types, :input, :fire_on_derived, :enabled, :user_id,
                :user_id, :egress_digest)
        RETURNING {_TRIGGER}
        """,
        id=id,
        org_id=who.org_id,
        team_id=who.team_id,
        user_id=who.user_id,
        egress_digest=egress_digest,
        **msgspec.structs.asdict(draft),
    )
    return _trigger_of(rows[0])


async def update_trigger(db: Transaction, who: Principal, trigger: StoredTrigger) -> None:
    """Store a change; the person who changes a trigger answers for it from then on."""
    await db.run(
        """
        UPDATE doc_triggers SET name = :name, workflow_slug = :workflow_slug, match_prefix = :match_prefix, match_types = :match_types,
               input = :input, fire_on_derived = :fire_on_derived, enabled = :enabled, maker_id = :maker_id,
               egress_digest = :egress_digest
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
    # Uploads under way hold the row's key, and are not waited for, unless what they start may send something elsewhere.
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


async def hold_egress(db: Transaction, org_id: UUID, id: UUID) -> str | None:
    """What stands for the version that may send something elsewhere; it cannot be taken back until the transaction ends."""
    found: str | None = await db.value(
        "SELECT egress_digest FROM doc_triggers WHERE org_id = :org_id AND id = :id FOR SHARE", org_id=org_id, id=id
    )
    return found


async def list_triggers(
    db: Transaction, who: Principal, before: UUID | None, limit: int
) -> tuple[list[StoredTrigger], int]:
    """Triggers, and how many of them fit on a page; what is behind the first that does not is not even read."""
    rows = await db.rows(
        f"""
        SELECT {_TRIGGER}, before < {MOST_TEXT} FROM (
          SELECT t.*, coalesce(sum(size) OVER (ORDER BY id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before,
                 coalesce(sum(size) OVER (ORDER BY id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING), 0) AS earlier
            FROM (SELECT *, octet_length(input::text) + octet_length(match_types::text) AS size FROM doc_triggers
                   WHERE org_id = :org_id AND team_id = :team_id AND id < :before ORDER BY id DESC LIMIT :limit) AS t
        ) AS t WHERE earlier < {MOST_TEXT} ORDER BY id DESC
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        before=before or AFTER_ALL,
        limit=limit,
    )
    return [_trigger_of(row[:-1]) for row in rows], sum(row[-1] for row in rows)


async def hand_over(db: Transaction, org_id: UUID, person_id: UUID, heir: UUID) -> list[UUID]:
    """Let another person answer for every trigger of a person who leaves; which these are."""
    rows = await db.rows(
        """
        UPDATE doc_triggers SET maker_id = :heir WHERE org_id = :org_id AND coalesce(maker_id, created_by) = :person_id RETURNING id
        """,
        org_id=org_id,
        person_id=person_id,
        heir=heir,
    )
    return [id for (id,) in rows]


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
