"""The nouns of audit, and the bytes an event is hashed as."""

import hashlib
import hmac
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

GENESIS = bytes(32)
# A plain link is a SHA-256; one that was tied with a key begins with the key's id.
PLAIN, KEY_ID = 32, 4


class AuditEvent(msgspec.Struct, frozen=True):
    """An audit event. `seq` is its place in the company's chain once sealed.

    `name` is what the note or file that it is about is called today, for who may read that. `redacted` when facts are left out that are
    words of something private. `opens`: whether the reader can open the note or file that it is about now; what is in the trash does not.
    """

    id: UUID
    at: datetime
    kind: str
    subject: str
    facts: dict[str, Any]
    team_id: UUID
    actor_id: UUID
    actor: str | None
    seq: int | None
    name: str | None = None
    redacted: bool = False
    opens: bool = False


class ChainRow(msgspec.Struct, frozen=True):
    """An event as the chain sees it; `facts` and `at` are PostgreSQL's own text, which never changes for a value."""

    org_id: UUID
    id: UUID
    team_id: UUID
    actor_id: UUID
    kind: str
    subject: str
    facts: str
    at: str
    seq: int | None
    hash: bytes | None


class ChainKey(msgspec.Struct, frozen=True):
    """The key of a chain's links; every link names the id of the key that made it."""

    id: bytes
    secret: bytes


class Head(msgspec.Struct, frozen=True):
    """The end of a company's chain; the signature is missing where it was written before chains had keys."""

    org_id: UUID
    seq: int
    hash: bytes
    signature: bytes | None = None


class ExportedEvent(msgspec.Struct, frozen=True):
    """An event as it is handed over to be kept or searched elsewhere; `redacted` when facts are left out."""

    org_id: UUID
    seq: int | None
    id: UUID
    at: datetime
    team_id: UUID
    actor_id: UUID
    actor: str | None
    kind: str
    subject: str
    facts: dict[str, Any]
    hash: str | None
    redacted: bool = False


class ChainVerdict(msgspec.Struct, frozen=True):
    """What checking one company's chain found; `problem` is None when it holds. `unkeyed` are from before chains had keys."""

    org_id: UUID
    events: int
    unsealed: int
    problem: str | None = None
    unkeyed: int = 0


def link(before: bytes, seq: int, row: ChainRow, key: ChainKey | None) -> bytes:
    """What ties an event to everything before it: a tag that needs the key, or a plain hash as chains had at first."""
    content = msgspec.json.encode(
        [row.org_id, seq, row.id, row.at, row.team_id, row.actor_id, row.kind, row.subject, row.facts]
    )
    if key is None:
        return hashlib.sha256(before + content).digest()
    return key.id + hmac.digest(key.secret, b"link" + before + content, "sha256")


def sign_head(key: ChainKey, org_id: UUID, seq: int, hash: bytes) -> bytes:
    """The signature of a chain's end."""
    return key.id + hmac.digest(key.secret, b"head" + org_id.bytes + seq.to_bytes(8) + hash, "sha256")


def is_keyed(hash: bytes | None) -> bool:
    """Whether a link was tied with a key."""
    return hash is not None and len(hash) > PLAIN


def key_id_of(hash: bytes) -> bytes:
    """Which key tied a link, or signed a head."""
    return hash[:KEY_ID]
