"""Deleting: into the trash or behind a marker, or one version for good; one key, or a thousand at once."""

import asyncio
from datetime import datetime
from email.utils import parsedate_to_datetime
from itertools import islice

import msgspec

from atrium.engine.repository import service as repository
from atrium.engine.repository import trash as repository_trash
from atrium.engine.repository import writes
from atrium.engine.repository.model import ObjectAtKey
from atrium.engine.repository.object_keys import is_writable
from atrium.kit.errors import AppError
from atrium.product.s3 import buckets, payload, refusals, xml
from atrium.product.s3.get_object import names, version_id_of
from atrium.product.s3.model import Bucket, S3Error
from atrium.product.s3.payload import S3Caller
from atrium.product.s3.replies import empty, xml_reply
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Download

MOST_KEYS = 1000
_AT_ONCE = 4


class DeleteTarget(msgspec.Struct, frozen=True):
    """What to delete, and what must be true of it."""

    key: str
    version_id: str | None = None
    etag: str | None = None
    modified: str | None = None
    size: str | None = None

    @property
    def conditional(self) -> bool:
        """Whether anything must be true of it."""
        return (self.etag, self.modified, self.size) != (None, None, None)


class DeleteResult(msgspec.Struct, frozen=True):
    """What a deletion did: which version is gone, or which marker came."""

    version_id: str | None = None
    marker: bool = False


async def delete_object(op: Operation, admitted: S3Caller) -> Download:
    """DeleteObject: without a version nothing is lost, in the trash or behind a marker."""
    request = admitted.request
    target = DeleteTarget(
        request.key or "",
        request.query.get("versionId"),
        request.headers.get("if-match"),
        request.headers.get("x-amz-if-match-last-modified-time"),
        request.headers.get("x-amz-if-match-size"),
    )
    async with op.begin() as ctx:
        bucket = await buckets.describe_bucket(ctx, request.bucket)
        gone = await _delete(ctx, bucket, target)
    headers = [] if gone.version_id is None else [("x-amz-version-id", gone.version_id)]
    return empty(204, headers + ([("x-amz-delete-marker", "true")] if gone.marker else []))


async def delete_objects(op: Operation, admitted: S3Caller) -> Download:
    """DeleteObjects: each key for itself, so one that is refused keeps no other from going."""
    targets, quiet = await payload.read_list(admitted, _targets)
    async with op.begin() as ctx:
        bucket = await buckets.describe_bucket(ctx, admitted.request.bucket)
    told = await _delete_all(op, bucket, targets)
    return xml_reply(
        xml.document(
            "DeleteResult", *(_told(target, told[target]) for target in targets if _is_told(told[target], quiet))
        )
    )


Told = DeleteResult | AppError


async def _delete_all(op: Operation, bucket: Bucket, targets: list[DeleteTarget]) -> dict[DeleteTarget, Told]:
    told: dict[DeleteTarget, Told] = {}
    # Nothing of these gives bytes back, so a thousand fit one transaction; in order, so that two such requests never wait for
    # each other in a circle. A version that goes for good is a transaction of its own.
    whole = sorted({one for one in targets if one.version_id is None}, key=lambda one: (one.key, one.etag or ""))
    async with op.begin() as ctx:
        for target in whole:
            told[target] = await _attempt(ctx, bucket, target)
    versions = iter(sorted({one for one in targets if one.version_id is not None}, key=lambda one: one.key))

    async def work() -> None:
        for target in versions:
            try:
                async with op.begin() as ctx:
                    told[target] = await _delete(ctx, bucket, target)
            except AppError as error:
                told[target] = error

    await asyncio.gather(*(work() for _ in range(_AT_ONCE)))
    return told


async def _attempt(ctx: Context, bucket: Bucket, target: DeleteTarget) -> Told:
    try:
        return await _delete(ctx, bucket, target)
    except AppError as error:
        # Nothing was written before it was refused, so the transaction goes on.
        return error


