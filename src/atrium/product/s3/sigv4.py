"""AWS Signature Version 4, both ends: reading and checking what a request presents, and signing a link."""

import hashlib
import hmac
import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from urllib.parse import quote, unquote_to_bytes

import msgspec

from atrium.product.s3.model import S3Error
from atrium.product.s3.request import S3Request

ALGORITHM = "AWS4-HMAC-SHA256"
UNSIGNED = "UNSIGNED-PAYLOAD"
SKEW = timedelta(minutes=15)
LONGEST_LINK = 604_800
_SAFE = "-_.~"
_MOST_SIGNED = 200
_STAMP = re.compile(r"\d{8}T\d{6}Z", re.ASCII)
# Sent by clients beside a link that was signed without them; the first only says how the body is to be checked.
_MAY_BE_UNSIGNED = frozenset({"x-amz-content-sha256"})


class SignedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a request says about its own signature."""

    access_key_id: str
    scope: str
    date: str
    region: str
    at: str
    signed: tuple[str, ...]
    signature: str
    payload: str
    expires: int | None = None


class Seal(msgspec.Struct, frozen=True):
    """A signature that was good, from which the signatures of the body's chunks follow."""

    key: bytes
    scope: str
    at: str
    signature: str


def from_header(request: S3Request) -> SignedRequest:
    """The signature in an Authorization header."""
    header = request.headers["authorization"]
    fields = dict(part.strip().partition("=")[::2] for part in header.removeprefix(ALGORITHM).split(",") if "=" in part)
    if not {"Credential", "SignedHeaders", "Signature"} <= fields.keys():
        raise S3Error("AuthorizationHeaderMalformed", "Credential, SignedHeaders and Signature are needed")
    payload = request.headers.get("x-amz-content-sha256")
    if payload is None:
        raise S3Error("AccessDenied", "x-amz-content-sha256 is missing")
    access_key_id, scope, date, region = _credential(fields["Credential"])
    return SignedRequest(
        access_key_id=access_key_id,
        scope=scope,
        date=date,
        region=region,
        at=request.headers.get("x-amz-date") or _basic(request.headers.get("date", "")),
        signed=_signed_names(fields["SignedHeaders"]),
        signature=fields["Signature"],
        payload=payload,
    )


def from_query(request: S3Request) -> SignedRequest:
    """The signature in a link."""
    query = request.query
    if query.get("X-Amz-Algorithm") != ALGORITHM:
        raise S3Error("AuthorizationQueryParametersError", f"X-Amz-Algorithm must be {ALGORITHM}")
    expires = query.get("X-Amz-Expires", "")
    if expires.startswith("-"):
        raise S3Error("AccessDenied", "Request has expired")
    if not (expires.isascii() and expires.isdigit() and len(expires) < 9 and 1 <= int(expires) <= LONGEST_LINK):
        raise S3Error("AuthorizationQueryParametersError", "X-Amz-Expires is between 1 second and 7 days")
    access_key_id, scope, date, region = _credential(query.get("X-Amz-Credential", ""))
    return SignedRequest(
        access_key_id=access_key_id,
        scope=scope,
        date=date,
        region=region,
        at=query.get("X-Amz-Date", ""),
        signed=_signed_names(query.get("X-Amz-SignedHeaders", "")),
        signature=query["X-Amz-Signature"],
        payload=query.get("X-Amz-Content-Sha256") or request.headers.get("x-amz-content-sha256") or UNSIGNED,
        expires=int(expires),
    )


def require_timely(presented: SignedRequest, now: datetime) -> None:
    """Refuse what was signed for another moment."""
    if not _STAMP.fullmatch(presented.at):
        raise S3Error("AccessDenied", "the request says no moment it was signed at")
    try:
        at = datetime.fromisoformat(presented.at)
    except ValueError as error:
        raise S3Error("AccessDenied", "the request says no moment it was signed at") from error
    if not presented.at.startswith(presented.date):
        raise S3Error("SignatureDoesNotMatch", "the credential's date is not the request's")
    if presented.expires is None:
        if abs(now - at) > SKEW:
            raise S3Error("RequestTimeTooSkewed", "the request's time is too far from the server's")
    elif at - now > SKEW or now > at + timedelta(seconds=presented.expires):
        raise S3Error("AccessDenied", "Request has expired")


def require_signed(request: S3Request, presented: SignedRequest) -> None:
    """Refuse a request whose meaning could be changed by unsigned headers."""
    if "host" not in presented.signed:
        raise S3Error("AccessDenied", "the Host header must be signed")
    signed = _MAY_BE_UNSIGNED.union(presented.signed)
    for name in request.headers:
        if name.startswith("x-amz-") and name not in signed:
            raise S3Error("AccessDenied", f"there is a header that was not signed: {name}")


