"""Uploads in parts: create, parts and copied parts, complete, abort, and the two listings."""

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from atrium.engine.repository import multipart, uploads
from atrium.engine.repository import service as repository
from atrium.engine.repository.model import MultipartUpload, ObjectAtKey, ObjectDraft, StoredObject, UploadedPart
from atrium.kit.errors import AppError
from atrium.kit.files.staging_area import StagedFile
from atrium.kit.ids import NIL
from atrium.product.s3 import buckets, checksums, payload, put_object, refusals, xml
from atrium.product.s3.checksums import Checksum
from atrium.product.s3.model import Bucket, S3Error
from atrium.product.s3.payload import S3Caller
from atrium.product.s3.replies import Headers, empty, late_reply, moment, tag, url_encoded, xml_reply
from atrium.product.s3.request import S3Request
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Download

SMALLEST_PART, MOST_PARTS = 5 << 20, 10_000
_MOST_LISTED = 1000
_PATIENCE, _PULSE = 10.0, 5.0
_RANGE = re.compile(r"bytes=(\d{1,18})-(\d{1,18})")


async def create_upload(op: Operation, admitted: S3Caller) -> Download:
    """CreateMultipartUpload."""
    request = admitted.request
    buckets.require_private(request)
    algorithm = checksums.algorithm_of(request, "x-amz-checksum-algorithm")
    kind = None if algorithm is None else checksums.kind_of(request, algorithm)
    async with op.begin() as ctx:
        bucket = await buckets.open_bucket(ctx, request.bucket)
        draft = put_object.draft_of(request, bucket.at(request.key))
        kept = {
            "content_type": draft.content_type,
            "metadata": draft.metadata,
            "attributes": draft.attributes,
            "algorithm": algorithm,
            "kind": kind,
        }
        upload = await multipart.begin_upload(ctx, draft.key, kept)
    headers: Headers = []
    if algorithm is not None and kind is not None:
        headers = [("x-amz-checksum-algorithm", algorithm.upper()), ("x-amz-checksum-type", kind)]
    told = [xml.leaf("Bucket", bucket.name), xml.leaf("Key", request.key), xml.leaf("UploadId", upload.id.hex)]
    return xml_reply(xml.document("InitiateMultipartUploadResult", *told), headers=headers)


async def upload_part(op: Operation, admitted: S3Caller) -> Download:
    """UploadPart."""
    request, number = admitted.request, _part_number(admitted.request)
    async with op.begin() as ctx:
        upload = await _open(ctx, request)
    async with payload.receive(op, admitted, fallback=upload.draft["algorithm"]) as (arrived, checksum):
        part = _part(number, arrived.staged, checksum)
        await multipart.put_part(op, upload, arrived, part)
    return empty(headers=[("etag", f'"{part.etag}"'), *([] if checksum is None else checksum.headers()[:1])])


async def copy_part(op: Operation, admitted: S3Caller) -> Download:
    """UploadPartCopy: the bytes, or a range of them, of a version that is there already."""
    request, number = admitted.request, _part_number(admitted.request)
    async with op.begin() as ctx:
        upload = await _open(ctx, request)
        source = await put_object.read_source(ctx, request)
    start, stop = _copied_range(request.headers.get("x-amz-copy-source-range"), source)
    algorithm = upload.draft["algorithm"]
    hashes = ("md5",) if algorithm in (None, "sha256") else ("md5", algorithm)
    content = repository.open_content(op, source.object.id, source.version, start, stop)
    async with uploads.receive(op, content, stop - start, hashes=hashes) as arrived:
        checksum = checksums.ChecksumClaim(algorithm).settle(arrived.staged, {})
        part = _part(number, arrived.staged, checksum)
        await multipart.put_part(op, upload, arrived, part)
    told = [xml.leaf("LastModified", moment(part.created_at)), xml.leaf("ETag", f'"{part.etag}"')]
    if checksum is not None:
        told.append(xml.leaf(f"Checksum{checksum.algorithm.upper()}", checksum.value))
    headers = [("x-amz-copy-source-version-id", str(source.version.id))]
    return xml_reply(xml.document("CopyPartResult", *told), headers=headers)


