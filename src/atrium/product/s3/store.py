"""SQL of S3: key pairs and buckets."""

from typing import Any
from uuid import UUID

import msgspec

from atrium.ground.identity.model import PERSON
from atrium.kit.postgres.database import Database, Transaction
from atrium.kit.postgres.pool import Connection
from atrium.product.s3.model import AccessKey, Bucket, CorsRule, SealedKey
from atrium.seams.context import Principal

KEY = "id, access_key_id, name, scope, prefix, created_at, last_used_at"
SEALED = "id, org_id, user_id, access_key_id, secret_sealed"
BUCKET = "name, name || '/', tags, versioned, created_at"
FIND_PRINCIPAL = f"SELECT credential_id, scope, prefix, secret_sealed, {PERSON} FROM find_s3_principal($1)"


async def find_principal(database: Database, connection: Connection, access_key_id: str) -> Any:
    return await database.ask(connection, FIND_PRINCIPAL, access_key_id)


async def insert_key(db: Transaction, key: SealedKey, name: str, scope: list[str] | None, prefix: str | None) -> None:
    await db.run(
        """
        INSERT INTO s3_keys (id, org_id, user_id, access_key_id, secret_sealed, name, scope, prefix)
        VALUES (:id, :org_id, :user_id, :access_key_id, :secret_sealed, :name, :scope, :prefix)
        """,
        **msgspec.structs.asdict(key),
        name=name,
        scope=scope,
        prefix=prefix,
    )


async def list_keys(db: Transaction, org_id: UUID, user_id: UUID, limit: int) -> list[AccessKey]:
    return await db.all(
        AccessKey,
        f"SELECT {KEY} FROM s3_keys WHERE org_id = :org_id AND user_id = :user_id ORDER BY id DESC LIMIT :limit",
        org_id=org_id,
        user_id=user_id,
        limit=limit,
    )


async def find_newest(db: Transaction, org_id: UUID, user_id: UUID, key: str) -> SealedKey | None:
    """The person's newest key pair that may use one of the team's keys."""
    return await db.one(
        SealedKey,
        f"""
        SELECT {SEALED} FROM s3_keys
         WHERE org_id = :org_id AND user_id = :user_id AND starts_with(:key, coalesce(prefix, '')) ORDER BY id DESC LIMIT 1
        """,
        org_id=org_id,
        user_id=user_id,
        key=key,
    )


async def find_owner(db: Transaction, org_id: UUID, id: UUID) -> UUID | None:
    found: UUID | None = await db.value(
        "SELECT user_id FROM s3_keys WHERE org_id = :org_id AND id = :id", org_id=org_id, id=id
    )
    return found


async def delete_key(db: Transaction, org_id: UUID, user_id: UUID, id: UUID) -> bool:
    return bool(
        await db.run(
            "DELETE FROM s3_keys WHERE org_id = :org_id AND user_id = :user_id AND id = :id",
            org_id=org_id,
            user_id=user_id,
            id=id,
        )
    )


async def count_keys(db: Transaction, org_id: UUID, user_id: UUID) -> int:
    return int(
        await db.value(
            "SELECT count(*) FROM s3_keys WHERE org_id = :org_id AND user_id = :user_id", org_id=org_id, user_id=user_id
        )
    )


async def delete_keys(db: Transaction, org_id: UUID, user_id: UUID) -> int:
    return await db.run(
        "DELETE FROM s3_keys WHERE org_id = :org_id AND user_id = :user_id", org_id=org_id, user_id=user_id
    )


async def list_sealed(db: Transaction) -> list[SealedKey]:
    return await db.all(SealedKey, f"SELECT {SEALED} FROM s3_keys")


async def reseal(db: Transaction, id: UUID, before: bytes, sealed: bytes) -> int:
    return await db.run(
        "UPDATE s3_keys SET secret_sealed = :sealed WHERE id = :id AND secret_sealed = :before",
        id=id,
        before=before,
        sealed=sealed,
    )


async def find_bucket(db: Transaction, who: Principal, name: str) -> Bucket | None:
    return await db.one(
        Bucket,
        f"SELECT {BUCKET} FROM s3_buckets WHERE org_id = :org_id AND team_id = :team_id AND name = :name",
        org_id=who.org_id,
        team_id=who.team_id,
        name=name,
    )


async def list_buckets(db: Transaction, who: Principal) -> list[Bucket]:
    return await db.all(
        Bucket,
        f"SELECT {BUCKET} FROM s3_buckets WHERE org_id = :org_id AND team_id = :team_id ORDER BY name LIMIT 10000",
        org_id=who.org_id,
        team_id=who.team_id,
    )


async def insert_bucket(db: Transaction, who: Principal, name: str) -> bool:
    """True when the bucket is new."""
    return bool(
        await db.run(
            """
            INSERT INTO s3_buckets (org_id, team_id, name, created_by) VALUES (:org_id, :team_id, :name, :user_id)
            ON CONFLICT DO NOTHING
            """,
            org_id=who.org_id,
            team_id=who.team_id,
            user_id=who.user_id,
            name=name,
        )
    )


async def list_cors_rules(db: Transaction, who: Principal, name: str) -> list[CorsRule]:
    kept = await db.value(
        "SELECT cors_rules FROM s3_buckets WHERE org_id = :org_id AND team_id = :team_id AND name = :name",
        org_id=who.org_id,
        team_id=who.team_id,
        name=name,
    )
    return msgspec.convert(kept or [], list[CorsRule])


async def describe_bucket(
    db: Transaction, who: Principal, name: str, tags: dict[str, str] | None, cors_rules: list[CorsRule] | None
) -> None:
    """Write what is given, leave the rest; the team's own bucket gets its row by this."""
    await db.run(
        """
        INSERT INTO s3_buckets AS b (org_id, team_id, name, created_by, tags, cors_rules)
        VALUES (:org_id, :team_id, :name, :user_id, coalesce(:tags::jsonb, '{}'), coalesce(:cors_rules::jsonb, '[]'))
        ON CONFLICT (team_id, name) DO UPDATE
        SET tags = coalesce(:tags::jsonb, b.tags), cors_rules = coalesce(:cors_rules::jsonb, b.cors_rules)
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        user_id=who.user_id,
        name=name,
        tags=tags,
        cors_rules=cors_rules,
    )


async def set_versioned(db: Transaction, who: Principal, name: str) -> None:
    await db.run(
        """
        INSERT INTO s3_buckets (org_id, team_id, name, created_by, versioned) VALUES (:org_id, :team_id, :name, :user_id, true)
        ON CONFLICT (team_id, name) DO UPDATE SET versioned = true
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        user_id=who.user_id,
        name=name,
    )


async def delete_bucket(db: Transaction, who: Principal, name: str) -> None:
    await db.run(
        "DELETE FROM s3_buckets WHERE org_id = :org_id AND team_id = :team_id AND name = :name",
        org_id=who.org_id,
        team_id=who.team_id,
        name=name,
    )


async def list_standing(db: Transaction, ids: list[UUID]) -> set[UUID]:
    return {id for (id,) in await db.rows("SELECT id FROM s3_keys WHERE id = ANY(:ids)", ids=ids)}
