"""SQL of the repository: objects, versions, provenance. Listings are in `listing_rows`, blobs in `blob_rows`."""

from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.repository.model import (
    MARKDOWN,
    OBJECTS,
    Derivation,
    DerivationSource,
    StoredObject,
    Version,
    is_markdown,
)
from atrium.ground.sharing import rule
from atrium.kit.ids import new_id
from atrium.kit.postgres.database import Transaction
from atrium.seams.context import Principal
from atrium.seams.sharing import ThingName

VERSION = (
    "v.id, v.number, encode(v.sha256, 'hex'), v.size, v.etag, v.content_type, v.filename, v.metadata, "
    "v.delete_marker, v.created_by, v.created_at"
)
OBJECT = (
    "o.id, o.team_id, o.owner_id, o.key, o.visibility, o.revision, o.created_at, o.updated_at, v.filename, "
    f"v.content_type, v.size, {VERSION}"
)
JOINED = "objects o JOIN object_versions v ON v.id = o.version_id"
OF_OBJECT = 11
READABLE = rule.readable(OBJECTS, "o")


class NewVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A version about to be written; without a digest it is a delete marker."""

    sha256: bytes | None
    size: int
    etag: str
    content_type: str
    filename: str
    metadata: dict[str, str]
    attributes: dict[str, Any] = {}


def object_of(row: tuple[Any, ...]) -> StoredObject:
    """A row of OBJECT's columns."""
    values: list[Any] = [*row[:OF_OBJECT], Version(*row[OF_OBJECT:])]
    return StoredObject(*values)


def reader(who: Principal) -> dict[str, Any]:
    """The values READABLE and the listings name."""
    return rule.reader(who, OBJECTS)


OTHER_END = {"object_id": "source_id", "source_id": "object_id"}
AT_KEY = "org_id = :org_id AND team_id = :team_id AND key = :key AND trashed_at IS NULL"


async def find_object(db: Transaction, who: Principal, id: UUID, *, lock: bool = False) -> StoredObject | None:
    if lock:
        # A statement of its own: the next one then sees the version that the last holder of the lock made current.
        await db.run("SELECT FROM objects WHERE org_id = :org_id AND id = :id FOR UPDATE", org_id=who.org_id, id=id)
    rows = await db.rows(f"SELECT {OBJECT} FROM {JOINED} WHERE o.id = :id AND {READABLE}", id=id, **reader(who))
    return object_of(rows[0]) if rows else None


async def list_names(db: Transaction, who: Principal, ids: list[UUID], *, trashed: bool) -> dict[UUID, ThingName]:
    rows = await db.rows(
        f"""
        SELECT o.id, o.key, {rule.common("o")} FROM objects o
         WHERE o.id = ANY(:ids) AND o.org_id = :org_id AND (:trashed OR o.trashed_at IS NULL) AND {rule.admitted(OBJECTS, "o")}
        """,
        ids=ids,
        trashed=trashed,
        **reader(who),
    )
    return {id: ThingName(key, common) for id, key, common in rows}


async def find_by_key(
    db: Transaction, org_id: UUID, team_id: UUID, key: str, *, lock: bool = False
) -> StoredObject | None:
    """Whatever is at a key, visible or not; the caller of this decides what to say about it."""
    at = {"org_id": org_id, "team_id": team_id, "key": key}
    if lock:
        await db.run(f"SELECT FROM objects WHERE {AT_KEY} FOR UPDATE", **at)
    rows = await db.rows(
        f"SELECT {OBJECT} FROM (SELECT * FROM objects WHERE {AT_KEY}) o JOIN object_versions v ON v.id = o.version_id",
        **at,
    )
    return object_of(rows[0]) if rows else None


async def claim_key(
    db: Transaction, who: Principal, team_id: UUID, key: str, visibility: str, version: NewVersion
) -> StoredObject | None:
    """Make the object with its first version; None when the key is taken."""
    rows = await db.rows(
        f"""
        WITH o AS (
          INSERT INTO objects (id, org_id, team_id, owner_id, key, visibility, version_id, document, deleted, size, etag)
          VALUES (:id, :org_id, :team_id, :user_id, :key, :visibility, :version_id, :document, :sha256::bytea IS NULL,
                  :size::bigint, :etag)
          ON CONFLICT (team_id, key) WHERE trashed_at IS NULL DO NOTHING RETURNING *
        ), v AS (
          INSERT INTO object_versions (id, org_id, object_id, number, sha256, size, etag, content_type, filename, metadata, created_by,
                                       delete_marker, attributes)
          SELECT o.version_id, o.org_id, o.id, 1, :sha256::bytea, :size::bigint, :etag, :content_type, :filename, :metadata::jsonb,
                 :user_id, :sha256::bytea IS NULL, :attributes::jsonb FROM o
          RETURNING *
        )
        SELECT {OBJECT} FROM o, v
        """,
        id=new_id(),
        org_id=who.org_id,
        team_id=team_id,
        user_id=who.user_id,
        key=key,
        visibility=visibility,
        version_id=new_id(),
        document=is_markdown(version.content_type),
        **msgspec.structs.asdict(version),
    )
    return object_of(rows[0]) if rows else None


