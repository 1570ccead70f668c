"""SQL of identity."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from atrium.ground.identity.credential_model import ResetLink
from atrium.ground.identity.model import Account, FailedSignIns, Member, PersonDraft, PersonRoles
from atrium.kit.postgres.database import Transaction, old_rows

ACCOUNT = (
    "id, org_id, team_id, username, display_name, locale, role, org_role, operator, password_hash, totp_sealed,"
    " extract(epoch FROM now())::float8"
)
REVISION = "left(md5(concat_ws(' ', team_id, role, org_role)), 16)"
MEMBER = f"id, team_id, username, display_name, role, org_role, totp_sealed IS NOT NULL, created_at, {REVISION}"
STANDING = f"id, team_id, role, org_role, operator, username, {REVISION}"
# Principals of a company who have not left: a statement that goes on with its own condition.
PEOPLE = """
    SELECT u.id, u.team_id, u.org_id, u.username, u.role, u.org_role, u.operator,
           ARRAY(SELECT CASE WHEN f.enabled THEN '+' ELSE '-' END || f.name FROM team_features f WHERE f.team_id = u.team_id) AS switches,
           CASE WHEN o.moving_at IS NOT NULL THEN 'moving'
                WHEN o.suspended_at IS NOT NULL THEN 'org'
                WHEN (SELECT i.suspended_at FROM instance i) IS NOT NULL THEN 'tenant' END AS suspended
      FROM users u JOIN orgs o ON o.id = u.org_id
     WHERE u.org_id = :org_id AND u.left_at IS NULL
"""


async def list_principals(db: Transaction, org_id: UUID, ids: list[UUID]) -> list[tuple[Any, ...]]:
    return await db.rows(f"{PEOPLE} AND u.id = ANY(:ids)", org_id=org_id, ids=ids)


async def find_account_by_name(db: Transaction, username: str) -> Account | None:
    # Lowered here and not by PostgreSQL, whose lower() turns İ into a plain i: the backoff counts by the same spelling.
    return await db.one(
        Account,
        f"SELECT {ACCOUNT} FROM users WHERE lower(username) = :username AND left_at IS NULL",
        username=username.lower(),
    )


async def find_account(db: Transaction, id: UUID) -> Account | None:
    return await db.one(Account, f"SELECT {ACCOUNT} FROM users WHERE id = :id AND left_at IS NULL", id=id)


async def list_locales(db: Transaction, org_id: UUID, id: UUID) -> list[str | None]:
    """The language of a person: their own where the instance lets people choose, else the instance's; no row for one who has left."""
    rows = await db.rows(
        """
        SELECT coalesce(CASE WHEN coalesce(i.locale_switching, true) THEN u.locale END, i.default_locale)
          FROM users u LEFT JOIN instance i ON true WHERE u.org_id = :org_id AND u.id = :id AND u.left_at IS NULL
        """,
        org_id=org_id,
        id=id,
    )
    return [locale for (locale,) in rows]


async def hold_account(db: Transaction, id: UUID) -> Account | None:
    """The current row, locked until the transaction ends."""
    return await db.one(
        Account, f"SELECT {ACCOUNT} FROM users WHERE id = :id AND left_at IS NULL FOR NO KEY UPDATE", id=id
    )


async def hold_people(db: Transaction, org_id: UUID, team_id: UUID, ids: list[UUID]) -> list[PersonRoles]:
    """These people, the owners of their team and those of the company, locked in one order, which prevents deadlocks."""
    return await db.all(
        PersonRoles,
        f"""
        SELECT {STANDING} FROM users
         WHERE org_id = :org_id AND left_at IS NULL
           AND (id = ANY(:ids) OR (team_id = :team_id AND role = 'owner') OR org_role = 'org_owner')
         ORDER BY id FOR NO KEY UPDATE
        """,
        org_id=org_id,
        team_id=team_id,
        ids=ids,
    )


async def hold_standing(db: Transaction, org_id: UUID, id: UUID) -> PersonRoles | None:
    return await db.one(
        PersonRoles,
        f"""
        SELECT {STANDING} FROM users
         WHERE org_id = :org_id AND id = :id AND left_at IS NULL FOR SHARE
        """,
        org_id=org_id,
        id=id,
    )


