"""The nouns of the repository, and what it announces."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from atrium.ground.sharing.model import Ability, GrantTable, PrincipalType, ThingTable
from atrium.kit.errors import AppError, Conflict, Forbidden, Invalid, Kind, Missing, Stale

Visibility = Literal["private", "team", "shared"]
Capability = Literal["view", "edit", "manage"]
Order = Literal["name", "updated", "size"]
Direction = Literal["asc", "desc"]
TextState = Literal["none", "waiting", "running", "done", "failed"]
Prefix = Annotated[str, msgspec.Meta(max_length=1024)]
Filename = Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
# What an object is called where several kinds of things meet.
KIND = "object"
MARKDOWN = "text/markdown"
OBJECTS = ThingTable(
    kind=KIND,
    table="objects",
    family="files",
    grants=GrantTable(
        name="object_grants",
        thing="object_id",
        principal="principal_id",
        level="capability",
        gives={
            "view": frozenset({"read"}),
            "edit": frozenset({"read", "write"}),
            "manage": frozenset({"read", "write", "delete", "manage"}),
        },
        principals=("user_id", "team_id", "org_id"),
        ends=True,
        repeats=("owner_id", "key"),
        opens=True,
    ),
    # Not behind a delete marker: the indexes of the listings hold nothing else.
    there="NOT {t}.deleted",
    company_hint="octet_length({t}.key) > 0",
    # A document is called by its title, anything else by its key.
    title="CASE WHEN {t}.document THEN v.metadata->>'title' END",
    size="{t}.size",
    beside=" JOIN object_versions v ON v.id = {t}.version_id",
    weight="{t}.number",
    on_change="revision = {t}.revision + 1, updated_at = now()",
)

LongCursor = Annotated[str, msgspec.Meta(max_length=4096)]


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Which objects to list, and in which order; `search` is looked for in their names."""

    prefix: str = ""
    scope: str = "team"
    shared: bool = False
    documents: bool = False
    search: str | None = None
    order: Order = "name"
    dir: Direction | None = None

    def descending(self) -> bool:
        """Names begin at A, times with the newest and sizes with the largest, unless a direction was named."""
        return (self.dir or ("asc" if self.order == "name" else "desc")) == "desc"


class Version(msgspec.Struct, frozen=True):
    """One state of an object. `etag` is of its bytes; a `deleted` one has none and says that the key was deleted."""

    id: UUID
    number: int
    sha256: str | None
    size: int
    etag: str
    content_type: str
    filename: str
    metadata: dict[str, str]
    deleted: bool
    created_by: UUID
    created_at: datetime


class StoredObject(msgspec.Struct, frozen=True):
    """An object with its current version."""

    id: UUID
    team_id: UUID
    owner_id: UUID
    key: str
    visibility: Visibility
    revision: int
    created_at: datetime
    updated_at: datetime
    filename: str
    content_type: str
    size: int
    version: Version

    def etag(self) -> str:
        """Changes with every version, share and change of visibility."""
        return f'"r{self.revision}"'


class Text(msgspec.Struct, frozen=True):
    """What could be read out of a version; `none` when its type has no text."""

    state: TextState
    text: str = ""
    characters: int = 0
    truncated: bool = False
    problem: str | None = None


class FoundObject(msgspec.Struct, frozen=True):
    """An object as a search shows it: what it is, and the beginning of its text."""

    id: UUID
    team_id: UUID
    owner_id: UUID
    key: str
    visibility: Visibility
    document: bool
    title: str
    content_type: str
    updated_at: datetime
    text: str


class Readable(msgspec.Struct, frozen=True):
    """What a reader of a version's text needs to know of it."""

    sha256: bytes
    size: int
    content_type: str
    filename: str


class ObjectReply(StoredObject, frozen=True):
    """An object, and what the caller may do with it: `share_with`, `levels` and `expires` say what a grant can be."""

    abilities: list[Ability]
    share_with: list[PrincipalType]
    levels: list[Capability]
    expires: bool

    def etag(self) -> str:
        """Changes with every version, share and change of visibility, and with what the caller may do."""
        return OBJECTS.tag(f"r{self.revision}", self.abilities)


class ObjectDetail(ObjectReply, frozen=True):
    """The same with the latest versions and the text."""

    versions: list[Version]
    version_count: int
    text: Text
    permissions: list[str]


class BucketEntry(msgspec.Struct, frozen=True):
    """As much of an object as a bucket's listing tells."""

    key: str
    owner_id: UUID
    etag: str
    size: int
    modified: datetime


class Folder(msgspec.Struct, frozen=True):
    """A common beginning of keys, up to the delimiter."""

    prefix: str


