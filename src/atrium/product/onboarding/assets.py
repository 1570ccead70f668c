"""The funnel's pictures and fonts: a file comes in, bytes of our own drawing are kept in the blob store, public at their address."""

import base64
from collections.abc import AsyncIterator
from uuid import UUID

import msgspec

from atrium.engine.repository import release, space, uploads, writes
from atrium.ground.audit import service as audit
from atrium.ground.quotas import service as quotas
from atrium.kit.ids import new_id
from atrium.kit.web.pages import Page, Pager
from atrium.product.branding import logo
from atrium.product.branding.model import BadLogo
from atrium.product.onboarding import asset_rows, store
from atrium.product.onboarding.asset_rows import AssetRow, NewAsset
from atrium.product.onboarding.experience import address_of
from atrium.product.onboarding.funnel import funnel_of
from atrium.product.onboarding.model import (
    AssetInUse,
    AssetTooLarge,
    BadAsset,
    FunnelAsset,
    FunnelMissing,
    TooManyAssets,
)
from atrium.product.onboarding.service import require_owner
from atrium.seams.blobs import BlobMissing
from atrium.seams.context import Context, Operation
from atrium.seams.onboarding import AssetKind
from atrium.seams.wiring import Keeper

SENT_BYTES, MOST_ASSETS = 2 << 20, 100
# Base64 takes four bytes for three; the rest is for line breaks and for the JSON around it.
BODY_LIMIT = 3 << 20
KEEPER = Keeper("files", asset_rows.count_kept)
_SIDES: dict[AssetKind, tuple[int, ...]] = {"logo": logo.SIDES, "hero": (2560, 1920, 1280, 960, 640)}
_KEPT: dict[AssetKind, int] = {"logo": logo.KEPT_BYTES, "hero": 1 << 20}
_SEND = "send a PNG, JPEG or WebP image, or for a font a WOFF2 file, of at most 2 MiB as base64"
_WOFF2, _WOFF2_HEADER = b"wOF2", 48


class _File(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a file."""

    body: bytes
    content_type: str
    width: int | None = None
    height: int | None = None


async def create_asset(op: Operation, kind: AssetKind, filename: str, data: str) -> FunnelAsset:
    """Keep a picture, drawn anew, or a font; its bytes count as the team's storage."""
    async with op.begin() as ctx:
        await _require_place(ctx)
    raw = _bytes_of(data)
    kept = _font(raw) if kind == "font" else await _picture(raw, kind)
    async with uploads.receive(op, _pieces(kept.body), len(kept.body)) as upload:

        async def refer(ctx: Context) -> AssetRow | None:
            org_id = await _require_place(ctx)
            new = NewAsset(
                id=new_id(),
                kind=kind,
                filename=filename,
                content_type=kept.content_type,
                size=len(kept.body),
                sha256=upload.staged.sha256,
                width=kept.width,
                height=kept.height,
            )
            row = await asset_rows.insert_asset(ctx.db, org_id, new)
            await upload.allowance.spend(ctx, new.size)
            await audit.record(ctx, "onboarding.asset_added", new.id, asset=kind, bytes=new.size)
            return row

        row = await writes.publish(op, upload, refer)
    assert row is not None  # noqa: S101 - INSERT … RETURNING without a conflict clause always returns
    return _shown(row)


async def list_assets(ctx: Context, limit: int, cursor: str | None) -> Page[FunnelAsset]:
    """The funnel's files, newest first."""
    org_id = await require_owner(ctx)
    pager = Pager(ctx.services.keys, "funnel assets", ctx.who.team_id)
    found = await asset_rows.list_assets(ctx.db, org_id, pager.read(cursor, UUID), limit + 1)
    return pager.page([_shown(row) for row in found], limit, lambda one: one.id)


async def read_asset(op: Operation, id: UUID) -> tuple[FunnelAsset, bytes]:
    """A file and its bytes, for anybody."""
    owner = await funnel_of(op.services).owner(op)
    async with op.services.database.begin(owner.org_id) as db:
        row = await asset_rows.find_asset(db, owner.org_id, id)
    if row is None:
        raise FunnelMissing("there is no such file")
    try:
        body = b"".join([piece async for piece in op.services.blobs.get(owner.org_id, row.sha256)])
    except BlobMissing as error:
        raise FunnelMissing("there is no such file any more") from error
    return _shown(row), body


async def delete_asset(ctx: Context, id: UUID) -> FunnelAsset:
    """Delete a file, unless visitors are shown it."""
    org_id = await require_owner(ctx)
    await store.lock_drafts(ctx.db, org_id)
    row = await asset_rows.find_asset(ctx.db, org_id, id)
    if row is None:
        raise FunnelMissing("there is no such file")
    published = await store.find_version(ctx.db, org_id, None)
    if published is not None and str(id) in published.document.get("assets", {}).values():
        raise AssetInUse("the published form shows this file; publish one without it first")
    await asset_rows.delete_asset(ctx.db, org_id, id)
    await release.let_go(ctx, row.sha256)
    await quotas.use_within(ctx, ctx.who.team_id, {space.STORAGE: -row.size})
    await audit.record(ctx, "onboarding.asset_deleted", id, asset=row.kind)
    return _shown(row)


async def _require_place(ctx: Context) -> UUID:
    org_id = await require_owner(ctx)
    await store.lock_drafts(ctx.db, org_id)
    if await asset_rows.count_assets(ctx.db, org_id) >= MOST_ASSETS:
        raise TooManyAssets(f"a funnel has at most {MOST_ASSETS} files; delete one that is not shown")
    return org_id


def _bytes_of(data: str) -> bytes:
    text = data.partition(";base64,")[2] if data.startswith("data:") else data
    try:
        raw = base64.b64decode("".join(text.split()), validate=True)
    except ValueError as error:
        raise BadAsset(f"this is not base64; {_SEND}", errors=[{"path": "data", "message": "not base64"}]) from error
    if len(raw) > SENT_BYTES:
        raise AssetTooLarge(f"the file has {len(raw)} bytes; {_SEND}", limit=SENT_BYTES)
    return raw


async def _picture(raw: bytes, kind: AssetKind) -> _File:
    try:
        drawn = await logo.draw(raw, _SIDES[kind], _KEPT[kind])
    except BadLogo as error:
        raise BadAsset(error.message, errors=[{"path": "data", "message": error.message}]) from error
    return _File(body=drawn.body, content_type=f"image/{drawn.kind}", width=drawn.width, height=drawn.height)


def _font(raw: bytes) -> _File:
    """A WOFF2 file by its header: browsers read it in a sandbox of their own, and it is served as nothing else."""
    length = int.from_bytes(raw[8:12], "big")
    if not raw.startswith(_WOFF2) or len(raw) < _WOFF2_HEADER or length != len(raw):
        raise BadAsset(
            f"this is no WOFF2 font, or it was cut off; {_SEND}", errors=[{"path": "data", "message": "no WOFF2"}]
        )
    return _File(body=raw, content_type="font/woff2")


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    yield body


def _shown(row: AssetRow) -> FunnelAsset:
    return FunnelAsset(
        id=row.id,
        kind=row.kind,
        filename=row.filename,
        content_type=row.content_type,
        size=row.size,
        sha256=row.sha256.hex(),
        width=row.width,
        height=row.height,
        created_at=row.created_at,
        url=address_of(str(row.id)),
    )
