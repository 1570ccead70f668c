"""SQL of runs as people read them."""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.workflows.run_model import (
    Lineage,
    ResumedFrom,
    RunError,
    RunFacts,
    Starter,
    WorkflowName,
    error_of,
)
from atrium.kit.postgres.database import Transaction
from atrium.seams.sharing import Thing

RUN = """
    r.id, r.slug, r.version, r.state, r.error, r.user_id, u.username, r.trigger_id, r.resumed_from, r.resumed_step, r.steps_used,
    r.max_steps, r.depth, r.created_at, r.finished_at
"""
_OF_SUMMARY = 15


class FoundRun(msgspec.Struct, frozen=True):
    """A run with its values."""

    summary: RunFacts
    team_id: UUID
    input: Any
    output: Any
    output_step: str | None


class FoundStep(msgspec.Struct, frozen=True):
    """A step or an item of a map, as it is stored."""

    step: str
    place: int
    kind: str
    tool: str | None
    state: str
    job_id: UUID | None
    input: Any
    item: Any
    output: Any
    error: dict[str, Any] | None
    failures: list[dict[str, Any]]
    waiting: str | None
    pending: int | None
    usage: dict[str, int]
    reused_from: UUID | None
    started_at: datetime
    finished_at: datetime | None
    # Whether its values are left out because the page holds enough.
    omitted: bool


# Values come as long as they fit: what a page holds is in memory, and encoded at once.
MOST_BYTES = 4 << 20
STEP = f"""
    step, place, kind, tool, state, job_id, CASE WHEN fits THEN input END, CASE WHEN fits THEN item END,
    CASE WHEN fits THEN output END, error, failures, waiting, pending, usage, reused_from, started_at, finished_at, NOT fits
    FROM (SELECT *, sum(coalesce(value_bytes, octet_length(concat(input, item, output))))
                    OVER (ORDER BY position, place) <= {MOST_BYTES} AS fits FROM run_steps
"""


async def find_run(db: Transaction, org_id: UUID, team_id: UUID, id: UUID) -> FoundRun | None:
    rows = await db.rows(
        f"""
        SELECT {RUN}, r.team_id, r.input, r.output, r.output_step
          FROM runs r JOIN users u ON u.org_id = :org_id AND u.id = r.user_id
         WHERE r.org_id = :org_id AND r.team_id = :team_id AND r.id = :id
        """,
        org_id=org_id,
        team_id=team_id,
        id=id,
    )
    return FoundRun(summary_of(rows[0][:_OF_SUMMARY]), *rows[0][_OF_SUMMARY:]) if rows else None


def summary_of(row: tuple[Any, ...]) -> RunFacts:
    """A row of RUN's columns."""
    (
        id, slug, version, state, error, user_id, username, trigger_id, resumed_from, resumed_step, used, most, depth, created_at, ended_at,
    ) = row  # fmt: skip
    return RunFacts(
        id=id,
        workflow=WorkflowName(slug, version),
        state=state,
        error=error_of(RunError, error, shown=True) if error else None,
        started_by=Starter(user_id, username),
        trigger_id=trigger_id,
        resumed_from=ResumedFrom(resumed_from, resumed_step) if resumed_from else None,
        steps_used=used,
        max_steps=most,
        depth=depth,
        created_at=created_at,
        finished_at=ended_at,
    )


async def list_steps(db: Transaction, org_id: UUID, run_id: UUID, most_items: int) -> list[FoundStep]:
    """Steps in the order in which the run came to them, each map followed by its first items."""
    return await db.all(
        FoundStep,
        f"""
        SELECT {STEP} WHERE org_id = :org_id AND run_id = :run_id AND place < :most_items) found ORDER BY position, place
        """,
        org_id=org_id,
        run_id=run_id,
        most_items=most_items,
    )


async def list_items(db: Transaction, org_id: UUID, run_id: UUID, step: str, after: int, limit: int) -> list[FoundStep]:
    return await db.all(
        FoundStep,
        f"""
        SELECT {STEP} WHERE org_id = :org_id AND run_id = :run_id AND step = :step AND place > :after AND place < :upto) found
         ORDER BY place
        """,
        org_id=org_id,
        run_id=run_id,
        step=step,
        after=after,
        upto=after + 1 + limit,
    )


class MapFacts(msgspec.Struct, frozen=True):
    """What all items of a map have used together, and what some of them wait for."""

    step: str
    usage: dict[str, int]
    waiting: str | None


async def list_map_facts(db: Transaction, org_id: UUID, run_id: UUID) -> list[MapFacts]:
    return await db.all(
        MapFacts,
        """
        SELECT s.step, coalesce((SELECT jsonb_object_agg(t.key, t.used) FROM (
                 SELECT u.key, sum(u.value::numeric) AS used FROM run_steps i, jsonb_each_text(i.usage) u
                  WHERE i.org_id = :org_id AND i.run_id = :run_id AND i.step = s.step AND i.place >= 0 GROUP BY u.key) t), '{}'),
               (SELECT min(i.waiting) FROM run_steps i JOIN jobs j ON j.id = i.job_id
                 WHERE i.org_id = :org_id AND i.run_id = :run_id AND i.step = s.step AND i.place >= 0 AND i.state = 'open'
                   AND j.state = 'scheduled')
          FROM run_steps s WHERE s.org_id = :org_id AND s.run_id = :run_id AND s.kind = 'map' AND s.place < 0
        """,
        org_id=org_id,
        run_id=run_id,
    )


