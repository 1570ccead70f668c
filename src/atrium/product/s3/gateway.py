"""The gateway: a request from signature to reply. Which of S3's operations it is, and S3's words for what goes wrong."""

from collections.abc import Awaitable, Callable

from atrium.kit.errors import AppError, Suspended
from atrium.kit.postgres.failures import refusal_of
from atrium.kit.telemetry.log import log
from atrium.product.s3 import (
    buckets,
    cors,
    credentials,
    delete_object,
    forms,
    get_object,
    list_objects,
    multipart,
    payload,
    put_object,
    refusals,
)
from atrium.product.s3.model import S3Error
from atrium.product.s3.payload import S3Caller
from atrium.product.s3.replies import xml_reply
from atrium.product.s3.request import S3Request
from atrium.seams.context import Operation
from atrium.seams.routes import READS, Disconnected, Download, Wire

Act = Callable[[Operation, S3Caller], Awaitable[Download]]
_SETTINGS = ("acl", "cors", "location", "tagging", "versioning", *buckets.ABSENT)
_SMALL = 1 << 20
_NOT_OF_OBJECTS = ("legal-hold", "retention", "torrent", "restore", "select")


async def serve(op: Operation, wire: Wire) -> Download:
    """The reply to a request, whatever happens on the way."""
    request: S3Request | None = None
    try:
        request = S3Request(wire)
        reply = cors.preflight(request) if request.method == "OPTIONS" else await _answer(op, request)
    except Disconnected:
        raise
    except Exception as error:  # an outermost loop of its own: whatever happens is told in S3's words
        reply = _refused(op, wire, request, error)
    return await _completed(op, wire, request, reply)


async def _answer(op: Operation, request: S3Request) -> Download:
    if forms.is_form(request):
        return await forms.post_object(op, request)
    admitted = await credentials.admit(op, request)
    if request.method not in READS:
        require_writing(op)
    return await _act_of(request)(op, admitted)


def require_writing(op: Operation) -> None:
    """Refuse a write while the company or the instance is suspended."""
    if op.who.suspended:
        raise Suspended("this account is suspended: reading works, writing does not")


def _act_of(request: S3Request) -> Act:
    acts: dict[str, Act]
    if request.bucket is None:
        acts = {"GET": buckets.list_buckets}
    elif request.key is None:
        acts = _of_bucket(request)
    else:
        acts = _of_object(request)
    act = acts.get(request.method)
    if act is None:
        raise buckets.not_here()
    return act


def _of_bucket(request: S3Request) -> dict[str, Act]:
    if request.has(*_SETTINGS):
        return {"GET": buckets.read_setting, "PUT": buckets.write_setting, "DELETE": buckets.delete_setting}
    if request.has("uploads"):
        return {"GET": multipart.list_uploads}
    if request.has("versions"):
        return {"GET": list_objects.list_versions}
    if request.has("delete"):
        return {"POST": delete_object.delete_objects}
    listed = list_objects.list_v2 if request.query.get("list-type") == "2" else list_objects.list_v1
    return {
        "GET": listed,
        "HEAD": buckets.head_bucket,
        "PUT": buckets.create_bucket,
        "DELETE": buckets.delete_bucket,
    }


def _of_object(request: S3Request) -> dict[str, Act]:
    copying = "x-amz-copy-source" in request.headers
    if request.has("uploadId"):
        return {
            "GET": multipart.list_parts,
            "PUT": multipart.copy_part if copying else multipart.upload_part,
            "POST": multipart.complete_upload,
            "DELETE": multipart.abort_upload,
        }
    if request.has("uploads"):
        return {"POST": multipart.create_upload}
    if request.has("tagging"):
        return {"GET": get_object.get_tags, "PUT": put_object.put_tags, "DELETE": put_object.delete_tags}
    if request.has("acl"):
        return {"GET": get_object.get_access_list, "PUT": put_object.put_access_list}
    if request.has("attributes"):
        return {"GET": get_object.get_attributes}
    if request.has(*_NOT_OF_OBJECTS):
        return {"GET": get_object.refuse_lock} if request.has("legal-hold", "retention") else {}
    return {
        "GET": get_object.get_object,
        "HEAD": get_object.get_object,
        "PUT": put_object.copy_object if copying else put_object.put_object,
        "DELETE": delete_object.delete_object,
    }


def _refused(op: Operation, wire: Wire, request: S3Request | None, error: Exception) -> Download:
    known = error if isinstance(error, AppError) else refusal_of(error)
    if known is None:
        log.error("s3.failed", request_id=op.request_id, method=wire.method, exc_info=error)
        known = S3Error("InternalError", "We encountered an internal error. Please try again.")
    name = refusals.name_of(known)
    headers = list(known.headers) if isinstance(known, S3Error) else []
    if name == "InvalidRange" and "content_range" in known.facts:
        headers.append(("content-range", str(known.facts["content_range"])))
    body = refusals.document_of(name, known.message, wire.raw_path.decode("latin-1"), op.request_id, dict(known.facts))
    return xml_reply(body, refusals.STATUS[name], headers)


async def _drained(op: Operation, request: S3Request) -> bool:
    """Read a small body that comes anyway: closing on a client that is still sending could lose it the refusal."""
    if "expect" in request.headers or not (request.length and request.length <= _SMALL):
        return False
    try:
        async with payload.patient(op.services.settings.body_timeout):
            async for _ in request.wire.chunks:
                pass
    except S3Error:
        return False
    return True


async def _completed(op: Operation, wire: Wire, request: S3Request | None, reply: Download) -> Download:
    reply.headers.append(("x-amz-request-id", op.request_id))
    if request is None:
        reply.headers.append(("connection", "close"))
        return reply
    if request.has_body and not request.taken and not await _drained(op, request):
        # Unread bytes would be taken for the next request.
        reply.headers.append(("connection", "close"))
    reply.headers.extend(await buckets.cors_headers(op, request))
    return reply
