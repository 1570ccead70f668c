"""SQL of uploads in parts."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.repository.model import MultipartUpload, UploadedPart
from atrium.kit.postgres.database import Transaction
from atrium.seams.context import Principal

UPLOAD = "id, team_id, owner_id, key, draft, version_id, etag, created_at"
PART = "number, sha256, size, etag, checksum, created_at"


class OldUpload(msgspec.Struct, frozen=True):
    """An abandoned upload, or one that was completed long ago."""

    id: UUID
    org_id: UUID


async def insert_upload(
    db: Transaction, who: Principal, id: UUID, key: str, draft: dict[str, Any]
) -> MultipartUpload | None:
    return await db.one(
        MultipartUpload,
        f"""
        INSERT INTO multipart_uploads (id, org_id, team_id, owner_id, key, draft)
        VALUES (:id, :org_id, :team_id, :user_id, :key, :draft) RETURNING {UPLOAD}
        """,
        id=id,
        org_id=who.org_id,
        team_id=who.team_id,
        user_id=who.user_id,
        key=key,
        draft=draft,
    )


async def find_upload(db: Transaction, org_id: UUID, id: UUID, lock: str = "") -> MultipartUpload | None:
    return await db.one(
        MultipartUpload,
        f"SELECT {UPLOAD} FROM multipart_uploads WHERE org_id = :org_id AND id = :id {lock if lock in LOCKS else ''}",
        org_id=org_id,
        id=id,
    )


LOCKS = ("FOR UPDATE", "FOR SHARE")


async def list_uploads(
    db: Transaction, who: Principal, prefix: str, before: str | None, after: tuple[str, UUID], limit: int
) -> list[MultipartUpload]:
    """The caller's own open uploads, by key."""
    ended = "AND key < :before" if before is not None else ""
    return await db.all(
        MultipartUpload,
        f"""
        SELECT {UPLOAD} FROM multipart_uploads
         WHERE org_id = :org_id AND team_id = :team_id AND owner_id = :user_id AND version_id IS NULL
           AND key >= :prefix {ended} AND (key, id) > (:after_key, :after_id) ORDER BY key, id LIMIT :limit
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        user_id=who.user_id,
        prefix=prefix,
        before=before,
        after_key=after[0],
        after_id=after[1],
        limit=limit,
    )


async def list_uploads_of(db: Transaction, org_id: UUID, owner_id: UUID) -> list[MultipartUpload]:
    """A person's uploads, completed ones that are still remembered included, held."""
    return await db.all(
        MultipartUpload,
        f"SELECT {UPLOAD} FROM multipart_uploads WHERE org_id = :org_id AND owner_id = :owner_id ORDER BY id FOR UPDATE",
        org_id=org_id,
        owner_id=owner_id,
    )


async def put_part(db: Transaction, org_id: UUID, upload_id: UUID, part: UploadedPart) -> None:
    await db.run(
        """
        INSERT INTO multipart_parts (org_id, upload_id, number, sha256, size, etag, checksum)
        VALUES (:org_id, :upload_id, :number, :sha256, :size, :etag, :checksum)
        ON CONFLICT (upload_id, number) DO UPDATE SET
          sha256 = excluded.sha256, size = excluded.size, etag = excluded.etag, checksum = excluded.checksum, created_at = now()
        """,
        org_id=org_id,
        upload_id=upload_id,
        number=part.number,
        sha256=part.sha256,
        size=part.size,
        etag=part.etag,
        checksum=part.checksum,
    )


async def find_part(db: Transaction, org_id: UUID, upload_id: UUID, number: int) -> UploadedPart | None:
    return await db.one(
        UploadedPart,
        f"SELECT {PART} FROM multipart_parts WHERE org_id = :org_id AND upload_id = :upload_id AND number = :number",
        org_id=org_id,
        upload_id=upload_id,
        number=number,
    )


async def list_parts(
    db: Transaction, org_id: UUID, upload_id: UUID, after: int = 0, limit: int = 10_000
) -> list[UploadedPart]:
    return await db.all(
        UploadedPart,
        f"""
        SELECT {PART} FROM multipart_parts WHERE org_id = :org_id AND upload_id = :upload_id AND number > :after
         ORDER BY number LIMIT :limit
        """,
        org_id=org_id,
        upload_id=upload_id,
        after=after,
        limit=limit,
    )


async def delete_parts(db: Transaction, org_id: UUID, upload_id: UUID) -> None:
    await db.run(
        "DELETE FROM multipart_parts WHERE org_id = :org_id AND upload_id = :upload_id",
        org_id=org_id,
        upload_id=upload_id,
    )


async def finish_upload(db: Transaction, org_id: UUID, id: UUID, version_id: UUID, etag: str) -> None:
    await db.run(
        "UPDATE multipart_uploads SET version_id = :version_id, etag = :etag WHERE org_id = :org_id AND id = :id",
        org_id=org_id,
        id=id,
        version_id=version_id,
        etag=etag,
    )


async def delete_upload(db: Transaction, org_id: UUID, id: UUID) -> None:
    await db.run("DELETE FROM multipart_uploads WHERE org_id = :org_id AND id = :id", org_id=org_id, id=id)


async def list_old(db: Transaction, age: timedelta, limit: int) -> list[OldUpload]:
    return await db.all(
        OldUpload,
        "SELECT id, org_id FROM multipart_uploads WHERE created_at < now() - :age::interval ORDER BY created_at LIMIT :limit",
        age=age,
        limit=limit,
    )