async def set_role(db: Transaction, org_id: UUID, id: UUID, role: str) -> Member | None:
    return await db.one(
        Member,
        f"UPDATE users SET role = :role WHERE org_id = :org_id AND id = :id AND left_at IS NULL RETURNING {MEMBER}",
        org_id=org_id,
        id=id,
        role=role,
    )


async def leave(db: Transaction, org_id: UUID, id: UUID) -> None:
    """The row stays, because audit events and versions name it; signing in with it is no longer possible."""
    await db.run(
        """
        UPDATE users SET left_at = now(), org_role = NULL, password_hash = NULL, totp_sealed = NULL
         WHERE org_id = :org_id AND id = :id AND left_at IS NULL
        """,
        org_id=org_id,
        id=id,
    )


async def insert_user(db: Transaction, id: UUID, org_id: UUID, team_id: UUID, person: PersonDraft) -> Member | None:
    return await db.one(
        Member,
        f"""
        INSERT INTO users (id, org_id, team_id, username, display_name, role, org_role, password_hash)
        VALUES (:id, :org_id, :team_id, :username, :display_name, :role, :org_role, :password_hash)
        ON CONFLICT (lower(username)) WHERE left_at IS NULL DO NOTHING RETURNING {MEMBER}
        """,
        id=id,
        org_id=org_id,
        team_id=team_id,
        username=person.username,
        display_name=person.display_name or person.username,
        role=person.role,
        org_role=person.org_role,
        password_hash=person.password_hash,
    )


async def make_operator(db: Transaction, org_id: UUID, id: UUID) -> None:
    """Only the directory's role may."""
    await db.run("UPDATE users SET operator = true WHERE org_id = :org_id AND id = :id", org_id=org_id, id=id)


async def list_members(
    db: Transaction, org_id: UUID, team_id: UUID | None, after: UUID | None, limit: int
) -> list[Member]:
    return await db.all(
        Member,
        f"""
        SELECT {MEMBER} FROM users
         WHERE org_id = :org_id AND left_at IS NULL AND (:team_id::uuid IS NULL OR team_id = :team_id)
           AND (:after::uuid IS NULL OR id > :after)
         ORDER BY id LIMIT :limit
        """,
        org_id=org_id,
        team_id=team_id,
        after=after,
        limit=limit,
    )


async def list_known(db: Transaction, org_id: UUID, team_id: UUID | None, ids: list[UUID]) -> dict[UUID, str]:
    """What those of these people are called who are in a team, or (None) in any."""
    rows = await db.rows(
        """
        SELECT id, display_name FROM users
         WHERE org_id = :org_id AND id = ANY(:ids) AND left_at IS NULL AND (:team_id::uuid IS NULL OR team_id = :team_id)
        """,
        org_id=org_id,
        team_id=team_id,
        ids=ids,
    )
    return dict(rows)


async def list_operators(db: Transaction, org_id: UUID, team_id: UUID | None, limit: int) -> list[str]:
    """What operators of a team, or (None) of any team of the company, are called."""
    rows = await db.rows(
        """
        SELECT display_name FROM users
         WHERE org_id = :org_id AND operator AND left_at IS NULL AND (:team_id::uuid IS NULL OR team_id = :team_id)
         ORDER BY id LIMIT :limit
        """,
        org_id=org_id,
        team_id=team_id,
        limit=limit,
    )
    return [name for (name,) in rows]


async def find_member(db: Transaction, org_id: UUID, id: UUID, *, hold: bool = False) -> Member | None:
    return await db.one(
        Member,
        f"SELECT {MEMBER} FROM users WHERE org_id = :org_id AND id = :id AND left_at IS NULL {'FOR SHARE' if hold else ''}",
        org_id=org_id,
        id=id,
    )


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


async def list_names(db: Transaction, org_id: UUID, ids: list[UUID]) -> dict[UUID, str]:
    rows = await db.rows(
        "SELECT id, coalesce(nullif(display_name, ''), username) FROM users WHERE org_id = :org_id AND id = ANY(:ids)",
        org_id=org_id,
        ids=ids,
    )
    return {row[0]: row[1] for row in rows}


