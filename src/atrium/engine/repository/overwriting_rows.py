"""SQL of what is asked before an object is written over."""

from uuid import UUID

from atrium.kit.postgres.database import Transaction


async def list_sources(db: Transaction, org_id: UUID, object_id: UUID) -> list[UUID]:
    """The objects that the newest version of an object was made from; a delete marker is made from nothing."""
    rows = await db.rows(
        """
        SELECT source_id FROM derivations WHERE org_id = :org_id AND version_id = (
          SELECT id FROM object_versions WHERE org_id = :org_id AND object_id = :object_id AND NOT delete_marker
           ORDER BY number DESC LIMIT 1)
        """,
        org_id=org_id,
        object_id=object_id,
    )
    return [id for (id,) in rows]
