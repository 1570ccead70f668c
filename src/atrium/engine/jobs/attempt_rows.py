"""SQL of attempts at jobs: what they need to run, the places they hold, and their settlement."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from atrium.engine.jobs.model import AttemptInput, AttemptReport, Claim, SettledJob
from atrium.engine.jobs.store import SETTLED, json_text
from atrium.ground.identity.service import PEOPLE
from atrium.kit.postgres.database import Transaction
from atrium.seams.jobs import DoneBeside

_OF_SETTLED = 10


async def hold_attempts(db: Transaction, org_id: UUID, claims: list[Claim]) -> list[AttemptInput]:
    """What these attempts need to run, their rows held; one that is no longer the current attempt is left out."""
    return await db.all(
        AttemptInput,
        """
        SELECT j.id, j.scope, j.input, j.part_of, j.heard, j.traceparent
          FROM unnest(:ids::uuid[], :tokens::uuid[]) AS c (id, token) JOIN jobs j ON j.id = c.id
         WHERE j.org_id = :org_id AND j.claim_token = c.token AND j.lease_until > clock_timestamp()
         ORDER BY j.id FOR NO KEY UPDATE OF j
        """,
        org_id=org_id,
        ids=[claim.id for claim in claims],
        tokens=[claim.token for claim in claims],
    )


async def hold_slots(db: Transaction, org_id: UUID, team_ids: list[UUID]) -> None:
    """Hold what giving places back will change: the teams, in order, then a company that has a cap."""
    await db.run(
        """
        WITH team AS MATERIALIZED (
          SELECT t.team_id FROM job_teams t WHERE t.org_id = :org_id AND t.team_id = ANY(:team_ids) ORDER BY t.team_id FOR NO KEY UPDATE
        ), counted AS MATERIALIZED (
          SELECT count(*) AS held FROM team
        )
        SELECT o.org_id FROM counted, job_orgs o WHERE o.org_id = :org_id AND o.cap IS NOT NULL AND counted.held >= 0
           FOR NO KEY UPDATE OF o
        """,
        org_id=org_id,
        team_ids=team_ids,
    )


async def read_attempts(db: Transaction, org_id: UUID, claims: list[Claim]) -> list[AttemptInput]:
    """The same without holding anything, for kinds that spend nothing."""
    return await db.all(
        AttemptInput,
        """
        SELECT j.id, j.scope, j.input, j.part_of, j.heard, j.traceparent
          FROM unnest(:ids::uuid[], :tokens::uuid[]) AS c (id, token) JOIN jobs j ON j.id = c.id
         WHERE j.org_id = :org_id AND j.claim_token = c.token
        """,
        org_id=org_id,
        ids=[claim.id for claim in claims],
        tokens=[claim.token for claim in claims],
    )


async def note_admissions(db: Transaction, org_id: UUID, ids: list[UUID], admissions: list[UUID]) -> None:
    await db.run(
        """
        UPDATE jobs j SET admission_id = a.admission_id FROM unnest(:ids::uuid[], :admissions::uuid[]) AS a (id, admission_id)
         WHERE j.org_id = :org_id AND j.id = a.id
        """,
        org_id=org_id,
        ids=ids,
        admissions=admissions,
    )


async def close_lanes(
    db: Transaction, org_id: UUID, team_ids: list[UUID], pools: list[str], waits: list[timedelta]
) -> None:
    """Keep lanes whose quota is used up out of the round; their teams' rows come first, in order."""
    await db.run(
        """
        WITH team AS MATERIALIZED (
          SELECT t.team_id FROM job_teams t WHERE t.org_id = :org_id AND t.team_id = ANY(:team_ids) ORDER BY t.team_id FOR NO KEY UPDATE
        )
        UPDATE job_lanes l SET opens_at = clock_timestamp() + c.wait
          FROM unnest(:team_ids::uuid[], :pools::text[], :waits::interval[]) AS c (team_id, pool, wait) JOIN team USING (team_id)
         WHERE l.org_id = :org_id AND l.team_id = c.team_id AND l.pool = c.pool
        """,
        org_id=org_id,
        team_ids=team_ids,
        pools=pools,
        waits=waits,
    )


