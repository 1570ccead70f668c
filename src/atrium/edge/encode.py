"""Replies and refusals to bytes."""

from typing import Any

import msgspec

from atrium.kit.errors import AppError
from atrium.kit.web.http import STATUS
from atrium.seams.routes import Accepted, Content, Created, Download, EventStream, Put

Header = tuple[bytes, bytes]
JSON = (b"content-type", b"application/json")
PROBLEM = (b"content-type", b"application/problem+json")
NO_STORE = b"no-store"
INTERNAL, FAILURE = "internal", "Something broke on our side"
_encode = msgspec.json.Encoder().encode


class Reply(msgspec.Struct, eq=False):
    """A finished answer: status, headers and either bytes, a stream of events, or bytes yet to be read.

    Caches store nothing unless `cache` says so, and browsers run nothing in it unless `policy` says so.
    """

    status: int
    headers: list[Header]
    body: bytes
    events: EventStream | None = None
    cache: bytes = NO_STORE
    download: Download | None = None
    policy: bytes | None = None
    # Whether pages of other origins may show or run it.
    shared: bool = False
    next_cursor: str | None = None


def reply_of(value: Any) -> Reply:
    """The answer for whatever a handler returned."""
    kind = type(value)
    if kind is Created:
        return _json(value.value, 201)
    if kind is Put:
        return _json(value.value, 201 if value.new else 200)
    if kind is Accepted:
        started = _json(value.value, 202)
        if value.at is not None:
            started.headers.append((b"location", value.at.encode()))
        return started
    if kind is Content:
        return _content(value)
    if kind is EventStream:
        return Reply(200, [(b"content-type", b"text/event-stream"), (b"x-accel-buffering", b"no")], b"", value)
    if kind is Download:
        headers = [(name.encode(), text.encode("latin-1")) for name, text in value.headers]
        policy = None if value.policy is None else value.policy.encode()
        return Reply(value.status, headers, b"", download=value, policy=policy)
    if value is None:
        return Reply(204, [], b"")
    return _json(value, 200)


def problem_of(error: AppError, request_id: str) -> Reply:
    """RFC 9457: people read `detail`, programs read `code`."""
    status = STATUS[error.kind]
    facts = dict(error.facts)
    headers = [PROBLEM]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if "retry_after" in facts:
        headers.append((b"retry-after", str(facts["retry_after"]).encode()))
    if status == 405:
        headers.append((b"allow", str(facts.pop("allow")).encode()))
    if status == 416:
        headers.append((b"content-range", str(facts.pop("content_range")).encode()))
    if status == 412 and "current" in facts:
        headers.append((b"etag", str(facts["current"]).encode()))
    body = {
        "type": f"/docs#{error.code}",
        "title": error.title,
        "status": status,
        "detail": error.message,
        "code": error.code,
        "request_id": request_id,
        **facts,
    }
    return Reply(status, headers, _encode(body))


def failure(request_id: str) -> Reply:
    """A defect of ours; the log has the details under the same id."""
    body = {
        "type": f"/docs#{INTERNAL}",
        "title": FAILURE,
        "status": 500,
        "detail": "this is a defect; report it with the request id",
        "code": INTERNAL,
        "request_id": request_id,
    }
    return Reply(500, [PROBLEM], _encode(body))


def _json(value: Any, status: int) -> Reply:
    etag = getattr(value, "etag", None)
    headers = [JSON] if etag is None else [JSON, (b"etag", etag().encode())]
    # A large model that many ask for keeps its bytes.
    made = getattr(value, "reply_bytes", None)
    return Reply(status, headers, made or _encode(value), next_cursor=getattr(value, "next_cursor", None))


def _content(content: Content) -> Reply:
    headers = [(b"content-type", content.media_type.encode())]
    policy = None if content.policy is None else content.policy.encode()
    if policy is not None:
        if content.policy and "frame-ancestors 'self'" not in content.policy:
            headers.append((b"x-frame-options", b"DENY"))
        headers += [
            (b"referrer-policy", b"same-origin"),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
        ]
    if content.encoding is not None:
        headers.append((b"content-encoding", content.encoding.encode()))
    if content.etag is not None:
        headers.append((b"etag", content.etag.encode()))
    if content.cache is None:
        return Reply(content.status, headers, content.body, policy=policy, shared=content.shared)
    # A cache that ignored the encoding would send compressed bytes to a client that cannot decompress them.
    headers.append((b"vary", content.vary.encode()))
    return Reply(
        content.status, headers, content.body, cache=content.cache.encode(), policy=policy, shared=content.shared
    )
