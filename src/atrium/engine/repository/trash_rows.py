"""SQL of what objects in the trash free: their bytes, and the oldest of them where space is lacking. Anything else of a trash is in
`ground/sharing/trash_rows`.
"""

from uuid import UUID

import msgspec

from atrium.kit.postgres.database import Transaction


class OldObject(msgspec.Struct, frozen=True):
    """An object in the trash, and the bytes of all its versions."""

    id: UUID
    size: int


async def list_bytes_of(db: Transaction, org_id: UUID, ids: list[UUID]) -> tuple[set[bytes], dict[UUID, int]]:
    """The digests that objects' versions refer to, and how many bytes each team was counted for them."""
    rows = await db.rows(
        """
        SELECT o.team_id, v.sha256, sum(v.size)::bigint FROM objects o JOIN object_versions v ON v.object_id = o.id
         WHERE o.org_id = :org_id AND o.id = ANY(:ids) AND v.org_id = :org_id AND v.sha256 IS NOT NULL GROUP BY o.team_id, v.sha256
        """,
        org_id=org_id,
        ids=ids,
    )
    counted: dict[UUID, int] = {}
    for team_id, _, size in rows:
        counted[team_id] = counted.get(team_id, 0) + size
    return {row[1] for row in rows}, counted


async def delete_objects(db: Transaction, org_id: UUID, ids: list[UUID]) -> int:
    return await db.run("DELETE FROM objects WHERE org_id = :org_id AND id = ANY(:ids)", org_id=org_id, ids=ids)


async def claim_oldest(db: Transaction, org_id: UUID, team_id: UUID, needed: int) -> list[OldObject]:
    """As much of a team's trash as makes so many bytes, what was deleted first before the rest, locked."""
    return await db.all(
        OldObject,
        """
        SELECT o.id, w.size FROM objects o JOIN (
          SELECT h.id, h.size, sum(h.size) OVER (ORDER BY h.trashed_at, h.id) - h.size AS before FROM (
            SELECT o.id, o.trashed_at, sum(v.size)::bigint AS size FROM objects o JOIN object_versions v ON v.object_id = o.id
             WHERE o.org_id = :org_id AND o.team_id = :team_id AND o.trashed_at IS NOT NULL AND v.org_id = :org_id
             GROUP BY o.id, o.trashed_at HAVING sum(v.size) > 0
          ) AS h
        ) AS w ON w.id = o.id
         WHERE o.org_id = :org_id AND w.before < :needed AND o.trashed_at IS NOT NULL
        FOR UPDATE OF o SKIP LOCKED
        """,
        org_id=org_id,
        team_id=team_id,
        needed=needed,
    )
