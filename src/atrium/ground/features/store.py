"""SQL of features."""

from uuid import UUID

from atrium.kit.postgres.database import Transaction


async def put_switch(db: Transaction, org_id: UUID, team_id: UUID, name: str, enabled: bool) -> None:
    await db.run(
        """
        INSERT INTO team_features (org_id, team_id, name, enabled) VALUES (:org_id, :team_id, :name, :enabled)
        ON CONFLICT (team_id, name) DO UPDATE SET enabled = excluded.enabled
        """,
        org_id=org_id,
        team_id=team_id,
        name=name,
        enabled=enabled,
    )
