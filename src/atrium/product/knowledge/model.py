"""The nouns of the knowledge graph, and its refusals."""

from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

from atrium.engine.workflows.run_model import Starter
from atrium.kit.errors import AppError, Conflict, Forbidden, Kind, Missing
from atrium.kit.web.etags import etag_of
from atrium.kit.web.pages import Page

EntityType = Literal["person", "organisation", "place", "product", "project", "event", "document", "concept"]
Direction = Literal["out", "in"]
# Why a document was not read: never tried; an earlier version was; a reply was refused; refused too often, until the next version;
# its text is not there yet; it has none; the caller may read it and not have it read.
UnreadReason = Literal["new", "changed", "refused", "waits", "text_waiting", "no_text", "not_writable"]
# What an entity is called where several kinds of things meet.
KIND = "entity"
MOST_REFUSALS = 3


class Mention(msgspec.Struct, frozen=True):
    """An entity named at one place of a document: `at` counts characters of its text."""

    entity_id: UUID
    type: EntityType
    name: str
    folded: str
    quote: str
    at: int


class Evidence(msgspec.Struct, frozen=True):
    """A relation between two entities, as one place of a document tells it."""

    from_id: UUID
    to_id: UUID
    type: str
    quote: str
    at: int


class Contribution(msgspec.Struct, frozen=True):
    """What one version of an object contributes."""

    object_id: UUID
    version_id: UUID
    mentions: list[Mention]
    relations: list[Evidence]


class ExtractionResult(msgspec.Struct, frozen=True):
    """What was kept of a version: how many entities, how many relations."""

    object_id: UUID
    version_id: UUID
    entities: int
    relations: int


class Entity(msgspec.Struct, frozen=True):
    """An entity as the documents show it that the caller can read: its commonest name, the other spellings, and counts."""

    id: UUID
    type: EntityType
    name: str
    aliases: list[str]
    mentions: int
    documents: int
    relations: int


class Sought(msgspec.Struct, frozen=True):
    """Which entities to list: with a name that has `q`, of a type, in one object, of the team's documents or the company's."""

    q: str | None = None
    type: EntityType | None = None
    object_id: UUID | None = None
    scope: str = "team"


class NamedEntity(msgspec.Struct, frozen=True):
    """Which entity, by name."""

    id: UUID
    type: EntityType
    name: str


class FoundEntity(msgspec.Struct, frozen=True):
    """An entity that search found, as readable documents show it: its names, the commonest first, and what the newest of them says."""

    id: UUID
    type: EntityType
    names: list[str]
    team_id: UUID
    read_at: datetime
    quote: str


class VersionRead(msgspec.Struct, frozen=True):
    """Which version of an object."""

    id: UUID
    number: int


class ShownMention(msgspec.Struct, frozen=True):
    """One mention; `at` is its place, in characters of the document's text."""

    object_id: UUID
    key: str
    version: VersionRead
    quote: str
    at: int


class ShownEvidence(msgspec.Struct, frozen=True):
    """Where a document tells of a relation."""

    object_id: UUID
    quote: str


class Relation(msgspec.Struct, frozen=True):
    """How an entity is related to another; `direction` is `out` when it is the one that acts."""

    id: UUID
    type: str
    direction: Direction
    entity: NamedEntity
    documents: int
    evidence: list[ShownEvidence]


class MergeResult(msgspec.Struct, frozen=True):
    """An entity that was merged into this one; `id` is the merge's, by which it can be undone."""

    id: UUID
    name: str
    type: EntityType
    by: Starter | None
    at: datetime


class EntityDetail(msgspec.Struct, frozen=True):
    """An entity with its mentions, its relations and what was merged into it."""

    id: UUID
    type: EntityType
    name: str
    aliases: list[str]
    documents: int
    mentions: Page[ShownMention]
    relations: list[Relation]
    merged: list[MergeResult]

    def etag(self) -> str:
        """Differs whenever anything of it does, as it is shown to this reader."""
        return etag_of(self)


class Unread(msgspec.Struct, frozen=True):
    """A document that was not read in its current version, and why."""

    object_id: UUID
    key: str
    version: VersionRead
    reason: UnreadReason


class Merge(msgspec.Struct, frozen=True):
    """One entity dropped into another."""

    id: UUID
    keep_id: UUID
    drop_id: UUID
    head_id: UUID
    merged_by: UUID | None
    username: str | None
    merged_at: datetime


class EntityMissing(Missing):
    """Absent, or without a mention that the caller can read."""

    code, title = "knowledge.missing", "No such entity"


class MergeMissing(Missing):
    """There is no such merge in the caller's team, or it was undone."""

    code, title = "knowledge.merge_missing", "No such merge"


class MergedAlready(Conflict):
    """The two are one already."""

    code, title = "knowledge.merged_already", "These are one entity already"
    lasting = True


class KnowledgeScopeRefused(Forbidden):
    """Looking across the company needs a role in the company."""

    code, title = "knowledge.org_scope", "Company-wide reading needs a company role"


class NotMergeable(Forbidden):
    """An entity is not of the caller's team, or has a mention that they cannot read: it is not theirs to decide what it is."""

    code, title = "knowledge.not_mergeable", "Not yours to merge"


class KnowledgeRefused(AppError):
    """The model's reply is not knowledge about the document; another try may be. `errors` says where."""

    kind, code, title = Kind.UPSTREAM, "knowledge.refused", "The reply was refused"


class AwaitsVersion(Conflict):
    """Replies about this version were refused too often; the next version is read again."""

    code, title = "knowledge.awaits_version", "Refused too often"
    lasting = True


class Overtaken(Conflict):
    """The document was changed again and again while it was read."""

    code, title = "knowledge.overtaken", "Changed while it was read"
