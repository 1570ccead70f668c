"""SQL of executors."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from atrium.engine.executors.model import ExecutorChoice, ExecutorSpec, Probe, PushEndpoint, StoredExecutor
from atrium.kit.ids import NIL
from atrium.kit.postgres.database import Transaction, old_rows

ROW = (
    "id, bound_to, name, mode, model, capabilities, created_at, seen_at,"
    " coalesce(seen_at > now() - interval '1 minute', false)"
)


async def insert_executor(
    db: Transaction, id: UUID, spec: ExecutorSpec, key_sealed: bytes | None, bound_to: UUID | None, created_by: UUID
) -> StoredExecutor | None:
    return await db.one(
        StoredExecutor,
        f"""
        INSERT INTO executors (id, bound_to, name, mode, model, url, key_sealed, capabilities, created_by)
        VALUES (:id, :bound_to, :name, :mode, :model_name, :url, :key_sealed, :capabilities, :created_by)
        ON CONFLICT DO NOTHING RETURNING {ROW}
        """,
        id=id,
        bound_to=bound_to,
        name=spec.name,
        mode=spec.mode,
        model_name=spec.model,
        url=spec.url,
        key_sealed=key_sealed,
        capabilities=spec.capabilities,
        created_by=created_by,
    )


async def list_executors(db: Transaction, serving: UUID | None) -> list[StoredExecutor]:
    """Those in service for one company, everybody's and its own; None for those of every company."""
    return await db.all(
        StoredExecutor,
        f"""
        SELECT {ROW} FROM executors
         WHERE retired_at IS NULL AND (:serving::uuid IS NULL OR bound_to IS NULL OR bound_to = :serving) ORDER BY lower(name), id
        """,
        serving=serving,
    )


async def count_bound(db: Transaction, org_id: UUID) -> int:
    """How many in service are one company's own."""
    return int(
        await db.value(
            f"SELECT count(*) FROM executors WHERE coalesce(bound_to, '{NIL}') = :org_id AND retired_at IS NULL",
            org_id=org_id,
        )
    )


async def find_choice(db: Transaction, name: str) -> ExecutorChoice | None:
    return await db.one(
        ExecutorChoice, "SELECT id, name, mode, capabilities, own FROM serving_executor(:name)", name=name
    )


async def find_endpoint(db: Transaction, bound_to: UUID, name: str) -> PushEndpoint | None:
    """Of two with one name the company's own."""
    return await db.one(
        PushEndpoint,
        """
        SELECT id, name, model, url, key_sealed, bound_to IS NOT NULL, capabilities FROM executors
         WHERE lower(name) = lower(:name) AND retired_at IS NULL AND (bound_to IS NULL OR bound_to = :bound_to)
         ORDER BY bound_to NULLS LAST LIMIT 1
        """,
        name=name,
        bound_to=bound_to,
    )


async def list_endpoints(db: Transaction) -> list[PushEndpoint]:
    """Every machine in service that this server calls."""
    return await db.all(
        PushEndpoint,
        """
        SELECT id, name, model, url, key_sealed, bound_to IS NOT NULL, capabilities FROM executors
         WHERE mode = 'push' AND retired_at IS NULL
        """,
    )


async def take_due_probes(db: Transaction, subjects: list[str]) -> list[str]:
    """Executors due for a probe; the process that gets a row here is the one that probes it."""
    rows = await db.rows(
        """
        INSERT INTO executor_probes AS p (subject) SELECT s.subject FROM unnest(:subjects::text[]) AS s (subject) ORDER BY s.subject
        ON CONFLICT (subject) DO UPDATE SET probed_at = now() WHERE p.probed_at < now() - interval '25 seconds'
        RETURNING subject
        """,
        subjects=subjects,
    )
    return [subject for (subject,) in rows]


async def note_probes(db: Transaction, subjects: list[str], answers: list[bool]) -> None:
    await db.run(
        """
        UPDATE executor_probes p SET healthy = a.healthy, seen_at = CASE WHEN a.healthy THEN now() ELSE p.seen_at END
          FROM unnest(:subjects::text[], :answers::boolean[]) AS a (subject, healthy) WHERE p.subject = a.subject
        """,
        subjects=subjects,
        answers=answers,
    )


async def list_probes(db: Transaction) -> dict[str, Probe]:
    """The latest look at each machine, as long as it is recent enough to say anything."""
    found = await db.all(
        Probe,
        """
        SELECT subject, CASE WHEN probed_at > now() - interval '2 minutes' THEN healthy END, seen_at FROM executor_probes
        """,
    )
    return {probe.subject: probe for probe in found}