class Listing(msgspec.Struct, frozen=True):
    """A page of a listing; `prefixes` is filled when a delimiter was asked for."""

    items: list[StoredObject]
    prefixes: list[str]
    next_cursor: str | None = None


class ObjectGrant(msgspec.Struct, frozen=True):
    """What one principal may do with an object, and until when."""

    principal_type: PrincipalType
    principal_id: UUID
    name: str | None
    capability: Capability
    permissions: list[str]
    granted_by: UUID
    expires_at: datetime | None
    expired: bool
    created_at: datetime


class ObjectDraft(msgspec.Struct, frozen=True, kw_only=True):
    """What a write says about its bytes; a `visibility` of None keeps what is there, or is private."""

    key: str
    content_type: str
    filename: str | None = None
    visibility: Visibility | None = None
    metadata: dict[str, str] = {}
    etag: str | None = None
    # What the gateway that takes the bytes wants back with them.
    attributes: dict[str, Any] = {}


class Conditions(msgspec.Struct, frozen=True, kw_only=True):
    """What must be true of the key at the moment of writing."""

    if_match: str | None = None
    if_none_match: str | None = None


class DerivationSource(msgspec.Struct, frozen=True):
    """What a version was made from."""

    object_id: UUID
    version_id: UUID


class Provenance(msgspec.Struct, frozen=True):
    """From what, and by which run and step, a version was made."""

    sources: tuple[DerivationSource, ...]
    run_id: UUID | None = None
    step: str | None = None


class Derivation(msgspec.Struct, frozen=True):
    """One thread of provenance, seen from either end."""

    object_id: UUID
    version_id: UUID
    key: str
    source_id: UUID
    source_version_id: UUID
    source_key: str
    run_id: UUID | None
    step: str | None
    at: datetime


class ObjectAtKey(msgspec.Struct, frozen=True):
    """One version of the object at a key, with what its gateway left with it."""

    object: StoredObject
    version: Version
    attributes: dict[str, Any]


class MultipartUpload(msgspec.Struct, frozen=True):
    """An object on its way in parts; `version_id` once it has arrived."""

    id: UUID
    team_id: UUID
    owner_id: UUID
    key: str
    draft: dict[str, Any]
    version_id: UUID | None
    etag: str | None
    created_at: datetime


class UploadedPart(msgspec.Struct, frozen=True):
    """One part that has arrived."""

    number: int
    sha256: bytes
    size: int
    etag: str
    checksum: str
    created_at: datetime


class ObjectWritten(msgspec.Struct, frozen=True):
    """Announced inside the transaction that wrote the version; `run_id` is the run it came from.

    `body` are its bytes, where they are a text as they stand and few enough to be at hand.
    """

    object: StoredObject
    version: Version
    derived: bool
    run_id: UUID | None = None
    body: bytes | None = None


class WrittenVersion(msgspec.Struct, frozen=True):
    """A version that is there, of any age; `run_id` is the run it came from."""

    object: StoredObject
    version: Version
    derived: bool
    run_id: UUID | None


class ObjectMissing(Missing):
    """Absent, or not visible to the caller."""

    code = "repository.missing"
    title = "No such object"


class VersionMissing(Missing):
    """The object has no such version."""

    code = "repository.version_missing"
    title = "No such version"


class UploadMissing(Missing):
    """There is no such upload in parts, or it has ended."""

    code = "repository.upload_missing"
    title = "No such upload"


class KeyTaken(Conflict):
    """Something is at this key, visible to the caller or not."""

    code = "repository.key_taken"
    title = "This key is in use"


class ObjectStale(Stale):
    """What is at the key is not what the condition asks for."""

    code = "repository.stale"
    title = "This object was changed in the meantime"


class ObjectNotSharable(Invalid):
    """The principal cannot be given a share."""

    code = "repository.not_sharable"
    title = "Cannot be shared with this principal"


class ObjectScopeRefused(Forbidden):
    """Looking across the company needs a role in the company."""

    code = "repository.org_scope"
    title = "Company-wide reading needs a company role"


class BytesUnavailable(AppError):
    """The blob store does not have what a version refers to; `atrium blobs verify` says how much is affected."""

    kind, code, title = Kind.UNAVAILABLE, "repository.bytes_unavailable", "The bytes cannot be read right now"


def is_markdown(content_type: str) -> bool:
    """Whether this is the type of text documents."""
    return _bare(content_type) == MARKDOWN


def is_plain_text(content_type: str) -> bool:
    """Whether bytes of this type are a text as they stand, as Markdown is and a page of HTML is not."""
    return _bare(content_type).startswith("text/") and _bare(content_type) != "text/html"


def _bare(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()
