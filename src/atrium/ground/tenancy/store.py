"""SQL of tenancy."""

from typing import Any
from uuid import UUID

from atrium.ground.tenancy.model import CompanyDraft, InstanceRow, Org, Team
from atrium.kit.postgres.database import Transaction

ORG = "id, slug, name, plan, domain, domain_proof, domain_verified_at IS NOT NULL, suspended_at, created_at"
TEAM = "id, org_id, name, created_at"
INSTANCE = "org_id, team_id, operator_id, default_locale, locale_switching, locales, serve_machine"


async def insert_org(db: Transaction, id: UUID, slug: str, name: str, plan: str) -> Org | None:
    return await db.one(
        Org,
        f"""
        INSERT INTO orgs (id, slug, name, plan) VALUES (:id, :slug, :name, :plan)
        ON CONFLICT (slug) DO NOTHING RETURNING {ORG}
        """,
        id=id,
        slug=slug,
        name=name,
        plan=plan,
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


async def find_org_by_slug(db: Transaction, slug: str) -> Org | None:
    return await db.one(Org, f"SELECT {ORG} FROM orgs WHERE slug = :slug", slug=slug)


async def lock_org(db: Transaction, id: UUID) -> None:
    await db.run("SELECT FROM orgs WHERE id = :id FOR NO KEY UPDATE", id=id)


async def list_orgs(db: Transaction, after: UUID | None, search: str | None, limit: int) -> list[Org]:
    return await db.all(
        Org,
        f"""
        SELECT {ORG} FROM orgs
         WHERE (:after::uuid IS NULL OR id > :after) AND (:search::text IS NULL OR name ILIKE :search OR slug ILIKE :search)
         ORDER BY id LIMIT :limit
        """,
        after=after,
        search=search,
        limit=limit,
    )


async def list_org_names(db: Transaction, ids: list[UUID]) -> dict[UUID, str]:
    rows = await db.rows("SELECT id, name FROM orgs WHERE id = ANY(:ids)", ids=ids)
    return dict(map(_pair, rows))


async def rename_org(db: Transaction, id: UUID, name: str) -> None:
    await db.run("UPDATE orgs SET name = :name WHERE id = :id", id=id, name=name)


async def set_plan(db: Transaction, id: UUID, plan: str) -> None:
    await db.run("UPDATE orgs SET plan = :plan WHERE id = :id", id=id, plan=plan)


async def set_domain(db: Transaction, id: UUID, domain: str | None, proof: str | None, verified: bool) -> bool:
    """False when another company has the hostname."""
    return bool(
        await db.run(
            """
            UPDATE orgs SET domain = :domain, domain_proof = :proof, domain_verified_at = CASE WHEN :verified THEN now() END
             WHERE id = :id AND NOT EXISTS (SELECT FROM orgs WHERE domain = :domain AND id <> :id)
            """,
            id=id,
            domain=domain,
            proof=proof,
            verified=verified,
        )
    )


async def set_suspended(db: Transaction, id: UUID, suspended: bool) -> None:
    await db.run(
        "UPDATE orgs SET suspended_at = CASE WHEN :suspended THEN coalesce(suspended_at, now()) END WHERE id = :id",
        id=id,
        suspended=suspended,
    )


async def find_org_by_domain(db: Transaction, hostname: str) -> UUID | None:
    found: UUID | None = await db.value("SELECT find_org_by_domain(:hostname)", hostname=hostname)
    return found


async def find_moved(db: Transaction, digests: list[bytes]) -> str | None:
    found: str | None = await db.value(
        "SELECT location FROM moved_names WHERE digest = ANY(:digests) LIMIT 1", digests=digests
    )
    return found


async def find_team(db: Transaction, org_id: UUID, id: UUID) -> Team | None:
    return await db.one(Team, f"SELECT {TEAM} FROM teams WHERE org_id = :org_id AND id = :id", org_id=org_id, id=id)


async def list_teams(db: Transaction, org_id: UUID, after: UUID | None, limit: int) -> list[Team]:
    return await db.all(
        Team,
        f"SELECT {TEAM} FROM teams WHERE org_id = :org_id AND (:after::uuid IS NULL OR id > :after) ORDER BY id LIMIT :limit",
        org_id=org_id,
        after=after,
        limit=limit,
    )


async def count_orgs(db: Transaction) -> int:
    return int(await db.value("SELECT count(*) FROM orgs"))


async def count_teams(db: Transaction) -> int:
    return int(await db.value("SELECT count(*) FROM teams"))


async def list_org_ids(db: Transaction) -> list[UUID]:
    return [row[0] for row in await db.rows("SELECT id FROM orgs ORDER BY id")]


async def claim_instance(db: Transaction, founding: CompanyDraft) -> bool:
    """True for exactly one caller ever."""
    return bool(
        await db.run(
            "INSERT INTO instance (org_id, team_id, operator_id) VALUES (:org_id, :team_id, :operator_id) ON CONFLICT DO NOTHING",
            org_id=founding.org_id,
            team_id=founding.team_id,
            operator_id=founding.operator_id,
        )
    )


async def find_instance(db: Transaction, *, lock: bool = False) -> InstanceRow | None:
    return await db.one(InstanceRow, f"SELECT {INSTANCE} FROM instance {'FOR NO KEY UPDATE' if lock else ''}")


async def set_locale_policy(db: Transaction, default_locale: str, switching: bool, serve_machine: bool) -> None:
    await db.run(
        """
        UPDATE instance SET default_locale = :default_locale, locale_switching = :switching, serve_machine = :serve_machine
        """,
        default_locale=default_locale,
        switching=switching,
        serve_machine=serve_machine,
    )


async def read_generation(db: Transaction) -> int:
    return int(await db.value("SELECT max(generation) FROM instance") or 0)


async def suspend_instance(db: Transaction, suspended: bool) -> None:
    await db.run(
        "UPDATE instance SET suspended_at = CASE WHEN :suspended THEN coalesce(suspended_at, now()) END",
        suspended=suspended,
    )


def _pair(row: tuple[Any, ...]) -> tuple[UUID, str]:
    id, name = row
    return id, name
