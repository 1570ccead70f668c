"""SQL of the change feed. Rows are written by triggers (migration 0085); readers stop before the oldest open transaction."""

from datetime import timedelta
from uuid import UUID

from atrium.engine.repository.model import OBJECTS
from atrium.ground.sharing import rule
from atrium.kit.postgres.database import Transaction
from atrium.product.changes.model import Change, ChangePosition

CHANGE = """
  c.xid::text::bigint, c.seq, c.kind, c.thing_id, c.action, c.version, c.actor_id, c.at,
  coalesce(array_agg(c.principal) FILTER (WHERE c.had), ARRAY[]::uuid[]),
  coalesce(array_agg(c.principal) FILTER (WHERE c.has), ARRAY[]::uuid[])
"""
ONE = "c.org_id, c.xid, c.seq, c.kind, c.thing_id, c.action, c.version, c.actor_id, c.at"
SETTLED = "c.xid < pg_snapshot_xmin(pg_current_snapshot())"
# Each principal's own rows in order, cut to a page before they meet.
_OF_PRINCIPALS = f"""
  SELECT {CHANGE} FROM unnest(:principals::uuid[]) AS p (principal) CROSS JOIN LATERAL (
    SELECT * FROM change_rows c WHERE c.org_id = :org_id AND c.principal = p.principal AND {SETTLED} AND {{range}}
     ORDER BY c.xid {{way}}, c.seq {{way}} LIMIT :limit
  ) AS c GROUP BY {ONE} ORDER BY c.xid {{way}}, c.seq {{way}} LIMIT :limit
"""
_AFTER = _OF_PRINCIPALS.format(
    range="(c.xid, c.seq) > (:xid::text::xid8, :seq) AND (c.xid, c.seq) <= (:end_xid::text::xid8, :end_seq)", way="ASC"
)
_BEFORE = _OF_PRINCIPALS.format(range="(c.xid, c.seq) < (:xid::text::xid8, :seq) AND c.has", way="DESC")


async def read_horizon(db: Transaction) -> int:
    """The oldest transaction that is still open; everything before it has ended."""
    return int(await db.value("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint"))


async def list_settled(db: Transaction, org_id: UUID, after: ChangePosition, limit: int) -> list[Change]:
    """A company's changes after a place, in order."""
    return await db.all(
        Change,
        f"""
        SELECT {CHANGE} FROM change_rows c
         WHERE c.org_id = :org_id AND (c.xid, c.seq) > (:xid::text::xid8, :seq) AND {SETTLED}
         GROUP BY {ONE} ORDER BY c.xid, c.seq LIMIT :limit
        """,
        org_id=org_id,
        xid=str(after.xid),
        seq=after.seq,
        limit=limit,
    )


async def find_unsettled(db: Transaction, org_id: UUID) -> float | None:
    """For how many seconds the oldest change waits behind an open transaction; None when none does."""
    found = await db.value(
        f"""
        SELECT extract(epoch FROM clock_timestamp() - min(c.at))::float8 FROM change_rows c
         WHERE c.org_id = :org_id AND c.xid >= pg_snapshot_xmin(pg_current_snapshot()) AND NOT ({SETTLED})
        """,
        org_id=org_id,
    )
    return None if found is None else max(0.0, float(found))


async def list_between(
    db: Transaction, org_id: UUID, principals: list[UUID], after: ChangePosition, end: ChangePosition, limit: int
) -> list[Change]:
    """What some principals missed between two places."""
    return await db.all(
        Change,
        _AFTER,
        org_id=org_id,
        principals=principals,
        xid=str(after.xid),
        seq=after.seq,
        end_xid=str(end.xid),
        end_seq=end.seq,
        limit=limit,
    )


async def list_newest(
    db: Transaction, org_id: UUID, principals: list[UUID], before: ChangePosition, limit: int
) -> list[Change]:
    """What some principals can read of, newest first."""
    return await db.all(
        Change, _BEFORE, org_id=org_id, principals=principals, xid=str(before.xid), seq=before.seq, limit=limit
    )


async def list_orgs_after(db: Transaction, xid: int, org_ids: list[UUID]) -> list[UUID]:
    """Those of these companies that have changes since a transaction; only which, and only a system transaction sees them all."""
    rows = await db.rows(
        """
        SELECT o.id FROM unnest(:org_ids::uuid[]) AS o (id)
         WHERE EXISTS (SELECT c.seq FROM change_rows c WHERE c.org_id = o.id AND c.xid >= :xid::text::xid8)
        """,
        org_ids=org_ids,
        xid=str(xid),
    )
    return [row[0] for row in rows]


async def notify(db: Transaction, topics: list[str]) -> None:
    await db.rows("SELECT pg_notify('atrium_jobs', t) FROM unnest(:topics::text[]) t", topics=topics)


async def forget(db: Transaction, age: timedelta, most: int) -> int:
    """Drop the rows of some changes that are older."""
    return await db.run(
        """
        DELETE FROM change_rows WHERE (org_id, xid, seq) IN (
          SELECT DISTINCT org_id, xid, seq FROM change_rows WHERE at < now() - :age::interval LIMIT :most)
        """,
        age=age,
        most=most,
    )


async def tell_expired(db: Transaction, org_id: UUID, ids: list[UUID]) -> int:
    """Tell of shares of these objects whose date has come, each once; one process at a time."""
    await db.rows("SELECT pg_advisory_xact_lock(hashtext('changes expired'), hashtext(:org))", org=str(org_id))
    rows = await db.rows(
        f"""
        SELECT tell_change(o.org_id, CASE WHEN o.document THEN 'document' ELSE 'object' END, o.id, 'gone', o.number, NULL,
                           r.readers || g.people, r.readers)
          FROM (
            SELECT e.id, array_agg(e.principal) AS people FROM ({rule.ended(OBJECTS)}) AS e
             WHERE NOT EXISTS (SELECT FROM change_rows c WHERE c.org_id = :org_id AND c.thing_id = e.id AND c.action = 'gone'
                                  AND c.principal = e.principal AND c.had AND c.at >= e.expires_at)
             GROUP BY e.id
          ) AS g JOIN objects o ON o.org_id = :org_id AND o.id = g.id
          CROSS JOIN LATERAL (SELECT object_readers(o.id, o.org_id, o.owner_id, o.team_id, o.visibility) AS readers OFFSET 0) r
         WHERE o.trashed_at IS NULL AND NOT o.deleted
        """,
        org_id=org_id,
        ids=ids,
    )
    return len(rows)
