"""SQL of idempotency."""

from datetime import timedelta
from uuid import UUID

from atrium.kit.postgres.database import Transaction

# Seconds; longer than any request that is answered at once takes.
PATIENCE = 300.0


async def insert_key(db: Transaction, org_id: UUID, user_id: UUID, key: str, request: bytes) -> bool:
    """False when the key exists already; a second caller waits here until the first has committed.

    A request without a reply for this long is taken to have died with its process: the same one may try again.
    """
    return bool(
        await db.run(
            """
            INSERT INTO idempotency_keys (org_id, user_id, key, request) VALUES (:org_id, :user_id, :key, :request)
            ON CONFLICT (user_id, key) DO UPDATE SET request = excluded.request, reply_sealed = NULL, created_at = now()
             WHERE idempotency_keys.created_at < now() - interval '24 hours'
                OR (idempotency_keys.reply_sealed IS NULL AND idempotency_keys.request = excluded.request
                    AND idempotency_keys.created_at < now() - make_interval(secs => :patience))
            """,
            org_id=org_id,
            user_id=user_id,
            key=key,
            request=request,
            patience=PATIENCE,
        )
    )


async def find_reply(
    db: Transaction, org_id: UUID, user_id: UUID, key: str
) -> tuple[bytes, bytes | None, float] | None:
    """The request, its reply if there is one, and how many seconds ago it came."""
    rows = await db.rows(
        """
        SELECT request, reply_sealed, extract(epoch FROM now() - created_at)::float FROM idempotency_keys
         WHERE org_id = :org_id AND user_id = :user_id AND key = :key
        """,
        org_id=org_id,
        user_id=user_id,
        key=key,
    )
    return (rows[0][0], rows[0][1], rows[0][2]) if rows else None


async def write_reply(db: Transaction, org_id: UUID, user_id: UUID, key: str, sealed: bytes) -> None:
    await db.run(
        """
        UPDATE idempotency_keys SET reply_sealed = :sealed
         WHERE org_id = :org_id AND user_id = :user_id AND key = :key AND reply_sealed IS NULL
        """,
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


async def forget_keys(db: Transaction, age: timedelta, most: int) -> int:
    """Delete all of them at once: the directory reads nothing of a key but its age."""
    return await db.run("DELETE FROM idempotency_keys WHERE created_at < now() - :age::interval", age=age)
