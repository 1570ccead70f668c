"""SQL of runs as they advance: every statement is for all runs of a settlement."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.workflows.attempt_rows import StepKey
from atrium.engine.workflows.interpreter import NewStep, RunEnd
from atrium.kit.postgres.database import Transaction


class LockedRun(msgspec.Struct, frozen=True):
    """A run as it is advanced, its row held until the transaction ends."""

    id: UUID
    team_id: UUID
    user_id: UUID
    slug: str
    version: int
    state: str
    locale: str
    input: dict[str, Any] | None
    steps_used: int


class OpenStep(msgspec.Struct, frozen=True):
    """A step or an item whose job has just ended."""

    run_id: UUID
    step: str
    place: int
    kind: str
    job_id: UUID | None
    kept: bool
    failures: list[dict[str, Any]]


class NewRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run about to begin."""

    id: UUID
    org_id: UUID
    team_id: UUID
    user_id: UUID
    slug: str
    version: int
    locale: str
    input: dict[str, Any]
    max_steps: int
    trigger_id: UUID | None
    ancestry: list[UUID]
    depth: int
    resumed_from: UUID | None
    resumed_step: str | None
    # By whom it is bound beside its writer, by which object it was fired, and whether it may send something elsewhere.
    bound_to: list[UUID] = []
    fired_by: UUID | None = None
    egress: bool = False


class StepEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How a step, or an item of a map, ended; what was kept with the effect stays as the output."""

    run_id: UUID
    step: str
    place: int
    state: str
    output: Any = None
    error: dict[str, Any] | None = None
    usage: dict[str, int] = {}


async def insert_run(db: Transaction, run: NewRun) -> None:
    await db.run(
        """
        INSERT INTO runs (id, org_id, team_id, user_id, slug, version, locale, input, max_steps, trigger_id, ancestry, depth,
                          resumed_from, resumed_step, bound_to, fired_by, egress)
        VALUES (:id, :org_id, :team_id, :user_id, :slug, :version, :locale, :input, :max_steps, :trigger_id, :ancestry, :depth,
                :resumed_from, :resumed_step, :bound_to::uuid[], :fired_by, :egress)
        """,
        **msgspec.structs.asdict(run),
    )


async def find_spec(db: Transaction, org_id: UUID, team_id: UUID, slug: str, version: int) -> dict[str, Any] | None:
    found: dict[str, Any] | None = await db.value(
        """
        SELECT spec FROM workflow_versions
         WHERE org_id = :org_id AND team_id = :team_id AND slug = :slug AND version = :version
        """,
        org_id=org_id,
        team_id=team_id,
        slug=slug,
        version=version,
    )
    return found


async def lock_runs(db: Transaction, org_id: UUID, ids: Collection[UUID]) -> list[LockedRun]:
    return await db.all(
        LockedRun,
        """
        SELECT id, team_id, user_id, slug, version, state, locale, input, steps_used FROM runs
         WHERE org_id = :org_id AND id = ANY(:ids) ORDER BY id FOR NO KEY UPDATE
        """,
        org_id=org_id,
        ids=list(ids),
    )


async def lock(db: Transaction, org_id: UUID, keys: Sequence[StepKey]) -> list[tuple[LockedRun, OpenStep]]:
    """The steps and items of these that are open, each with its run, held; an item comes without the run's input."""
    rows = await db.rows(
        """
        SELECT r.id, r.team_id, r.user_id, r.slug, r.version, r.state, r.locale, CASE WHEN s.place < 0 THEN r.input END, r.steps_used,
               s.run_id, s.step, s.place, s.kind, s.job_id, s.kept, s.failures
          FROM unnest(:runs::uuid[], :steps::text[], :places::int[]) AS k (run_id, step, place)
          JOIN run_steps s ON s.run_id = k.run_id AND s.step = k.step AND s.place = k.place
          JOIN runs r ON r.id = s.run_id
         WHERE s.org_id = :org_id AND r.org_id = :org_id AND s.state = 'open' ORDER BY r.id FOR NO KEY UPDATE OF r
        """,
        org_id=org_id,
        runs=[run_id for run_id, _, _ in keys],
        steps=[step for _, step, _ in keys],
        places=[place for _, _, place in keys],
    )
    return [(LockedRun(*row[:9]), OpenStep(*row[9:])) for row in rows]


