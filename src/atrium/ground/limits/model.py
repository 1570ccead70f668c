"""The nouns of limits."""

import hashlib

import msgspec

from atrium.kit.errors import Exhausted


class TooOften(Exhausted):
    """This caller has used up its rate; `retry_after` says when the next request is welcome."""

    code = "limits.rate"
    title = "Too many requests"


class TooManyFailures(Exhausted):
    """Sign-in failed too often for this account or from this address; it opens again by itself."""

    code = "identity.login_backoff"
    title = "Too many failed sign-ins"


class Guess(msgspec.Struct, frozen=True):
    """What a wrong password counts against: the account as seen from one address, and that address over all accounts."""

    account: bytes
    address: bytes | None = None


def key_of(kind: str, subject: str) -> bytes:
    """Addresses and usernames are kept as digests only."""
    return hashlib.sha256(f"{kind}:{subject.lower()}".encode()).digest()
