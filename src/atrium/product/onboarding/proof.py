"""Proofs of work: ALTCHA's protocol, version 2, as it is. Whether a proof was spent before is the sign-up's to say."""

import asyncio
import hashlib
import hmac
import ipaddress
import re
import secrets
import time
from base64 import b64decode
from typing import Annotated, Any, Literal

import msgspec
from altcha import v2

from atrium.kit.web.addresses import counted_as
from atrium.product.onboarding.funnel import derive_digest
from atrium.product.onboarding.model import ChallengeParameters, ProofBad, ProofChallenge, ProofExpired

ALGORITHM, LIFETIME = "PBKDF2/SHA-256", 600
# A proof of ours has about 700 bytes.
LONGEST = 4_096
# So many sign-ups an hour from one network are usual; beyond, the work doubles with each as many, so often at most.
USUAL_AN_HOUR, MOST_DOUBLINGS = 10, 3
_AGAIN = "; ask for a new challenge: GET /api/beta/challenge"


class Proof(msgspec.Struct, frozen=True):
    """A proof that holds: its digest, by which it is spent, the version of the form it was made for, and its age in seconds."""

    digest: bytes
    version: int
    age: int


class SignedData(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is signed with a challenge: the version of the form it is for."""

    version: Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]


class SignedParameters(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What the protocol signs of a challenge, in its order: JSON of this is what was signed, since nothing that we sign needs escapes.

    Whatever else a challenge says was not signed by us. The protocol lets a client leave out the usual length.
    """

    algorithm: Literal["PBKDF2/SHA-256"]
    cost: int
    data: SignedData
    expires_at: Annotated[int, msgspec.Meta(ge=0, lt=1 << 53)]
    key_length: int = 32
    key_prefix: str
    key_signature: str
    nonce: str
    salt: str


class SignedChallenge(msgspec.Struct, frozen=True):
    """A challenge as it comes back."""

    parameters: SignedParameters
    signature: str


class Solution(msgspec.Struct, frozen=True, rename="camel"):
    """What a client found."""

    counter: int
    derived_key: str


class Payload(msgspec.Struct, frozen=True):
    """A proof as ALTCHA spells it. Its library takes four times as long to check the same, most of it to write the JSON that was signed."""

    challenge: SignedChallenge
    solution: Solution


_PAYLOAD = msgspec.json.Decoder(Payload)
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+")


async def issue(secret: bytes, version: int, cost: int, tries: int) -> ProofChallenge:
    """A challenge that takes half to one and a half times so many tries; the one derivation happens in a thread."""
    counter = tries // 2 + secrets.randbelow(tries + 1)
    made = await asyncio.to_thread(_issue, secret, version, cost, counter)
    return ProofChallenge(msgspec.convert(made["parameters"], ChallengeParameters), made["signature"])


def _issue(secret: bytes, version: int, cost: int, counter: int) -> dict[str, Any]:
    challenge = v2.create_challenge(
        ALGORITHM,
        cost,
        counter=counter,
        expires_at=int(time.time()) + LIFETIME,
        data={"version": version},
        hmac_secret=derive_digest(secret, "challenge"),
        hmac_key_secret=derive_digest(secret, "key"),
    )
    found: dict[str, Any] = challenge.to_dict()
    return found


def find_payload(sent: str) -> Payload | None:
    """What a proof says, unchecked; None where it is spelled like none of ours."""
    if len(sent) > LONGEST:
        return None
    try:
        return _PAYLOAD.decode(b64decode(sent, validate=True))
    except (ValueError, RecursionError):
        return None


def require_sound(secret: bytes, payload: Payload | None) -> Proof:
    """A proof that we signed, that was solved, and that is not too old; nothing is derived for it."""
    if payload is None:
        raise ProofBad(f"this is no proof{_AGAIN}")
    challenge, parameters = payload.challenge, payload.challenge.parameters
    left = parameters.expires_at - time.time()
    if left < 0:
        raise ProofExpired(f"this challenge is older than ten minutes{_AGAIN}")
    signed = _is_signed(derive_digest(secret, "challenge"), msgspec.json.encode(parameters), challenge.signature)
    solved = _is_signed(derive_digest(secret, "key"), _key_of(payload.solution), parameters.key_signature)
    if not signed or not solved:
        raise ProofBad(f"this proof does not hold{_AGAIN}")
    # The signature covers all parameters, so that it stands for the challenge however a payload is spelled.
    digest = hashlib.sha256(bytes.fromhex(challenge.signature)).digest()
    return Proof(digest, parameters.data.version, LIFETIME - int(left))


def _is_signed(secret: bytes, text: bytes, signature: str) -> bool:
    return hmac.compare_digest(hmac.digest(secret, text, "sha256").hex().encode(), signature.encode())


def _key_of(solution: Solution) -> bytes:
    """The key that was derived; no bytes, of which there is no signature of ours, where it is not spelled as one."""
    return bytes.fromhex(solution.derived_key) if _HEX.fullmatch(solution.derived_key) else b""


def network_of(address: str) -> str:
    """The network that sign-ups are counted by: a /24, or a /48 of IPv6."""
    counted, _, is_network = counted_as(address).partition("/")
    if is_network:
        return str(ipaddress.ip_network((int(ipaddress.IPv6Address(counted)) >> 80 << 80, 48)))
    first, dot, _ = counted.rpartition(".")
    return f"{first}.0/24" if dot else counted


def tries_for(tries: int, lately: int) -> int:
    """How many tries a challenge takes for a network that signed up so often within an hour."""
    return tries << min(lately // USUAL_AN_HOUR, MOST_DOUBLINGS)
