"""SQL of blobs: the rows that stand for bytes, and the hints that some may be released."""

from datetime import timedelta
from uuid import UUID

import msgspec

from atrium.kit.database import Transaction
from atrium.kit.ids import new_id


class Hint(msgspec.Struct, frozen=True):
    """A digest that may have lost its last version."""

    id: UUID
    org_id: UUID
    sha256: bytes


class WaitingText(msgspec.Struct, frozen=True):
    """A version whose text is to be extracted."""

    version_id: UUID
    org_id: UUID


class Readable(msgspec.Struct, frozen=True):
    """What an extraction needs to know of its version."""

    object_id: UUID
    sha256: bytes
    size: int
    content_type: str
    filename: str
    attempts: int


class BlobRow(msgspec.Struct, frozen=True):
    """A blob, and whether a version or a part refers to it."""

    sha256: bytes
    size: int
    referenced: bool


async def insert_blob(db: Transaction, org_id: UUID, sha256: bytes, size: int) -> None:
    await db.run(
        "INSERT INTO blobs (org_id, sha256, size) VALUES (:org_id, :sha256, :size) ON CONFLICT DO NOTHING",
        org_id=org_id,
        sha256=sha256,
        size=size,
    )


async def hold_blob(db: Transaction, org_id: UUID, sha256: bytes) -> bool:
    """Lock the row shared: others may refer to the bytes as well, nobody may release them. False when it is gone."""
    return (
        await db.value(
            "SELECT true FROM blobs WHERE org_id = :org_id AND sha256 = :sha256 FOR SHARE", org_id=org_id, sha256=sha256
        )
        is True
    )


async def seize_blob(db: Transaction, org_id: UUID, sha256: bytes) -> bool:
    """Lock the row alone, or say at once that somebody holds it or that it is gone."""
    return (
        await db.value(
            "SELECT true FROM blobs WHERE org_id = :org_id AND sha256 = :sha256 FOR UPDATE SKIP LOCKED",
            org_id=org_id,
            sha256=sha256,
        )
        is True
    )


async def is_referenced(db: Transaction, org_id: UUID, sha256: bytes) -> bool:
    return bool(
        await db.value(
            """
            SELECT EXISTS (SELECT FROM object_versions WHERE org_id = :org_id AND sha256 = :sha256)
                OR EXISTS (SELECT FROM multipart_parts WHERE org_id = :org_id AND sha256 = :sha256)
            """,
            org_id=org_id,
            sha256=sha256,
        )
    )


async def exists_blob(db: Transaction, org_id: UUID, sha256: bytes) -> bool:
    return bool(
        await db.value(
            "SELECT EXISTS (SELECT FROM blobs WHERE org_id = :org_id AND sha256 = :sha256)",
            org_id=org_id,
            sha256=sha256,
        )
    )


async def delete_blob(db: Transaction, org_id: UUID, sha256: bytes) -> None:
    await db.run("DELETE FROM blobs WHERE org_id = :org_id AND sha256 = :sha256", org_id=org_id, sha256=sha256)


async def insert_hints(db: Transaction, org_id: UUID, digests: list[bytes]) -> None:
    await db.run(
        """
        INSERT INTO blob_releases (id, org_id, sha256)
        SELECT h.id, :org_id, h.sha256 FROM unnest(:ids::uuid[], :digests::bytea[]) AS h (id, sha256)
        """,
        org_id=org_id,
        ids=[new_id() for _ in digests],
        digests=digests,
    )


async def list_hints(db: Transaction, after: UUID, limit: int) -> list[Hint]:
    return await db.all(
        Hint,
        "SELECT id, org_id, sha256 FROM blob_releases WHERE id > :after ORDER BY id LIMIT :limit",
        after=after,
        limit=limit,
    )


async def delete_hint(db: Transaction, org_id: UUID, id: UUID) -> None:
    await db.run("DELETE FROM blob_releases WHERE org_id = :org_id AND id = :id", org_id=org_id, id=id)


async def list_blobs(db: Transaction, org_id: UUID, after: bytes, limit: int) -> list[BlobRow]:
    return await db.all(
        BlobRow,
        """
        SELECT b.sha256, b.size, EXISTS (SELECT FROM object_versions v WHERE v.org_id = b.org_id AND v.sha256 = b.sha256)
               OR EXISTS (SELECT FROM multipart_parts p WHERE p.org_id = b.org_id AND p.sha256 = b.sha256)
          FROM blobs b WHERE b.org_id = :org_id AND b.sha256 > :after ORDER BY b.sha256 LIMIT :limit
        """,
        org_id=org_id,
        after=after,
        limit=limit,
    )


async def measure_blobs(db: Transaction, org_id: UUID) -> tuple[int, int]:
    """How many blobs a company has, and how many bytes."""
    rows = await db.rows(
        "SELECT count(*), coalesce(sum(size), 0)::bigint FROM blobs WHERE org_id = :org_id", org_id=org_id
    )
    return rows[0][0], rows[0][1]


async def list_due_texts(db: Transaction, limit: int) -> list[WaitingText]:
    return await db.all(
        WaitingText,
        """
        SELECT version_id, org_id FROM object_texts
         WHERE state IN ('waiting', 'running') AND due_at <= now() ORDER BY due_at LIMIT :limit
        """,
        limit=limit,
    )


async def claim_text(db: Transaction, org_id: UUID, version_id: UUID, lease: timedelta) -> Readable | None:
    """Take the work for a while; None when somebody else has it or it is done."""
    return await db.one(
        Readable,
        """
        UPDATE object_texts t SET state = 'running', attempts = attempts + 1, due_at = now() + :lease::interval
          FROM object_versions v
         WHERE t.org_id = :org_id AND t.version_id = :version_id AND v.id = t.version_id AND v.org_id = :org_id
           AND t.state IN ('waiting', 'running') AND t.due_at <= now()
        RETURNING t.object_id, v.sha256, v.size, v.content_type, v.filename, t.attempts
        """,
        org_id=org_id,
        version_id=version_id,
        lease=lease,
    )


async def finish_text(
    db: Transaction, org_id: UUID, version_id: UUID, state: str, text: str, truncated: bool, problem: str | None
) -> None:
    await db.run(
        """
        UPDATE object_texts SET state = :state, text = :text, truncated = :truncated, problem = :problem
         WHERE org_id = :org_id AND version_id = :version_id
        """,
        org_id=org_id,
        version_id=version_id,
        state=state,
        text=text,
        truncated=truncated,
        problem=problem,
    )
