"""SQL of jobs as one company sees them."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.jobs.model import AttemptInput, Claim, FoundJob, NewJob, SettledJob
from atrium.kit.postgres.database import Transaction
from atrium.kit.telemetry import trace_context
from atrium.seams.context import Principal

# A waiting job's reason, cheapest first: two lookups by key for a queued one, none for the others.
SUMMARY = """
    j.id, j.kind, j.model, j.user_id, CASE j.state WHEN 'scheduled' THEN 'queued' ELSE j.state END,
    CASE WHEN j.state = 'scheduled' THEN coalesce(j.put_off_for, 'scheduled')
         WHEN j.state <> 'queued' THEN NULL
         WHEN NOT t.org_open THEN 'org_suspended'
         WHEN l.opens_at IS NOT NULL THEN 'quota'
         WHEN t.org_full OR t.running >= t.cap THEN 'team_cap'
         WHEN j.pool <> ALL (:served::text[]) THEN 'no_worker' END,
    j.priority, j.attempt, j.max_attempts, j.cancel_asked, j.created_at, j.run_at, j.started_at, j.finished_at, j.error
"""
WHY_IT_WAITS = """
    LEFT JOIN job_teams t ON j.state = 'queued' AND t.team_id = j.team_id
    LEFT JOIN job_lanes l ON j.state = 'queued' AND l.team_id = j.team_id AND l.pool = j.pool
"""
FROM_JOBS = f"FROM jobs j {WHY_IT_WAITS}"
# A bound that is always there stays a place in the index, also in a plan that is made for any value.
LAST_ID = UUID(int=2**128 - 1)
LISTED = f"""
    SELECT {SUMMARY} {FROM_JOBS}
     WHERE j.org_id = :org_id AND j.team_id = :team_id AND j.listed AND j.id < :before AND (:kind::text IS NULL OR j.kind = :kind)
     ORDER BY j.id DESC LIMIT :limit
"""
# Kinds that the product queues for itself, when a request names one.
UNLISTED = f"""
    SELECT {SUMMARY} {FROM_JOBS}
     WHERE j.org_id = :org_id AND j.team_id = :team_id AND NOT j.listed AND j.kind = :kind AND j.id < :before
       AND j.part_of IS NULL AND (:states::text[] IS NULL OR j.state = ANY (:states))
     ORDER BY j.id DESC LIMIT :limit
"""
# A page of each state, then the page of all: no index has several states in the order of ids. The state is bounded from both
# sides and not equated, because then only the index by state has this order, whatever the planner expects of a state.
LISTED_BY_STATE = f"""
    SELECT {SUMMARY} FROM unnest(:states::text[]) AS s (state)
     CROSS JOIN LATERAL (
       SELECT * FROM jobs k
        WHERE k.org_id = :org_id AND k.team_id = :team_id AND k.listed AND (k.state, k.id) < (s.state, :before::uuid) AND k.state >= s.state
          AND (:kind::text IS NULL OR k.kind = :kind)
        ORDER BY k.state DESC, k.id DESC LIMIT :limit) j
     {WHY_IT_WAITS}
     ORDER BY j.id DESC LIMIT :limit
"""
SETTLED = "id, token, team_id, user_id, scope, kind, pool, state, attempt, admission_id"
QUEUED = """
    queued AS (
      INSERT INTO jobs (id, org_id, team_id, user_id, scope, kind, model, pool, priority, state, max_attempts, lease, run_at,
                        input, listed, part_of, traceparent)
      SELECT d.id, :org_id, :team_id, :user_id, :scope, d.kind, d.model, d.pool, d.priority,
             CASE WHEN d.run_at > now() THEN 'scheduled' ELSE 'queued' END, d.max_attempts, d.lease,
             coalesce(d.run_at, now()), d.input::jsonb, d.listed, d.part_of, :traceparent
        FROM unnest(:ids::uuid[], :kinds::text[], :models::text[], :pools::text[], :priorities::smallint[],
                    :max_attempts::int[], :leases::interval[], :run_ats::timestamptz[], :inputs::text[], :listed::boolean[],
                    :wholes::uuid[])
             AS d (id, kind, model, pool, priority, max_attempts, lease, run_at, input, listed, part_of)
      RETURNING id, pool, state
    )
"""
WOKEN = """
    woken AS (
      INSERT INTO job_wakes (org_id, team_id, pool)
      SELECT DISTINCT :org_id::uuid, :team_id::uuid, pool FROM queued WHERE state = 'queued' {left} RETURNING pool
    )
"""
TOLD = """
    SELECT pg_notify('atrium_jobs', w.pool) FROM woken w
     WHERE NOT EXISTS (SELECT FROM job_lanes l WHERE l.org_id = :org_id AND l.team_id = :team_id AND l.pool = w.pool AND l.ready)
