"""The nouns of moving."""

from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from atrium.admin.backups.model import SchemaVersion
from atrium.kit.crypto.keys import Keyring
from atrium.kit.refusals import CommandError, CommandFailure
from atrium.seams.blobs import BlobStore

FORMAT = 1
PURPOSE, RECEIPT = "company archive", "company receipt"


class MoveRefused(CommandError):
    """Something has to be changed before this can be done."""


class MoveFailed(CommandFailure):
    """It did not work; the message says why."""


class Mover(msgspec.Struct, frozen=True):
    """One side of a move: the database as a login that sees every company, the bytes, its own keys and the key of transfers.

    `sealed` says which columns the instance's key seals, and what each value is bound to; `location` is where people reach it.
    """

    url: str
    blobs: BlobStore
    keys: Keyring
    transfer: Keyring
    staging: Path
    sealed: dict[tuple[str, str], Any]
    location: str
    multitenant: bool


class Table(msgspec.Struct, frozen=True):
    """A company's table as the catalog has it: what travels, in which order, and what it refers to.

    Numbers that a sequence of the instance hands out, of transactions, and what is computed, are made anew on the other side.
    `through` is the column, and the parent's table and column, by which an index finds a company's rows where none begins with the company.
    """

    name: str
    org_column: str
    columns: list[str]
    ids: list[str]
    order: str
    parents: list[str]
    through: list[str]


class Rows(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What of a table is in an archive."""

    columns: list[str]
    rows: int


class MoveTotals(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many blobs, and how many bytes they have."""

    count: int
    bytes: int


class LentKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A key that the company's audit chain is checked with, sealed under the key of transfers."""

    id: str
    sealed: str


class MovingCompany(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The company that moves; `suspended` is how it was before the move began."""

    id: UUID
    slug: str
    name: str
    domain: str | None
    suspended: bool


class MoveManifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an archive holds. `missing` names bytes that the store had lost before; `signature` is the transfer key's, over the rest."""

    format: int
    atrium: str
    schema: SchemaVersion
    exported_at: datetime
    company: MovingCompany
    tables: dict[str, Rows]
    blobs: MoveTotals
    missing: list[str]
    chain_keys: list[LentKey]
    key_id: str
    files: dict[str, str]
    sizes: dict[str, int]
    signature: str = ""


class Receipt(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Says that a company is whole on another instance; `archive` is the digest of the manifest it came with."""

    format: int
    company: UUID
    slug: str
    archive: str
    rows: int
    blobs: int
    location: str
    imported_at: datetime
    signature: str = ""


class Move(msgspec.Struct, frozen=True):
    """Where a company that came or is going stands."""

    company: UUID
    state: str
    was_suspended: bool
    archive: str | None
    location: str | None
    changed_at: datetime


class Blob(msgspec.Struct, frozen=True):
    """Some bytes of the company."""

    sha256: bytes
    size: int
