"""SQL of limits."""

from datetime import timedelta

from atrium.ground.limits.model import Guess
from atrium.kit.postgres.database import Transaction, old_rows


async def spend(db: Transaction, key: bytes, per_minute: int) -> float:
    """Generic cell rate: 0 when admitted, else the seconds until the next request fits. One statement, one row lock."""
    return float(
        await db.value(
            """
            WITH admitted AS (
              INSERT INTO rate_limits AS r (key, arrives_at) VALUES (:key, now() + interval '1 minute' / :per_minute::int)
              ON CONFLICT (key) DO UPDATE SET arrives_at = greatest(r.arrives_at, now()) + interval '1 minute' / :per_minute::int
               WHERE greatest(r.arrives_at, now()) - now() <= interval '1 minute' - interval '1 minute' / :per_minute::int
              RETURNING 1
            )
            SELECT CASE WHEN EXISTS (SELECT FROM admitted) THEN 0 ELSE greatest(0.1, coalesce(
              (SELECT extract(epoch FROM arrives_at - now()) - 60 + 60.0 / :per_minute::int FROM rate_limits WHERE key = :key), 0)) END
            """,
            key=key,
            per_minute=per_minute,
        )
    )


async def blocked_seconds(db: Transaction, guess: Guess) -> float:
    """An address that signed in to this account before waits for the account's own failures from there, and for no others."""
    found = await db.value(
        """
        SELECT max(extract(epoch FROM blocked_until - now())) FROM login_failures WHERE blocked_until > now()
           AND (key = :account OR key = :address::bytea AND NOT EXISTS (SELECT FROM known_sign_ins WHERE key = :account))
        """,
        account=guess.account,
        address=guess.address,
    )
    return float(found or 0)


async def is_known(db: Transaction, key: bytes) -> bool:
    return bool(await db.value("SELECT EXISTS (SELECT FROM known_sign_ins WHERE key = :key)", key=key))


async def keep_known(db: Transaction, key: bytes) -> None:
    await db.run(
        """
        INSERT INTO known_sign_ins (key, seen_at) VALUES (:key, now())
        ON CONFLICT (key) DO UPDATE SET seen_at = now() WHERE known_sign_ins.seen_at < now() - interval '1 day'
        """,
        key=key,
    )


async def add_failure(db: Transaction, key: bytes, allowed: int, longest: int) -> None:
    """Count one failure; past the allowed number the wait doubles with each, up to the longest."""
    await db.run(
        """
        INSERT INTO login_failures AS f (key, failures, since, blocked_until)
        VALUES (:key, 1, now(), CASE WHEN :allowed <= 1 THEN now() + interval '1 second' END)
        ON CONFLICT (key) DO UPDATE SET
          failures = CASE WHEN f.since < now() - interval '15 minutes' THEN 1 ELSE f.failures + 1 END,
          since = CASE WHEN f.since < now() - interval '15 minutes' THEN now() ELSE f.since END,
          blocked_until = CASE
            WHEN f.since < now() - interval '15 minutes' OR f.failures + 1 < :allowed::int THEN NULL
            ELSE now() + make_interval(secs => least(:longest::int, 2 ^ least(f.failures + 1 - :allowed::int, 20))) END
        """,
        key=key,
        allowed=allowed,
        longest=longest,
    )


async def clear_failures(db: Transaction, key: bytes) -> None:
    await db.run("DELETE FROM login_failures WHERE key = :key", key=key)


async def forget_rates(db: Transaction, age: timedelta, most: int) -> int:
    return await db.run(old_rows("rate_limits", "arrives_at", key="ctid"), age=age, most=most)


async def forget_failures(db: Transaction, age: timedelta, most: int) -> int:
    return await db.run(old_rows("login_failures", "since", key="ctid"), age=age, most=most)


async def forget_sign_ins(db: Transaction, age: timedelta, most: int) -> int:
    return await db.run(old_rows("known_sign_ins", "seen_at", key="ctid"), age=age, most=most)
