"""One-time codes (RFC 6238) and single-use recovery codes."""

import hashlib
import hmac
import secrets

import pyotp

STEP_SECONDS = 30
RECOVERY_CODES = 10
_RECOVERY_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


def new_secret() -> str:
    """A fresh seed, as base32 text."""
    return pyotp.random_base32()


def address_of(secret: str, username: str, issuer: str) -> str:
    """The otpauth:// address an authenticator app scans."""
    return pyotp.TOTP(secret).provisioning_uri(name=username, issuer_name=issuer)


def step_of(secret: str, code: str, now: float) -> int | None:
    """The time step this code belongs to, one step of drift either way; None when it fits none."""
    current = int(now) // STEP_SECONDS
    generator = pyotp.TOTP(secret)
    fits = [
        step
        for step in (current - 1, current, current + 1)
        if hmac.compare_digest(generator.at(step * STEP_SECONDS).encode(), code.encode())
    ]
    return max(fits, default=None)


def new_recovery_codes() -> list[str]:
    """A fresh set, each with about 99 random bits, grouped for reading aloud."""
    return ["-".join(_group() for _ in range(4)) for _ in range(RECOVERY_CODES)]


def recovery_digest(code: str) -> bytes:
    """What is stored of a recovery code; case, spaces and dashes do not matter."""
    return hashlib.sha256(code.lower().replace("-", "").replace(" ", "").encode()).digest()


def _group() -> str:
    return "".join(secrets.choice(_RECOVERY_ALPHABET) for _ in range(5))
