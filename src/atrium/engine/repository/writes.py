"""Writes: every way an object gains a version, each in one transaction with its event and its bytes counted."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar
from uuid import UUID

from atrium.engine.repository import blob_rows, permissions, release, space, store, uploads
from atrium.engine.repository.model import (
    KIND,
    OBJECTS,
    Conditions,
    KeyTaken,
    ObjectDraft,
    ObjectMissing,
    ObjectStale,
    ObjectWritten,
    Provenance,
    StoredObject,
    Version,
    VersionMissing,
    is_plain_text,
)
from atrium.engine.repository.object_keys import name_in, require_key
from atrium.engine.repository.store import NewVersion
from atrium.engine.repository.uploads import Upload
from atrium.ground.access import service as access
from atrium.ground.audit import service as audit
from atrium.ground.quotas import service as quotas
from atrium.ground.sharing import abilities, grants
from atrium.ground.sharing.announcements import announce_change
from atrium.kit.errors import TooLarge, Unavailable
from atrium.kit.files.staging_area import StagedFile
from atrium.kit.web.etags import names_tag
from atrium.kit.web.http import OCTETS, clean_type
from atrium.seams.context import Context, Operation

T = TypeVar("T")
Also = Callable[[Context, StoredObject], Awaitable[None]]
SMALL = 4 << 20
# An uploaded text of no more bytes goes along with the announcement of its version.
_AT_HAND = 256 << 10
_ATTEMPTS = 20


async def put_object(
    op: Operation,
    draft: ObjectDraft,
    chunks: AsyncIterator[bytes],
    length: int | None,
    conditions: Conditions = Conditions(),  # noqa: B008 - frozen
    provenance: Provenance | None = None,
) -> StoredObject:
    """Write a body to a key of the caller's team; refused before a byte is read whenever that can be known."""
    require_key(draft.key)
    async with op.begin() as ctx:
        await require_writable(ctx, draft, conditions)
    async with uploads.receive(op, chunks, length) as upload:
        return await write_object(op, draft, upload, conditions, provenance)


async def require_writable(
    ctx: Context, draft: ObjectDraft, conditions: Conditions, *, lock: bool = False
) -> StoredObject | None:
    """Refuse unless the caller may create this key, or add a version to what is there, under these conditions."""
    who = ctx.who
    existing = await store.find_by_key(ctx.db, who.org_id, who.team_id, draft.key, lock=lock)
    if existing is not None and not await permissions.admit_overwriting(ctx, existing):
        # Hidden from the caller, or put in the trash between the two looks; a lock tells them apart.
        existing = await store.find_by_key(ctx.db, who.org_id, who.team_id, draft.key, lock=True)
        if existing is not None and not await permissions.admit_overwriting(ctx, existing):
            raise KeyTaken("something you cannot see is stored at this key; choose another one")
    if existing is None:
        access.require(ctx, "files:write")
    else:
        await _require_rewritable(ctx, existing, draft)
    require_conditions(existing, conditions)
    return existing


async def write_object(
    op: Operation,
    draft: ObjectDraft,
    upload: Upload,
    conditions: Conditions = Conditions(),  # noqa: B008 - frozen
    provenance: Provenance | None = None,
    also: Also | None = None,
) -> StoredObject:
    """Make staged bytes the object's newest version, with its audit event, its announcement and its bytes counted."""
    version = _version_of(draft, upload.staged.sha256, upload.staged.size)
    body = await _body_of(op, version, upload.staged)

    async def refer(ctx: Context) -> StoredObject:
        existing = await require_writable(ctx, draft, conditions, lock=True)
        written = await _write_version(ctx, draft, existing, conditions, version)
        if also is not None:
            await also(ctx, written)
        await upload.allowance.spend(ctx, version.size)
        await _tell(ctx, written, provenance, body)
        return written

    return await publish(op, upload, refer)


async def publish(op: Operation, upload: Upload, refer: Callable[[Context], Awaitable[T]]) -> T:
    """Put staged bytes into the store and, in one transaction that holds them there, refer to them."""
    staged = upload.staged
    for _ in range(_ATTEMPTS):
        upload.published = True
        await op.services.blobs.put(op.who.org_id, staged.sha256, staged.path)
        try:
            async with op.begin() as ctx:
                await release.hold(ctx, staged.sha256, staged.size)
                referred = await refer(ctx)
        except release.BlobReleased:
            continue
        upload.kept = True
        return referred
    raise Unavailable("the same bytes are being released over and over; try again", retry_after=1)


