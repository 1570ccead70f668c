"""Listing: objects in both versions of the request, and every version of everything."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from collections.abc import Callable
from uuid import UUID

import msgspec

from atrium.engine.repository import service as repository
from atrium.engine.repository.model import BucketEntry, StoredObject, Version
from atrium.engine.repository.object_keys import after_all_with
from atrium.kit.ids import NIL
from atrium.product.s3 import buckets, xml
from atrium.product.s3.get_object import version_id_of
from atrium.product.s3.model import Bucket, S3Error
from atrium.product.s3.payload import S3Caller
from atrium.product.s3.replies import moment, url_encoded, xml_reply
from atrium.product.s3.request import S3Request
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Download

MOST = 1000
_LAST = UUID(int=(1 << 128) - 1)
Entry = tuple[str, BucketEntry | None]


class ListRequest(msgspec.Struct, frozen=True):
    """What a listing is asked for; `spelled` writes a key the way the caller wants keys written."""

    bucket: Bucket
    prefix: str
    delimiter: str
    most: int
    encoding: str | None
    spelled: Callable[[str], str]

    @property
    def below(self) -> str:
        """What the team's own keys begin with."""
        return self.bucket.prefix + self.prefix

    def shown(self, key: str) -> str:
        """One of the team's keys, as the bucket names it."""
        return key[len(self.bucket.prefix) :]


async def list_v1(op: Operation, admitted: S3Caller) -> Download:
    """ListObjects."""
    request = admitted.request
    marker = request.query.get("marker", "")
    async with op.begin() as ctx:
        wanted = await _wanted(ctx, request)
        entries, more = await _page(ctx, wanted, marker)
    last = entries[-1][0] if entries else ""
    told = [
        xml.leaf("Name", wanted.bucket.name),
        # Never encoded: the commonest client asks for encoded keys by itself and decodes everything here but this.
        xml.leaf("Prefix", wanted.prefix),
        xml.leaf("Marker", wanted.spelled(marker)),
        xml.leaf("MaxKeys", wanted.most),
        _common(wanted, more),
        xml.leaf("NextMarker", wanted.spelled(last)) if more else "",
        *_contents(wanted, entries, owner=True),
    ]
    return xml_reply(xml.document("ListBucketResult", *told))


async def list_v2(op: Operation, admitted: S3Caller) -> Download:
    """ListObjectsV2."""
    request = admitted.request
    token, start = request.query.get("continuation-token"), request.query.get("start-after", "")
    async with op.begin() as ctx:
        wanted = await _wanted(ctx, request)
        entries, more = await _page(ctx, wanted, _untokened(token) if token else start)
    last = entries[-1][0] if entries else ""
    told = [
        xml.leaf("Name", wanted.bucket.name),
        xml.leaf("Prefix", wanted.spelled(wanted.prefix)),
        xml.leaf("KeyCount", len(entries)),
        xml.leaf("MaxKeys", wanted.most),
        _common(wanted, more),
        xml.optional("ContinuationToken", token),
        xml.leaf("NextContinuationToken", _tokened(last)) if more else "",
        xml.leaf("StartAfter", wanted.spelled(start)) if start else "",
        *_contents(wanted, entries, owner=request.query.get("fetch-owner", "").lower() == "true"),
    ]
    return xml_reply(xml.document("ListBucketResult", *told))


