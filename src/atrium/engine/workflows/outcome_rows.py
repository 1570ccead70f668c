"""SQL of how runs stand: of the runs of one page, never of all."""

from collections.abc import Collection
from uuid import UUID

import msgspec

from atrium.engine.workflows.outcome import ItemCounts, OpenJobs
from atrium.kit.postgres.database import Transaction


class CountedRun(msgspec.Struct, frozen=True):
    """What a run's workflow is called in the version that ran, and how many items of its maps failed."""

    id: UUID
    state: str
    title: str
    failed_items: int


async def list_counted(db: Transaction, org_id: UUID, ids: Collection[UUID]) -> list[CountedRun]:
    """Items are counted of runs that go on, and of those that the last release ended; of others the number is kept."""
    return await db.all(
        CountedRun,
        """
        WITH shown AS MATERIALIZED (
          SELECT id, team_id, slug, version, state, failed_items FROM runs WHERE org_id = :org_id AND id = ANY(:ids)
        ), titled AS MATERIALIZED (
          SELECT v.team_id, v.slug, v.version, v.spec ->> 'title' AS title
            FROM (SELECT DISTINCT team_id, slug, version FROM shown) d
            JOIN workflow_versions v ON v.team_id = d.team_id AND v.slug = d.slug AND v.version = d.version
           WHERE v.org_id = :org_id
        )
        SELECT s.id, s.state, coalesce(nullif(t.title, ''), s.slug),
               coalesce(s.failed_items, (SELECT count(*) FROM run_steps i
                                          WHERE i.org_id = :org_id AND i.run_id = s.id AND i.place >= 0 AND i.state = 'failed'))::int
          FROM shown s LEFT JOIN titled t ON t.team_id = s.team_id AND t.slug = s.slug AND t.version = s.version
        """,
        org_id=org_id,
        ids=list(ids),
    )


async def list_open_jobs(db: Transaction, org_id: UUID, run_ids: Collection[UUID]) -> list[OpenJobs]:
    """The jobs of runs that have not ended, one for all of a step that stand alike."""
    return await db.all(
        OpenJobs,
        """
        SELECT s.run_id, s.step, (array_agg(j.id ORDER BY w.since DESC))[1], s.waiting, max(w.since),
               (array_agg(s.waits - 'since' ORDER BY w.since DESC))[1]
          FROM run_steps s JOIN jobs j ON j.id = s.job_id
         CROSS JOIN LATERAL (SELECT coalesce((s.waits ->> 'since')::timestamptz, (s.failures -> -1 ->> 'at')::timestamptz,
                                             s.started_at) AS since) w
         WHERE s.org_id = :org_id AND j.org_id = :org_id AND s.run_id = ANY(:run_ids) AND s.state = 'open'
         GROUP BY s.run_id, s.step, s.waiting, j.state
        """,
        org_id=org_id,
        run_ids=list(run_ids),
    )


async def keep_failed(db: Transaction, org_id: UUID, run_ids: Collection[UUID]) -> None:
    """Keep how many items of these runs failed, which have ended."""
    await db.run(
        """
        UPDATE runs r SET failed_items = (SELECT count(*) FROM run_steps i
                                           WHERE i.org_id = :org_id AND i.run_id = r.id AND i.place >= 0 AND i.state = 'failed')
         WHERE r.org_id = :org_id AND r.id = ANY(:run_ids) AND r.state <> 'running'
        """,
        org_id=org_id,
        run_ids=sorted(run_ids),
    )


async def count_items(db: Transaction, org_id: UUID, run_id: UUID) -> dict[str, ItemCounts]:
    """How the items of a run's maps stand, by step."""
    rows = await db.rows(
        """
        SELECT s.step, count(*), count(*) FILTER (WHERE s.state = 'succeeded'), count(*) FILTER (WHERE s.state = 'failed'),
               count(*) FILTER (WHERE s.state = 'cancelled'), count(*) FILTER (WHERE s.state = 'open' AND j.state = 'running')
          FROM run_steps s LEFT JOIN jobs j ON s.state = 'open' AND j.org_id = :org_id AND j.id = s.job_id
         WHERE s.org_id = :org_id AND s.run_id = :run_id AND s.place >= 0 GROUP BY s.step
        """,
        org_id=org_id,
        run_id=run_id,
    )
    return {
        step: ItemCounts(
            total=total, succeeded=succeeded, failed=failed, cancelled=cancelled, running=running,
            waiting=total - succeeded - failed - cancelled - running,
        )
        for step, total, succeeded, failed, cancelled, running in rows
    }  # fmt: skip


async def list_kinds(db: Transaction, org_id: UUID, run_id: UUID, ids: Collection[UUID]) -> dict[UUID, str]:
    """Of which kind those of these things are that a run touched."""
    rows = await db.rows(
        "SELECT object_id, kind FROM run_objects WHERE org_id = :org_id AND run_id = :run_id AND object_id = ANY(:ids)",
        org_id=org_id,
        run_id=run_id,
        ids=list(ids),
    )
    return {id: str(kind) for id, kind in rows}