async def write_small(
    ctx: Context,
    draft: ObjectDraft,
    body: bytes,
    *,
    target: StoredObject | None = None,
    provenance: Provenance | None = None,
) -> StoredObject:
    """Write a few bytes inside the caller's transaction: to `target`, which the caller may edit, or to a new key."""
    if len(body) > SMALL:
        raise TooLarge(f"at most {SMALL} bytes are written this way", limit=SMALL)
    require_key(draft.key)
    team_id = target.team_id if target else ctx.who.team_id
    writer = ctx.services.staging.writer(ctx.who.org_id)
    try:
        await writer.write(body)
        staged = await writer.finish()
        await _hold_small(ctx, staged)
        if target is None:
            await require_writable(ctx, draft, Conditions(if_none_match="*"))
        written = await _write_version(ctx, draft, target, Conditions(), _version_of(draft, staged.sha256, staged.size))
    except BaseException:
        # The store may have the bytes while this transaction has not committed: the sweep decides.
        await writer.leave()
        raise
    await _count(ctx, team_id, len(body))
    await _tell(ctx, written, provenance, body if is_plain_text(written.version.content_type) else None)
    await writer.leave()
    return written


async def copy_object(
    op: Operation,
    source_id: UUID,
    version_id: UUID,
    draft: ObjectDraft,
    conditions: Conditions = Conditions(),  # noqa: B008 - frozen
) -> StoredObject:
    """Make the bytes of a version the caller can read the newest version of a key; no byte is moved."""
    require_key(draft.key)
    async with op.begin() as ctx:
        access.note_checked(ctx, "files:read")
        source = await permissions.read_visible(ctx, source_id)
        found = await store.find_version(ctx.db, ctx.who.org_id, source.id, None, version_id)
        if found is None or found.sha256 is None:
            raise VersionMissing("there is no such version with content")
        await _hold_copied(ctx, found)
        existing = await require_writable(ctx, draft, conditions, lock=True)
        copied = _version_of(draft, bytes.fromhex(found.sha256), found.size, found.etag)
        written = await _write_version(ctx, draft, existing, conditions, copied)
        await _count(ctx, written.team_id, found.size)
        await _tell(ctx, written, None)
        return written


async def mark_deleted(ctx: Context, id: UUID) -> StoredObject:
    """Hide an object behind a delete marker: its versions stay, and writing the key again brings it back."""
    target = await permissions.read_visible(ctx, id, lock=True)
    await permissions.require(ctx, target, "delete")
    marker = NewVersion(
        sha256=None, size=0, etag="", content_type=target.content_type, filename=target.filename, metadata={}
    )
    marked = await store.add_version(ctx.db, ctx.who, id, None, marker)
    await audit.record(ctx, "repository.marked_deleted", id, version=marked.version.number)
    await announce_change(ctx, OBJECTS, [id], "deleted")
    return marked


async def mark_absent(ctx: Context, key: str) -> StoredObject:
    """Write a delete marker to a key that has no object, as tools that mirror deletions expect."""
    require_key(key)
    access.require(ctx, "files:write")
    marker = NewVersion(sha256=None, size=0, etag="", content_type=OCTETS, filename=name_in(key), metadata={})
    made = await store.claim_key(ctx.db, ctx.who, ctx.who.team_id, key, "private", marker)
    if made is None:
        raise KeyTaken("this key was just written by another request, or you may not see its object")
    await audit.record(ctx, "repository.marked_deleted", made.id, version=1)
    await announce_change(ctx, OBJECTS, [made.id], "deleted")
    return made


async def _require_rewritable(ctx: Context, existing: StoredObject, draft: ObjectDraft) -> None:
    await permissions.require(ctx, existing, "write")
    if draft.visibility is not None and draft.visibility != existing.visibility:
        await permissions.require(ctx, existing, "manage")


