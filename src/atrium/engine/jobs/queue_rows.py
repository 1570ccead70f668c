"""SQL of the scheduler, over every company: it runs in system transactions and reads no content."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from atrium.engine.jobs.model import Backlog, Claim, ExpiredLease, Lease
from atrium.kit.postgres.database import Transaction, old_rows


async def claim(
    db: Transaction, pools: list[str], worker: UUID, most: int, bound_to: UUID | None, passing: Sequence[UUID] = ()
) -> list[Claim]:
    return await db.all(
        Claim,
        """
        SELECT id, org_id, team_id, user_id, kind, model, attempt, claim_token, lease_until
          FROM claim_jobs(:pools, :worker, :most, :bound_to, :passing)
        """,
        pools=pools,
        worker=worker,
        most=most,
        bound_to=bound_to,
        passing=list(passing),
    )


async def extend(db: Transaction, ids: list[UUID], tokens: list[UUID]) -> list[Lease]:
    """Longer leases for the attempts that are still current; the others are not among what comes back."""
    return await db.all(
        Lease,
        """
        WITH held AS MATERIALIZED (
          SELECT j.id FROM unnest(:ids::uuid[], :tokens::uuid[]) AS c (id, token) JOIN jobs j ON j.id = c.id
           WHERE j.state = 'running' AND j.claim_token = c.token AND j.lease_until > clock_timestamp()
           ORDER BY j.id FOR NO KEY UPDATE OF j
        )
        UPDATE jobs j SET lease_until = clock_timestamp() + j.lease FROM held WHERE j.id = held.id
        RETURNING j.id, j.lease_until, j.cancel_asked
        """,
        ids=ids,
        tokens=tokens,
    )


async def find_attempt(db: Transaction, id: UUID, token: UUID, worker: UUID) -> Claim | None:
    """A worker's own current attempt."""
    return await db.one(
        Claim,
        """
        SELECT id, org_id, team_id, user_id, kind, model, attempt, claim_token, lease_until FROM jobs
         WHERE id = :id AND state = 'running' AND claim_token = :token AND worker = :worker AND lease_until > clock_timestamp()
        """,
        id=id,
        token=token,
        worker=worker,
    )


async def find_company(db: Transaction, id: UUID) -> UUID | None:
    """Whose job it is."""
    found: UUID | None = await db.value("SELECT org_id FROM jobs WHERE id = :id", id=id)
    return found


async def list_held(db: Transaction, worker: UUID) -> list[Claim]:
    return await db.all(
        Claim,
        """
        SELECT id, org_id, team_id, user_id, kind, model, attempt, claim_token, lease_until FROM jobs
         WHERE worker = :worker AND state = 'running'
        """,
        worker=worker,
    )


async def list_waiting_companies(db: Transaction, pools: list[str]) -> list[UUID]:
    """Companies with jobs that wait in these pools; looks at every job, so it is for what seldom happens."""
    rows = await db.rows(
        "SELECT DISTINCT org_id FROM jobs WHERE pool = ANY(:pools) AND state IN ('queued', 'scheduled')", pools=pools
    )
    return [org_id for (org_id,) in rows]


async def assign(db: Transaction, ids: list[UUID], tokens: list[UUID], workers: list[UUID]) -> None:
    """Say who of those that waited together got which attempt."""
    await db.run(
        """
        UPDATE jobs j SET worker = a.worker FROM unnest(:ids::uuid[], :tokens::uuid[], :workers::uuid[]) AS a (id, token, worker)
         WHERE j.id = a.id AND j.claim_token = a.token
        """,
        ids=ids,
        tokens=tokens,
        workers=workers,
    )


async def list_ready(db: Transaction, pools: list[str]) -> list[str]:
    """Pools in which something may be claimed."""
    rows = await db.rows(
        """
        SELECT p.pool FROM unnest(:pools::text[]) AS p (pool)
         WHERE EXISTS (SELECT FROM job_lanes l WHERE l.pool = p.pool AND l.ready AND l.open AND l.opens_at IS NULL)
            OR p.pool IN (SELECT w.pool FROM job_wakes w)
        """,
        pools=pools,
    )
    return [pool for (pool,) in rows]


async def list_lapsed(db: Transaction, limit: int) -> list[ExpiredLease]:
    return await db.all(
        ExpiredLease,
        """
        SELECT id, org_id FROM jobs WHERE state = 'running' AND lease_until < clock_timestamp() ORDER BY lease_until LIMIT :limit
        """,
        limit=limit,
    )


async def stage_due(db: Transaction, limit: int) -> int:
    """Jobs whose time has come wait like any other from now on."""
    staged: int = await db.value(
        """
        WITH due AS (
          UPDATE jobs j SET state = 'queued', put_off_for = NULL
           WHERE j.id IN (SELECT d.id FROM jobs d WHERE d.state = 'scheduled' AND d.run_at <= clock_timestamp()
                           ORDER BY d.run_at LIMIT :limit FOR NO KEY UPDATE SKIP LOCKED)
          RETURNING j.org_id, j.team_id, j.pool
        ), woken AS (
          INSERT INTO job_wakes (org_id, team_id, pool) SELECT DISTINCT org_id, team_id, pool FROM due RETURNING pool
        ), told AS (
          SELECT pg_notify('atrium_jobs', pool) FROM (SELECT DISTINCT pool FROM woken) p
        )
        SELECT (SELECT count(*) FROM due)::int + 0 * (SELECT count(*) FROM told)::int
        """,
        limit=limit,
    )
    return staged


