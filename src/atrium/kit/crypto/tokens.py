"""Raw credentials: a readable prefix, 256 random bits and a checksum. Only their digest is ever stored."""

import hashlib
import secrets
import zlib

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BODY, _CHECK = 43, 6
# A session in a cookie has a prefix of its own: it is worth nothing as a bearer token, and no bearer token is as a cookie.
COOKIE = b"atc_"
PREFIXES = {
    "session": "ats_",
    "first": "ats_",
    "cookie": "atc_",
    "token": "att_",
    "worker": "atw_",
    "activation": "ata_",
    "reset": "atr_",
}
WORKER_PREFIX = PREFIXES["worker"].encode()
_KNOWN = frozenset(prefix.encode() for prefix in PREFIXES.values())
_LENGTH = 4 + _BODY + _CHECK


def new_token(kind: str) -> str:
    """A fresh raw token of a kind; the caller shows it once and keeps its digest."""
    body = PREFIXES[kind] + _base62(secrets.randbits(256), _BODY)
    return body + _base62(zlib.crc32(body.encode()), _CHECK)


def digest_of(token: bytes) -> bytes:
    """What is stored and looked up. The token has 256 random bits, so a plain hash cannot be reversed."""
    return hashlib.sha256(token).digest()


def is_well_formed(token: bytes) -> bool:
    """Whether prefix, length and checksum hold: a typo or a guess is refused without asking the database."""
    if len(token) != _LENGTH or token[:4] not in _KNOWN:
        return False
    return _base62(zlib.crc32(token[:-_CHECK]), _CHECK).encode() == token[-_CHECK:]


def _base62(number: int, width: int) -> str:
    digits = []
    for _ in range(width):
        number, rest = divmod(number, 62)
        digits.append(_ALPHABET[rest])
    return "".join(reversed(digits))