async def complete_upload(op: Operation, admitted: S3Caller) -> Download:
    """CompleteMultipartUpload: joining many bytes takes a while, so a reply that is late begins before its end."""
    request = admitted.request
    listed = await payload.read_list(admitted, _listed, of_object=True)
    async with op.begin() as ctx:
        bucket = await buckets.open_bucket(ctx, request.bucket)
        key = bucket.at(request.key)
        upload = await multipart.read_upload(ctx, _upload_id(request), key, completed=True)
        if upload.version_id is not None:
            return xml_reply(
                *_completed_before(request, bucket, await repository.find_keyed(ctx, key, upload.version_id))
            )
        held = await multipart.list_parts(ctx, upload)
    chosen = _chosen(listed, held, upload)
    joining = asyncio.ensure_future(_join(op, request, upload, chosen))
    done, _ = await asyncio.wait({joining}, timeout=_PATIENCE)
    if done:
        written, checksum = joining.result()
        return xml_reply(
            _result(request, bucket, written, checksum), headers=[("x-amz-version-id", str(written.version.id))]
        )
    return late_reply(_late(op, request, bucket, joining))


async def abort_upload(op: Operation, admitted: S3Caller) -> Download:
    """AbortMultipartUpload."""
    async with op.begin() as ctx:
        await multipart.abort_upload(ctx, await _open(ctx, admitted.request))
    return empty(204)


async def list_parts(op: Operation, admitted: S3Caller) -> Download:
    """ListParts."""
    request = admitted.request
    most, after = _bounded(request, "max-parts", _MOST_LISTED), _bounded(request, "part-number-marker", 0)
    async with op.begin() as ctx:
        upload = await _open(ctx, request)
        found = await multipart.list_parts(ctx, upload, after, min(most, _MOST_LISTED) + 1)
        whose = _people(ctx)
    shown = found[: min(most, _MOST_LISTED)]
    algorithm = upload.draft["algorithm"]
    told = [
        xml.leaf("Bucket", request.bucket),
        xml.leaf("Key", request.key),
        xml.leaf("UploadId", upload.id.hex),
        whose,
        xml.leaf("StorageClass", "STANDARD"),
        xml.leaf("PartNumberMarker", after),
        xml.leaf("NextPartNumberMarker", shown[-1].number if shown else after),
        xml.leaf("MaxParts", most),
        xml.leaf("IsTruncated", len(found) > len(shown)),
        *(_part_element(part, algorithm) for part in shown),
    ]
    return xml_reply(xml.document("ListPartsResult", *told))


async def list_uploads(op: Operation, admitted: S3Caller) -> Download:
    """ListMultipartUploads: the caller's own that are open."""
    request = admitted.request
    most = min(_bounded(request, "max-uploads", _MOST_LISTED), _MOST_LISTED)
    marker, prefix = request.query.get("key-marker", ""), request.query.get("prefix", "")
    spelled = url_encoded if request.query.get("encoding-type") == "url" else str
    async with op.begin() as ctx:
        bucket = await buckets.open_bucket(ctx, request.bucket)
        after = (bucket.prefix + marker if marker else "", _marked(request) if marker else NIL)
        below = bucket.below(prefix)
        found = [] if below is None else await multipart.list_uploads(ctx, below, after, most + 1)
        whose = _people(ctx)
    shown = found[:most]
    more = len(found) > most and most > 0
    told = [
        xml.leaf("Bucket", bucket.name),
        xml.leaf("KeyMarker", spelled(marker)),
        xml.leaf("UploadIdMarker", request.query.get("upload-id-marker", "")),
        xml.leaf("Prefix", spelled(prefix)),
        xml.optional("EncodingType", request.query.get("encoding-type")),
        xml.leaf("MaxUploads", most),
        xml.leaf("IsTruncated", more),
        xml.leaf("NextKeyMarker", spelled(shown[-1].key[len(bucket.prefix) :])) if more else "",
        xml.leaf("NextUploadIdMarker", shown[-1].id.hex) if more else "",
        *(_upload_element(one, spelled(one.key[len(bucket.prefix) :]), whose) for one in shown),
    ]
    return xml_reply(xml.document("ListMultipartUploadsResult", *told))


async def _open(ctx: Context, request: S3Request) -> MultipartUpload:
    bucket = await buckets.open_bucket(ctx, request.bucket)
    return await multipart.read_upload(ctx, _upload_id(request), bucket.at(request.key))


