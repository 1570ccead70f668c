"""SQL of audit."""

from typing import Any
from uuid import UUID

from atrium.ground.audit.model import AuditEvent, ChainRow, ExportedEvent, Head
from atrium.kit.postgres.database import Transaction
from atrium.seams.context import Principal

EVENT = "e.id, e.at, e.kind, e.subject, e.facts, e.team_id, e.actor_id, u.username, e.seq"
CHAIN = "org_id, id, team_id, actor_id, kind, subject, facts::text, extract(epoch FROM at)::text, seq, hash"


async def insert_event(
    db: Transaction, id: UUID, who: Principal, kind: str, subject: str, facts: dict[str, Any]
) -> None:
    await db.run(
        """
        INSERT INTO audit_events (org_id, id, team_id, actor_id, kind, subject, facts)
        VALUES (:org_id, :id, :team_id, :actor_id, :kind, :subject, :facts)
        """,
        id=id,
        org_id=who.org_id,
        team_id=who.team_id,
        actor_id=who.user_id,
        kind=kind,
        subject=subject,
        facts=facts,
    )


async def list_team_events(
    db: Transaction, org_id: UUID, team_id: UUID, before: UUID | None, limit: int
) -> list[AuditEvent]:
    return await db.all(
        AuditEvent,
        f"""
        SELECT {EVENT} FROM audit_events e LEFT JOIN users u ON u.id = e.actor_id
         WHERE e.org_id = :org_id AND e.team_id = :team_id AND (:before::uuid IS NULL OR e.id < :before)
         ORDER BY e.id DESC LIMIT :limit
        """,
        org_id=org_id,
        team_id=team_id,
        before=before,
        limit=limit,
    )


async def list_company_events(db: Transaction, org_id: UUID, before: UUID | None, limit: int) -> list[AuditEvent]:
    return await db.all(
        AuditEvent,
        f"""
        SELECT {EVENT} FROM audit_events e LEFT JOIN users u ON u.id = e.actor_id
         WHERE e.org_id = :org_id AND (:before::uuid IS NULL OR e.id < :before)
         ORDER BY e.id DESC LIMIT :limit
        """,
        org_id=org_id,
        before=before,
        limit=limit,
    )


async def list_by_token(db: Transaction, org_id: UUID, token_id: UUID, limit: int) -> list[AuditEvent]:
    """Events that name the token: few of a company's are of tokens that give something, and an index has those alone."""
    return await db.all(
        AuditEvent,
        f"""
        SELECT {EVENT} FROM audit_events e LEFT JOIN users u ON u.id = e.actor_id
         WHERE e.org_id = :org_id AND e.facts ? 'token' AND e.facts->>'token' = :token
         ORDER BY e.id DESC LIMIT :limit
        """,
        org_id=org_id,
        token=str(token_id),
        limit=limit,
    )


async def try_sealing_lock(db: Transaction) -> bool:
    return bool(await db.value("SELECT pg_try_advisory_xact_lock(hashtext('atrium audit sealer'))"))


async def list_keys(db: Transaction) -> list[tuple[bytes, bytes]]:
    return [(row[0], row[1]) for row in await db.rows("SELECT id, sealed FROM audit_keys ORDER BY created_at DESC, id")]


async def list_tying(db: Transaction, org_id: UUID) -> list[bytes]:
    """Ids of the keys that a company's links and the signature of their end name."""
    rows = await db.rows(
        """
        SELECT substring(hash FOR 4) FROM audit_events WHERE org_id = :org_id AND length(hash) > 32
         UNION SELECT substring(signature FOR 4) FROM audit_heads WHERE org_id = :org_id AND signature IS NOT NULL
        """,
        org_id=org_id,
    )
    return sorted(row[0] for row in rows)


async def insert_old_key(db: Transaction, id: bytes, sealed: bytes) -> None:
    """Older than any other, so that nothing is tied with it."""
    await db.run(
        """
        INSERT INTO audit_keys (id, sealed, created_at)
        SELECT :id, :sealed, coalesce(min(created_at), now()) - interval '1 second' FROM audit_keys
        """,
        id=id,
        sealed=sealed,
    )


async def insert_key(db: Transaction, id: bytes, sealed: bytes) -> None:
    await db.run("INSERT INTO audit_keys (id, sealed) VALUES (:id, :sealed)", id=id, sealed=sealed)


async def replace_key(db: Transaction, id: bytes, sealed: bytes) -> None:
    await db.run("UPDATE audit_keys SET sealed = :sealed WHERE id = :id", id=id, sealed=sealed)


