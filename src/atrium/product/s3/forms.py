"""Uploads from HTML forms: the fields, then the file, streamed; allowed by a policy that a key's holder signed."""

import hmac
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from urllib.parse import quote

from atrium.engine.repository import uploads, writes
from atrium.kit.errors import Suspended
from atrium.product.s3 import buckets, checksums, credentials, payload, put_object, sigv2, sigv4, tags, xml
from atrium.product.s3.model import S3Error
from atrium.product.s3.policy import PostPolicy, read_policy
from atrium.product.s3.replies import Headers, empty, encode_header, tag, xml_reply
from atrium.product.s3.request import S3Request
from atrium.seams.context import Operation
from atrium.seams.routes import Download

_LONGEST_HEAD, _LONGEST_FIELDS, _MOST_FIELDS = 16 << 10, 64 << 10, 200
_NAMED = re.compile(r'(?<![A-Za-z*])(name|filename)="((?:[^"\\]|\\.)*)"')
_BOUNDARY = re.compile(r'boundary=(?:"([^"]{1,70})"|([^;\s]{1,70}))')
_REDIRECT = re.compile(r"https?://[^\s]+")


def is_form(request: S3Request) -> bool:
    """Whether this is a form posted to a bucket."""
    return (
        request.method == "POST"
        and request.bucket is not None
        and request.key is None
        and request.headers.get("content-type", "").lower().startswith("multipart/form-data")
    )


async def post_object(op: Operation, request: S3Request) -> Download:
    """POST Object."""
    form = Form(request)
    async with payload.patient(op.services.settings.body_timeout):
        fields, filename = await form.fields()
    policy = await _admit(op, request, fields)
    key = fields.get("key", "").replace("${filename}", filename)
    if not key:
        raise S3Error("InvalidArgument", "Bucket POST must contain a field named 'key'.")
    policy.require({**fields, "key": key, "bucket": request.bucket or ""})
    if op.who.suspended:
        raise Suspended("this account is suspended: reading works, writing does not")
    posted = request.posted(key, fields)
    buckets.require_private(posted)
    async with op.begin() as ctx:
        bucket = await buckets.open_bucket(ctx, request.bucket)
        draft = put_object.draft_of(posted, bucket.at(key))
        if "tagging" in fields:
            draft.attributes["tags"] = tags.in_document(fields["tagging"].encode())
        conditions = put_object.conditions_of(posted)
        await writes.require_writable(ctx, draft, conditions)
    claim = checksums.claim_of(posted)
    async with uploads.receive(op, policy.bounded(form.file()), None, hashes=claim.hashes) as upload:
        policy.require_size(upload.staged.size)
        checksum = claim.settle(upload.staged, {})
        draft = put_object.finish_draft(draft, upload.staged.hashes["md5"].hex(), checksum)
        written = await writes.write_object(op, draft, upload, conditions)
    return _replied(request, fields, key, put_object.written_headers(written, checksum), tag(written.version))


async def _admit(op: Operation, request: S3Request, fields: dict[str, str]) -> PostPolicy:
    """The policy, once its signature was good; `op` then acts as its signer."""
    text = fields.get("policy")
    if text is None:
        raise S3Error("AccessDenied", "a form needs a signed policy")
    if "awsaccesskeyid" in fields:
        if "signature" not in fields:
            raise S3Error("InvalidArgument", "Bucket POST must contain a field named 'signature'.")
        who, secret = await credentials.identify(op, fields["awsaccesskeyid"])
        good, given = sigv2.sign(secret, text), fields["signature"]
    else:
        if not {"x-amz-credential", "x-amz-signature"} <= fields.keys():
            raise S3Error("InvalidArgument", "Bucket POST must contain a field named 'x-amz-signature'.")
        parts = fields["x-amz-credential"].rsplit("/", 4)
        if len(parts) != 5:
            raise S3Error("AccessDenied", "the credential is <key id>/<date>/<region>/s3/aws4_request")
        who, secret = await credentials.identify(op, parts[0])
        key = sigv4.signing_key(secret, parts[1], parts[2])
        good, given = hmac.digest(key, text.encode(), "sha256").hex(), fields["x-amz-signature"]
    if not hmac.compare_digest(good.encode(), given.encode()):
        raise S3Error("SignatureDoesNotMatch", "the signature is not the policy's")
    op.who = who
    return read_policy(text, datetime.now(UTC))


