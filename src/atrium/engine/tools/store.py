"""SQL of tools."""

from uuid import UUID

from atrium.kit.database import Transaction


async def list_switched_off(db: Transaction, org_id: UUID, team_id: UUID) -> set[str]:
    rows = await db.rows(
        "SELECT name FROM tool_switches WHERE org_id = :org_id AND team_id = :team_id AND NOT enabled",
        org_id=org_id,
        team_id=team_id,
    )
    return {row[0] for row in rows}


async def put_switch(db: Transaction, org_id: UUID, team_id: UUID, name: str, enabled: bool) -> None:
    await db.run(
        """
        INSERT INTO tool_switches (org_id, team_id, name, enabled) VALUES (:org_id, :team_id, :name, :enabled)
        ON CONFLICT (team_id, name) DO UPDATE SET enabled = excluded.enabled
        """,
        org_id=org_id,
        team_id=team_id,
        name=name,
        enabled=enabled,
    )
