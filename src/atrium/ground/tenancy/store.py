"""SQL of tenancy."""

from uuid import UUID

from atrium.ground.tenancy.model import Org, Team
from atrium.kit.database import Transaction

ORG = "id, slug, name, suspended_at, created_at"
TEAM = "id, org_id, name, created_at"


async def insert_org(db: Transaction, id: UUID, slug: str, name: str) -> Org | None:
    return await db.one(
        Org,
        f"INSERT INTO orgs (id, slug, name) VALUES (:id, :slug, :name) ON CONFLICT (slug) DO NOTHING RETURNING {ORG}",
        id=id,
        slug=slug,
        name=name,
    )


async def insert_team(db: Transaction, id: UUID, org_id: UUID, name: str) -> Team | None:
    return await db.one(
        Team,
        f"INSERT INTO teams (id, org_id, name) VALUES (:id, :org_id, :name) RETURNING {TEAM}",
        id=id,
        org_id=org_id,
        name=name,
    )


async def find_org(db: Transaction, id: UUID) -> Org | None:
    return await db.one(Org, f"SELECT {ORG} FROM orgs WHERE id = :id", id=id)


async def find_team(db: Transaction, org_id: UUID, id: UUID) -> Team | None:
    return await db.one(Team, f"SELECT {TEAM} FROM teams WHERE org_id = :org_id AND id = :id", org_id=org_id, id=id)


async def count_orgs(db: Transaction) -> int:
    return int(await db.value("SELECT count(*) FROM orgs"))


async def count_teams(db: Transaction) -> int:
    return int(await db.value("SELECT count(*) FROM teams"))
