"""Reading objects: GET and HEAD with their conditions, ranges and parts, attributes, tags."""

from typing import Any
from uuid import UUID

from atrium.engine.repository import service as repository
from atrium.engine.repository.model import ObjectAtKey, Version
from atrium.engine.repository.object_keys import is_writable
from atrium.kit.web import http
from atrium.product.s3 import buckets, tags, xml
from atrium.product.s3.checksums import Checksum
from atrium.product.s3.model import S3Error
from atrium.product.s3.payload import S3Caller
from atrium.product.s3.replies import Headers, encode_header, tag, version_headers, xml_reply
from atrium.product.s3.request import S3Request
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Download

_OVERRIDES = ("cache-control", "content-disposition", "content-encoding", "content-language", "content-type", "expires")
_MOST_PARTS = 1000


async def get_object(op: Operation, admitted: S3Caller) -> Download:
    """GetObject and HeadObject."""
    request = admitted.request
    async with op.begin() as ctx:
        keyed = await read_version(ctx, request)
    headers = _replaced(version_headers(keyed), request)
    unmet = unmet_condition(request.headers, keyed.version)
    if unmet == 412:
        raise S3Error("PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
    if unmet == 304:
        return Download(304, headers, None, None, bare=True)
    start, stop, more = _wanted(request, keyed)
    headers += more
    length = stop - start
    status = 206 if more and more[0][0] == "content-range" else 200
    if request.method == "HEAD":
        return Download(status, headers, length, None, bare=True)
    source = repository.open_content(op, keyed.object.id, keyed.version, start, stop)
    # Read here, so that bytes which turn out to be missing are refused in S3's words as well.
    first = await anext(source, b"")
    policy = http.policy_of(shows_pdf=start == 0 and http.begins_pdf(first) and _is_pdf(keyed, headers))
    return Download(status, headers, length, source, bare=True, body=first, policy=policy)


async def get_attributes(op: Operation, admitted: S3Caller) -> Download:
    """GetObjectAttributes."""
    request = admitted.request
    async with op.begin() as ctx:
        keyed = await read_version(ctx, request)
    wanted = {name.strip() for name in request.headers.get("x-amz-object-attributes", "").split(",")}
    told = [
        xml.leaf("ETag", keyed.version.etag) if "ETag" in wanted else "",
        _checksum_element(keyed.attributes) if "Checksum" in wanted else "",
        _parts_element(request, keyed.attributes) if "ObjectParts" in wanted else "",
        xml.leaf("StorageClass", "STANDARD") if "StorageClass" in wanted else "",
        xml.leaf("ObjectSize", keyed.version.size) if "ObjectSize" in wanted else "",
    ]
    headers = [header for header in version_headers(keyed) if header[0] in ("last-modified", "x-amz-version-id")]
    return xml_reply(xml.document("GetObjectAttributesResponse", *told), headers=headers)


async def get_tags(op: Operation, admitted: S3Caller) -> Download:
    """GetObjectTagging."""
    async with op.begin() as ctx:
        keyed = await read_version(ctx, admitted.request)
    headers = [("x-amz-version-id", str(keyed.version.id))]
    return xml_reply(tags.document_of(keyed.attributes.get("tags", {})), headers=headers)


async def get_access_list(op: Operation, admitted: S3Caller) -> Download:
    """GetObjectAcl."""
    async with op.begin() as ctx:
        await read_version(ctx, admitted.request)
        return xml_reply(buckets.access_list(ctx))


async def read_version(ctx: Context, request: S3Request) -> ObjectAtKey:
    """The version that is asked for; a delete marker is no version to read."""
    bucket = await buckets.open_bucket(ctx, request.bucket)
    return await read_at(ctx, bucket.at(request.key), request.query.get("versionId"))


async def read_at(ctx: Context, key: str, named: str | None) -> ObjectAtKey:
    """A version with bytes at one of the team's keys, named or current."""
    keyed = await repository.find_keyed(ctx, key, version_id_of(named))
    if keyed is None and not is_writable(key):
        # There may be such keys from before they were refused; one that is not there could not come to be.
        raise S3Error("InvalidURI", "Couldn't parse the specified URI.")
    if keyed is None:
        raise S3Error("NoSuchVersion" if named else "NoSuchKey", "The specified key does not exist.")
    if keyed.version.deleted:
        told = (("x-amz-delete-marker", "true"), ("x-amz-version-id", str(keyed.version.id)))
        if named:
            raise S3Error("MethodNotAllowed", "this version is a delete marker", (*told, ("allow", "DELETE")))
        raise S3Error("NoSuchKey", "The specified key does not exist.", told)
    return keyed


def version_id_of(named: str | None) -> UUID | None:
    """A version's id; one that is none of ours names nothing."""
    if named is None:
        return None
    try:
        return UUID(named)
    except ValueError as error:
        raise S3Error("InvalidArgument", "Invalid version id specified") from error


def unmet_condition(headers: Any, version: Version, prefix: str = "") -> int | None:
    """412 or 304 when a condition does not hold; a tag outweighs a date."""
    match, none_match = headers.get(f"{prefix}if-match"), headers.get(f"{prefix}if-none-match")
    since, until = headers.get(f"{prefix}if-modified-since"), headers.get(f"{prefix}if-unmodified-since")
    modified = version.created_at.replace(microsecond=0)
    if match is not None and not names(match, version):
        return 412
    if match is None and (moment := http.http_moment(until)) is not None and modified > moment:
        return 412
    if none_match is not None and names(none_match, version):
        return 412 if prefix else 304
    if none_match is None and (moment := http.http_moment(since)) is not None and modified <= moment:
        return 412 if prefix else 304
    return None


def names(header: str, version: Version) -> bool:
    """Whether a condition names this version's tag; clients leave the quotes out as they like."""
    return http.names_tag(header, tag(version)) or header.strip() == version.etag


def part_bounds(attributes: dict[str, Any], number: int, size: int) -> tuple[int, int]:
    """Where a part of an object begins and ends; one that did not come in parts is its own first part."""
    sizes = [part[0] for part in attributes["parts"]] if "parts" in attributes else [size]
    if not 1 <= number <= len(sizes):
        raise S3Error("InvalidPart", "there is no part of this number")
    start = sum(sizes[: number - 1])
    return start, start + sizes[number - 1]


def _wanted(request: S3Request, keyed: ObjectAtKey) -> tuple[int, int, Headers]:
    version, left = keyed.version, keyed.attributes
    if "partNumber" in request.query:
        return _part(request, keyed)
    asked = http.RangeRequest(range=request.headers.get("range"), if_range=request.headers.get("if-range"))
    part = http.part_of(asked, version.size, tag(version), version.created_at)
    if not part.whole:
        return part.start, part.stop, [("content-range", f"bytes {part.start}-{part.stop - 1}/{version.size}")]
    more = Checksum(*left["checksum"]).headers() if _tells_checksum(request) and "checksum" in left else []
    return 0, version.size, more


def _part(request: S3Request, keyed: ObjectAtKey) -> tuple[int, int, Headers]:
    number = request.query["partNumber"]
    if not (number.isascii() and number.isdigit() and len(number) < 6):
        raise S3Error("InvalidArgument", "Part number must be an integer between 1 and 10000, inclusive")
    left, size = keyed.attributes, keyed.version.size
    start, stop = part_bounds(left, int(number), size)
    more: Headers = [("content-range", f"bytes {start}-{stop - 1}/{size}")] if size else []
    if "parts" in left:
        more.append(("x-amz-mp-parts-count", str(len(left["parts"]))))
        value = left["parts"][int(number) - 1][1]
        if value and "checksum" in left and _tells_checksum(request):
            algorithm, _, kind = left["checksum"]
            more += Checksum(algorithm, value, kind).headers()
    return start, stop, more


def _tells_checksum(request: S3Request) -> bool:
    return request.headers.get("x-amz-checksum-mode", "").upper() == "ENABLED"


def _checksum_element(left: dict[str, Any]) -> str:
    if "checksum" not in left:
        return ""
    algorithm, value, kind = left["checksum"]
    return xml.element("Checksum", xml.leaf(f"Checksum{algorithm.upper()}", value), xml.leaf("ChecksumType", kind))


def _parts_element(request: S3Request, left: dict[str, Any]) -> str:
    if "parts" not in left:
        return ""
    most, after = _number(request, "x-amz-max-parts", _MOST_PARTS), _number(request, "x-amz-part-number-marker", 0)
    parts = list(enumerate(left["parts"], 1))
    shown = parts[after : after + min(most, _MOST_PARTS)]
    algorithm = left["checksum"][0].upper() if "checksum" in left else ""
    told = [
        xml.leaf("PartsCount", len(parts)),
        xml.leaf("PartNumberMarker", after),
        xml.leaf("NextPartNumberMarker", shown[-1][0] if shown else after),
        xml.leaf("MaxParts", most),
        xml.leaf("IsTruncated", after + len(shown) < len(parts)),
    ]
    for number, (size, value) in shown:
        checksum = xml.leaf(f"Checksum{algorithm}", value) if algorithm and value else ""
        told.append(xml.element("Part", xml.leaf("PartNumber", number), xml.leaf("Size", size), checksum))
    return xml.element("ObjectParts", *told)


def _number(request: S3Request, header: str, otherwise: int) -> int:
    text = request.headers.get(header, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else otherwise


def _replaced(headers: Headers, request: S3Request) -> Headers:
    """What the caller of a signed request wants the reply to say instead."""
    chosen = {name: request.query[f"response-{name}"] for name in _OVERRIDES if f"response-{name}" in request.query}
    kept = [header for header in headers if header[0] not in chosen]
    return kept + [(name, encode_header(value)) for name, value in chosen.items()]


def _is_pdf(keyed: ObjectAtKey, headers: Headers) -> bool:
    """Whether it was stored as a PDF and is sent as one; a link may say that the reply is of another type."""
    sent = next(value for name, value in headers if name == "content-type")
    return http.is_pdf(keyed.version.content_type) and http.is_pdf(sent)


async def refuse_lock(op: Operation, admitted: S3Caller) -> Download:
    """GetObjectRetention and GetObjectLegalHold: no object here is locked."""
    async with op.begin() as ctx:
        await read_version(ctx, admitted.request)
    raise S3Error("NoSuchObjectLockConfiguration", "The specified object does not have a ObjectLock configuration")
