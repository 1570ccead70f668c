"""SQL of quotas."""

from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from atrium.ground.quotas.model import (
    STORAGE,
    Amounts,
    Limit,
    LimitChange,
    LimitOrigin,
    Meter,
    QuotaHold,
    ReservationRequest,
    Space,
    StorageChange,
    UsageEntry,
)
from atrium.kit.postgres.database import Transaction, old_rows

METER = "scope_id, dimension, reserved, counted_at, minute, hour, day, month, total"
Limits = dict[tuple[UUID, str], dict[str, int]]
LOCK = "atrium quotas"


class LimitRow(msgspec.Struct, frozen=True):
    """A limit as it is stored."""

    scope_id: UUID
    dimension: str
    per: str
    most: int


async def lock_books(db: Transaction, org_id: UUID) -> None:
    # A lock of its own, taken before anything is read: the statements after it see what the last holder committed.
    await db.value("SELECT pg_advisory_xact_lock(hashtext(:name), hashtext(:org_id))", name=LOCK, org_id=str(org_id))


async def try_lock_books(db: Transaction, org_id: UUID) -> bool:
    """The same without waiting; False when another transaction has them."""
    return bool(
        await db.value(
            "SELECT pg_try_advisory_xact_lock(hashtext(:name), hashtext(:org_id))", name=LOCK, org_id=str(org_id)
        )
    )


async def read_clock(db: Transaction) -> datetime:
    now: datetime = await db.value("SELECT clock_timestamp()")
    return now


async def lapse_holds(db: Transaction, org_id: UUID, but: list[UUID]) -> list[QuotaHold]:
    return await db.all(
        QuotaHold,
        """
        UPDATE quota_holds SET state = 'lapsed'
         WHERE org_id = :org_id AND state = 'held' AND expires_at < clock_timestamp() AND id <> ALL(:but::uuid[])
        RETURNING id, team_id, amounts, state
        """,
        org_id=org_id,
        but=but,
    )


async def list_lapsed(db: Transaction, org_id: UUID, entered: list[UUID]) -> list[QuotaHold]:
    """Holds that count no more and that no round has freed yet; those that are about to be settled do that by themselves."""
    return await db.all(
        QuotaHold,
        """
        SELECT id, team_id, amounts, state FROM quota_holds
         WHERE org_id = :org_id AND state = 'held' AND expires_at < clock_timestamp() AND id <> ALL(:entered::uuid[])
        """,
        org_id=org_id,
        entered=entered,
    )


async def insert_entry(
    db: Transaction, org_id: UUID, id: UUID, team_id: UUID, hold_id: UUID | None, amounts: Amounts
) -> None:
    await db.run(
        """
        INSERT INTO quota_entries (org_id, id, team_id, hold_id, amounts)
        VALUES (:org_id, :id, :team_id, :hold_id, :amounts)
        """,
        org_id=org_id,
        id=id,
        team_id=team_id,
        hold_id=hold_id,
        amounts=amounts,
    )


async def take_entries(db: Transaction, org_id: UUID) -> list[UsageEntry]:
    """Take the usage entries of all committed transactions; the caller must add them to the counters."""
    return await db.all(
        UsageEntry,
        "DELETE FROM quota_entries WHERE org_id = :org_id RETURNING team_id, hold_id, amounts",
        org_id=org_id,
    )


async def list_entries(db: Transaction, org_id: UUID) -> list[UsageEntry]:
    return await db.all(
        UsageEntry, "SELECT team_id, hold_id, amounts FROM quota_entries WHERE org_id = :org_id", org_id=org_id
    )


async def take_kept(db: Transaction, org_id: UUID) -> list[StorageChange]:
    """Take what statements noted as kept, in sums; the caller must add them to the counters."""
    return await db.all(
        StorageChange,
        """
        WITH taken AS (DELETE FROM storage_entries WHERE org_id = :org_id RETURNING team_id, part, bytes)
        SELECT team_id, part, sum(bytes)::bigint FROM taken GROUP BY team_id, part
        """,
        org_id=org_id,
    )


async def list_kept(db: Transaction, org_id: UUID) -> list[StorageChange]:
    return await db.all(
        StorageChange,
        "SELECT team_id, part, sum(bytes)::bigint FROM storage_entries WHERE org_id = :org_id GROUP BY team_id, part",
        org_id=org_id,
    )


