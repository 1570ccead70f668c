"""SQL of executors."""

from typing import Any
from uuid import UUID

from atrium.engine.executors.model import Door, Probe, Row, Serving
from atrium.kit.database import Transaction

ROW = (
    "id, bound_to, name, mode, model, url, capabilities, token_id, created_at, seen_at,"
    " coalesce(seen_at > now() - interval '1 minute', false)"
)


async def insert_executor(
    db: Transaction,
    id: UUID,
    bound_to: UUID | None,
    name: str,
    mode: str,
    model: str | None,
    url: str | None,
    key_sealed: bytes | None,
    capabilities: list[str],
    token_id: UUID | None,
    created_by: UUID,
) -> Row | None:
    return await db.one(
        Row,
        f"""
        INSERT INTO executors (id, bound_to, name, mode, model, url, key_sealed, capabilities, token_id, created_by)
        VALUES (:id, :bound_to, :name, :mode, :model_name, :url, :key_sealed, :capabilities, :token_id, :created_by)
        ON CONFLICT DO NOTHING RETURNING {ROW}
        """,
        id=id,
        bound_to=bound_to,
        name=name,
        mode=mode,
        model_name=model,
        url=url,
        key_sealed=key_sealed,
        capabilities=capabilities,
        token_id=token_id,
        created_by=created_by,
    )


async def list_executors(db: Transaction, bound_to: UUID) -> list[Row]:
    """Those in service for one company: everybody's and its own."""
    return await db.all(
        Row,
        f"""
        SELECT {ROW} FROM executors
         WHERE retired_at IS NULL AND (bound_to IS NULL OR bound_to = :bound_to) ORDER BY lower(name), id
        """,
        bound_to=bound_to,
    )


async def find_serving(db: Transaction, name: str) -> Serving | None:
    return await db.one(
        Serving, "SELECT id, name, mode, model, capabilities, own FROM serving_executor(:name)", name=name
    )


async def find_door(db: Transaction, bound_to: UUID, name: str) -> Door | None:
    """Of two with one name the company's own."""
    return await db.one(
        Door,
        """
        SELECT id, name, mode, model, url, key_sealed, bound_to IS NOT NULL FROM executors
         WHERE lower(name) = lower(:name) AND retired_at IS NULL AND (bound_to IS NULL OR bound_to = :bound_to)
         ORDER BY bound_to NULLS LAST LIMIT 1
        """,
        name=name,
        bound_to=bound_to,
    )


async def list_doors(db: Transaction) -> list[Door]:
    """Every machine in service that this server calls."""
    return await db.all(
        Door,
        """
        SELECT id, name, mode, model, url, key_sealed, bound_to IS NOT NULL FROM executors
         WHERE mode = 'push' AND retired_at IS NULL
        """,
    )


async def take_due_probes(db: Transaction, subjects: list[str]) -> list[str]:
    """Those that nobody has looked at for a while; whoever is told a subject is the one that looks."""
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


async def forget_probes(db: Transaction) -> int:
    """Drop what was found about machines that nobody looks at any more."""
    return await db.run("DELETE FROM executor_probes WHERE probed_at < now() - interval '1 day'")


async def find_by_token(db: Transaction, token_id: UUID) -> Row | None:
    return await db.one(
        Row, f"SELECT {ROW} FROM executors WHERE token_id = :token_id AND retired_at IS NULL", token_id=token_id
    )


async def note_seen(db: Transaction, id: UUID) -> None:
    await db.run(
        """
        UPDATE executors SET seen_at = now()
         WHERE id = :id AND (seen_at IS NULL OR seen_at < now() - interval '15 seconds')
        """,
        id=id,
    )


async def retire(db: Transaction, id: UUID) -> Row | None:
    return await db.one(
        Row, f"UPDATE executors SET retired_at = now() WHERE id = :id AND retired_at IS NULL RETURNING {ROW}", id=id
    )


async def list_sealed(db: Transaction) -> list[tuple[UUID, bytes]]:
    found = await db.rows("SELECT id, key_sealed FROM executors WHERE key_sealed IS NOT NULL")
    return [(id, sealed) for id, sealed in found]


async def replace_sealed(db: Transaction, id: UUID, sealed: bytes) -> None:
    await db.run("UPDATE executors SET key_sealed = :sealed WHERE id = :id", id=id, sealed=sealed)


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
