"""AWS Signature Version 2, for the two places where clients of today still use it: links, and forms."""

import hmac
from base64 import b64encode
from datetime import UTC, datetime, timedelta

from atrium.product.s3.model import S3Error
from atrium.product.s3.request import S3Request

LONGEST_LINK, SKEW = timedelta(days=7), timedelta(minutes=15)
# Sub-resources and overrides that take part in what is signed.
_SIGNED = frozenset(
    {
        "acl",
        "cors",
        "delete",
        "lifecycle",
        "location",
        "logging",
        "notification",
        "partNumber",
        "policy",
        "requestPayment",
    }
    | {"restore", "tagging", "torrent", "uploadId", "uploads", "versionId", "versioning", "versions", "website"}
    | {f"response-{name}" for name in ("cache-control", "content-disposition", "content-encoding", "content-language")}
    | {"response-content-type", "response-expires"}
)


def is_link(request: S3Request) -> bool:
    """Whether the query carries an old signature."""
    return "AWSAccessKeyId" in request.query and "Signature" in request.query


def check_link(request: S3Request, secret: str, now: datetime) -> None:
    """Refuse unless the holder of the secret signed this link, and it has not expired."""
    expires = request.query.get("Expires", "")
    if not (expires.isascii() and expires.isdigit() and len(expires) < 12):
        raise S3Error("AccessDenied", "Expires must be a moment in seconds")
    good = sign(secret, _text_of(request, expires))
    if not hmac.compare_digest(good.encode(), request.query["Signature"].encode("utf-8", "replace")):
        raise S3Error("SignatureDoesNotMatch", "the signature does not match what was sent")
    until = datetime.fromtimestamp(int(expires), UTC)
    if now > until:
        raise S3Error("AccessDenied", "Request has expired")
    if until - now > LONGEST_LINK + SKEW:
        # Nothing in such a link says when it was made, so its end is bounded instead of its age.
        raise S3Error("AccessDenied", "a link works for at most 7 days")


def sign(secret: str, text: str) -> str:
    """The old signature of a text."""
    return b64encode(hmac.digest(secret.encode(), text.encode("latin-1", "replace"), "sha1")).decode()


def _text_of(request: S3Request, expires: str) -> str:
    headers, amz = request.headers, sorted(name for name in request.headers if name.startswith("x-amz-"))
    lines = [request.method, headers.get("content-md5", ""), headers.get("content-type", ""), expires]
    lines += [f"{name}:{headers[name].strip()}" for name in amz]
    path = request.raw_path if request.wire.bucket_host is None else f"/{request.wire.bucket_host}{request.raw_path}"
    named = sorted(name for name in request.query if name in _SIGNED)
    query = "&".join(f"{name}={request.query[name]}" if request.query[name] else name for name in named)
    return "\n".join([*lines, f"{path}?{query}" if query else path])
