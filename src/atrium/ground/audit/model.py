"""The nouns of audit, and the bytes an event is hashed as."""

import hashlib
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

GENESIS = bytes(32)


class AuditEvent(msgspec.Struct, frozen=True):
    """Something somebody did. `seq` is its place in the company's chain once sealed."""

    id: UUID
    at: datetime
    kind: str
    subject: str
    facts: dict[str, Any]
    team_id: UUID
    actor_id: UUID
    actor: str | None
    seq: int | None


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


class Head(msgspec.Struct, frozen=True):
    """The end of a company's chain."""

    org_id: UUID
    seq: int
    hash: bytes


class Verdict(msgspec.Struct, frozen=True):
    """What checking one company's chain found; `problem` is None when it holds."""

    org_id: UUID
    events: int
    unsealed: int
    problem: str | None = None


def link(before: bytes, seq: int, row: ChainRow) -> bytes:
    """The hash that ties an event to everything before it."""
    content = msgspec.json.encode(
        [row.org_id, seq, row.id, row.at, row.team_id, row.actor_id, row.kind, row.subject, row.facts]
    )
    return hashlib.sha256(before + content).digest()