async def list_versions(op: Operation, admitted: S3Caller) -> Download:
    """ListObjectVersions."""
    request = admitted.request
    key_marker, version_marker = request.query.get("key-marker", ""), request.query.get("version-id-marker", "")
    async with op.begin() as ctx:
        wanted = await _wanted(ctx, request)
        position = await _version_position(ctx, wanted, key_marker, version_marker)
        found, folders, more = await _versions(ctx, wanted, position)
    last_key, last_version = _last_version(wanted, found, folders)
    told = [
        xml.leaf("Name", wanted.bucket.name),
        xml.leaf("Prefix", wanted.spelled(wanted.prefix)),
        xml.leaf("KeyMarker", wanted.spelled(key_marker)),
        xml.leaf("VersionIdMarker", version_marker),
        xml.leaf("NextKeyMarker", wanted.spelled(last_key)) if more else "",
        xml.leaf("NextVersionIdMarker", last_version) if more and last_version else "",
        xml.leaf("MaxKeys", wanted.most),
        _common(wanted, more),
        *(_version_element(wanted, stored, version) for stored, version in found),
        *(_folder(wanted, folder) for folder in folders),
    ]
    return xml_reply(xml.document("ListVersionsResult", *told))


async def _wanted(ctx: Context, request: S3Request) -> ListRequest:
    bucket = await buckets.open_bucket(ctx, request.bucket)
    encoding = request.query.get("encoding-type")
    if encoding not in (None, "url"):
        raise S3Error("InvalidArgument", "Invalid Encoding Method specified in Request")
    text = request.query.get("max-keys") or str(MOST)
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise S3Error("InvalidArgument", "Provided max-keys not an integer or within integer range")
    return ListRequest(
        bucket,
        request.query.get("prefix", ""),
        request.query.get("delimiter", ""),
        min(int(text), MOST),
        encoding,
        url_encoded if encoding else str,
    )


async def _page(ctx: Context, wanted: ListRequest, marker: str) -> tuple[list[Entry], bool]:
    """Keys and folders behind the marker, as the bucket names them, and whether there are more."""
    below = wanted.bucket.below(wanted.prefix)
    if wanted.most == 0 or below is None:
        # Still a listing: a caller who may not list is refused.
        await repository.scan(ctx, wanted.below, None, 0)
        return [], False
    if "\0" in wanted.prefix + wanted.delimiter + marker:
        return [], False
    after, folder = _position(wanted, marker), _folder_of(wanted, below)
    if folder is not None:
        # All keys the key pair may use are in one folder of what is asked for.
        found = await repository.scan(ctx, below, after, 1)
        return ([(folder, None)] if found and not marker.startswith(folder) else []), False
    if wanted.delimiter:
        entries = await repository.scan_folders(ctx, below, wanted.delimiter, after, wanted.most + 1)
    else:
        entries = [(one.key, one) for one in await repository.scan(ctx, below, after, wanted.most + 1)]
    page = [(wanted.shown(key), stored) for key, stored in entries[: wanted.most]]
    return page, len(entries) > wanted.most


def _position(wanted: ListRequest, marker: str) -> tuple[str, UUID] | None:
    """The position behind a marker; one inside a folder is behind the whole folder, which was listed before it."""
    key = wanted.bucket.prefix + marker
    if not marker or key < wanted.below:
        return None
    rest = marker.removeprefix(wanted.prefix) if marker.startswith(wanted.prefix) else ""
    folder, found, _ = rest.partition(wanted.delimiter) if wanted.delimiter else ("", "", "")
    if found:
        return wanted.below + folder + (after_all_with(wanted.delimiter) or ""), NIL
    return key, _LAST


def _common(wanted: ListRequest, more: bool) -> str:
    return (
        (xml.leaf("Delimiter", wanted.spelled(wanted.delimiter)) if wanted.delimiter else "")
        + xml.leaf("IsTruncated", more)
        + xml.optional("EncodingType", wanted.encoding)
    )


def _contents(wanted: ListRequest, entries: list[Entry], *, owner: bool) -> list[str]:
    return [
        _folder(wanted, key) if stored is None else _object_element(wanted, key, stored, owner)
        for key, stored in entries
    ]


def _folder(wanted: ListRequest, prefix: str) -> str:
    return f"<CommonPrefixes><Prefix>{xml.text_of(wanted.spelled(prefix))}</Prefix></CommonPrefixes>"