async def list_unsealed(db: Transaction, refused: list[UUID], limit: int) -> list[ChainRow]:
    # Closed rows only: below the snapshot's xmin every transaction has ended, so none can appear behind the chain later.
    # A row from a restored dump can carry a number of the old cluster, above anything handed out here.
    return await db.all(
        ChainRow,
        f"""
        SELECT {CHAIN} FROM audit_events
         WHERE seq IS NULL AND org_id <> ALL(:refused::uuid[])
           AND (xid < pg_snapshot_xmin(pg_current_snapshot()) OR xid >= pg_snapshot_xmax(pg_current_snapshot()))
         ORDER BY org_id, id LIMIT :limit
        """,
        refused=refused,
        limit=limit,
    )


async def list_heads(db: Transaction, org_ids: list[UUID] | None = None) -> list[Head]:
    return await db.all(
        Head,
        "SELECT org_id, seq, hash, signature FROM audit_heads WHERE :org_ids::uuid[] IS NULL OR org_id = ANY(:org_ids) ORDER BY org_id",
        org_ids=org_ids,
    )


async def write_links(
    db: Transaction, org_ids: list[UUID], ids: list[UUID], seqs: list[int], hashes: list[bytes]
) -> None:
    await db.run(
        """
        UPDATE audit_events e SET seq = l.seq, hash = l.hash
          FROM unnest(:org_ids::uuid[], :ids::uuid[], :seqs::bigint[], :hashes::bytea[]) AS l (org_id, id, seq, hash)
         WHERE e.org_id = l.org_id AND e.id = l.id
        """,
        org_ids=org_ids,
        ids=ids,
        seqs=seqs,
        hashes=hashes,
    )


async def write_heads(
    db: Transaction, org_ids: list[UUID], seqs: list[int], hashes: list[bytes], signatures: list[bytes]
) -> None:
    await db.run(
        """
        INSERT INTO audit_heads (org_id, seq, hash, signature)
        SELECT * FROM unnest(:org_ids::uuid[], :seqs::bigint[], :hashes::bytea[], :signatures::bytea[])
        ON CONFLICT (org_id) DO UPDATE
          SET seq = excluded.seq, hash = excluded.hash, signature = excluded.signature, sealed_at = now()
        """,
        org_ids=org_ids,
        seqs=seqs,
        hashes=hashes,
        signatures=signatures,
    )


async def list_orgs_with_events(db: Transaction) -> list[UUID]:
    return [row[0] for row in await db.rows("SELECT id FROM orgs ORDER BY id")]


async def list_chain(db: Transaction, org_id: UUID, after: int, limit: int) -> list[ChainRow]:
    return await db.all(
        ChainRow,
        f"SELECT {CHAIN} FROM audit_events WHERE org_id = :org_id AND seq > :after ORDER BY seq LIMIT :limit",
        org_id=org_id,
        after=after,
        limit=limit,
    )


async def list_exported(
    db: Transaction, company: str | None, after: tuple[UUID, UUID] | None, limit: int
) -> list[ExportedEvent]:
    """Events of every company, or of the one with this id or slug, by company and in the order they happened."""
    return await db.all(
        ExportedEvent,
        """
        SELECT e.org_id, e.seq, e.id, e.at, e.team_id, e.actor_id, u.username, e.kind, e.subject, e.facts, encode(e.hash, 'hex')
          FROM audit_events e JOIN orgs o ON o.id = e.org_id LEFT JOIN users u ON u.id = e.actor_id
         WHERE (:company::text IS NULL OR o.slug = :company OR o.id::text = :company)
           AND (:org_id::uuid IS NULL OR (e.org_id, e.id) > (:org_id, :id::uuid))
         ORDER BY e.org_id, e.id LIMIT :limit
        """,
        company=company,
        org_id=after[0] if after else None,
        id=after[1] if after else None,
        limit=limit,
    )


async def count_unsealed(db: Transaction, org_id: UUID) -> int:
    return int(
        await db.value("SELECT count(*) FROM audit_events WHERE org_id = :org_id AND seq IS NULL", org_id=org_id)
    )


async def read_oldest_unsealed(db: Transaction) -> float:
    """Seconds since the oldest event that has no place in its chain yet; 0 when all have theirs."""
    return float(
        await db.value(
            "SELECT coalesce(extract(epoch FROM clock_timestamp() - min(at)), 0)::float8 FROM audit_events WHERE seq IS NULL"
        )
    )


async def count_before_first(db: Transaction, org_id: UUID) -> int:
    return int(await db.value("SELECT count(*) FROM audit_events WHERE org_id = :org_id AND seq < 1", org_id=org_id))


async def count_events(db: Transaction) -> int:
    return int(await db.value("SELECT count(*) FROM audit_events"))
