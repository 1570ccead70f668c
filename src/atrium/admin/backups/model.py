"""The nouns of backups."""

from datetime import datetime
from pathlib import Path
from uuid import UUID

import msgspec

from atrium.kit.crypto.keys import Keyring
from atrium.kit.refusals import CommandError, CommandFailure
from atrium.seams.blobs import BlobStore

FORMAT = 1


class SchemaVersion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which migrations made the schema: the newest one's number and checksum."""

    number: int
    checksum: str


class BackupTotals(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many blobs the rows name, their bytes, and how many bytes this backup had to copy."""

    count: int
    bytes: int
    copied: int


class AuditHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The end of a company's audit chain."""

    org_id: UUID
    seq: int
    hash: str


class BackupManifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a backup holds. `missing` names blobs that the store had lost before; `signature` is the instance key's, over all the rest."""

    format: int
    atrium: str
    postgres: str
    schema: SchemaVersion
    taken_at: datetime
    generation: int
    tables: dict[str, int]
    blobs: BackupTotals
    missing: list[str]
    audit_heads: list[AuditHead]
    key_ids: list[str]
    files: dict[str, str]
    sizes: dict[str, int]
    signature: str = ""


class Verification(msgspec.Struct, frozen=True):
    """When a backup was looked at last, whether it was also restored on trial, and how many faults there were."""

    verified_at: datetime
    drill: bool
    faults: int


class StoredBackup(msgspec.Struct, frozen=True):
    """One backup of a folder; without a manifest when that cannot be read."""

    stamp: str
    manifest: BackupManifest | None
    verification: Verification | None


class Age(msgspec.Struct, frozen=True):
    """The newest backup, for those who look after the instance; `hours` is how often one is made, 0 when none is."""

    hours: int
    taken_at: datetime | None
    verified_at: datetime | None
    faults: int


class BlobName(msgspec.Struct, frozen=True):
    """Some bytes that rows name. `needed` ones belong to a version or a file; the others are parts of uploads under way."""

    org_id: UUID
    sha256: bytes
    size: int
    needed: bool

    def line(self) -> str:
        """As it stands in the list of a backup."""
        return f"{self.org_id} {self.sha256.hex()} {self.size}"


class Facts(msgspec.Struct, frozen=True):
    """What the rows of one instant add up to."""

    postgres: str
    major: int
    schema: SchemaVersion
    generation: int
    tables: dict[str, int]
    heads: list[AuditHead]
    blobs: list[BlobName]


class InstanceAccess(msgspec.Struct, frozen=True):
    """What is backed up, or restored into: the database as a login that may, the bytes, the keys, and where programs are looked for."""

    url: str
    blobs: BlobStore
    keys: Keyring
    search_path: str
    staging: Path


class BackupRefused(CommandError):
    """Something has to be changed before this can be done."""


class BackupFailed(CommandFailure):
    """It did not work; the message says why."""