async def _join(
    op: Operation, request: S3Request, upload: MultipartUpload, chosen: Sequence[UploadedPart]
) -> tuple[StoredObject, Checksum | None]:
    kept, algorithm = upload.draft, upload.draft["algorithm"]
    checksum: Checksum | None = None

    def drafted(staged: StagedFile) -> ObjectDraft:
        nonlocal checksum
        checksum = _checksum_of(kept, chosen, staged)
        _require_claimed(request, checksum)
        attributes: dict[str, Any] = {**kept["attributes"], "parts": [[part.size, part.checksum] for part in chosen]}
        draft = ObjectDraft(
            key=upload.key, content_type=kept["content_type"], metadata=kept["metadata"], attributes=attributes
        )
        return put_object.finish_draft(draft, checksums.tag_of(part.etag for part in chosen), checksum)

    # What is made from the parts' checksums is known before a byte is joined, and so is that it is wrong.
    whole = kept["kind"] == "FULL_OBJECT"
    if not whole:
        _require_claimed(request, _checksum_of(kept, chosen, None))
    written = await multipart.complete_upload(
        op, upload, chosen, drafted, put_object.conditions_of(request), hashes=(algorithm,) if whole else ()
    )
    return written, checksum


async def _late(
    op: Operation, request: S3Request, bucket: Bucket, joining: "asyncio.Future[tuple[StoredObject, Checksum | None]]"
) -> AsyncGenerator[bytes, None]:
    """A document that begins with spaces for as long as it takes; what fails now can only be said inside of it."""
    yield b'<?xml version="1.0" encoding="UTF-8"?>\n'
    while not (await asyncio.wait({joining}, timeout=_PULSE))[0]:
        yield b" "
    try:
        written, checksum = joining.result()
        whole = _result(request, bucket, written, checksum)
    except AppError as error:
        whole = refusals.document_of(
            refusals.name_of(error), error.message, request.raw_path, op.request_id, error.facts
        )
    yield whole.partition(b"\n")[2]


def _checksum_of(kept: dict[str, Any], chosen: Sequence[UploadedPart], staged: StagedFile | None) -> Checksum | None:
    algorithm = kept["algorithm"]
    if algorithm is None:
        return None
    if kept["kind"] == "COMPOSITE":
        return Checksum(algorithm, checksums.composite_of(algorithm, [part.checksum for part in chosen]), "COMPOSITE")
    return None if staged is None else Checksum(algorithm, checksums.encode_checksum(staged, algorithm), "FULL_OBJECT")


def _require_claimed(request: S3Request, checksum: Checksum | None) -> None:
    for algorithm in checksums.LENGTHS:
        claimed = request.headers.get(f"x-amz-checksum-{algorithm}")
        if claimed is not None and (checksum is None or (checksum.algorithm, checksum.value) != (algorithm, claimed)):
            raise S3Error("BadDigest", f"the {algorithm} that was sent is not the object's")


def _chosen(
    listed: list[tuple[int, str, str | None]], held: list[UploadedPart], upload: MultipartUpload
) -> list[UploadedPart]:
    by_number = {part.number: part for part in held}
    numbers = [number for number, _, _ in listed]
    chosen: list[UploadedPart] = []
    # A part that was sent twice may be listed twice; what was sent last is what there is.
    for number, etag, checksum in {one[0]: one for one in listed}.values():
        part = by_number.get(number)
        if part is None or part.etag != etag:
            raise S3Error("InvalidPart", "One or more of the specified parts could not be found.")
        if checksum is not None and part.checksum and checksum != part.checksum:
            raise S3Error("InvalidPart", f"the checksum of part {number} is not the one that was sent")
        chosen.append(part)
    if numbers != sorted(numbers):
        raise S3Error("InvalidPartOrder", "The list of parts was not in ascending order.")
    if any(part.size < SMALLEST_PART for part in chosen[:-1]):
        raise S3Error("EntityTooSmall", "Your proposed upload is smaller than the minimum allowed object size.")
    if upload.draft["kind"] == "COMPOSITE" and not all(part.checksum for part in chosen):
        raise S3Error("InvalidRequest", "a part came without its checksum")
    return chosen


