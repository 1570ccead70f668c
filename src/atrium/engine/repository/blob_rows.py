"""SQL of blobs: the rows that stand for bytes, and the hints that some may be released."""

from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from atrium.kit.ids import new_id
from atrium.kit.postgres.database import Transaction


class Hint(msgspec.Struct, frozen=True):
    """A digest that may have lost its last version."""

    id: UUID
    org_id: UUID
    sha256: bytes
    noted_at: datetime


class BlobRow(msgspec.Struct, frozen=True):
    """A blob, and whether a version, or a part of an upload under way, refers to it."""

    sha256: bytes
    size: int
    of_version: bool
    of_part: bool


async def insert_blob(db: Transaction, org_id: UUID, sha256: bytes, size: int) -> None:
    await db.run(
        "INSERT INTO blobs (org_id, sha256, size) VALUES (:org_id, :sha256, :size) ON CONFLICT DO NOTHING",
        org_id=org_id,
        sha256=sha256,
        size=size,
    )


async def hold_blob(db: Transaction, org_id: UUID, sha256: bytes) -> bool:
    """Lock the row shared: others may add references, and no process can release the bytes. False when the row is gone."""
    return (
        await db.value(
            "SELECT true FROM blobs WHERE org_id = :org_id AND sha256 = :sha256 FOR SHARE", org_id=org_id, sha256=sha256
        )
        is True
    )


async def seize_blob(db: Transaction, org_id: UUID, sha256: bytes) -> bool:
    """Lock the row exclusively without waiting; says whether it is held by another transaction or gone."""
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


async def delete_blob(db: Transaction, org_id: UUID, sha256: bytes) -> bool:
    """Delete the row; False, with nothing done, when a row of another domain refers to it."""
    return await db.run_unless_referenced(
        "DELETE FROM blobs WHERE org_id = :org_id AND sha256 = :sha256", org_id=org_id, sha256=sha256
    )


async def insert_hints(db: Transaction, org_id: UUID, digests: list[bytes], *, passing: bool = False) -> None:
    """Note digests that may have lost their last version; those of `passing` bytes never had one and need not be kept."""
    await db.run(
        """
        INSERT INTO blob_releases (id, org_id, sha256, noted_at)
        SELECT h.id, :org_id, h.sha256, CASE WHEN :passing THEN to_timestamp(0) ELSE now() END
          FROM unnest(:ids::uuid[], :digests::bytea[]) AS h (id, sha256)
        """,
        org_id=org_id,
        ids=[new_id() for _ in digests],
        digests=digests,
        passing=passing,
    )


async def count_hints(db: Transaction) -> int:
    """How many digests wait, of all companies."""
    return int(await db.value("SELECT count(*) FROM blob_releases"))


async def list_hints(db: Transaction, kept: timedelta, after: tuple[datetime, UUID], limit: int) -> list[Hint]:
    """Hints older than what bytes are kept for, oldest first."""
    return await db.all(
        Hint,
        """
        SELECT id, org_id, sha256, noted_at FROM blob_releases
         WHERE noted_at <= now() - :kept::interval AND (noted_at, id) > (:noted_at, :id) ORDER BY noted_at, id LIMIT :limit
        """,
        kept=kept,
        noted_at=after[0],
        id=after[1],
        limit=limit,
    )


async def is_kept(db: Transaction, org_id: UUID, sha256: bytes, kept: timedelta) -> bool:
    """Whether the bytes lost a version so lately that they must stay."""
    return bool(
        await db.value(
            """
            SELECT EXISTS (SELECT FROM blob_releases
                            WHERE org_id = :org_id AND sha256 = :sha256 AND noted_at > now() - :kept::interval)
            """,
            org_id=org_id,
            sha256=sha256,
            kept=kept,
        )
    )


async def delete_hint(db: Transaction, org_id: UUID, id: UUID) -> None:
    await db.run("DELETE FROM blob_releases WHERE org_id = :org_id AND id = :id", org_id=org_id, id=id)


async def list_blobs(db: Transaction, org_id: UUID, after: bytes, limit: int) -> list[BlobRow]:
    return await db.all(
        BlobRow,
        """
        SELECT b.sha256, b.size, EXISTS (SELECT FROM object_versions v WHERE v.org_id = b.org_id AND v.sha256 = b.sha256),
               EXISTS (SELECT FROM multipart_parts p WHERE p.org_id = b.org_id AND p.sha256 = b.sha256)
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


async def count_kept(db: Transaction, org_id: UUID) -> dict[UUID, int]:
    """How many bytes of files are there, versions, parts and the trash included, by team."""
    rows = await db.rows(
        """
        SELECT team_id, sum(size) FROM (
          SELECT o.team_id, v.size FROM objects o JOIN object_versions v ON v.org_id = o.org_id AND v.object_id = o.id
           WHERE o.org_id = :org_id
          UNION ALL
          SELECT u.team_id, p.size FROM multipart_uploads u JOIN multipart_parts p ON p.org_id = u.org_id AND p.upload_id = u.id
           WHERE u.org_id = :org_id
        ) AS t GROUP BY team_id
        """,
        org_id=org_id,
    )
    return {team_id: int(size) for team_id, size in rows}