async def add_version(
    db: Transaction, who: Principal, id: UUID, visibility: str | None, version: NewVersion
) -> StoredObject:
    """The object's next version becomes its current one."""
    rows = await db.rows(
        f"""
        WITH o AS (
          UPDATE objects SET version_id = :version_id, number = number + 1, revision = revision + 1, updated_at = now(),
                 deleted = :sha256::bytea IS NULL, document = :document, {rule.EDITED},
                 size = :size::bigint, etag = :etag, written_at = now()
           WHERE org_id = :org_id AND id = :id RETURNING *
        ), v AS (
          INSERT INTO object_versions (id, org_id, object_id, number, sha256, size, etag, content_type, filename, metadata, created_by,
                                       delete_marker, attributes)
          SELECT o.version_id, o.org_id, o.id, o.number, :sha256::bytea, :size::bigint, :etag, :content_type, :filename, :metadata::jsonb,
                 :user_id::uuid, :sha256::bytea IS NULL, :attributes::jsonb FROM o
          RETURNING *
        )
        SELECT {OBJECT} FROM o, v
        """,
        org_id=who.org_id,
        id=id,
        user_id=who.user_id,
        visibility=visibility,
        version_id=new_id(),
        document=is_markdown(version.content_type),
        **msgspec.structs.asdict(version),
    )
    return object_of(rows[0])


async def list_versions(db: Transaction, org_id: UUID, object_id: UUID, limit: int) -> list[Version]:
    return await db.all(
        Version,
        f"""
        SELECT {VERSION} FROM object_versions v WHERE v.org_id = :org_id AND v.object_id = :object_id
         ORDER BY v.number DESC LIMIT :limit
        """,
        org_id=org_id,
        object_id=object_id,
        limit=limit,
    )


async def count_versions(db: Transaction, org_id: UUID, object_id: UUID) -> int:
    return int(
        await db.value(
            "SELECT count(*) FROM object_versions WHERE org_id = :org_id AND object_id = :object_id",
            org_id=org_id,
            object_id=object_id,
        )
    )


async def find_version(
    db: Transaction, org_id: UUID, object_id: UUID, number: int | None, id: UUID | None
) -> Version | None:
    return await db.one(
        Version,
        f"""
        SELECT {VERSION} FROM object_versions v
         WHERE v.org_id = :org_id AND v.object_id = :object_id AND (v.number = :number OR v.id = :id)
        """,
        org_id=org_id,
        object_id=object_id,
        number=number,
        id=id,
    )


async def delete_version(db: Transaction, org_id: UUID, object_id: UUID, id: UUID) -> None:
    """Remove one version of several; the newest that is left is the current one."""
    await db.run(
        "DELETE FROM object_versions WHERE org_id = :org_id AND object_id = :object_id AND id = :id",
        org_id=org_id,
        object_id=object_id,
        id=id,
    )
    await db.run(
        """
        UPDATE objects o SET version_id = v.id, deleted = v.delete_marker, revision = o.revision + 1, updated_at = now(),
               document = lower(split_part(v.content_type, ';', 1)) = :markdown, size = v.size, etag = v.etag,
               written_at = v.created_at
          FROM (SELECT id, delete_marker, content_type, size, etag, created_at FROM object_versions
                 WHERE org_id = :org_id AND object_id = :object_id ORDER BY number DESC LIMIT 1) v
         WHERE o.org_id = :org_id AND o.id = :object_id
        """,
        org_id=org_id,
        object_id=object_id,
        markdown=MARKDOWN,
    )


async def insert_derivation(
    db: Transaction, org_id: UUID, made: StoredObject, source: DerivationSource, run_id: UUID | None, step: str | None
) -> None:
    await db.run(
        """
        INSERT INTO derivations (org_id, version_id, object_id, source_id, source_version_id, run_id, step)
        VALUES (:org_id, :version_id, :object_id, :source_id, :source_version_id, :run_id, :step) ON CONFLICT DO NOTHING
        """,
        org_id=org_id,
        version_id=made.version.id,
        object_id=made.id,
        source_id=source.object_id,
        source_version_id=source.version_id,
        run_id=run_id,
        step=step,
    )


async def has_derivation(db: Transaction, org_id: UUID, version_id: UUID, source_id: UUID) -> bool:
    return bool(
        await db.value(
            """
            SELECT EXISTS (SELECT FROM derivations
                            WHERE org_id = :org_id AND version_id = :version_id AND source_id = :source_id)
            """,
            org_id=org_id,
            version_id=version_id,
            source_id=source_id,
        )
    )


async def list_derivations(db: Transaction, who: Principal, id: UUID, end: str, limit: int) -> list[Derivation]:
    """What an object was made from (`object_id`) or what was made from it (`source_id`); the other end is one the caller can read."""
    return await db.all(
        Derivation,
        f"""
        SELECT d.object_id, d.version_id, made.key, d.source_id, d.source_version_id, source.key, d.run_id, d.step, d.created_at
          FROM derivations d JOIN objects made ON made.id = d.object_id JOIN objects source ON source.id = d.source_id
          JOIN objects o ON o.id = d.{OTHER_END[end]}
         WHERE d.org_id = :org_id AND d.{end} = :id AND {READABLE} ORDER BY d.created_at DESC, d.version_id LIMIT :limit
        """,
        id=id,
        limit=limit,
        **reader(who),
    )