class TakenStep(msgspec.Struct, frozen=True):
    """A step of an ended run, as it may be taken over; `decision` is what a choice came to."""

    step: str
    kind: str
    state: str
    items: int
    decision: dict[str, Any] | None


async def list_taken(db: Transaction, org_id: UUID, run_id: UUID) -> list[TakenStep]:
    """The steps of a run in the order in which it came to them."""
    return await db.all(
        TakenStep,
        """
        SELECT s.step, s.kind, s.state,
               (SELECT count(*)::int FROM run_steps i WHERE i.run_id = s.run_id AND i.step = s.step AND i.place >= 0),
               CASE WHEN s.kind = 'choice' THEN s.output END
          FROM run_steps s WHERE s.org_id = :org_id AND s.run_id = :run_id AND s.place = -1 ORDER BY s.position
        """,
        org_id=org_id,
        run_id=run_id,
    )


async def find_lineage(db: Transaction, org_id: UUID, run_id: UUID) -> Lineage | None:
    return await db.one(
        Lineage,
        "SELECT id, ancestry, depth, bound_to FROM runs WHERE org_id = :org_id AND id = :id",
        org_id=org_id,
        id=run_id,
    )


async def count_open(db: Transaction, org_id: UUID, team_id: UUID, most: int) -> int:
    """How many runs of a team have not ended; counted no further than `most`."""
    counted: int = await db.value(
        """
        SELECT count(*)::int FROM (
          SELECT FROM runs WHERE org_id = :org_id AND team_id = :team_id AND state = 'running' LIMIT :most) open
        """,
        org_id=org_id,
        team_id=team_id,
        most=most,
    )
    return counted


async def list_things(db: Transaction, org_id: UUID, run_ids: list[UUID]) -> dict[UUID, set[Thing]]:
    """What each of these runs was given, read or wrote."""
    rows = await db.rows(
        "SELECT run_id, kind, object_id FROM run_objects WHERE org_id = :org_id AND run_id = ANY(:run_ids)",
        org_id=org_id,
        run_ids=run_ids,
    )
    found: dict[UUID, set[Thing]] = {run_id: set() for run_id in run_ids}
    for run_id, kind, id in rows:
        found[run_id].add((kind, id))
    return found


async def list_runs_of(db: Transaction, org_id: UUID, team_id: UUID, object_id: UUID, limit: int) -> list[UUID]:
    """The newest runs of a team that touched an object."""
    rows = await db.rows(
        """
        SELECT o.run_id FROM run_objects o JOIN runs r ON r.id = o.run_id
         WHERE o.org_id = :org_id AND r.org_id = :org_id AND r.team_id = :team_id AND o.object_id = :object_id
         ORDER BY o.run_id DESC LIMIT :limit
        """,
        org_id=org_id,
        team_id=team_id,
        object_id=object_id,
        limit=limit,
    )
    return [id for (id,) in rows]


async def read_size(
    db: Transaction, org_id: UUID, run_id: UUID, steps: list[str], items_of: str | None, places: list[int]
) -> int:
    """How many bytes these steps keep, with their items, and of one map the items named."""
    size: int = await db.value(
        """
        SELECT coalesce(sum(coalesce(s.kept_bytes, octet_length(concat(s.input, s.item, s.output, s.error)))), 0)::bigint
          FROM run_steps s
         WHERE s.org_id = :org_id AND s.run_id = :run_id
           AND (s.step = ANY(:steps) OR s.step = :items_of AND s.place = ANY(:places::int[]))
        """,
        org_id=org_id,
        run_id=run_id,
        steps=steps,
        items_of=items_of,
        places=places,
    )
    return size


async def copy_steps(
    db: Transaction, org_id: UUID, run_id: UUID, source: UUID, steps: list[str], items_of: str | None, places: list[int]
) -> None:
    """Take over steps that succeeded, with their items, and of one map only the items named."""
    await db.run(
        """
        INSERT INTO run_steps (run_id, step, place, org_id, position, kind, tool, state, input, item, output, kept, pending, reused_from,
                               started_at, finished_at, value_bytes)
        SELECT :run_id, s.step, s.place, s.org_id, s.position, s.kind, s.tool, s.state, s.input, s.item, s.output, s.kept, s.pending,
               coalesce(s.reused_from, s.run_id), s.started_at, s.finished_at, s.value_bytes
          FROM run_steps s
         WHERE s.org_id = :org_id AND s.run_id = :source
           AND (s.step = ANY(:steps) OR s.step = :items_of AND s.place = ANY(:places::int[]))
        """,
        org_id=org_id,
        run_id=run_id,
        source=source,
        steps=steps,
        items_of=items_of,
        places=places,
    )


async def copy_things(db: Transaction, org_id: UUID, run_id: UUID, source: UUID) -> None:
    """A run that takes over outputs is about what they are about."""
    await db.run(
        """
        INSERT INTO run_objects (run_id, object_id, kind, org_id, made)
        SELECT :run_id, object_id, kind, org_id, made FROM run_objects WHERE org_id = :org_id AND run_id = :source ON CONFLICT DO NOTHING
        """,
        org_id=org_id,
        run_id=run_id,
        source=source,
    )
