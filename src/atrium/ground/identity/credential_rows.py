"""SQL of credentials: sessions and API tokens."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from atrium.ground.identity.credential_model import NewCredential, OpenSession, Token, TokenRow
from atrium.ground.identity.model import PERSON
from atrium.kit.postgres.database import Database, Transaction, old_rows
from atrium.kit.postgres.pool import Connection

TOKEN = "t.id, t.name, t.user_id, u.username, t.scope, t.created_at, t.last_used_at, t.expires_at"
# What PostgreSQL rings when credentials have ended.
CREDENTIALS_ENDED = "identity:credentials"
FOUND = f"credential_id, kind, scope, fresh, {PERSON}"
FIND_PRINCIPAL = f"SELECT {FOUND} FROM find_principal($1, NULL)"
FIND_WORKER = "SELECT executor_id, bound_to, name, suspended FROM find_worker($1)"


async def find_principal(database: Database, connection: Connection, digest: bytes) -> Any:
    return await database.ask(connection, FIND_PRINCIPAL, digest)


async def hold_principal(db: Transaction, digest: bytes, writing: bool) -> Any:
    """The same inside a transaction, which from then on is the person's company's; the credential stands until it ends."""
    found = await db.rows(f"SELECT {FOUND} FROM find_principal(:digest, :writing)", digest=digest, writing=writing)
    return found[0] if found else None


async def find_worker(database: Database, connection: Connection, digest: bytes) -> Any:
    return await database.ask(connection, FIND_WORKER, digest)


async def insert_token(db: Transaction, token: TokenRow, raw: str) -> NewCredential | None:
    return await db.one(
        NewCredential,
        """
        INSERT INTO tokens (id, org_id, team_id, user_id, kind, digest, name, scope, idle_limit, expires_at, method,
                            user_agent, address)
        VALUES (:id, :org_id, :team_id, :user_id, :kind, :digest, :name, :scope, :idle_limit, now() + :lifetime::interval,
                :method, :user_agent, :address)
        RETURNING id, :raw::text, expires_at
        """,
        **msgspec.structs.asdict(token),
        raw=raw,
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


async def end_sessions(db: Transaction, user_id: UUID, keep: UUID | None) -> int:
    return await db.run(
        "DELETE FROM tokens WHERE user_id = :user_id AND kind IN ('session', 'first') AND id IS DISTINCT FROM :keep::uuid",
        user_id=user_id,
        keep=keep,
    )


async def end_session(db: Transaction, org_id: UUID, user_id: UUID, id: UUID) -> bool:
    return bool(
        await db.run(
            """
            DELETE FROM tokens
             WHERE org_id = :org_id AND user_id = :user_id AND id = :id AND kind IN ('session', 'first')
            """,
            org_id=org_id,
            user_id=user_id,
            id=id,
        )
    )


async def end_tokens(db: Transaction, user_id: UUID) -> int:
    return await db.run("DELETE FROM tokens WHERE user_id = :user_id AND kind = 'token'", user_id=user_id)


async def count_tokens_of(db: Transaction, user_id: UUID) -> int:
    return int(
        await db.value(
            """
            SELECT count(*) FROM tokens
             WHERE user_id = :user_id AND kind = 'token' AND (expires_at IS NULL OR expires_at > now())
            """,
            user_id=user_id,
        )
    )


async def end_credentials(db: Transaction, user_id: UUID) -> int:
    return await db.run("DELETE FROM tokens WHERE user_id = :user_id", user_id=user_id)


async def tell_ended(db: Transaction) -> None:
    """Heard by every process at the commit; each looks which of the credentials it is serving still stand."""
    await db.value("SELECT pg_notify('atrium_jobs', :topic)", topic=CREDENTIALS_ENDED)


async def list_standing(db: Transaction, ids: list[UUID]) -> set[UUID]:
    found = await db.rows(
        "SELECT id FROM tokens WHERE id = ANY(:ids) AND (expires_at IS NULL OR expires_at > now())", ids=ids
    )
    return {id for (id,) in found}


async def list_standing_roles(db: Transaction, ids: list[UUID]) -> list[tuple[Any, ...]]:
    return await db.rows(
        """
        SELECT t.id, u.team_id, u.role, u.org_role, u.operator FROM tokens t JOIN users u ON u.id = t.user_id
         WHERE t.id = ANY(:ids) AND (t.expires_at IS NULL OR t.expires_at > now())
        """,
        ids=ids,
    )


async def list_sessions(
    db: Transaction, org_id: UUID, user_id: UUID, current: UUID, before: UUID | None, limit: int
) -> list[OpenSession]:
    return await db.all(
        OpenSession,
        """
        SELECT id, id = :current, created_at, last_used_at, expires_at, user_agent, address, method FROM tokens
         WHERE org_id = :org_id AND user_id = :user_id AND kind IN ('session', 'first')
           AND (expires_at IS NULL OR expires_at > now())
           AND (idle_limit IS NULL OR coalesce(last_used_at, created_at) > now() - idle_limit)
           AND (:before::uuid IS NULL OR id < :before)
         ORDER BY id DESC LIMIT :limit
        """,
        org_id=org_id,
        user_id=user_id,
        current=current,
        before=before,
        limit=limit,
    )


async def forget_tokens(db: Transaction, age: timedelta, most: int) -> int:
    """Delete credentials that ended so long ago."""
    return await db.run(old_rows("tokens", "expires_at"), age=age, most=most)


async def count_tokens(db: Transaction) -> int:
    return int(await db.value("SELECT count(*) FROM tokens WHERE kind = 'token'"))
