"""SQL of tools."""

from uuid import UUID

from atrium.kit.database import Transaction


async def list_switches(db: Transaction, org_id: UUID, team_id: UUID) -> dict[str, bool]:
    rows = await db.rows(
        "SELECT name, enabled FROM tool_switches WHERE org_id = :org_id AND team_id = :team_id",
        org_id=org_id,
        team_id=team_id,
    )
    return dict(rows)


async def find_switch(db: Transaction, org_id: UUID, team_id: UUID, name: str) -> bool | None:
    found: bool | None = await db.value(
        "SELECT enabled FROM tool_switches WHERE org_id = :org_id AND team_id = :team_id AND name = :name",
        org_id=org_id,
        team_id=team_id,
        name=name,
    )
    return found


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


async def forbid_writes(db: Transaction) -> None:
    """Let PostgreSQL refuse every change from here to the end of the transaction."""
    await db.value("SELECT set_config('transaction_read_only', 'on', true)")