async def reopen_lanes(db: Transaction, limit: int) -> int:
    """Lanes that were to look at their quota again, and teams whose company has room again."""
    reopened: int = await db.value(
        """
        WITH lane AS MATERIALIZED (
          SELECT l.team_id, l.pool FROM job_lanes l JOIN job_teams t ON t.team_id = l.team_id
           WHERE l.opens_at <= clock_timestamp() ORDER BY l.opens_at LIMIT :limit FOR NO KEY UPDATE OF t SKIP LOCKED
        ), opened AS (
          UPDATE job_lanes l SET opens_at = NULL FROM lane WHERE l.team_id = lane.team_id AND l.pool = lane.pool RETURNING l.pool
        ), told AS (
          SELECT pg_notify('atrium_jobs', pool) FROM (SELECT DISTINCT pool FROM opened) p
        )
        SELECT (SELECT count(*) FROM opened)::int + 0 * (SELECT count(*) FROM told)::int
        """,
        limit=limit,
    )
    return reopened


async def reopen_teams(db: Transaction, limit: int) -> int:
    return await db.run(
        """
        UPDATE job_teams t SET org_full = false
         WHERE t.team_id IN (
           SELECT f.team_id FROM job_teams f JOIN job_orgs o ON o.org_id = f.org_id
            WHERE f.org_full AND (o.cap IS NULL OR o.running < o.cap)
            ORDER BY f.team_id LIMIT :limit FOR NO KEY UPDATE OF f SKIP LOCKED)
        """,
        limit=limit,
    )


async def read_backlog(db: Transaction) -> Backlog:
    """How much waits, for how long, and for whom; looks at what waits only."""
    found = await db.one(
        Backlog,
        """
        SELECT w.queued, w.oldest, s.workers, s.served
          FROM (SELECT count(*) AS queued,
                       coalesce(extract(epoch FROM clock_timestamp() - min(j.run_at) FILTER (
                         WHERE coalesce(l.open AND l.opens_at IS NULL, true)
                           AND t.open AND NOT t.org_full AND t.running < t.cap)), 0)::float8 AS oldest
                  FROM jobs j JOIN job_teams t ON t.team_id = j.team_id
                  LEFT JOIN job_lanes l ON l.team_id = j.team_id AND l.pool = j.pool WHERE j.state = 'queued') w,
               (SELECT count(DISTINCT k.id) AS workers,
                       coalesce(array_agg(DISTINCT p.pool) FILTER (WHERE p.pool IS NOT NULL), '{}') AS served
                  FROM job_workers k LEFT JOIN LATERAL unnest(k.pools) AS p (pool) ON true
                 WHERE k.seen_at > now() - interval '1 minute') s
        """,
    )
    return found or Backlog(0, 0, 0, [])


async def list_left_parts(db: Transaction, age: timedelta, limit: int) -> list[tuple[UUID, UUID]]:
    """Jobs (company, what they are part of) that wait for longer than anything waits for them."""
    rows = await db.rows(
        """
        SELECT org_id, part_of FROM jobs
         WHERE part_of IS NOT NULL AND state IN ('queued', 'scheduled') AND created_at < now() - :age::interval LIMIT :limit
        """,
        age=age,
        limit=limit,
    )
    return [(org_id, whole) for org_id, whole in rows]


async def forget_parts(db: Transaction, age: timedelta) -> int:
    """Drop jobs that ended as parts of something else, with their words; by then that has taken over what it needs.

    Nothing changes of a company that is leaving: here and in `forget_finished` its jobs stay.
    """
    rows = await db.rows(
        """
        DELETE FROM jobs j WHERE j.part_of IS NOT NULL AND j.finished_at < now() - :age::interval
           AND EXISTS (SELECT FROM orgs o WHERE o.id = j.org_id AND o.moving_at IS NULL) RETURNING j.id
        """,
        age=age,
    )
    await db.run("DELETE FROM job_words WHERE job_id = ANY(:ids)", ids=[id for (id,) in rows])
    return len(rows)


async def forget_finished(db: Transaction, age: timedelta, limit: int) -> int:
    return await db.run(
        """
        DELETE FROM jobs WHERE id IN (
          SELECT j.id FROM jobs j
           WHERE j.finished_at < now() - :age::interval
             AND EXISTS (SELECT FROM orgs o WHERE o.id = j.org_id AND o.moving_at IS NULL)
           ORDER BY j.finished_at LIMIT :limit FOR UPDATE SKIP LOCKED)
        """,
        age=age,
        limit=limit,
    )


async def note_workers(db: Transaction, ids: list[UUID], bound_to: UUID | None, pools: list[str]) -> None:
    """Say that these are there and can do this; in the order of ids, as everybody who notes several takes them."""
    await db.run(
        """
        INSERT INTO job_workers (id, bound_to, pools) SELECT DISTINCT w.id, :bound_to::uuid, :pools::text[]
          FROM unnest(:ids::uuid[]) AS w (id) ORDER BY w.id
        ON CONFLICT (id) DO UPDATE SET bound_to = excluded.bound_to, pools = excluded.pools, seen_at = now()
         WHERE job_workers.seen_at < now() - interval '10 seconds' OR job_workers.pools <> excluded.pools
        """,
        ids=ids,
        bound_to=bound_to,
        pools=pools,
    )


async def forget_worker(db: Transaction, id: UUID) -> None:
    await db.run("DELETE FROM job_workers WHERE id = :id", id=id)


async def forget_silent_workers(db: Transaction, age: timedelta, most: int) -> int:
    return await db.run(old_rows("job_workers", "seen_at", key="ctid"), age=age, most=most)
