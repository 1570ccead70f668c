"""SQL of identity."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from atrium.ground.identity.model import PERSON, Account, Issued, Member, Token
from atrium.kit.database import Connection, Database, Transaction

ACCOUNT = (
    "id, org_id, team_id, username, display_name, locale, role, org_role, operator, password_hash, totp_sealed,"
    " extract(epoch FROM now())::float8"
)
MEMBER = "id, team_id, username, display_name, role, org_role, totp_sealed IS NOT NULL, created_at"
TOKEN = "t.id, t.name, t.user_id, u.username, t.scope, t.created_at, t.last_used_at, t.expires_at"
FIND_PRINCIPAL = f"SELECT credential_id, kind, scope, fresh, {PERSON} FROM find_principal($1)"


async def find_principal(database: Database, connection: Connection, digest: bytes) -> Any:
    return await database.ask(connection, FIND_PRINCIPAL, digest)


async def list_principals(db: Transaction, org_id: UUID, ids: list[UUID]) -> list[tuple[Any, ...]]:
    return await db.rows(
        """
        SELECT u.id, u.team_id, u.org_id, u.username, u.role, u.org_role, u.operator,
               ARRAY(SELECT CASE WHEN f.enabled THEN '+' ELSE '-' END || f.name FROM team_features f WHERE f.team_id = u.team_id),
               CASE WHEN o.suspended_at IS NOT NULL THEN 'org'
                    WHEN (SELECT i.suspended_at FROM instance i) IS NOT NULL THEN 'tenant' END
          FROM users u JOIN orgs o ON o.id = u.org_id WHERE u.org_id = :org_id AND u.id = ANY(:ids)
        """,
        org_id=org_id,
        ids=ids,
    )


async def find_account_by_name(db: Transaction, username: str) -> Account | None:
    # Lowered here and not by PostgreSQL, whose lower() turns İ into a plain i: the backoff counts by the same spelling.
    return await db.one(
        Account, f"SELECT {ACCOUNT} FROM users WHERE lower(username) = :username", username=username.lower()
    )


async def find_account(db: Transaction, id: UUID) -> Account | None:
    return await db.one(Account, f"SELECT {ACCOUNT} FROM users WHERE id = :id", id=id)


async def insert_user(
    db: Transaction,
    id: UUID,
    org_id: UUID,
    team_id: UUID,
    username: str,
    display_name: str,
    role: str,
    org_role: str | None,
    operator: bool,
    password_hash: str | None,
) -> Member | None:
    return await db.one(
        Member,
        f"""
        INSERT INTO users (id, org_id, team_id, username, display_name, role, org_role, operator, password_hash)
        VALUES (:id, :org_id, :team_id, :username, :display_name, :role, :org_role, :operator, :password_hash)
        ON CONFLICT (lower(username)) DO NOTHING RETURNING {MEMBER}
        """,
        id=id,
        org_id=org_id,
        team_id=team_id,
        username=username,
        display_name=display_name,
        role=role,
        org_role=org_role,
        operator=operator,
        password_hash=password_hash,
    )


async def list_members(
    db: Transaction, org_id: UUID, team_id: UUID | None, after: UUID | None, limit: int
) -> list[Member]:
    return await db.all(
        Member,
        f"""
        SELECT {MEMBER} FROM users
         WHERE org_id = :org_id AND (:team_id::uuid IS NULL OR team_id = :team_id) AND (:after::uuid IS NULL OR id > :after)
         ORDER BY id LIMIT :limit
        """,
        org_id=org_id,
        team_id=team_id,
        after=after,
        limit=limit,
    )


async def find_member(db: Transaction, org_id: UUID, id: UUID) -> Member | None:
    return await db.one(Member, f"SELECT {MEMBER} FROM users WHERE org_id = :org_id AND id = :id", org_id=org_id, id=id)


async def update_profile(db: Transaction, id: UUID, display_name: str | None, locale: str | None) -> None:
    await db.run(
        "UPDATE users SET display_name = coalesce(:display_name, display_name), locale = coalesce(:locale, locale) WHERE id = :id",
        id=id,
        display_name=display_name,
        locale=locale,
    )


async def set_password(db: Transaction, id: UUID, password_hash: str) -> None:
    await db.run("UPDATE users SET password_hash = :password_hash WHERE id = :id", id=id, password_hash=password_hash)


async def set_totp(db: Transaction, id: UUID, sealed: bytes) -> bool:
    return bool(
        await db.run(
            "UPDATE users SET totp_sealed = :sealed, totp_last_step = 0 WHERE id = :id AND totp_sealed IS NULL",
            id=id,
            sealed=sealed,
        )
    )


async def clear_totp(db: Transaction, id: UUID) -> bool:
    return bool(
        await db.run(
            "UPDATE users SET totp_sealed = NULL, totp_last_step = 0 WHERE id = :id AND totp_sealed IS NOT NULL", id=id
        )
    )


async def reseal_totp(db: Transaction, id: UUID, before: bytes, after: bytes) -> bool:
    return bool(
        await db.run(
            "UPDATE users SET totp_sealed = :after WHERE id = :id AND totp_sealed = :before",
            id=id,
            before=before,
            after=after,
        )
    )


async def list_sealed_totp(db: Transaction) -> list[tuple[UUID, UUID, bytes]]:
    found = await db.rows("SELECT org_id, id, totp_sealed FROM users WHERE totp_sealed IS NOT NULL")
    return [(org_id, id, sealed) for org_id, id, sealed in found]


async def spend_step(db: Transaction, id: UUID, step: int) -> bool:
    """True for exactly one caller per step: a code seen before is worth nothing."""
    return bool(
        await db.run(
            "UPDATE users SET totp_last_step = :step WHERE id = :id AND totp_last_step < :step", id=id, step=step
        )
    )


async def replace_recovery_codes(db: Transaction, org_id: UUID, user_id: UUID, digests: list[bytes]) -> None:
    await db.run("DELETE FROM recovery_codes WHERE user_id = :user_id", user_id=user_id)
    await db.run(
        "INSERT INTO recovery_codes (org_id, user_id, digest) SELECT :org_id, :user_id, unnest(:digests::bytea[])",
        org_id=org_id,
        user_id=user_id,
        digests=digests,
    )


async def delete_recovery_codes(db: Transaction, user_id: UUID) -> None:
    await db.run("DELETE FROM recovery_codes WHERE user_id = :user_id", user_id=user_id)


async def spend_recovery_code(db: Transaction, user_id: UUID, digest: bytes) -> bool:
    """True for exactly one caller per code."""
    return bool(
        await db.run(
            "UPDATE recovery_codes SET used_at = now() WHERE user_id = :user_id AND digest = :digest AND used_at IS NULL",
            user_id=user_id,
            digest=digest,
        )
    )


async def count_recovery_codes(db: Transaction, user_id: UUID) -> int:
    return int(
        await db.value(
            "SELECT count(*) FROM recovery_codes WHERE user_id = :user_id AND used_at IS NULL", user_id=user_id
        )
    )


async def insert_token(
    db: Transaction,
    id: UUID,
    org_id: UUID,
    team_id: UUID,
    user_id: UUID,
    kind: str,
    digest: bytes,
    raw: str,
    name: str,
    scope: list[str] | None,
    idle_limit: timedelta | None,
    lifetime: timedelta | None,
) -> Issued | None:
    return await db.one(
        Issued,
        """
        INSERT INTO tokens (id, org_id, team_id, user_id, kind, digest, name, scope, idle_limit, expires_at)
        VALUES (:id, :org_id, :team_id, :user_id, :kind, :digest, :name, :scope, :idle_limit, now() + :lifetime::interval)
        RETURNING id, :raw::text, expires_at
        """,
        id=id,
        org_id=org_id,
        team_id=team_id,
        user_id=user_id,
        kind=kind,
        digest=digest,
        raw=raw,
        name=name,
        scope=scope,
        idle_limit=idle_limit,
        lifetime=lifetime,
    )


async def find_token(db: Transaction, org_id: UUID, team_id: UUID, id: UUID) -> Token | None:
    return await db.one(
        Token,
        f"""
        SELECT {TOKEN} FROM tokens t JOIN users u ON u.id = t.user_id
         WHERE t.org_id = :org_id AND t.team_id = :team_id AND t.id = :id AND t.kind = 'token'
        """,
        org_id=org_id,
        team_id=team_id,
        id=id,
    )


async def list_tokens(db: Transaction, org_id: UUID, team_id: UUID, before: UUID | None, limit: int) -> list[Token]:
    return await db.all(
        Token,
        f"""
        SELECT {TOKEN} FROM tokens t JOIN users u ON u.id = t.user_id
         WHERE t.org_id = :org_id AND t.team_id = :team_id AND t.kind = 'token' AND (:before::uuid IS NULL OR t.id < :before)
         ORDER BY t.id DESC LIMIT :limit
        """,
        org_id=org_id,
        team_id=team_id,
        before=before,
        limit=limit,
    )


async def delete_token(db: Transaction, org_id: UUID, team_id: UUID, id: UUID) -> bool:
    return bool(
        await db.run(
            "DELETE FROM tokens WHERE org_id = :org_id AND team_id = :team_id AND id = :id AND kind = 'token'",
            org_id=org_id,
            team_id=team_id,
            id=id,
        )
    )


async def delete_worker_token(db: Transaction, id: UUID) -> None:
    await db.run("DELETE FROM tokens WHERE id = :id AND kind = 'worker'", id=id)


async def token_stands(db: Transaction, org_id: UUID, id: UUID) -> bool:
    return bool(
        await db.value(
            """
            SELECT EXISTS (SELECT FROM tokens WHERE org_id = :org_id AND id = :id AND (expires_at IS NULL OR expires_at > now()))
            """,
            org_id=org_id,
            id=id,
        )
    )


async def end_sessions(db: Transaction, user_id: UUID, keep: UUID | None) -> int:
    return await db.run(
        "DELETE FROM tokens WHERE user_id = :user_id AND kind IN ('session', 'first') AND id IS DISTINCT FROM :keep::uuid",
        user_id=user_id,
        keep=keep,
    )


async def forget_expired(db: Transaction) -> int:
    return await db.run("DELETE FROM tokens WHERE expires_at < now() - interval '1 day'")


async def set_org_role(db: Transaction, org_id: UUID, id: UUID, org_role: str | None) -> None:
    await db.run(
        "UPDATE users SET org_role = :org_role WHERE org_id = :org_id AND id = :id",
        org_id=org_id,
        id=id,
        org_role=org_role,
    )


async def find_locale_policy(db: Transaction) -> tuple[str | None, bool]:
    rows = await db.rows("SELECT default_locale, locale_switching FROM instance")
    return (rows[0][0], rows[0][1]) if rows else (None, True)


async def find_first_team(db: Transaction) -> UUID | None:
    return await db.value("SELECT team_id FROM instance")  # type: ignore[no-any-return]


async def count_users(db: Transaction) -> int:
    return int(await db.value("SELECT count(*) FROM users"))


async def count_tokens(db: Transaction) -> int:
    return int(await db.value("SELECT count(*) FROM tokens WHERE kind = 'token'"))
