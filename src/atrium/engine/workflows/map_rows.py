"""SQL of maps and their items."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from atrium.kit.postgres.database import Transaction
from atrium.seams.context import Principal


async def list_items(db: Transaction, org_id: UUID, run_id: UUID, step: str) -> list[tuple[int, Any, str, Any, Any]]:
    """Index, item, state, result and error of a map's items, in order."""
    rows = await db.rows(
        """
        SELECT place, item, state, output, error FROM run_steps
         WHERE org_id = :org_id AND run_id = :run_id AND step = :step AND place >= 0 ORDER BY place
        """,
        org_id=org_id,
        run_id=run_id,
        step=step,
    )
    return [(place, item, state, output, error) for place, item, state, output, error in rows]


async def list_waiting_items(
    db: Transaction, who: Principal, key: tuple[UUID, str], but: Collection[UUID], most: int
) -> list[tuple[UUID, Any]]:
    """Jobs of a map's items that wait for their first attempt with the rights of `who`, the first items first: their ids and inputs."""
    rows = await db.rows(
        """
        SELECT j.id, j.input FROM run_steps s JOIN jobs j ON j.id = s.job_id
         WHERE s.org_id = :org_id AND s.run_id = :run_id AND s.step = :step AND s.place >= 0 AND s.state = 'open'
           AND j.org_id = :org_id AND j.user_id = :user_id AND j.scope IS NOT DISTINCT FROM :scope::text[] AND j.state = 'queued'
           AND j.attempt = 0 AND j.id <> ALL (:but::uuid[])
         ORDER BY s.place LIMIT :most
        """,
        org_id=who.org_id,
        user_id=who.user_id,
        scope=None if who.scope is None else sorted(who.scope),
        run_id=key[0],
        step=key[1],
        but=list(but),
        most=most,
    )
    return [(id, input) for id, input in rows]


async def count_down(
    db: Transaction, org_id: UUID, ended: Sequence[tuple[UUID, str, int]]
) -> dict[tuple[UUID, str], int]:
    """So many items of these maps have ended; how many have not."""
    rows = await db.rows(
        """
        UPDATE run_steps s SET pending = s.pending - e.ended
          FROM unnest(:runs::uuid[], :steps::text[], :ended::int[]) AS e (run_id, step, ended)
         WHERE s.org_id = :org_id AND s.run_id = e.run_id AND s.step = e.step AND s.place = -1
        RETURNING s.run_id, s.step, s.pending
        """,
        org_id=org_id,
        runs=[run_id for run_id, _, _ in ended],
        steps=[step for _, step, _ in ended],
        ended=[count for _, _, count in ended],
    )
    return {(run_id, step): pending for run_id, step, pending in rows}


async def cancel_open_map(db: Transaction, org_id: UUID, run_id: UUID) -> None:
    """End the map that a cancelled run is in."""
    await db.run(
        """
        UPDATE run_steps SET state = 'cancelled', finished_at = clock_timestamp()
         WHERE org_id = :org_id AND run_id = :run_id AND state = 'open' AND kind = 'map' AND place = -1
        """,
        org_id=org_id,
        run_id=run_id,
    )