def _listed(raw: bytes) -> list[tuple[int, str, str | None]]:
    found = []
    for part in xml.read(raw, "CompleteMultipartUpload").all("Part"):
        number, etag = part.text("PartNumber") or "", part.text("ETag")
        if not (number.isascii() and number.isdigit() and len(number) < 6) or etag is None:
            raise S3Error("MalformedXML", "every Part has a PartNumber and an ETag")
        checksum = next((text for name in checksums.LENGTHS if (text := part.text(f"Checksum{name.upper()}"))), None)
        found.append((int(number), etag.strip().strip('"'), checksum))
        if len(found) > MOST_PARTS:
            raise S3Error("MalformedXML", f"an upload has at most {MOST_PARTS} parts")
    if not found:
        raise S3Error("MalformedXML", "an upload is completed with at least one part")
    return found


def _completed_before(request: S3Request, bucket: Bucket, keyed: ObjectAtKey | None) -> tuple[bytes, int, Headers]:
    if keyed is None:
        raise S3Error("NoSuchUpload", "this upload was completed, and what it made is gone")
    checksum = Checksum(*keyed.attributes["checksum"]) if "checksum" in keyed.attributes else None
    written = keyed.object
    told = _result(request, bucket, written, checksum, etag=keyed.version.etag)
    return told, 200, [("x-amz-version-id", str(keyed.version.id))]


def _result(
    request: S3Request, bucket: Bucket, written: StoredObject, checksum: Checksum | None, etag: str | None = None
) -> bytes:
    told = [
        xml.leaf("Location", f"/{bucket.name}/{request.key}"),
        xml.leaf("Bucket", bucket.name),
        xml.leaf("Key", request.key),
        xml.leaf("ETag", tag(written.version) if etag is None else f'"{etag}"'),
    ]
    if checksum is not None:
        told += [
            xml.leaf(f"Checksum{checksum.algorithm.upper()}", checksum.value),
            xml.leaf("ChecksumType", checksum.kind),
        ]
    return xml.document("CompleteMultipartUploadResult", *told)


def _part(number: int, staged: StagedFile, checksum: Checksum | None) -> UploadedPart:
    value = "" if checksum is None else checksum.value
    return UploadedPart(number, staged.sha256, staged.size, staged.hashes["md5"].hex(), value, datetime.now(UTC))


def _part_element(part: UploadedPart, algorithm: str | None) -> str:
    checksum = xml.leaf(f"Checksum{algorithm.upper()}", part.checksum) if algorithm and part.checksum else ""
    return xml.element(
        "Part",
        xml.leaf("PartNumber", part.number),
        xml.leaf("LastModified", moment(part.created_at)),
        xml.leaf("ETag", f'"{part.etag}"'),
        xml.leaf("Size", part.size),
        checksum,
    )


def _upload_element(upload: MultipartUpload, key: str, whose: str) -> str:
    return xml.element(
        "Upload",
        xml.leaf("Key", key),
        xml.leaf("UploadId", upload.id.hex),
        whose,
        xml.leaf("StorageClass", "STANDARD"),
        xml.leaf("Initiated", moment(upload.created_at)),
    )


def _people(ctx: Context) -> str:
    told = xml.leaf("ID", ctx.who.user_id), xml.leaf("DisplayName", ctx.who.username)
    return xml.element("Initiator", *told) + xml.element("Owner", *told)


def _copied_range(header: str | None, source: ObjectAtKey) -> tuple[int, int]:
    size = source.version.size
    if header is None:
        return 0, size
    found = _RANGE.fullmatch(header)
    if found is None:
        raise S3Error("InvalidArgument", "x-amz-copy-source-range is bytes=<first>-<last>")
    first, last = int(found[1]), int(found[2])
    if first > last or last >= size:
        raise S3Error("InvalidRange", "The requested range is not satisfiable")
    return first, last + 1


def _part_number(request: S3Request) -> int:
    text = request.query.get("partNumber", "")
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= MOST_PARTS):
        raise S3Error("InvalidArgument", "Part number must be an integer between 1 and 10000, inclusive")
    return int(text)


def _upload_id(request: S3Request) -> UUID | None:
    with contextlib.suppress(ValueError):
        return UUID(hex=request.query.get("uploadId", ""))
    return None


def _marked(request: S3Request) -> UUID:
    with contextlib.suppress(ValueError):
        return UUID(hex=request.query.get("upload-id-marker", ""))
    return UUID(int=(1 << 128) - 1)


def _bounded(request: S3Request, name: str, otherwise: int) -> int:
    text = request.query.get(name) or str(otherwise)
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise S3Error("InvalidArgument", f"{name} is a number")
    return int(text)
