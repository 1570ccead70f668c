"""Objects that arrive in parts: each part is a blob of its own until all of them become one version."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from atrium.engine.repository import blob_rows, part_rows, uploads, writes
from atrium.engine.repository.model import (
    BytesUnavailable,
    Conditions,
    MultipartUpload,
    ObjectDraft,
    StoredObject,
    UploadedPart,
    UploadMissing,
)
from atrium.engine.repository.object_keys import after_all_with, require_key
from atrium.engine.repository.space import STORAGE
from atrium.engine.repository.uploads import Upload
from atrium.ground.audit import service as audit
from atrium.ground.quotas import service as quotas
from atrium.kit.files.staging_area import StagedFile
from atrium.kit.ids import new_id
from atrium.seams.blobs import BlobMissing
from atrium.seams.context import Context, Operation, Services

KEPT = timedelta(days=7)
_BATCH = 100


async def begin_upload(ctx: Context, key: str, draft: dict[str, Any]) -> MultipartUpload:
    """Open an upload to a key the caller may write; `draft` is given back when it is completed."""
    require_key(key)
    await writes.require_writable(ctx, ObjectDraft(key=key, content_type=""), Conditions())
    made = await part_rows.insert_upload(ctx.db, ctx.who, new_id(), key, draft)
    if made is None:
        raise RuntimeError("an insert returns its row")
    return made


async def read_upload(ctx: Context, id: UUID | None, key: str, *, completed: bool = False) -> MultipartUpload:
    """One of the caller's own uploads; a completed one only when asked for."""
    found = None if id is None else await part_rows.find_upload(ctx.db, ctx.who.org_id, id)
    if found is None or found.owner_id != ctx.who.user_id or found.key != key:
        raise UploadMissing("there is no such upload, or it was completed or aborted")
    if found.version_id is not None and not completed:
        raise UploadMissing("this upload was completed")
    return found


async def put_part(op: Operation, to: MultipartUpload, arrived: Upload, part: UploadedPart) -> None:
    """Make staged bytes a part; one of the same number is replaced."""
    org_id = op.who.org_id

    async def refer(ctx: Context) -> None:
        held = await part_rows.find_upload(ctx.db, org_id, to.id, "FOR UPDATE")
        if held is None or held.version_id is not None:
            raise UploadMissing("this upload was completed or aborted in the meantime")
        replaced = await part_rows.find_part(ctx.db, org_id, to.id, part.number)
        await part_rows.put_part(ctx.db, org_id, to.id, part)
        await arrived.allowance.spend(ctx, part.size)
        if replaced is not None:
            await blob_rows.insert_hints(ctx.db, org_id, [replaced.sha256], passing=True)
            await quotas.use_within(ctx, to.team_id, {STORAGE: -replaced.size})

    await writes.publish(op, arrived, refer)


async def list_parts(ctx: Context, upload: MultipartUpload, after: int = 0, limit: int = 10_000) -> list[UploadedPart]:
    """The parts that have arrived, by number."""
    return await part_rows.list_parts(ctx.db, ctx.who.org_id, upload.id, after, limit)


async def list_uploads(ctx: Context, prefix: str, after: tuple[str, UUID], limit: int) -> list[MultipartUpload]:
    """The caller's open uploads to keys beginning with this."""
    return await part_rows.list_uploads(ctx.db, ctx.who, prefix, after_all_with(prefix), after, limit)


async def complete_upload(
    op: Operation,
    upload: MultipartUpload,
    chosen: Sequence[UploadedPart],
    drafted: Callable[[StagedFile], ObjectDraft],
    conditions: Conditions = Conditions(),  # noqa: B008 - frozen
    hashes: Iterable[str] = (),
) -> StoredObject:
    """Join the chosen parts into the key's newest version; the others are let go. `drafted` sees the hashes of the whole."""
    size = sum(part.size for part in chosen)
    async with op.begin() as ctx:
        await writes.require_writable(ctx, ObjectDraft(key=upload.key, content_type=""), conditions)

    async def settle(ctx: Context, written: StoredObject) -> None:
        await _settle(ctx, upload, written)

    async with uploads.receive(op, _joined(op, chosen), size, counted=True, hashes=hashes) as arrived:
        return await writes.write_object(op, drafted(arrived.staged), arrived, conditions, also=settle)


async def abort_upload(ctx: Context, upload: MultipartUpload) -> None:
    """Let go of an upload and its parts."""
    # Locked before its parts are counted: one that is arriving at this moment is there before, or refused after.
    if await part_rows.find_upload(ctx.db, ctx.who.org_id, upload.id, "FOR UPDATE") is None:
        raise UploadMissing("this upload was aborted in the meantime")
    await _let_go(ctx, upload)
    await audit.record(ctx, "repository.upload_aborted", upload.id)


async def abort_uploads_of(ctx: Context, person_id: UUID) -> None:
    """Let go of every upload of a person of the caller's company that was not completed."""
    for upload in await part_rows.list_uploads_of(ctx.db, ctx.who.org_id, person_id):
        await _let_go(ctx, upload)


async def forget_uploads(services: Services) -> int:
    """Delete uploads that were idle for a week."""
    forgotten = 0
    async with services.database.begin_system() as db:
        old = await part_rows.list_old(db, KEPT, _BATCH)
    for one in old:
        async with services.database.begin(one.org_id) as db:
            found = await part_rows.find_upload(db, one.org_id, one.id, "FOR UPDATE")
            if found is None:
                continue
            await _let_go(Context.of_company(services, db, one.org_id, found.team_id), found)
            forgotten += 1
    return forgotten


async def _joined(op: Operation, parts: Sequence[UploadedPart]) -> AsyncIterator[bytes]:
    for part in parts:
        try:
            async for piece in op.services.blobs.get(op.who.org_id, part.sha256):
                yield piece
        except BlobMissing as error:
            raise BytesUnavailable("the blob store does not have a part's bytes", part=part.number) from error


async def _settle(ctx: Context, upload: MultipartUpload, written: StoredObject) -> None:
    org_id = ctx.who.org_id
    held = await part_rows.find_upload(ctx.db, org_id, upload.id, "FOR UPDATE")
    if held is None or held.version_id is not None:
        raise UploadMissing("this upload was completed or aborted in the meantime")
    counted = await _drop_parts(ctx, upload)
    await part_rows.finish_upload(ctx.db, org_id, upload.id, written.version.id, written.version.etag)
    if counted != written.version.size:
        await quotas.use_within(ctx, upload.team_id, {STORAGE: written.version.size - counted})


async def _let_go(ctx: Context, upload: MultipartUpload) -> None:
    counted = await _drop_parts(ctx, upload)
    await part_rows.delete_upload(ctx.db, ctx.who.org_id, upload.id)
    if counted:
        await quotas.use_within(ctx, upload.team_id, {STORAGE: -counted})


async def _drop_parts(ctx: Context, upload: MultipartUpload) -> int:
    """Forget the parts, and say how many bytes they had been counted with."""
    held = await part_rows.list_parts(ctx.db, ctx.who.org_id, upload.id)
    await part_rows.delete_parts(ctx.db, ctx.who.org_id, upload.id)
    await blob_rows.insert_hints(ctx.db, ctx.who.org_id, [part.sha256 for part in held], passing=True)
    return sum(part.size for part in held)