def _replied(request: S3Request, fields: dict[str, str], key: str, headers: Headers, etag: str) -> Download:
    redirect = fields.get("success_action_redirect") or fields.get("redirect")
    if redirect and _REDIRECT.fullmatch(redirect):
        query = f"bucket={quote(request.bucket or '', safe='')}&key={quote(key, safe='')}&etag={quote(etag, safe='')}"
        return empty(
            303, [*headers, ("location", encode_header(f"{redirect}{'&' if '?' in redirect else '?'}{query}"))]
        )
    status = fields.get("success_action_status")
    if status != "201":
        return empty(200 if status == "200" else 204, headers)
    told = [
        xml.leaf("Location", f"{request.raw_path.rstrip('/')}/{quote(key)}"),
        xml.leaf("Bucket", request.bucket),
        xml.leaf("Key", key),
        xml.leaf("ETag", etag),
    ]
    return xml_reply(xml.document("PostResponse", *told), 201, headers)


class Form:
    """A multipart/form-data body, read once from front to back; the file is never in memory whole."""

    def __init__(self, request: S3Request) -> None:
        found = _BOUNDARY.search(request.headers["content-type"])
        if found is None:
            raise S3Error("MalformedPOSTRequest", "the form names no boundary")
        self._mark = b"\r\n--" + (found[1] or found[2]).encode("latin-1")
        self._source = request.chunks()
        # As if the first boundary, too, began on a new line. Its front is cut off without moving the rest.
        self._held = bytearray(b"\r\n")

    async def fields(self) -> tuple[dict[str, str], str]:
        """Every field before the file, by lower-case name, and the file's own name."""
        fields: dict[str, str] = {}
        size = 0
        await self._until(self._mark, _LONGEST_HEAD)
        while True:
            if (await self._exactly(2)) != b"\r\n":
                raise S3Error("InvalidArgument", "POST requires exactly one file upload per request.")
            name, filename = _named(await self._head())
            if name == "file":
                return fields, filename
            value = await self._until(self._mark, _LONGEST_FIELDS)
            size += len(value)
            if size > _LONGEST_FIELDS or len(fields) >= _MOST_FIELDS:
                raise S3Error("MalformedPOSTRequest", "the fields before the file are too long or too many")
            fields[name.lower()] = value.decode("utf-8", "replace")

    async def file(self) -> AsyncIterator[bytes]:
        """The file's bytes; what comes behind it is read and forgotten."""
        keep = len(self._mark) - 1
        while (at := self._held.find(self._mark)) < 0:
            # The beginning of a boundary may be at the end of what is here.
            if len(self._held) > keep:
                yield self._cut(len(self._held) - keep)
            await self._more()
        if at:
            yield self._cut(at)
        async for _ in self._source:
            pass

    async def _head(self) -> str:
        # A part without headers has its blank line at once.
        return (await self._until(b"\r\n\r\n", _LONGEST_HEAD)).decode("utf-8", "replace")

    async def _exactly(self, size: int) -> bytes:
        while len(self._held) < size:
            await self._more()
        return self._cut(size)

    async def _until(self, mark: bytes, most: int) -> bytes:
        looked = 0
        while (at := self._held.find(mark, looked)) < 0:
            if len(self._held) > most:
                raise S3Error("MalformedPOSTRequest", "a part of the form is too long")
            # What was looked at is not looked at again, however small the pieces come.
            looked = max(0, len(self._held) - len(mark))
            await self._more()
        taken = self._cut(at)
        self._cut(len(mark))
        return taken

    def _cut(self, size: int) -> bytes:
        taken = bytes(self._held[:size])
        del self._held[:size]
        return taken

    async def _more(self) -> None:
        piece = await anext(self._source, b"")
        if not piece:
            raise S3Error("IncompleteBody", "the form ends before its last boundary")
        self._held += piece


def _named(head: str) -> tuple[str, str]:
    for line in head.split("\r\n"):
        if line.lower().startswith("content-disposition:"):
            found = {name: value.replace('\\"', '"') for name, value in _NAMED.findall(line)}
            return found.get("name", ""), found.get("filename", "")
    return "", ""
