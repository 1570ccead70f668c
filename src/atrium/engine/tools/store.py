"""SQL of tools."""

from typing import Any
from uuid import UUID

from atrium.engine.tools.model import SwitchedTool
from atrium.kit.postgres.database import Transaction
from atrium.seams.context import Principal

_SWITCH = "name, enabled, pin, definition, switched_by, switched_at"


async def list_switches(db: Transaction, org_id: UUID, team_id: UUID) -> dict[str, SwitchedTool]:
    found = await db.all(
        SwitchedTool,
        f"SELECT {_SWITCH} FROM tool_switches WHERE org_id = :org_id AND team_id = :team_id",
        org_id=org_id,
        team_id=team_id,
    )
    return {switch.name: switch for switch in found}


async def find_switch(db: Transaction, org_id: UUID, team_id: UUID, name: str) -> SwitchedTool | None:
    return await db.one(
        SwitchedTool,
        f"SELECT {_SWITCH} FROM tool_switches WHERE org_id = :org_id AND team_id = :team_id AND name = :name",
        org_id=org_id,
        team_id=team_id,
        name=name,
    )


async def put_switch(
    db: Transaction, who: Principal, name: str, enabled: bool, pin: bytes | None, definition: dict[str, Any] | None
) -> SwitchedTool | None:
    """Turn a tool on or off; one that is turned off keeps what it was turned on as."""
    return await db.one(
        SwitchedTool,
        f"""
        INSERT INTO tool_switches AS s (org_id, team_id, name, enabled, pin, definition, switched_by)
        VALUES (:org_id, :team_id, :name, :enabled, :pin, :definition, :user_id)
        ON CONFLICT (team_id, name) DO UPDATE SET enabled = excluded.enabled, switched_by = excluded.switched_by, switched_at = now(),
          pin = coalesce(excluded.pin, s.pin), definition = coalesce(excluded.definition, s.definition)
        RETURNING {_SWITCH}
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        user_id=who.user_id,
        name=name,
        enabled=enabled,
        pin=pin,
        definition=definition,
    )


async def forbid_writes(db: Transaction) -> None:
    """Let PostgreSQL refuse every change from here to the end of the transaction."""
    await db.value("SELECT set_config('transaction_read_only', 'on', true)")
