"""SQL of the funnel's pictures and fonts."""

from datetime import datetime
from uuid import UUID

import msgspec

from atrium.kit.postgres.database import Transaction
from atrium.seams.onboarding import AssetKind

_ASSET = "id, kind, filename, content_type, size, sha256, width, height, created_at"


class AssetRow(msgspec.Struct, frozen=True):
    """A file, and where its bytes are."""

    id: UUID
    kind: AssetKind
    filename: str
    content_type: str
    size: int
    sha256: bytes
    width: int | None
    height: int | None
    created_at: datetime


class NewAsset(msgspec.Struct, frozen=True, kw_only=True):
    """A file to keep."""

    id: UUID
    kind: AssetKind
    filename: str
    content_type: str
    size: int
    sha256: bytes
    width: int | None
    height: int | None


async def insert_asset(db: Transaction, org_id: UUID, asset: NewAsset) -> AssetRow | None:
    return await db.one(
        AssetRow,
        f"""
        INSERT INTO onboarding_assets (id, org_id, kind, filename, content_type, size, sha256, width, height)
        VALUES (:id, :org_id, :kind, :filename, :content_type, :size, :sha256, :width, :height) RETURNING {_ASSET}
        """,
        org_id=org_id,
        **msgspec.structs.asdict(asset),
    )


async def find_asset(db: Transaction, org_id: UUID, id: UUID) -> AssetRow | None:
    return await db.one(
        AssetRow, f"SELECT {_ASSET} FROM onboarding_assets WHERE org_id = :org_id AND id = :id", org_id=org_id, id=id
    )


async def list_assets(db: Transaction, org_id: UUID, before: UUID | None, limit: int) -> list[AssetRow]:
    return await db.all(
        AssetRow,
        f"""
        SELECT {_ASSET} FROM onboarding_assets WHERE org_id = :org_id AND (:before::uuid IS NULL OR id < :before::uuid)
         ORDER BY id DESC LIMIT :limit
        """,
        org_id=org_id,
        before=before,
        limit=limit,
    )


async def count_assets(db: Transaction, org_id: UUID) -> int:
    return int(await db.value("SELECT count(*) FROM onboarding_assets WHERE org_id = :org_id", org_id=org_id))


async def list_kinds(db: Transaction, org_id: UUID, ids: list[UUID]) -> dict[UUID, str]:
    """The kind of each of these files that is there."""
    rows = await db.rows(
        "SELECT id, kind FROM onboarding_assets WHERE org_id = :org_id AND id = ANY(:ids::uuid[])",
        org_id=org_id,
        ids=ids,
    )
    return dict(rows)


async def delete_asset(db: Transaction, org_id: UUID, id: UUID) -> bool:
    return bool(await db.run("DELETE FROM onboarding_assets WHERE org_id = :org_id AND id = :id", org_id=org_id, id=id))


async def count_kept(db: Transaction, org_id: UUID) -> dict[UUID, int]:
    """How many bytes of pictures and fonts a company's pages show; they are no team's."""
    rows = await db.rows(
        """
        SELECT org_id, coalesce(sum(size), 0) FROM onboarding_assets WHERE org_id = :org_id GROUP BY org_id
        """,
        org_id=org_id,
    )
    return {team_id: int(size) for team_id, size in rows}
