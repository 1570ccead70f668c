"""Writing objects: PUT, copies, tags."""

from typing import Any
from urllib.parse import unquote_to_bytes

from atrium.engine.repository import service as repository
from atrium.engine.repository import writes
from atrium.engine.repository.model import Conditions, ObjectAtKey, ObjectDraft, StoredObject
from atrium.engine.repository.object_keys import is_writable, require_key
from atrium.product.s3 import buckets, payload, tags, xml
from atrium.product.s3.checksums import Checksum
from atrium.product.s3.get_object import read_at, read_version, unmet_condition
from atrium.product.s3.model import S3Error
from atrium.product.s3.payload import S3Caller
from atrium.product.s3.replies import Headers, attributes_of, empty, metadata_of, moment, tag, xml_reply
from atrium.product.s3.request import S3Request
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Download

_DEFAULT_TYPE = "binary/octet-stream"
_LONGEST_METADATA = 8192


async def put_object(op: Operation, admitted: S3Caller) -> Download:
    """PutObject: refused before a byte of it is read whenever that can be known."""
    request = admitted.request
    buckets.require_private(request)
    admitted.length()
    conditions = conditions_of(request)
    async with op.begin() as ctx:
        bucket = await buckets.open_bucket(ctx, request.bucket)
        draft = draft_of(request, bucket.at(request.key))
        await writes.require_writable(ctx, draft, conditions)
    async with payload.receive(op, admitted) as (upload, checksum):
        draft = finish_draft(draft, upload.staged.hashes["md5"].hex(), checksum)
        written = await writes.write_object(op, draft, upload, conditions)
    return empty(headers=written_headers(written, checksum))


async def copy_object(op: Operation, admitted: S3Caller) -> Download:
    """CopyObject: no byte is moved."""
    request = admitted.request
    buckets.require_private(request)
    async with op.begin() as ctx:
        bucket = await buckets.open_bucket(ctx, request.bucket)
        source = await read_source(ctx, request)
        key = bucket.at(request.key)
        draft = _copied(request, key, source)
    written = await writes.copy_object(op, source.object.id, source.version.id, draft, conditions_of(request))
    result = xml.document(
        "CopyObjectResult",
        xml.leaf("LastModified", moment(written.version.created_at)),
        xml.leaf("ETag", tag(written.version)),
    )
    headers = [
        ("x-amz-version-id", str(written.version.id)),
        ("x-amz-copy-source-version-id", str(source.version.id)),
    ]
    return xml_reply(result, headers=headers)


async def put_tags(op: Operation, admitted: S3Caller) -> Download:
    """PutObjectTagging."""
    return await _set_tags(op, admitted.request, tags.in_document(await payload.document(admitted)), 200)


async def delete_tags(op: Operation, admitted: S3Caller) -> Download:
    """DeleteObjectTagging."""
    return await _set_tags(op, admitted.request, {}, 204)


async def put_access_list(op: Operation, admitted: S3Caller) -> Download:
    """PutObjectAcl: only the one that changes nothing."""
    buckets.require_private(admitted.request)
    if admitted.request.has_body:
        await payload.document(admitted)
    async with op.begin() as ctx:
        await read_version(ctx, admitted.request)
    return empty()


def draft_of(request: S3Request, key: str) -> ObjectDraft:
    """What the headers of a write say about the bytes to come."""
    if not is_writable(key):
        raise S3Error("InvalidURI", "a key has no control characters but tabs and line breaks")
    require_key(key)
    metadata = metadata_of(request)
    if sum(len(name) + len(value) for name, value in metadata.items()) > _LONGEST_METADATA:
        raise S3Error("InvalidRequest", "Your metadata headers exceed the maximum allowed metadata size")
    return ObjectDraft(
        key=key,
        content_type=request.text("content-type") or _DEFAULT_TYPE,
        metadata=metadata,
        attributes=attributes_of(request, tags.in_header(request.text("x-amz-tagging"))),
    )