async def read_space(db: Transaction, org_id: UUID, team_id: UUID, most: int) -> Space | None:
    """What is left of storage, and the sum and number of what was noted since; of so many notes and no more."""
    return await db.one(
        Space,
        """
        SELECT (SELECT min(l.most - coalesce(u.reserved + CASE l.per WHEN 'total' THEN u.total WHEN 'month' THEN u.month
                                    WHEN 'day' THEN u.day WHEN 'hour' THEN u.hour ELSE u.minute END, 0))
                  FROM quota_limits l
                  LEFT JOIN quota_usage u ON u.org_id = :org_id AND u.scope_id = l.scope_id AND u.dimension = l.dimension
                 WHERE l.org_id = :org_id AND l.scope_id IN (:org_id, :team_id) AND l.dimension = :dimension),
               coalesce(sum(n.bytes), 0)::bigint, count(*)
          FROM (SELECT bytes FROM storage_entries WHERE org_id = :org_id LIMIT :most) n
        """,
        org_id=org_id,
        team_id=team_id,
        dimension=STORAGE,
        most=most,
    )


async def list_companies_with_entries(db: Transaction, limit: int) -> list[UUID]:
    rows = await db.rows(
        "SELECT org_id FROM quota_entries UNION SELECT org_id FROM storage_entries LIMIT :limit", limit=limit
    )
    return [org_id for (org_id,) in rows]


async def free(db: Transaction, org_id: UUID, scope_ids: list[UUID], dimensions: list[str], amounts: list[int]) -> None:
    await db.run(
        """
        UPDATE quota_usage u SET reserved = greatest(0, u.reserved - f.amount)
          FROM (SELECT scope_id, dimension, sum(amount) AS amount
                  FROM unnest(:scope_ids::uuid[], :dimensions::text[], :amounts::bigint[]) AS g (scope_id, dimension, amount)
                 GROUP BY 1, 2) f
         WHERE u.org_id = :org_id AND u.scope_id = f.scope_id AND u.dimension = f.dimension
        """,
        org_id=org_id,
        scope_ids=scope_ids,
        dimensions=dimensions,
        amounts=amounts,
    )


async def list_limits(db: Transaction, org_id: UUID, scope_ids: list[UUID]) -> Limits:
    rows = await db.all(
        LimitRow,
        "SELECT scope_id, dimension, per, most FROM quota_limits WHERE org_id = :org_id AND scope_id = ANY(:scope_ids)",
        org_id=org_id,
        scope_ids=scope_ids,
    )
    found: Limits = {}
    for row in rows:
        found.setdefault((row.scope_id, row.dimension), {})[row.per] = row.most
    return found


async def list_origins(db: Transaction, org_id: UUID, scope_ids: list[UUID]) -> list[LimitOrigin]:
    return await db.all(
        LimitOrigin,
        """
        SELECT scope_id, dimension, per, by_plan, set_by, set_at, raised_from, raised_at FROM quota_limits
         WHERE org_id = :org_id AND scope_id = ANY(:scope_ids)
        """,
        org_id=org_id,
        scope_ids=scope_ids,
    )


async def list_meters(db: Transaction, org_id: UUID, scope_ids: list[UUID]) -> list[Meter]:
    return await db.all(
        Meter,
        f"SELECT {METER} FROM quota_usage WHERE org_id = :org_id AND scope_id = ANY(:scope_ids)",
        org_id=org_id,
        scope_ids=scope_ids,
    )


async def list_holds(db: Transaction, org_id: UUID, ids: list[UUID]) -> list[QuotaHold]:
    return await db.all(
        QuotaHold,
        "SELECT id, team_id, amounts, state FROM quota_holds WHERE org_id = :org_id AND id = ANY(:ids)",
        org_id=org_id,
        ids=ids,
    )


async def write_meters(db: Transaction, org_id: UUID, meters: list[Meter]) -> None:
    await db.run(
        """
        INSERT INTO quota_usage (org_id, scope_id, dimension, reserved, counted_at, minute, hour, day, month, total)
        SELECT :org_id, * FROM unnest(:scope_ids::uuid[], :dimensions::text[], :reserved::bigint[], :counted_at::timestamptz[],
                                      :minute::bigint[], :hour::bigint[], :day::bigint[], :month::bigint[], :total::bigint[])
        ON CONFLICT (org_id, scope_id, dimension) DO UPDATE SET
          reserved = excluded.reserved, counted_at = excluded.counted_at, minute = excluded.minute, hour = excluded.hour,
          day = excluded.day, month = excluded.month, total = excluded.total
        """,
        org_id=org_id,
        scope_ids=[meter.scope_id for meter in meters],
        dimensions=[meter.dimension for meter in meters],
        reserved=[meter.reserved for meter in meters],
        counted_at=[meter.counted_at for meter in meters],
        minute=[meter.minute for meter in meters],
        hour=[meter.hour for meter in meters],
        day=[meter.day for meter in meters],
        month=[meter.month for meter in meters],
        total=[meter.total for meter in meters],
    )