def _object_element(wanted: ListRequest, key: str, stored: BucketEntry, owner: bool) -> str:
    whose = f"<Owner><ID>{stored.owner_id}</ID><DisplayName>{stored.owner_id}</DisplayName></Owner>" if owner else ""
    return (
        f"<Contents><Key>{xml.text_of(wanted.spelled(key))}</Key><LastModified>{moment(stored.modified)}</LastModified>"
        f"<ETag>&quot;{stored.etag}&quot;</ETag><Size>{stored.size}</Size>{whose}"
        "<StorageClass>STANDARD</StorageClass></Contents>"
    )


def _version_element(wanted: ListRequest, stored: StoredObject, version: Version) -> str:
    name = "DeleteMarker" if version.deleted else "Version"
    bytes_of = "" if version.deleted else f"<ETag>&quot;{version.etag}&quot;</ETag><Size>{version.size}</Size>"
    return xml.element(
        name,
        xml.leaf("Key", wanted.spelled(wanted.shown(stored.key))),
        xml.leaf("VersionId", version.id),
        xml.leaf("IsLatest", version.id == stored.version.id),
        xml.leaf("LastModified", moment(version.created_at)),
        bytes_of,
        xml.element("Owner", xml.leaf("ID", stored.owner_id), xml.leaf("DisplayName", stored.owner_id)),
        "" if version.deleted else xml.leaf("StorageClass", "STANDARD"),
    )


Found = list[tuple[StoredObject, Version]]


async def _version_position(ctx: Context, wanted: ListRequest, key: str, version: str) -> tuple[str, int]:
    if not key:
        return "", 0
    full = wanted.bucket.prefix + key
    named = version_id_of(version or None)
    found = await repository.find_keyed(ctx, full, named) if named else None
    # Behind a key without a version is behind all its versions.
    return full, found.version.number if found is not None else 0


async def _versions(ctx: Context, wanted: ListRequest, after: tuple[str, int]) -> tuple[Found, list[str], bool]:
    """Versions and folders, page by page, until enough are found or none are left."""
    found: Found = []
    folders: list[str] = []
    below = wanted.bucket.below(wanted.prefix)
    while below is not None:
        left = wanted.most - len(found) - len(folders)
        rows = await repository.scan_versions(ctx, below, after, left + 1)
        for stored, version in rows:
            folder = _folder_of(wanted, stored.key)
            # By key, so a folder comes once, all of it together.
            if folder is not None and folders[-1:] == [folder]:
                continue
            if len(found) + len(folders) == wanted.most:
                return found, folders, wanted.most > 0
            if folder is None:
                found.append((stored, version))
            else:
                folders.append(folder)
        if len(rows) <= left:
            return found, folders, False
        after = _behind(wanted, rows[-1])
    return found, folders, False


def _behind(wanted: ListRequest, row: tuple[StoredObject, Version]) -> tuple[str, int]:
    """The position behind a row; one inside a folder is behind the whole folder."""
    stored, version = row
    folder = _folder_of(wanted, stored.key)
    return (stored.key, version.number) if folder is None else (wanted.bucket.prefix + folder + "\U0010ffff", 0)


def _folder_of(wanted: ListRequest, key: str) -> str | None:
    if not wanted.delimiter:
        return None
    head, found, _ = key[len(wanted.below) :].partition(wanted.delimiter)
    return wanted.prefix + head + found if found else None


def _last_version(wanted: ListRequest, found: Found, folders: list[str]) -> tuple[str, str]:
    last = (wanted.shown(found[-1][0].key), str(found[-1][1].id)) if found else ("", "")
    folder = folders[-1] + "\U0010ffff" if folders else ""
    return (folder, "") if folder > last[0] else last


def _tokened(key: str) -> str:
    return urlsafe_b64encode(key.encode()).decode()


def _untokened(token: str) -> str:
    try:
        return urlsafe_b64decode(token.encode()).decode()
    except (Error, ValueError) as error:
        raise S3Error("InvalidArgument", "The continuation token provided is incorrect") from error
