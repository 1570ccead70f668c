"""AWS Signature Version 2, for the two places where clients of today still use it: links, and forms."""

import hmac
from base64 import b64encode
from datetime import UTC, datetime

from atrium.product.s3.ask import Ask
from atrium.product.s3.model import Refusal

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


def is_link(ask: Ask) -> bool:
    """Whether the query carries an old signature."""
    return "AWSAccessKeyId" in ask.query and "Signature" in ask.query


def check_link(ask: Ask, secret: str, now: datetime) -> None:
    """Refuse unless the holder of the secret signed this link, and it has not expired."""
    expires = ask.query.get("Expires", "")
    if not (expires.isascii() and expires.isdigit() and len(expires) < 12):
        raise Refusal("AccessDenied", "Expires must be a moment in seconds")
    good = sign(secret, _text_of(ask, expires))
    if not hmac.compare_digest(good.encode(), ask.query["Signature"].encode("utf-8", "replace")):
        raise Refusal("SignatureDoesNotMatch", "the signature does not match what was sent")
    if now > datetime.fromtimestamp(int(expires), UTC):
        raise Refusal("AccessDenied", "Request has expired")


def sign(secret: str, text: str) -> str:
    """The old signature of a text."""
    return b64encode(hmac.digest(secret.encode(), text.encode("latin-1", "replace"), "sha1")).decode()


def _text_of(ask: Ask, expires: str) -> str:
    headers, amz = ask.headers, sorted(name for name in ask.headers if name.startswith("x-amz-"))
    lines = [ask.method, headers.get("content-md5", ""), headers.get("content-type", ""), expires]
    lines += [f"{name}:{headers[name].strip()}" for name in amz]
    path = ask.raw_path if ask.wire.bucket_host is None else f"/{ask.wire.bucket_host}{ask.raw_path}"
    named = sorted(name for name in ask.query if name in _SIGNED)
    query = "&".join(f"{name}={ask.query[name]}" if ask.query[name] else name for name in named)
    return "\n".join([*lines, f"{path}?{query}" if query else path])