def check(request: S3Request, presented: SignedRequest, secret: str) -> Seal:
    """Refuse unless the holder of the secret signed exactly this."""
    key = signing_key(secret, presented.date, presented.region)
    canonical = _canonical(request, presented)
    good = _sign(key, presented.at, presented.scope, canonical)
    if not hmac.compare_digest(good.encode(), presented.signature.encode("utf-8", "replace")):
        raise S3Error(
            "SignatureDoesNotMatch", "the signature does not match what was sent; check the secret and the clock"
        )
    return Seal(key, presented.scope, presented.at, good)


class Link(msgspec.Struct, frozen=True):
    """What a signed link is to call."""

    method: str
    scheme: str
    host: str
    path: str


def sign_link(link: Link, key: tuple[str, str], region: str, at: datetime, expires: int) -> str:
    """An address that anybody may use until it expires; `key` is the pair's id and its secret."""
    access_key_id, secret = key
    stamp = at.strftime("%Y%m%dT%H%M%SZ")
    scope = f"{stamp[:8]}/{region}/s3/aws4_request"
    query = "&".join(
        f"{name}={_encoded(value)}"
        for name, value in sorted(
            {
                "X-Amz-Algorithm": ALGORITHM,
                "X-Amz-Credential": f"{access_key_id}/{scope}",
                "X-Amz-Date": stamp,
                "X-Amz-Expires": str(expires),
                "X-Amz-SignedHeaders": "host",
            }.items()
        )
    )
    path = _encoded(link.path, "/")
    canonical = f"{link.method}\n{path}\n{query}\nhost:{link.host}\n\nhost\n{UNSIGNED}"
    signature = _sign(signing_key(secret, stamp[:8], region), stamp, scope, canonical)
    return f"{link.scheme}://{link.host}{path}?{query}&X-Amz-Signature={signature}"


@lru_cache(maxsize=4096)
def signing_key(secret: str, date: str, region: str) -> bytes:
    """The key of one day in one region; it lasts as long as the day does, so deriving it anew each time would be waste."""
    key = f"AWS4{secret}".encode()
    for part in (date, region, "s3", "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


def _sign(key: bytes, at: str, scope: str, canonical: str) -> str:
    digest = hashlib.sha256(canonical.encode("latin-1", "replace")).hexdigest()
    return hmac.digest(key, f"{ALGORITHM}\n{at}\n{scope}\n{digest}".encode("latin-1", "replace"), "sha256").hex()


def _credential(text: str) -> tuple[str, str, str, str]:
    parts = text.rsplit("/", 4)
    if len(parts) != 5 or parts[3:] != ["s3", "aws4_request"] or not text.isascii():
        raise S3Error("AccessDenied", "the credential is <key id>/<date>/<region>/s3/aws4_request")
    return parts[0], "/".join(parts[1:]), parts[1], parts[2]


def _signed_names(text: str) -> tuple[str, ...]:
    names = tuple(text.split(";"))
    # Each is written out with its value to be signed, so one name a thousand times would be a thousand values.
    if len(names) > _MOST_SIGNED or len(set(names)) < len(names):
        raise S3Error("AccessDenied", f"at most {_MOST_SIGNED} headers are signed, each named once")
    return names


def _canonical(request: S3Request, presented: SignedRequest) -> str:
    # What came encoded is decoded and encoded in the one way that signing knows; S3 resolves no dots.
    path = _encoded(unquote_to_bytes(request.raw_path.encode("latin-1")), "/") or "/"
    headers = "".join(f"{name}:{' '.join(request.headers.get(name, '').split())}\n" for name in presented.signed)
    return "\n".join(
        (
            request.method,
            path,
            _canonical_query(request.raw_query),
            headers,
            ";".join(presented.signed),
            presented.payload,
        )
    )


def _canonical_query(raw: str) -> str:
    pairs = []
    for part in raw.split("&"):
        name, _, value = part.partition("=")
        if part and name != "X-Amz-Signature":
            pairs.append((_encoded(unquote_to_bytes(name)), _encoded(unquote_to_bytes(value))))
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))


def _encoded(text: str | bytes, more: str = "") -> str:
    return quote(text, safe=_SAFE + more)


def _basic(date: str) -> str:
    """A Date header in the form that is signed; what is not a date stays as it is and is refused later."""
    try:
        return parsedate_to_datetime(date).astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    except (ValueError, TypeError, OverflowError):
        return date