def require_conditions(existing: StoredObject | None, conditions: Conditions) -> None:
    """Refuse unless what is at a key, if anything, is what the conditions ask for."""
    there = existing if existing is not None and not existing.version.deleted else None
    if conditions.if_none_match is not None and there is not None and _names(conditions.if_none_match, there):
        raise ObjectStale("there is such an object already", current=there.etag())
    if conditions.if_match is not None and (there is None or not _names(conditions.if_match, there)):
        facts = {} if there is None else {"current": there.etag()}
        raise ObjectStale("what is at this key is not what you have; read it and try again", **facts)


def _names(header: str, existing: StoredObject) -> bool:
    return names_tag(header, existing.etag(), f'"{existing.version.etag}"')


def _version_of(draft: ObjectDraft, sha256: bytes, size: int, etag: str | None = None) -> NewVersion:
    return NewVersion(
        sha256=sha256,
        size=size,
        # Without a requested MD5 the ETag is made of the SHA-256, in a form that no client takes for an MD5.
        etag=draft.etag or etag or f"{sha256.hex()[:32]}-0",
        content_type=clean_type(draft.content_type),
        filename=draft.filename or name_in(draft.key),
        metadata=draft.metadata,
        attributes=draft.attributes,
    )


async def _hold_small(ctx: Context, staged: StagedFile) -> None:
    blobs, org_id = ctx.services.blobs, ctx.who.org_id
    await blob_rows.insert_blob(ctx.db, org_id, staged.sha256, staged.size)
    if not await blob_rows.hold_blob(ctx.db, org_id, staged.sha256):
        raise Unavailable("the same bytes are being released right now; try again", retry_after=1)
    # Few bytes, so the lock is held while they are stored: they cannot be released in between.
    await blobs.put(org_id, staged.sha256, staged.path)


async def _write_version(
    ctx: Context, draft: ObjectDraft, existing: StoredObject | None, conditions: Conditions, version: NewVersion
) -> StoredObject:
    visibility = "private" if abilities.is_confined(ctx) else draft.visibility
    if existing is None:
        made = await store.claim_key(ctx.db, ctx.who, ctx.who.team_id, draft.key, visibility or "private", version)
        if made is not None:
            ctx.note_made(KIND, made.id)
            return made
        # A concurrent write created the object first: this one becomes its next version, if permitted.
        existing = await require_writable(ctx, draft, conditions, lock=True)
        if existing is None:
            raise Unavailable("this key is being written and deleted at the same moment; try again", retry_after=1)
    abilities.require_no_readers(ctx, existing, shared=False)
    if visibility == "private" and not abilities.is_private(existing):
        await grants.withdraw_all(ctx, OBJECTS, existing.id)
    ctx.note_made(KIND, existing.id)
    return await store.add_version(ctx.db, ctx.who, existing.id, visibility, version)


async def _body_of(op: Operation, version: NewVersion, staged: StagedFile) -> bytes | None:
    """The bytes of a short text that has arrived, before the store takes them."""
    if staged.size > _AT_HAND or not is_plain_text(version.content_type):
        return None
    return await op.services.staging.run(staged.path.read_bytes)


async def _tell(ctx: Context, written: StoredObject, provenance: Provenance | None, body: bytes | None = None) -> None:
    version = written.version
    if provenance is not None:
        for source in provenance.sources:
            await store.insert_derivation(ctx.db, ctx.who.org_id, written, source, provenance.run_id, provenance.step)
    await audit.record(ctx, "repository.written", written.id, version=version.number, bytes=version.size)
    # Whatever a run's step writes comes from that run, also where the tool names no source.
    run_id = ctx.step.run_id if ctx.step else provenance.run_id if provenance else None
    derived = provenance is not None or ctx.step is not None
    await ctx.announce(ObjectWritten(written, version, derived=derived, run_id=run_id, body=body))


async def _hold_copied(ctx: Context, found: Version) -> None:
    try:
        await release.hold(ctx, bytes.fromhex(found.sha256 or ""), found.size)
    except release.BlobReleased as error:
        raise ObjectMissing("the version to copy was deleted at this moment") from error


async def _count(ctx: Context, team_id: UUID, size: int) -> None:
    admission = await quotas.admit_space_within(ctx, team_id, size)
    await quotas.settle_within(ctx, admission, {space.STORAGE: size})
