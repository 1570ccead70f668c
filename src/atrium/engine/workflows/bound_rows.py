"""SQL of what binds runs."""

from uuid import UUID

import msgspec

from atrium.kit.postgres.database import Transaction
from atrium.seams.sharing import Thing


class FoundBound(msgspec.Struct, frozen=True):
    """By whom a run is bound beside its writer, by which object it was fired, and whether it may send something elsewhere."""

    team_id: UUID
    trigger_id: UUID | None
    bound_to: list[UUID]
    fired_by: UUID | None
    egress: bool


async def find_bound(db: Transaction, org_id: UUID, run_id: UUID) -> FoundBound | None:
    return await db.one(
        FoundBound,
        "SELECT team_id, trigger_id, bound_to, fired_by, egress FROM runs WHERE org_id = :org_id AND id = :id",
        org_id=org_id,
        id=run_id,
    )


async def list_made(db: Transaction, org_id: UUID, run_id: UUID, ids: list[UUID]) -> set[Thing]:
    """Those of these things that a run has written."""
    rows = await db.rows(
        "SELECT kind, object_id FROM run_objects WHERE org_id = :org_id AND run_id = :run_id AND object_id = ANY(:ids) AND made",
        org_id=org_id,
        run_id=run_id,
        ids=ids,
    )
    return {(kind, id) for kind, id in rows}


async def withdraw_egress(db: Transaction, org_id: UUID, trigger_id: UUID) -> None:
    """No run of a trigger that has not ended sends anything elsewhere any more.

    Held in the order of their ids, as settlements hold them: neither waits for the other in a circle.
    """
    await db.run(
        """
        WITH held AS (
          SELECT id FROM runs WHERE org_id = :org_id AND trigger_id = :trigger_id AND state = 'running' AND egress
           ORDER BY id FOR NO KEY UPDATE
        )
        UPDATE runs r SET egress = false FROM held WHERE r.org_id = :org_id AND r.id = held.id
        """,
        org_id=org_id,
        trigger_id=trigger_id,
    )