async def set_org_role(db: Transaction, org_id: UUID, id: UUID, org_role: str | None) -> None:
    await db.run(
        "UPDATE users SET org_role = :org_role WHERE org_id = :org_id AND id = :id",
        org_id=org_id,
        id=id,
        org_role=org_role,
    )


async def count_users(db: Transaction) -> int:
    return int(await db.value("SELECT count(*) FROM users WHERE left_at IS NULL"))


async def add_failed_sign_in(db: Transaction, username: str, wrong_code: bool, address: str) -> None:
    """Counted where there is such an account, and the same work where there is none."""
    await db.run(
        """
        INSERT INTO failed_sign_ins AS f (org_id, user_id, failures, wrong_codes, address)
        SELECT org_id, id, 1, :wrong_code::boolean::int, :address FROM users WHERE lower(username) = :username AND left_at IS NULL
        ON CONFLICT (user_id) DO UPDATE
           SET failures = f.failures + 1, wrong_codes = f.wrong_codes + excluded.wrong_codes, address = excluded.address, failed_at = now()
        """,
        username=username.lower(),
        wrong_code=wrong_code,
        address=address,
    )


async def take_failed_sign_ins(db: Transaction, limit: int) -> list[FailedSignIns]:
    """What has not been told yet, for exactly one caller, and of one account once in a quarter of an hour."""
    return await db.all(
        FailedSignIns,
        """
        WITH due AS (
          SELECT f.org_id, u.team_id, f.user_id, f.failures, f.wrong_codes, f.address
            FROM failed_sign_ins f JOIN users u ON u.id = f.user_id JOIN orgs o ON o.id = f.org_id
           WHERE f.failures > 0 AND o.moving_at IS NULL AND (f.recorded_at IS NULL OR f.recorded_at < now() - interval '15 minutes')
           LIMIT :limit FOR UPDATE OF f SKIP LOCKED
        )
        UPDATE failed_sign_ins f SET failures = 0, wrong_codes = 0, recorded_at = now() FROM due
         WHERE f.user_id = due.user_id
        RETURNING due.org_id, due.team_id, due.user_id, due.failures, due.wrong_codes, due.address
        """,
        limit=limit,
    )


async def forget_failed_sign_ins(db: Transaction, age: timedelta, most: int) -> int:
    """Delete those that were told."""
    return await db.run(
        old_rows("failed_sign_ins", "failed_at", key="user_id", also="failures = 0"), age=age, most=most
    )


async def replace_reset(
    db: Transaction, org_id: UUID, user_id: UUID, digest: bytes, url: str, lifetime: timedelta
) -> ResetLink | None:
    """One link a person: a new one ends the one before."""
    await delete_resets(db, org_id, user_id)
    return await db.one(
        ResetLink,
        """
        INSERT INTO password_resets (org_id, user_id, digest, expires_at)
        VALUES (:org_id, :user_id, :digest, now() + :lifetime::interval) RETURNING :url::text, expires_at
        """,
        org_id=org_id,
        user_id=user_id,
        digest=digest,
        url=url,
        lifetime=lifetime,
    )


async def find_reset(db: Transaction, digest: bytes) -> UUID | None:
    """Whose link this is, while it works."""
    found: UUID | None = await db.value(
        "SELECT user_id FROM password_resets WHERE digest = :digest AND expires_at > now()", digest=digest
    )
    return found


async def spend_reset(db: Transaction, org_id: UUID, digest: bytes) -> bool:
    """True for exactly one caller per link."""
    return bool(
        await db.run(
            "DELETE FROM password_resets WHERE org_id = :org_id AND digest = :digest AND expires_at > now()",
            org_id=org_id,
            digest=digest,
        )
    )


async def delete_resets(db: Transaction, org_id: UUID, user_id: UUID) -> None:
    await db.run(
        "DELETE FROM password_resets WHERE org_id = :org_id AND user_id = :user_id", org_id=org_id, user_id=user_id
    )


async def forget_resets(db: Transaction, age: timedelta, most: int) -> int:
    return await db.run(old_rows("password_resets", "expires_at", key="user_id"), age=age, most=most)
