"""The nouns of S3: key pairs, buckets, a request as S3 reads it, and refusals in S3's own words."""

from datetime import datetime
from uuid import UUID

import msgspec

from atrium.kit.errors import AppError, Conflict, Invalid, Missing

KEY_LIMIT = 50


class AccessKey(msgspec.Struct, frozen=True):
    """A key pair without its secret, which is shown once; no `scope` means all that its owner may do, no `prefix` every key."""

    id: UUID
    access_key_id: str
    name: str
    scope: list[str] | None
    prefix: str | None
    created_at: datetime
    last_used_at: datetime | None


class AccessKeys(msgspec.Struct, frozen=True):
    """The caller's key pairs, newest first, and where to use them."""

    items: list[AccessKey]
    endpoint: str
    bucket: str
    region: str


class IssuedKey(msgspec.Struct, frozen=True):
    """A fresh key pair with its secret, and where to use it."""

    id: UUID
    access_key_id: str
    secret_access_key: str
    name: str
    scope: list[str] | None
    prefix: str | None
    endpoint: str
    bucket: str
    region: str


class Presigned(msgspec.Struct, frozen=True):
    """A link that needs no credential until it expires or its key is revoked."""

    url: str
    expires_at: datetime


class SealedKey(msgspec.Struct, frozen=True):
    """A key pair as it is stored."""

    id: UUID
    org_id: UUID
    user_id: UUID
    access_key_id: str
    secret_sealed: bytes


class CorsRule(msgspec.Struct, frozen=True, kw_only=True):
    """Which pages elsewhere may read replies to which methods, and which headers of them; one `*` stands for any text."""

    id: str | None = None
    origins: list[str]
    methods: list[str]
    headers: list[str] = []
    exposed: list[str] = []
    max_age: int | None = None


class Bucket(msgspec.Struct, frozen=True):
    """A bucket and the beginning its keys have among the team's."""

    name: str
    prefix: str = ""
    tags: dict[str, str] = {}
    # Every bucket keeps versions; this says whether a client turned that on, and counts on delete markers instead of the trash.
    versioned: bool = False
    created_at: datetime | None = None
    # The folder a key pair is limited to: every key it uses, in the team's own spelling, begins with this.
    allowed_prefix: str = ""

    def at(self, key: str | None) -> str:
        """One of the bucket's keys as the team's own; refused outside the key pair's prefix."""
        full = self.prefix + (key or "")
        if not full.startswith(self.allowed_prefix):
            raise S3Error("AccessDenied", f"this access key is good for keys below {self.allowed_prefix} only")
        return full

    def below(self, prefix: str) -> str | None:
        """What to list for a prefix: nothing outside the key pair's prefix, and None when all of it is outside."""
        full = self.prefix + prefix
        if full.startswith(self.allowed_prefix):
            return full
        return self.allowed_prefix if self.allowed_prefix.startswith(full) else None


class KeyPairMissing(Missing):
    """Absent, or another person's."""

    code = "s3.key_missing"
    title = "No such access key"


class NoKeyPair(Conflict):
    """Signing needs a key of the caller's own."""

    code = "s3.no_key"
    title = "No access key to sign with"


class TooManyKeys(Conflict):
    """A person keeps a bounded number of key pairs."""

    code = "s3.too_many_keys"
    title = "Too many access keys"


class NotAddressable(Invalid):
    """The object is in another team's bucket."""

    code = "s3.not_addressable"
    title = "Not in your bucket"


class S3Error(AppError):
    """A refusal in S3's own words: `name` is the code its clients know."""

    code = "s3.refused"
    title = "Refused"

    def __init__(self, name: str, message: str = "", headers: tuple[tuple[str, str], ...] = (), **facts: str) -> None:
        super().__init__(message or name, **facts)
        self.name, self.headers = name, headers
