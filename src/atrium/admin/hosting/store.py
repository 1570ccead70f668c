"""SQL of hosting."""

from datetime import timedelta
from uuid import UUID

from atrium.kit.postgres.database import Transaction


async def replace_activation(db: Transaction, org_id: UUID, user_id: UUID, digest: bytes, lifetime: timedelta) -> None:
    await db.run(
        "DELETE FROM activations WHERE org_id = :org_id AND user_id = :user_id", org_id=org_id, user_id=user_id
    )
    await db.run(
        """
        INSERT INTO activations (org_id, user_id, digest, expires_at)
        VALUES (:org_id, :user_id, :digest, now() + :lifetime::interval)
        """,
        org_id=org_id,
        user_id=user_id,
        digest=digest,
        lifetime=lifetime,
    )


async def is_redeemable(db: Transaction, digest: bytes) -> bool:
    return bool(
        await db.value(
            "SELECT EXISTS (SELECT FROM activations WHERE digest = :digest AND used_at IS NULL AND expires_at > now())",
            digest=digest,
        )
    )


async def redeem(db: Transaction, digest: bytes) -> UUID | None:
    """Whose link it was, for exactly one caller."""
    found: UUID | None = await db.value(
        "UPDATE activations SET used_at = now() WHERE digest = :digest AND used_at IS NULL AND expires_at > now() RETURNING user_id",
        digest=digest,
    )
    return found


async def lock_founding(db: Transaction, id: UUID) -> None:
    """One founding for a prospect at a time."""
    await db.run("SELECT pg_advisory_xact_lock(hashtext('atrium invitations'), hashtext(:id::uuid::text))", id=id)