async def list_outputs(
    db: Transaction, org_id: UUID, keys: Sequence[tuple[UUID, str]]
) -> list[tuple[UUID, str, str, Any]]:
    """Run, step, kind and output of steps that have succeeded, or have kept what came out."""
    rows = await db.rows(
        """
        SELECT s.run_id, s.step, s.kind, s.output
          FROM unnest(:runs::uuid[], :steps::text[]) AS k (run_id, step)
          JOIN run_steps s ON s.run_id = k.run_id AND s.step = k.step AND s.place = -1
         WHERE s.org_id = :org_id AND (s.state = 'succeeded' OR s.kept)
        """,
        org_id=org_id,
        runs=[run_id for run_id, _ in keys],
        steps=[step for _, step in keys],
    )
    return [(run_id, step, kind, output) for run_id, step, kind, output in rows]


END_STEPS = """
    UPDATE run_steps s
       SET state = e.state, finished_at = clock_timestamp(), waiting = NULL, waits = NULL, error = e.error::jsonb,
           output = CASE WHEN s.kept THEN s.output ELSE e.output::jsonb END,
           value_bytes = s.value_bytes + CASE WHEN s.kept THEN 0 ELSE coalesce(octet_length(e.output), 0) END,
           usage = CASE WHEN e.usage IS NULL THEN s.usage ELSE s.usage || (
             SELECT jsonb_object_agg(u.key, u.value::numeric + coalesce((s.usage ->> u.key)::numeric, 0))
               FROM jsonb_each_text(e.usage::jsonb) u) END
      FROM unnest(:runs::uuid[], :steps::text[], :places::int[], :states::text[], :outputs::text[], :errors::text[], :usages::text[])
           AS e (run_id, step, place, state, output, error, usage)
     WHERE s.org_id = :org_id AND s.run_id = e.run_id AND s.step = e.step AND s.place = e.place AND s.state = 'open'
"""
UPDATE_RUNS = """
    UPDATE runs r
       SET steps_used = u.used, state = u.state, output = u.output::jsonb, output_step = u.output_step, error = u.error::jsonb,
           finished_at = CASE WHEN u.state <> 'running' THEN clock_timestamp() END,
           failed_items = CASE WHEN u.state <> 'running' THEN 0 END
      FROM unnest(:changed::uuid[], :used::int[], :run_states::text[], :run_outputs::text[], :output_steps::text[], :run_errors::text[])
           AS u (id, used, state, output, output_step, error)
     WHERE r.org_id = :org_id AND r.id = u.id AND r.state = 'running'
"""


async def end_steps(db: Transaction, org_id: UUID, ends: Sequence[StepEnd]) -> None:
    """End steps and items that are open."""
    await db.run(END_STEPS, org_id=org_id, **_ends(ends))


def _ends(ends: Sequence[StepEnd]) -> dict[str, Any]:
    return {
        "runs": [end.run_id for end in ends],
        "steps": [end.step for end in ends],
        "places": [end.place for end in ends],
        "states": [end.state for end in ends],
        "outputs": [_json(end.output) for end in ends],
        "errors": [_json(end.error) for end in ends],
        "usages": [_json(end.usage or None) for end in ends],
    }


async def write(
    db: Transaction,
    org_id: UUID,
    ends: Sequence[StepEnd],
    entered: Sequence[tuple[UUID, NewStep, UUID | None]],
    changed: Sequence[tuple[UUID, int, RunEnd | None]],
) -> None:
    """End steps, enter others, each with its job, and say how much of its budget each run has used and whether it has ended."""
    rows = [row for _, row, _ in entered]
    run_ends = [end or RunEnd("running") for _, _, end in changed]
    await db.run(
        f"""
        WITH ended AS ({END_STEPS}), entered AS (
          INSERT INTO run_steps (run_id, step, place, org_id, position, kind, tool, state, job_id, input, item, output, error, pending,
                                 finished_at, value_bytes)
          SELECT n.run_id, n.step, n.place, :org_id, n.position, n.kind, n.tool, n.state, n.job_id, n.input::jsonb, n.item::jsonb,
                 n.output::jsonb, n.error::jsonb, n.pending, CASE WHEN n.state <> 'open' THEN clock_timestamp() END,
                 coalesce(octet_length(n.input), 0) + coalesce(octet_length(n.item), 0) + coalesce(octet_length(n.output), 0)
            FROM unnest(:new_runs::uuid[], :new_steps::text[], :new_places::int[], :positions::int[], :kinds::text[], :tools::text[],
                        :new_states::text[], :jobs::uuid[], :inputs::text[], :items::text[], :new_outputs::text[], :new_errors::text[],
                        :pending::int[])
                 AS n (run_id, step, place, position, kind, tool, state, job_id, input, item, output, error, pending)
        )
        {UPDATE_RUNS}
        """,
        org_id=org_id,
        **_ends(ends),
        **_changes(changed, run_ends),
        new_runs=[run_id for run_id, _, _ in entered],
        new_steps=[row.step for row in rows],
        new_places=[row.place for row in rows],
        positions=[row.position for row in rows],
        kinds=[row.kind for row in rows],
        tools=[row.tool for row in rows],
        new_states=[row.state for row in rows],
        jobs=[job_id for _, _, job_id in entered],
        inputs=[_json(row.input) for row in rows],
        items=[msgspec.json.encode(row.item).decode() if row.place >= 0 else None for row in rows],
        new_outputs=[_json(row.output) for row in rows],
        new_errors=[_json(row.error) for row in rows],
        pending=[row.pending for row in rows],
    )


