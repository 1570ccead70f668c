"""Signing a link, and what a request must say about its own signature."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest

from atrium.product.s3 import sigv4
from atrium.product.s3.model import S3Error
from atrium.product.s3.request import S3Request
from atrium.seams.routes import Wire

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
PAIR = ("ATAAAAAAAAAAAAAAAAAA", "a secret")


def asked(url: str, method: str = "GET", **headers: str) -> S3Request:
    parts = urlsplit(url)
    sent = {"host": parts.netloc, **{name.replace("_", "-"): value for name, value in headers.items()}}
    raw = [(name.encode(), value.encode()) for name, value in sent.items()]
    return S3Request(Wire(method, parts.path.encode(), parts.query.encode(), raw, None, False))  # type: ignore[arg-type]


def link(path: str = "/files/a b/ü+%.txt", expires: int = 60) -> str:
    return sigv4.sign_link(sigv4.Link("GET", "https", "s3.example", path), PAIR, "atrium", AT, expires)


def verify(signed: S3Request, secret: str = PAIR[1], now: datetime = AT) -> None:
    presented = sigv4.from_query(signed)
    sigv4.require_timely(presented, now)
    sigv4.require_signed(signed, presented)
    sigv4.check(signed, presented, secret)


def test_a_link_is_good_for_whoever_made_it() -> None:
    signed = asked(link())

    verify(signed)

    assert (signed.bucket, signed.key) == ("files", "a b/ü+%.txt")


@pytest.mark.parametrize(
    ("signed", "secret", "now", "name"),
    [
        (asked(link()), "another secret", AT, "SignatureDoesNotMatch"),
        (asked(link(), method="PUT"), PAIR[1], AT, "SignatureDoesNotMatch"),
        (asked(link().replace("/files/", "/other/")), PAIR[1], AT, "SignatureDoesNotMatch"),
        (asked(link() + "&versionId=1"), PAIR[1], AT, "SignatureDoesNotMatch"),
        (asked(link().replace("s3.example", "other.example")), PAIR[1], AT, "SignatureDoesNotMatch"),
        (asked(link()), PAIR[1], AT + timedelta(seconds=61), "AccessDenied"),
        (asked(link()), PAIR[1], AT - timedelta(minutes=16), "AccessDenied"),
        (asked(link(), x_amz_acl="public-read"), PAIR[1], AT, "AccessDenied"),
        (asked(link(expires=700_000)), PAIR[1], AT, "AuthorizationQueryParametersError"),
        (asked(link().replace("20260304T050607Z", "20260304T999999Z")), PAIR[1], AT, "AccessDenied"),
        (asked(link().replace("SignedHeaders=host", "SignedHeaders=date")), PAIR[1], AT, "AccessDenied"),
    ],
)
def test_a_link_is_good_for_nothing_else(signed: S3Request, secret: str, now: datetime, name: str) -> None:
    with pytest.raises(S3Error) as refused:
        verify(signed, secret, now)

    assert refused.value.name == name
