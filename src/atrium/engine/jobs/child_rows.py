"""SQL of jobs owned by something else, and of their workers' output."""

from uuid import UUID

from atrium.engine.jobs.model import Claim, JobPart, SettledJob, WorkerMessage
from atrium.engine.jobs.store import SETTLED
from atrium.kit.postgres.database import Transaction


async def find_part(db: Transaction, org_id: UUID, id: UUID) -> JobPart | None:
    return await db.one(
        JobPart, "SELECT id, state, result, error FROM jobs WHERE org_id = :org_id AND id = :id", org_id=org_id, id=id
    )


async def hold_hearing(db: Transaction, org_id: UUID, claim: Claim) -> WorkerMessage | None:
    """What was heard of the current attempt, held until the transaction ends; None when it is over."""
    return await db.one(
        WorkerMessage,
        """
        SELECT CASE WHEN heard_from = claim_token THEN heard ELSE 0 END, part_of IS NOT NULL AND NOT cancel_asked FROM jobs
         WHERE org_id = :org_id AND id = :id AND claim_token = :token AND lease_until > clock_timestamp() FOR NO KEY UPDATE
        """,
        org_id=org_id,
        id=claim.id,
        token=claim.token,
    )


async def note_heard(db: Transaction, org_id: UUID, claim: Claim, heard: int) -> None:
    await db.run(
        "UPDATE jobs SET heard = :heard, heard_from = claim_token WHERE org_id = :org_id AND id = :id",
        org_id=org_id,
        id=claim.id,
        heard=heard,
    )


async def insert_words(db: Transaction, org_id: UUID, id: UUID, at: int, body: str) -> None:
    """Keep what was said from a position on, and wake whatever waits for it."""
    await db.run(
        """
        WITH kept AS (INSERT INTO job_words (job_id, at, org_id, body) VALUES (:id, :at, :org_id, :body))
        SELECT pg_notify('atrium_jobs', :topic)
        """,
        org_id=org_id,
        id=id,
        at=at,
        body=body,
        topic=topic_of(id),
    )


def topic_of(id: UUID) -> str:
    """What wakes whatever waits for the words of a job."""
    return f"job {id}"


async def read_words(db: Transaction, org_id: UUID, id: UUID, after: int) -> str:
    """What was said from a position on that earlier words end at."""
    rows = await db.rows(
        "SELECT body FROM job_words WHERE org_id = :org_id AND job_id = :id AND at >= :after ORDER BY at",
        org_id=org_id,
        id=id,
        after=after,
    )
    return "".join([body for (body,) in rows])


async def cancel_waiting_part(db: Transaction, org_id: UUID, whole: UUID) -> SettledJob | None:
    return await db.one(
        SettledJob,
        f"""
        UPDATE jobs SET state = 'cancelled', cancel_asked = true, finished_at = now()
         WHERE org_id = :org_id AND part_of = :whole AND state IN ('scheduled', 'queued')
        RETURNING {SETTLED.replace("token", "claim_token")}
        """,
        org_id=org_id,
        whole=whole,
    )


async def empty_part(db: Transaction, org_id: UUID, whole: UUID) -> None:
    """Nothing of its content is needed any more; a worker that still runs it is told so with its next heartbeat."""
    await db.run(
        """
        WITH part AS (
          UPDATE jobs SET cancel_asked = true, input = '{}', result = NULL WHERE org_id = :org_id AND part_of = :whole RETURNING id
        )
        DELETE FROM job_words w USING part WHERE w.org_id = :org_id AND w.job_id = part.id
        """,
        org_id=org_id,
        whole=whole,
    )