async def update_runs(db: Transaction, org_id: UUID, changed: Sequence[tuple[UUID, int, RunEnd | None]]) -> None:
    """How much of their budgets runs have used, and the end of those that have come to it."""
    await db.run(UPDATE_RUNS, org_id=org_id, **_changes(changed, [end or RunEnd("running") for _, _, end in changed]))


def _changes(changed: Sequence[tuple[UUID, int, RunEnd | None]], ends: Sequence[RunEnd]) -> dict[str, Any]:
    return {
        "changed": [id for id, _, _ in changed],
        "used": [used for _, used, _ in changed],
        "run_states": [end.state for end in ends],
        "run_outputs": [_json(end.output) for end in ends],
        "output_steps": [end.output_step for end in ends],
        "run_errors": [_json(end.error) for end in ends],
    }


async def cancel_open_steps(db: Transaction, org_id: UUID, run_id: UUID, jobs: Sequence[UUID]) -> None:
    """End the steps and items of a run whose jobs were cancelled before they began."""
    await db.run(
        """
        UPDATE run_steps SET state = 'cancelled', finished_at = clock_timestamp(), waiting = NULL, waits = NULL
         WHERE org_id = :org_id AND run_id = :run_id AND state = 'open' AND job_id = ANY(:jobs)
        """,
        org_id=org_id,
        run_id=run_id,
        jobs=list(jobs),
    )


async def list_open_jobs(db: Transaction, org_id: UUID, run_id: UUID) -> list[UUID]:
    """The jobs of every step and item that has not ended."""
    rows = await db.rows(
        """
        SELECT job_id FROM run_steps
         WHERE org_id = :org_id AND run_id = :run_id AND state = 'open' AND job_id IS NOT NULL
        """,
        org_id=org_id,
        run_id=run_id,
    )
    return [job_id for (job_id,) in rows]


async def break_off(db: Transaction, org_id: UUID, run_id: UUID, error: dict[str, Any]) -> None:
    """End a run that cannot be gone on with, whatever is in it."""
    await db.run(
        """
        WITH ended AS (
          UPDATE run_steps SET state = 'failed', finished_at = clock_timestamp(), error = :error, waiting = NULL, waits = NULL
           WHERE org_id = :org_id AND run_id = :run_id AND state = 'open'
        )
        UPDATE runs SET state = 'failed', finished_at = clock_timestamp(), error = :error
         WHERE org_id = :org_id AND id = :run_id AND state = 'running'
        """,
        org_id=org_id,
        run_id=run_id,
        error=error,
    )


async def forget_ended(db: Transaction, age: timedelta, limit: int) -> int:
    """Drop runs that ended so long ago; not those of a company that is leaving, of which nothing changes."""
    return await db.run(
        """
        DELETE FROM runs WHERE id IN (
          SELECT r.id FROM runs r
           WHERE r.finished_at < now() - :age::interval
             AND EXISTS (SELECT FROM orgs o WHERE o.id = r.org_id AND o.moving_at IS NULL)
           ORDER BY r.finished_at LIMIT :limit)
        """,
        age=age,
        limit=limit,
    )


def _json(value: Any) -> str | None:
    # As text: the driver would take a list inside a list for an array of two dimensions.
    return None if value is None else msgspec.json.encode(value).decode()


async def count_kept(db: Transaction, org_id: UUID) -> dict[UUID, int]:
    """How many bytes runs and their steps were given and made, by team."""
    rows = await db.rows(
        """
        SELECT team_id, sum(size) FROM (
          SELECT r.team_id, octet_length(concat(r.input, r.output, r.error)) AS size FROM runs r WHERE r.org_id = :org_id
          UNION ALL
          SELECT r.team_id, octet_length(concat(s.input, s.item, s.output, s.error)) FROM runs r
            JOIN run_steps s ON s.org_id = r.org_id AND s.run_id = r.id WHERE r.org_id = :org_id
        ) AS t GROUP BY team_id
        """,
        org_id=org_id,
    )
    return {team_id: int(size) for team_id, size in rows}
