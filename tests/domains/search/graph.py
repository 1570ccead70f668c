"""A knowledge graph as rows: what a model would have said about documents, written down at once."""

from typing import Any
from uuid import UUID

from atrium.boot.assemble import Application
from atrium.kit.ids import new_id
from atrium.product.knowledge.names import entity_id, fold_text
from tests.postgres import run_as_owner
from tests.support.client import Client

TYPE = "organisation"
_KEPT = ("knowledge_shares", "knowledge_mentions")


async def say(house: Application, owner: Client, object_id: str, *names: str) -> list[str]:
    """Let the current version of an object mention these, in place of what it mentioned before; the ids of the entities."""
    url, org, team = house.services.settings.database_url, UUID(owner.org_id), UUID(owner.team_id)
    await run_as_owner(
        url, "INSERT INTO knowledge_salts (team_id, org_id) VALUES ($1, $2) ON CONFLICT DO NOTHING", team, org
    )
    ((salt,),) = await run_as_owner(url, "SELECT salt FROM knowledge_salts WHERE team_id = $1", team)
    await run_as_owner(url, "DELETE FROM knowledge_shares WHERE object_id = $1", UUID(object_id))
    await run_as_owner(
        url,
        "INSERT INTO knowledge_shares (object_id, org_id, version_id, entities, relations)"
        " SELECT id, org_id, version_id, $2, 0 FROM objects WHERE id = $1",
        UUID(object_id), len(names),
    )  # fmt: skip
    ids = [entity_id(salt, TYPE, name) for name in names]
    await run_as_owner(
        url,
        "INSERT INTO knowledge_mentions (object_id, entity_id, at, org_id, version_id, type, name, folded, quote)"
        " SELECT s.object_id, n.id, n.at, s.org_id, s.version_id, $2, n.name, n.folded, 'about ' || n.name FROM knowledge_shares s,"
        " unnest($3::uuid[], $4::text[], $5::text[]) WITH ORDINALITY AS n (id, name, folded, at) WHERE s.object_id = $1",
        UUID(object_id), TYPE, ids, list(names), [fold_text(name) for name in names],
    )  # fmt: skip
    return [str(id) for id in ids]


async def merge(house: Application, owner: Client, keep: str, drop: str) -> None:
    """Say that two roots are one."""
    await run_as_owner(
        house.services.settings.database_url,
        "INSERT INTO knowledge_merges (id, org_id, team_id, keep_id, drop_id, head_id) VALUES ($1, $2, $3, $4, $5, $4)",
        new_id(), UUID(owner.org_id), UUID(owner.team_id), UUID(keep), UUID(drop),
    )  # fmt: skip


async def take_out(house: Application, org_id: UUID, objects: list[str]) -> dict[str, str]:
    """Delete what these objects say; everything that the company's objects said before."""
    url = house.services.settings.database_url
    kept = {}
    for table in _KEPT:
        rows: Any = await run_as_owner(
            url, f"SELECT coalesce(jsonb_agg(t), '[]')::text FROM {table} t WHERE org_id = $1", org_id
        )
        kept[table] = rows[0][0]
    await run_as_owner(url, "DELETE FROM knowledge_shares WHERE object_id = ANY($1::uuid[])", objects)
    return kept


async def put_back(house: Application, org_id: UUID, kept: dict[str, str]) -> None:
    url = house.services.settings.database_url
    await run_as_owner(url, "DELETE FROM knowledge_shares WHERE org_id = $1", org_id)
    for table in _KEPT:
        sql = f"INSERT INTO {table} SELECT * FROM jsonb_populate_recordset(NULL::{table}, $1::text::jsonb)"
        await run_as_owner(url, sql, kept[table])
