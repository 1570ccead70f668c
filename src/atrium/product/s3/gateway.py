"""The gateway: a request from signature to reply. Which of S3's operations it is, and S3's words for what goes wrong."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from atrium.kit.database import refusal_of
from atrium.kit.errors import AppError, Suspended
from atrium.kit.log import log
from atrium.product.s3 import (
    buckets,
    cors,
    credentials,
    deleting,
    forms,
    listing,
    multipart,
    payload,
    putting,
    reading,
    refusals,
)
from atrium.product.s3.ask import Ask
from atrium.product.s3.model import Refusal
from atrium.product.s3.payload import Admitted
from atrium.product.s3.replies import xml_reply
from atrium.seams.context import Operation
from atrium.seams.routes import Disconnected, Download, Wire

Act = Callable[[Operation, Admitted], Awaitable[Download]]
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_SETTINGS = ("acl", "cors", "location", "tagging", "versioning", *buckets.ABSENT)
_SMALL = 1 << 20
_NOT_OF_OBJECTS = ("legal-hold", "retention", "torrent", "restore", "select")


async def serve(op: Operation, wire: Wire) -> Download:
    """The reply to a request, whatever happens on the way."""
    ask: Ask | None = None
    try:
        ask = Ask(wire)
        reply = cors.preflight(ask) if ask.method == "OPTIONS" else await _answer(op, ask)
        if reply.source is not None:
            # Read here, so that bytes which turn out to be missing are refused in S3's words as well.
            reply = replace(reply, body=await anext(reply.source, b""))
    except Disconnected:
        raise
    except Exception as error:  # an outermost loop of its own: whatever happens is told in S3's words
        reply = _refused(op, wire, ask, error)
    return await _completed(op, wire, ask, reply)


async def _answer(op: Operation, ask: Ask) -> Download:
    if forms.is_form(ask):
        return await forms.post_object(op, ask)
    admitted = await credentials.admit(op, ask)
    if ask.method not in _READS:
        require_writing(op)
    return await _act_of(ask)(op, admitted)


def require_writing(op: Operation) -> None:
    """Refuse a write while the company or the instance is suspended."""
    if op.who.suspended:
        raise Suspended("this account is suspended: reading works, writing does not")


def _act_of(ask: Ask) -> Act:
    acts: dict[str, Act]
    if ask.bucket is None:
        acts = {"GET": buckets.list_buckets}
    elif ask.key is None:
        acts = _of_bucket(ask)
    else:
        acts = _of_object(ask)
    act = acts.get(ask.method)
    if act is None:
        raise buckets.not_here()
    return act


def _of_bucket(ask: Ask) -> dict[str, Act]:
    if ask.has(*_SETTINGS):
        return {"GET": buckets.read_setting, "PUT": buckets.write_setting, "DELETE": buckets.delete_setting}
    if ask.has("uploads"):
        return {"GET": multipart.list_uploads}
    if ask.has("versions"):
        return {"GET": listing.list_versions}
    if ask.has("delete"):
        return {"POST": deleting.delete_objects}
    listed = listing.list_v2 if ask.query.get("list-type") == "2" else listing.list_v1
    return {
        "GET": listed,
        "HEAD": buckets.head_bucket,
        "PUT": buckets.create_bucket,
        "DELETE": buckets.delete_bucket,
    }


def _of_object(ask: Ask) -> dict[str, Act]:
    copying = "x-amz-copy-source" in ask.headers
    if ask.has("uploadId"):
        return {
            "GET": multipart.list_parts,
            "PUT": multipart.copy_part if copying else multipart.upload_part,
            "POST": multipart.complete_upload,
            "DELETE": multipart.abort_upload,
        }
    if ask.has("uploads"):
        return {"POST": multipart.create_upload}
    if ask.has("tagging"):
        return {"GET": reading.get_tags, "PUT": putting.put_tags, "DELETE": putting.delete_tags}
    if ask.has("acl"):
        return {"GET": reading.get_access_list, "PUT": putting.put_access_list}
    if ask.has("attributes"):
        return {"GET": reading.get_attributes}
    if ask.has(*_NOT_OF_OBJECTS):
        return {"GET": reading.refuse_lock} if ask.has("legal-hold", "retention") else {}
    return {
        "GET": reading.get_object,
        "HEAD": reading.get_object,
        "PUT": putting.copy_object if copying else putting.put_object,
        "DELETE": deleting.delete_object,
    }


def _refused(op: Operation, wire: Wire, ask: Ask | None, error: Exception) -> Download:
    known = error if isinstance(error, AppError) else refusal_of(error)
    if known is None:
        log.error("s3.failed", request_id=op.request_id, method=wire.method, exc_info=error)
        known = Refusal("InternalError", "We encountered an internal error. Please try again.")
    name = refusals.name_of(known)
    headers = list(known.headers) if isinstance(known, Refusal) else []
    if name == "InvalidRange" and "content_range" in known.facts:
        headers.append(("content-range", str(known.facts["content_range"])))
    body = refusals.document_of(name, known.message, wire.raw_path.decode("latin-1"), op.request_id, dict(known.facts))
    return xml_reply(body, refusals.STATUS[name], headers)


async def _drained(op: Operation, ask: Ask) -> bool:
    """Read a small body that comes anyway: closing on a client that is still sending could lose it the refusal."""
    if "expect" in ask.headers or not (ask.length and ask.length <= _SMALL):
        return False
    try:
        async with payload.patient(op.services.settings.body_timeout):
            async for _ in ask.wire.chunks:
                pass
    except Refusal:
        return False
    return True


async def _completed(op: Operation, wire: Wire, ask: Ask | None, reply: Download) -> Download:
    reply.headers.append(("x-amz-request-id", op.request_id))
    if ask is None:
        reply.headers.append(("connection", "close"))
        return reply
    if ask.has_body and not ask.taken and not await _drained(op, ask):
        # Unread bytes would be taken for the next request.
        reply.headers.append(("connection", "close"))
    reply.headers.extend(await cors.headers_for(op, ask))
    return reply