"""


async def insert_jobs(db: Transaction, owner: Principal, drafts: list[NewJob]) -> None:
    # Inserts only. The look at the lane decides about a wake-up call and may be out of date: that costs a worker its
    # next look by itself, never a job.
    await db.run(f"WITH {QUEUED}, {WOKEN.format(left='')} {TOLD}", **_queued(owner, drafts))


async def insert_following(
    db: Transaction,
    owner: Principal,
    drafts: list[NewJob],
    worker: UUID,
    served: list[str],
    handed_on: list[str],
    most: int,
) -> list[tuple[Claim, AttemptInput]]:
    """Queue jobs, and claim those of some pools for the worker that settles what they follow from.

    None is claimed while anything else waits in any pool that the worker serves. The lanes of the others are woken.
    """
    # The function is volatile and called for all that was inserted, so it sees the rows.
    rows = await db.rows(
        f"""
        WITH busy AS MATERIALIZED (
          SELECT is_work_waiting(:served) AS busy
        ), {QUEUED}, handed AS MATERIALIZED (
          SELECT h.* FROM busy w CROSS JOIN (SELECT array_agg(id) AS ids FROM queued) q
           CROSS JOIN LATERAL hand_on_jobs(:org_id, CASE WHEN w.busy THEN '{{}}' ELSE q.ids END, :worker, :handed_on, :most) h
        ), {WOKEN.format(left="AND id NOT IN (SELECT id FROM handed)")}, told AS ({TOLD})
        SELECT h.* FROM (SELECT count(*) FROM told) t LEFT JOIN handed h ON true WHERE h.id IS NOT NULL
        """,
        worker=worker,
        served=served,
        handed_on=handed_on,
        most=most,
        **_queued(owner, drafts),
    )
    return [(Claim(*row[:9]), AttemptInput(row[0], row[9], row[10], None, 0, _traceparent())) for row in rows]


def _queued(owner: Principal, drafts: list[NewJob]) -> dict[str, Any]:
    return {
        "org_id": owner.org_id,
        "team_id": owner.team_id,
        "user_id": owner.user_id,
        "scope": None if owner.scope is None else sorted(owner.scope),
        "ids": [draft.id for draft in drafts],
        "kinds": [draft.kind for draft in drafts],
        "models": [draft.model for draft in drafts],
        "pools": [draft.pool for draft in drafts],
        "priorities": [draft.priority for draft in drafts],
        "max_attempts": [draft.max_attempts for draft in drafts],
        "leases": [draft.lease for draft in drafts],
        "run_ats": [draft.run_at for draft in drafts],
        "inputs": [json_text(draft.input) for draft in drafts],
        "listed": [draft.listed for draft in drafts],
        "wholes": [draft.part_of for draft in drafts],
        "traceparent": _traceparent(),
    }


def _traceparent() -> str | None:
    """What the jobs follow from; nothing where it is for several at once."""
    place = trace_context.current()
    return None if place is None else place.traceparent


async def list_served_pools(db: Transaction) -> list[str]:
    found: list[str] = await db.value("SELECT served_pools()")
    return found


async def find_job(db: Transaction, org_id: UUID, team_id: UUID, id: UUID, served: list[str]) -> FoundJob | None:
    return await db.one(
        FoundJob,
        f"""
        SELECT {SUMMARY}, j.input, j.result {FROM_JOBS}
         WHERE j.org_id = :org_id AND j.team_id = :team_id AND j.id = :id AND j.part_of IS NULL
        """,
        org_id=org_id,
        team_id=team_id,
        id=id,
        served=served,
    )


async def list_jobs(
    db: Transaction,
    who: Principal,
    states: list[str] | None,
    kind: str | None,
    before: UUID | None,
    limit: int,
    served: list[str],
) -> list[FoundJob]:
    named = {} if states is None else {"states": states}
    return await db.all(
        FoundJob,
        LISTED if states is None else LISTED_BY_STATE,
        org_id=who.org_id,
        team_id=who.team_id,
        kind=kind,
        before=before or LAST_ID,
        limit=limit,
        served=served,
        **named,
    )


async def list_unlisted_jobs(
    db: Transaction,
    who: Principal,
    states: list[str] | None,
    kind: str | None,
    before: UUID | None,
    limit: int,
    served: list[str],
) -> list[FoundJob]:
    return await db.all(
        FoundJob,
        UNLISTED,
        org_id=who.org_id,
        team_id=who.team_id,
        states=states,
        kind=kind,
        before=before or LAST_ID,
        limit=limit,
        served=served,
    )


async def cancel_waiting(db: Transaction, org_id: UUID, team_id: UUID, id: UUID) -> SettledJob | None:
    return await db.one(
        SettledJob,
        f"""
        UPDATE jobs SET state = 'cancelled', cancel_asked = true, finished_at = now()
         WHERE org_id = :org_id AND team_id = :team_id AND id = :id AND state IN ('scheduled', 'queued')
        RETURNING {SETTLED.replace("token", "claim_token")}
        """,
        org_id=org_id,
        team_id=team_id,
        id=id,
    )


async def cancel_waiting_of(db: Transaction, org_id: UUID, user_id: UUID) -> list[SettledJob]:
    return await db.all(
        SettledJob,
        f"""
        UPDATE jobs SET state = 'cancelled', cancel_asked = true, finished_at = now()
         WHERE org_id = :org_id AND user_id = :user_id AND state IN ('scheduled', 'queued')
        RETURNING {SETTLED.replace("token", "claim_token")}
        """,
        org_id=org_id,
        user_id=user_id,
    )


async def is_any_cancelled(
    db: Transaction, org_id: UUID, team_id: UUID, kind: str, given: Mapping[str, Any], *, listed: bool
) -> bool:
    # Spelled out: only so does the planner see which of the indexes by team has these rows.
    found: bool = await db.value(
        f"""
        SELECT EXISTS (
          SELECT FROM jobs WHERE org_id = :org_id AND team_id = :team_id AND {"listed" if listed else "NOT listed"} AND kind = :kind
             AND cancel_asked AND input @> :given::jsonb)
        """,
        org_id=org_id,
        team_id=team_id,
        kind=kind,
        given=given,
    )
    return found


async def drop(db: Transaction, org_id: UUID, ids: list[UUID]) -> list[UUID]:
    # A caller may hold what a settlement waits for: so nothing that another transaction holds is waited for here.
    rows = await db.rows(
        """
        UPDATE jobs SET cancel_asked = true, state = CASE state WHEN 'running' THEN state ELSE 'cancelled' END,
               finished_at = CASE WHEN state <> 'running' THEN now() END
         WHERE org_id = :org_id AND id IN (
           SELECT id FROM jobs WHERE org_id = :org_id AND id = ANY(:ids) AND state IN ('scheduled', 'queued', 'running')
            ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)
        RETURNING id, state
        """,
        org_id=org_id,
        ids=ids,
    )
    return [id for id, state in rows if state == "cancelled"]


async def list_states(db: Transaction, org_id: UUID, ids: list[UUID], served: list[str]) -> list[FoundJob]:
    return await db.all(
        FoundJob,
        f"SELECT {SUMMARY} {FROM_JOBS} WHERE j.org_id = :org_id AND j.id = ANY(:ids)",
        org_id=org_id,
        ids=ids,
        served=served,
    )


async def ask_to_cancel_of(db: Transaction, org_id: UUID, user_id: UUID) -> int:
    return await db.run(
        "UPDATE jobs SET cancel_asked = true WHERE org_id = :org_id AND user_id = :user_id AND state = 'running'",
        org_id=org_id,
        user_id=user_id,
    )


async def ask_to_cancel(db: Transaction, org_id: UUID, team_id: UUID, id: UUID) -> bool:
    return bool(
        await db.run(
            """
            UPDATE jobs SET cancel_asked = true
             WHERE org_id = :org_id AND team_id = :team_id AND id = :id AND state = 'running'
            """,
            org_id=org_id,
            team_id=team_id,
            id=id,
        )
    )


async def move_waiting(db: Transaction, org_id: UUID, pools: list[str]) -> int:
    """What waits in these pools waits where every process of ours claims its kind; how many jobs that were."""
    moved: int = await db.value(
        """
        WITH waiting AS MATERIALIZED (
          SELECT id FROM jobs WHERE org_id = :org_id AND pool = ANY(:pools) AND state IN ('queued', 'scheduled')
           ORDER BY id FOR NO KEY UPDATE
        ), moved AS (
          UPDATE jobs j SET pool = j.kind FROM waiting w WHERE j.org_id = :org_id AND j.id = w.id RETURNING j.team_id, j.pool
        ), woken AS (
          INSERT INTO job_wakes (org_id, team_id, pool) SELECT DISTINCT :org_id::uuid, team_id, pool FROM moved RETURNING pool
        ), told AS (
          SELECT pg_notify('atrium_jobs', pool) FROM (SELECT DISTINCT pool FROM woken) p
        )
        SELECT (SELECT count(*) FROM moved)::int + 0 * (SELECT count(*) FROM told)::int
        """,
        org_id=org_id,
        pools=pools,
    )
    return moved


def json_text(value: Any) -> str:
    # As text: the driver would take a list inside a list for an array of two dimensions.
    return msgspec.json.encode(value).decode()


async def count_kept(db: Transaction, org_id: UUID) -> dict[UUID, int]:
    """How many bytes of inputs and results are there, by team; those of the product's own jobs from 1 KiB on."""
    rows = await db.rows(
        """
        SELECT team_id, sum(CASE WHEN listed OR size > 1024 THEN size ELSE 0 END) FROM (
          SELECT team_id, listed, octet_length(concat(input, result, error)) AS size FROM jobs WHERE org_id = :org_id
        ) AS t GROUP BY team_id
        """,
        org_id=org_id,
    )
    return {team_id: int(size) for team_id, size in rows}