async def forget_probes(db: Transaction, age: timedelta, most: int) -> int:
    """Delete probe results of executors that are no longer probed."""
    return await db.run(old_rows("executor_probes", "probed_at", key="ctid"), age=age, most=most)


async def find_executor(db: Transaction, id: UUID) -> StoredExecutor | None:
    return await db.one(StoredExecutor, f"SELECT {ROW} FROM executors WHERE id = :id AND retired_at IS NULL", id=id)


async def note_seen(db: Transaction, id: UUID) -> None:
    await db.run(
        """
        UPDATE executors SET seen_at = now()
         WHERE id = :id AND (seen_at IS NULL OR seen_at < now() - interval '15 seconds')
        """,
        id=id,
    )


async def retire(db: Transaction, id: UUID, bound_to: UUID | None) -> StoredExecutor | None:
    """Out of service; when a company is given, only one that serves that company alone."""
    return await db.one(
        StoredExecutor,
        f"""
        UPDATE executors SET retired_at = now()
         WHERE id = :id AND retired_at IS NULL AND (:bound_to::uuid IS NULL OR bound_to = :bound_to) RETURNING {ROW}
        """,
        id=id,
        bound_to=bound_to,
    )


async def insert_credential(db: Transaction, executor_id: UUID, digest: bytes) -> None:
    await db.run(
        "INSERT INTO worker_credentials (executor_id, digest) VALUES (:executor_id, :digest)",
        executor_id=executor_id,
        digest=digest,
    )


async def delete_credential(db: Transaction, executor_id: UUID) -> None:
    await db.run("DELETE FROM worker_credentials WHERE executor_id = :executor_id", executor_id=executor_id)


async def list_standing(db: Transaction, executor_ids: list[UUID]) -> set[UUID]:
    """Those whose credential has not ended."""
    rows = await db.rows("SELECT executor_id FROM worker_credentials WHERE executor_id = ANY(:ids)", ids=executor_ids)
    return {id for (id,) in rows}


def topic_of(executor_id: UUID) -> str:
    """What rings for the workers of one executor."""
    return f"worker {executor_id}"


async def notify_ended(db: Transaction, executor_id: UUID) -> None:
    """On commit, notify every process: claims waiting as this executor check their credential again."""
    await db.run("SELECT pg_notify('atrium_jobs', :topic)", topic=topic_of(executor_id))


async def list_sealed(db: Transaction) -> list[tuple[UUID, bytes]]:
    found = await db.rows("SELECT id, key_sealed FROM executors WHERE key_sealed IS NOT NULL")
    return [(id, sealed) for id, sealed in found]


async def replace_sealed(db: Transaction, id: UUID, sealed: bytes) -> None:
    await db.run("UPDATE executors SET key_sealed = :sealed WHERE id = :id", id=id, sealed=sealed)


async def lock_roles(db: Transaction, team_id: UUID) -> None:
    """One editor of a team's choices at a time, also while there is no row yet that could be locked."""
    await db.run(
        "SELECT pg_advisory_xact_lock(hashtext('atrium model roles'), hashtext(:team_id::uuid::text))", team_id=team_id
    )


async def list_roles(db: Transaction, org_id: UUID, team_id: UUID) -> dict[str, str]:
    rows = await db.rows(
        "SELECT role, executor FROM model_roles WHERE org_id = :org_id AND team_id = :team_id",
        org_id=org_id,
        team_id=team_id,
    )
    return dict(map(_pair, rows))


async def put_role(db: Transaction, org_id: UUID, team_id: UUID, role: str, executor: str) -> None:
    await db.run(
        """
        INSERT INTO model_roles (org_id, team_id, role, executor) VALUES (:org_id, :team_id, :role, :executor)
        ON CONFLICT (team_id, role) DO UPDATE SET executor = excluded.executor
        """,
        org_id=org_id,
        team_id=team_id,
        role=role,
        executor=executor,
    )


async def delete_role(db: Transaction, org_id: UUID, team_id: UUID, role: str) -> None:
    await db.run(
        "DELETE FROM model_roles WHERE org_id = :org_id AND team_id = :team_id AND role = :role",
        org_id=org_id,
        team_id=team_id,
        role=role,
    )


def _pair(row: tuple[Any, ...]) -> tuple[str, str]:
    role, executor = row
    return role, executor