async def insert_holds(db: Transaction, org_id: UUID, reservations: list[ReservationRequest]) -> None:
    await db.run(
        """
        INSERT INTO quota_holds (org_id, id, team_id, amounts, expires_at)
        SELECT :org_id, h.id, h.team_id, h.amounts, clock_timestamp() + h.lease
          FROM unnest(:ids::uuid[], :team_ids::uuid[], :amounts::jsonb[], :leases::interval[]) AS h (id, team_id, amounts, lease)
        """,
        org_id=org_id,
        ids=[reservation.admission.id for reservation in reservations],
        team_ids=[reservation.admission.team_id for reservation in reservations],
        amounts=[reservation.admission.amounts for reservation in reservations],
        leases=[reservation.lease for reservation in reservations],
    )


async def mark_settled(db: Transaction, org_id: UUID, ids: list[UUID]) -> None:
    await db.run(
        "UPDATE quota_holds SET state = 'settled' WHERE org_id = :org_id AND id = ANY(:ids)", org_id=org_id, ids=ids
    )


async def extend_hold(db: Transaction, org_id: UUID, id: UUID, lease: timedelta) -> bool:
    return bool(
        await db.run(
            """
            UPDATE quota_holds SET expires_at = clock_timestamp() + :lease::interval
             WHERE org_id = :org_id AND id = :id AND state = 'held'
            """,
            org_id=org_id,
            id=id,
            lease=lease,
        )
    )


async def list_running_jobs(db: Transaction, org_id: UUID) -> dict[tuple[UUID, str], tuple[int, int | None]]:
    """How many jobs run and may run, of every team and (with the company's id) of all together; the scheduler keeps count."""
    rows = await db.rows(
        """
        SELECT t.team_id, t.running, t.cap FROM job_teams t WHERE t.org_id = :org_id
        UNION ALL
        SELECT o.org_id, (SELECT coalesce(sum(t.running), 0)::int FROM job_teams t WHERE t.org_id = :org_id), o.cap
          FROM job_orgs o WHERE o.org_id = :org_id
        """,
        org_id=org_id,
    )
    return {(scope_id, "jobs.concurrency"): (running, cap) for scope_id, running, cap in rows}


async def put_limit(db: Transaction, org_id: UUID, scope_id: UUID, limit: LimitChange, set_by: UUID | None) -> None:
    """Set a limit; `raised_at` stays, so that the upgrade raises none a second time."""
    await db.run(
        """
        INSERT INTO quota_limits (org_id, scope_id, dimension, per, most, set_by, set_at)
        VALUES (:org_id, :scope_id, :dimension, :per, :most, :set_by, now())
        ON CONFLICT (org_id, scope_id, dimension, per) DO UPDATE SET
          most = excluded.most, by_plan = false, raised_from = NULL, set_by = excluded.set_by, set_at = excluded.set_at
        """,
        org_id=org_id,
        scope_id=scope_id,
        dimension=limit.dimension,
        per=limit.window,
        most=limit.limit,
        set_by=set_by,
    )


async def delete_limit(db: Transaction, org_id: UUID, scope_id: UUID, dimension: str, per: str) -> None:
    await db.run(
        "DELETE FROM quota_limits WHERE org_id = :org_id AND scope_id = :scope_id AND dimension = :dimension AND per = :per",
        org_id=org_id,
        scope_id=scope_id,
        dimension=dimension,
        per=per,
    )


async def put_plan_limit(db: Transaction, org_id: UUID, dimension: str, per: str, most: int) -> None:
    """A cap of the company's plan; one that was set by hand stands."""
    await db.run(
        """
        INSERT INTO quota_limits (org_id, scope_id, dimension, per, most, by_plan, set_at)
        VALUES (:org_id, :org_id, :dimension, :per, :most, true, now())
        ON CONFLICT (org_id, scope_id, dimension, per) DO NOTHING
        """,
        org_id=org_id,
        dimension=dimension,
        per=per,
        most=most,
    )


async def delete_plan_limits(db: Transaction, org_id: UUID) -> None:
    await db.run("DELETE FROM quota_limits WHERE org_id = :org_id AND scope_id = :org_id AND by_plan", org_id=org_id)


async def list_set_by_hand(db: Transaction, org_id: UUID) -> list[Limit]:
    """The company's own limits that no plan set."""
    return await db.all(
        Limit,
        """
        SELECT dimension, most, per, 'org' FROM quota_limits
         WHERE org_id = :org_id AND scope_id = :org_id AND NOT by_plan ORDER BY dimension, per
        """,
        org_id=org_id,
    )


async def forget_holds(db: Transaction, age: timedelta, most: int) -> int:
    """Delete settled and lapsed holds."""
    return await db.run(old_rows("quota_holds", "created_at", also="state <> 'held'"), age=age, most=most)
