"""Replies of the gateway, and the request's headers that come back with an object."""

import re
from collections.abc import AsyncGenerator
from datetime import datetime
from typing import Any
from urllib.parse import quote

from atrium.engine.repository.model import ObjectAtKey, Version
from atrium.kit.web.http import http_date
from atrium.product.s3.request import S3Request
from atrium.seams.routes import Download

Headers = list[tuple[str, str]]
# Kept as they came and given back as they were.
KEPT = ("cache-control", "content-disposition", "content-encoding", "content-language", "expires")
DOCUMENT: Headers = [("content-type", "application/xml"), ("cache-control", "no-store")]
_META = "x-amz-meta-"
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f]")


def empty(status: int = 200, headers: Headers | None = None) -> Download:
    """A reply without a body."""
    return Download(status, headers or [], 0, None, bare=True)


def xml_reply(body: bytes, status: int = 200, headers: Headers | None = None) -> Download:
    """A reply with a document, which is the caller's alone."""
    return Download(status, [*DOCUMENT, *(headers or [])], len(body), None, True, body)


def late_reply(source: AsyncGenerator[bytes, None]) -> Download:
    """A reply whose document is still being made."""
    return Download(200, [*DOCUMENT], None, source, bare=True)


def moment(at: datetime) -> str:
    """A moment of ours, which are all in UTC, as S3's documents write it."""
    # Several times as fast as formatting by pattern, and a listing does it a thousand times.
    return at.isoformat(timespec="milliseconds")[:23] + "Z"


def version_headers(keyed: ObjectAtKey) -> Headers:
    """What a HEAD tells about a version."""
    version, left = keyed.version, keyed.attributes
    headers = [
        ("etag", f'"{version.etag}"'),
        ("last-modified", http_date(version.created_at)),
        ("accept-ranges", "bytes"),
        ("content-type", version.content_type),
        ("x-amz-version-id", str(version.id)),
    ]
    headers += [(name, encode_header(value)) for name, value in left.get("headers", {}).items()]
    headers += [(_META + name, encode_header(value)) for name, value in version.metadata.items() if _is_token(name)]
    if left.get("tags"):
        headers.append(("x-amz-tagging-count", str(len(left["tags"]))))
    return headers


def attributes_of(request: S3Request, tags: dict[str, str]) -> dict[str, Any]:
    """What a write leaves with its version, to be given back by reads."""
    headers = {name: value for name in KEPT if (value := request.text(name))}
    encoding = headers.get("content-encoding")
    if encoding is not None:
        # The framing of one request is not the object's encoding.
        kept = [part.strip() for part in encoding.split(",") if part.strip().lower() != "aws-chunked"]
        headers["content-encoding"] = ", ".join(kept)
        if not kept:
            del headers["content-encoding"]
    left: dict[str, Any] = {}
    if headers:
        left["headers"] = headers
    if tags:
        left["tags"] = tags
    return left


def metadata_of(request: S3Request) -> dict[str, str]:
    """The caller's own metadata."""
    return {
        name.removeprefix(_META): request.text(name) or ""
        for name in request.headers
        if name.startswith(_META) and len(name) > len(_META)
    }


def encode_header(value: str) -> str:
    """A text as a header carries it: its UTF-8 bytes, without what no header may have."""
    clean = _CONTROL.sub(" ", value)
    return clean if clean.isascii() else clean.encode("utf-8", "replace").decode("latin-1")


def url_encoded(text: str) -> str:
    """A key as listings write it for those who asked for encoded ones."""
    return quote(text, safe="/-_.~*")


def tag(version: Version) -> str:
    """The entity tag, in quotes."""
    return f'"{version.etag}"'


def _is_token(name: str) -> bool:
    return bool(name) and name.isascii() and all(c.isalnum() or c in "!#$%&'*+-.^_`|~" for c in name)