async def settle(
    db: Transaction, org_id: UUID, reports: list[AttemptReport]
) -> tuple[list[SettledJob], dict[UUID, tuple[Any, ...]]]:
    """End attempts; those that were current, and the people of theirs who have not left, as identity reads them."""
    rows = await db.rows(
        f"""
        WITH settled AS MATERIALIZED (
          SELECT {SETTLED} FROM settle_jobs(:org_id, :ids, :tokens, :outcomes, :results, :errors, :again)
        )
        SELECT s.*, p.* FROM settled s LEFT JOIN ({PEOPLE} AND u.id = ANY (ARRAY(SELECT user_id FROM settled))) p ON p.id = s.user_id
        """,
        org_id=org_id,
        ids=[report.claim.id for report in reports],
        tokens=[report.claim.token for report in reports],
        outcomes=[report.outcome for report in reports],
        results=[None if report.result is None else json_text(report.result) for report in reports],
        errors=[report.error for report in reports],
        again=[report.again for report in reports],
    )
    people = {row[_OF_SETTLED]: row[_OF_SETTLED:] for row in rows if row[_OF_SETTLED] is not None}
    return [SettledJob(*row[:_OF_SETTLED]) for row in rows], people


async def note_put_off(db: Transaction, org_id: UUID, reasons: dict[UUID, str]) -> None:
    """Say what jobs wait for that were just put off."""
    await db.run(
        """
        UPDATE jobs j SET put_off_for = p.reason FROM unnest(:ids::uuid[], :reasons::text[]) AS p (id, reason)
         WHERE j.org_id = :org_id AND j.id = p.id AND j.state = 'scheduled'
        """,
        org_id=org_id,
        ids=list(reasons),
        reasons=list(reasons.values()),
    )


async def settle_beside(db: Transaction, org_id: UUID, done: list[DoneBeside]) -> list[SettledJob]:
    """End jobs that wait for their first attempt, as succeeded; one that another transaction holds is not waited for."""
    return await db.all(
        SettledJob,
        f"""
        UPDATE jobs j SET state = 'succeeded', result = w.given::jsonb, attempt = 1, started_at = clock_timestamp(),
               finished_at = clock_timestamp()
          FROM (SELECT k.id AS waiting, d.result AS given
                  FROM unnest(:ids::uuid[], :results::text[]) AS d (id, result) JOIN jobs k ON k.id = d.id
                 WHERE k.org_id = :org_id AND k.state = 'queued' AND k.attempt = 0 AND k.admission_id IS NULL
                 ORDER BY k.id FOR NO KEY UPDATE OF k SKIP LOCKED) w
         WHERE j.org_id = :org_id AND j.id = w.waiting
        RETURNING {SETTLED.replace("token", "claim_token")}
        """,
        org_id=org_id,
        ids=[one.id for one in done],
        results=[json_text(one.result) for one in done],
    )


async def lapse(db: Transaction, org_id: UUID, ids: list[UUID]) -> list[SettledJob]:
    return await db.all(SettledJob, f"SELECT {SETTLED} FROM lapse_jobs(:org_id, :ids)", org_id=org_id, ids=ids)


async def wake(db: Transaction, org_id: UUID, settled: list[SettledJob]) -> None:
    """Jobs are waiting again: their lanes may have been idle."""
    await db.run(
        """
        WITH woken AS (
          INSERT INTO job_wakes (org_id, team_id, pool)
          SELECT DISTINCT :org_id::uuid, w.team_id, w.pool FROM unnest(:team_ids::uuid[], :pools::text[]) AS w (team_id, pool)
          RETURNING pool
        )
        SELECT pg_notify('atrium_jobs', pool) FROM woken
        """,
        org_id=org_id,
        team_ids=[one.team_id for one in settled],
        pools=[one.pool for one in settled],
    )


async def read_endings(db: Transaction, org_id: UUID, ids: list[UUID]) -> dict[UUID, tuple[Any, Any, str | None]]:
    """Input, result and error of jobs that have just ended."""
    rows = await db.rows(
        "SELECT id, input, result, error FROM jobs WHERE org_id = :org_id AND id = ANY(:ids)", org_id=org_id, ids=ids
    )
    return {id: (given, result, error) for id, given, result, error in rows}
