"""SQL of idempotency."""

from uuid import UUID

from atrium.kit.database import Transaction


async def insert_key(db: Transaction, org_id: UUID, user_id: UUID, key: str, request: bytes) -> bool:
    """False when the key exists already; a second caller waits here until the first has committed."""
    return bool(
        await db.run(
            """
            INSERT INTO idempotency_keys (org_id, user_id, key, request) VALUES (:org_id, :user_id, :key, :request)
            ON CONFLICT (user_id, key) DO UPDATE SET request = excluded.request, reply_sealed = NULL, created_at = now()
             WHERE idempotency_keys.created_at < now() - interval '24 hours'
            """,
            org_id=org_id,
            user_id=user_id,
            key=key,
            request=request,
        )
    )


async def find_reply(db: Transaction, org_id: UUID, user_id: UUID, key: str) -> tuple[bytes, bytes | None] | None:
    rows = await db.rows(
        "SELECT request, reply_sealed FROM idempotency_keys WHERE org_id = :org_id AND user_id = :user_id AND key = :key",
        org_id=org_id,
        user_id=user_id,
        key=key,
    )
    return (rows[0][0], rows[0][1]) if rows else None


async def write_reply(db: Transaction, org_id: UUID, user_id: UUID, key: str, sealed: bytes) -> None:
    await db.run(
        "UPDATE idempotency_keys SET reply_sealed = :sealed WHERE org_id = :org_id AND user_id = :user_id AND key = :key",
        org_id=org_id,
        user_id=user_id,
        key=key,
        sealed=sealed,
    )


async def delete_unanswered(db: Transaction, org_id: UUID, user_id: UUID, key: str) -> None:
    await db.run(
        """
        DELETE FROM idempotency_keys
         WHERE org_id = :org_id AND user_id = :user_id AND key = :key AND reply_sealed IS NULL
        """,
        org_id=org_id,
        user_id=user_id,
        key=key,
    )


async def forget_old(db: Transaction) -> int:
    return await db.run("DELETE FROM idempotency_keys WHERE created_at < now() - interval '24 hours'")