def finish_draft(draft: ObjectDraft, etag: str, checksum: Checksum | None) -> ObjectDraft:
    """The draft with what the bytes turned out to be."""
    attributes: dict[str, Any] = dict(draft.attributes)
    if checksum is not None:
        attributes["checksum"] = [checksum.algorithm, checksum.value, checksum.kind]
    return ObjectDraft(
        key=draft.key,
        content_type=draft.content_type,
        metadata=draft.metadata,
        etag=etag,
        attributes=attributes,
    )


def written_headers(written: StoredObject, checksum: Checksum | None) -> Headers:
    """What a write tells."""
    told = [("etag", tag(written.version)), ("x-amz-version-id", str(written.version.id))]
    return told + ([] if checksum is None else checksum.headers())


def conditions_of(request: S3Request) -> Conditions:
    """What must hold at the key when the write lands; quotes may be missing around a tag."""
    return Conditions(
        if_match=_quoted(request.headers.get("if-match")), if_none_match=_quoted(request.headers.get("if-none-match"))
    )


async def read_source(ctx: Context, request: S3Request) -> ObjectAtKey:
    """The version a copy is made from, when its conditions hold."""
    path, _, named = _unescaped(request.headers["x-amz-copy-source"])
    name, _, key = path.removeprefix("/").partition("/")
    if not name or not key:
        raise S3Error("InvalidArgument", "the source of a copy is <bucket>/<key>")
    bucket = await buckets.open_bucket(ctx, name)
    source = await read_at(ctx, bucket.at(key), named or None)
    if unmet_condition(request.headers, source.version, "x-amz-copy-source-"):
        raise S3Error("PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
    return source


async def _set_tags(op: Operation, request: S3Request, chosen: dict[str, str], status: int) -> Download:
    async with op.begin() as ctx:
        keyed = await read_version(ctx, request)
        left = {name: value for name, value in keyed.attributes.items() if name != "tags"}
        await repository.set_attributes(ctx, keyed, left | ({"tags": chosen} if chosen else {}))
    return empty(status, [("x-amz-version-id", str(keyed.version.id))])


def _copied(request: S3Request, key: str, source: ObjectAtKey) -> ObjectDraft:
    replacing = request.headers.get("x-amz-metadata-directive", "COPY").upper() == "REPLACE"
    if source.object.key == key and not replacing and not request.query.get("versionId") and _is_current(source):
        raise S3Error(
            "InvalidRequest", "This copy request is illegal because it is trying to copy an object to itself unchanged."
        )
    kept = {name: value for name, value in source.attributes.items() if name != "headers"}
    new = draft_of(request, key)
    if request.headers.get("x-amz-tagging-directive", "COPY").upper() == "REPLACE":
        kept.pop("tags", None)
    else:
        new.attributes.pop("tags", None)
    if replacing:
        return ObjectDraft(
            key=key, content_type=new.content_type, metadata=new.metadata, attributes=kept | new.attributes
        )
    version = source.version
    new_tags = {"tags": new.attributes["tags"]} if "tags" in new.attributes else {}
    return ObjectDraft(
        key=key,
        content_type=version.content_type,
        metadata=version.metadata,
        attributes={**source.attributes, **kept, **new_tags},
    )


def _is_current(source: ObjectAtKey) -> bool:
    return source.version.id == source.object.version.id


def _unescaped(header: str) -> tuple[str, str, str]:
    raw, mark, query = header.partition("?versionId=")
    try:
        return unquote_to_bytes(raw.encode("latin-1")).decode(), mark, query.partition("&")[0]
    except UnicodeDecodeError as error:
        raise S3Error("InvalidArgument", "the source of a copy is percent-encoded UTF-8") from error


def _quoted(header: str | None) -> str | None:
    if header is None or header.strip() == "*" or '"' in header:
        return header
    return f'"{header.strip()}"'