async def _delete(ctx: Context, bucket: Bucket, target: DeleteTarget) -> DeleteResult:
    key = bucket.at(target.key)
    version_id = version_id_of(target.version_id)
    # Locked first: concurrent deletes of the same object are serialized.
    found = await repository.find_keyed(ctx, key, version_id, lock=True)
    if version_id is not None:
        return await _delete_version(ctx, bucket, target, found)
    if found is None:
        if target.conditional or not _marks_absent(bucket, key) or not await repository.is_free(ctx, key):
            return await _delete_unseen(ctx, key)
        made = await writes.mark_absent(ctx, key)
        return DeleteResult(str(made.version.id), marker=True)
    if found.version.deleted and not bucket.versioned:
        # No client depends on markers here: the key is absent, and there is nothing to refuse.
        return DeleteResult()
    _require(target, found)
    if not bucket.versioned:
        await repository_trash.delete_object(ctx, found.object.id)
        return DeleteResult()
    marked = await writes.mark_deleted(ctx, found.object.id)
    return DeleteResult(str(marked.version.id), marker=True)


def _marks_absent(bucket: Bucket, key: str) -> bool:
    """Whether deleting nothing leaves a marker: S3 does so once versioning was turned on, at keys that can be.

    Not in the team's own bucket: the marker would be its maker's, and keep the others from ever writing to that key.
    """
    return bool(bucket.prefix) and bucket.versioned and is_writable(key)


async def _delete_version(
    ctx: Context, bucket: Bucket, target: DeleteTarget, found: ObjectAtKey | None
) -> DeleteResult:
    if found is None:
        return DeleteResult(target.version_id)
    _require(target, found)
    # Who turned versioning on knows that a version is deleted for good, the last one too.
    gone = await repository_trash.delete_version(ctx, found.object.id, found.version.id, keep=not bucket.versioned)
    return DeleteResult(target.version_id, marker=gone.deleted)


async def _delete_unseen(ctx: Context, key: str) -> DeleteResult:
    """Nothing there is as good as deleted; something that cannot be seen is not the caller's to delete."""
    if await repository.is_free(ctx, key):
        return DeleteResult()
    raise S3Error("AccessDenied", "Access Denied")


def _require(target: DeleteTarget, found: ObjectAtKey) -> None:
    version = found.version
    holds = [
        target.etag is None or target.etag.strip() == "*" or (not version.deleted and names(target.etag, version)),
        target.size is None or target.size == str(version.size),
        target.modified is None or _is_moment(target.modified, version.created_at),
    ]
    if not all(holds):
        raise S3Error("PreconditionFailed", "At least one of the pre-conditions you specified did not hold")


def _is_moment(text: str, at: datetime) -> bool:
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        try:
            found = datetime.fromisoformat(text)
        except ValueError as error:
            raise S3Error("InvalidArgument", "this is not a moment") from error
    return found.replace(microsecond=0) == at.replace(microsecond=0)


def _targets(raw: bytes) -> tuple[list[DeleteTarget], bool]:
    document = xml.read(raw, "Delete")
    targets = [_target(one) for one in islice(document.all("Object"), MOST_KEYS + 1)]
    if not 1 <= len(targets) <= MOST_KEYS:
        raise S3Error("MalformedXML", f"between 1 and {MOST_KEYS} keys can be deleted at once")
    return targets, document.text("Quiet") == "true"


def _target(one: xml.Element) -> DeleteTarget:
    key = one.text("Key")
    if not key:
        raise S3Error("MalformedXML", "every Object has a Key")
    return DeleteTarget(
        key, one.text("VersionId") or None, one.text("ETag"), one.text("LastModifiedTime"), one.text("Size")
    )


def _is_told(told: Told, quiet: bool) -> bool:
    return not quiet or not isinstance(told, DeleteResult)


def _told(target: DeleteTarget, told: Told) -> str:
    key, version = xml.leaf("Key", target.key), xml.optional("VersionId", target.version_id)
    if not isinstance(told, DeleteResult):
        return xml.element(
            "Error", key, version, xml.leaf("Code", refusals.name_of(told)), xml.leaf("Message", told.message)
        )
    marker = ""
    if told.marker:
        marker = xml.leaf("DeleteMarker", True) + xml.optional("DeleteMarkerVersionId", told.version_id)
    return xml.element("Deleted", key, version, marker)
