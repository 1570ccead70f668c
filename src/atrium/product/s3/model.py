"""The nouns of S3: key pairs, buckets, a request as S3 reads it, and refusals in S3's own words."""

from datetime import datetime
from uuid import UUID

import msgspec

from atrium.kit.errors import AppError, Conflict, Invalid, Missing

KEY_LIMIT = 50


class AccessKey(msgspec.Struct, frozen=True):
    """A key pair without its secret, which is shown once; no `scope` means all that its owner may do."""

    id: UUID
    access_key_id: str
    name: str
    scope: list[str] | None
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


class Bucket(msgspec.Struct, frozen=True):
    """A bucket and the beginning its keys have among the team's."""

    name: str
    prefix: str = ""
    tags: dict[str, str] = {}
    cors: str = ""
    # Every bucket keeps versions; this says whether a client was told so, and may count on delete markers.
    versioned: bool = True
    created_at: datetime | None = None


class KeyPairMissing(Missing):
    """Absent, or somebody else's."""

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


class Refusal(AppError):
    """A refusal in S3's own words: `name` is the code its clients know."""

    code = "s3.refused"
    title = "Refused"

    def __init__(self, name: str, message: str = "", headers: tuple[tuple[str, str], ...] = (), **facts: str) -> None:
        super().__init__(message or name, **facts)
        self.name, self.headers = name, headers
