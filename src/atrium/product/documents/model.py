"""The nouns of documents."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from atrium.engine.repository.model import MARKDOWN, OBJECTS, Capability, StoredObject, Visibility
from atrium.engine.repository.object_keys import name_in
from atrium.ground.sharing.model import Ability, PrincipalType
from atrium.kit.errors import Missing, Stale

Title = Annotated[str, msgspec.Meta(min_length=1, max_length=300, pattern=r"\S")]
Body = Annotated[str, msgspec.Meta(max_length=1_000_000)]
CONTENT_TYPE = MARKDOWN
# A million characters, each up to six bytes of JSON, and room for the rest.
BODY_LIMIT = 6_500_000


class DocumentCard(msgspec.Struct, frozen=True):
    """A document without its body, as listings show it."""

    id: UUID
    team_id: UUID
    owner_id: UUID
    key: str
    title: str
    visibility: Visibility
    version: int
    revision: int
    created_at: datetime
    updated_at: datetime


class Document(DocumentCard, frozen=True):
    """A document with its body."""

    body: str

    def etag(self) -> str:
        """Changes with every version, share and change of visibility."""
        return f'"r{self.revision}"'


class DocumentReply(Document, frozen=True):
    """A document, and what the caller may do with it: `share_with`, `levels` and `expires` say what a grant can be."""

    abilities: list[Ability]
    share_with: list[PrincipalType]
    levels: list[Capability]
    expires: bool

    def etag(self) -> str:
        """Changes with every version, share and change of visibility, and with what the caller may do."""
        return OBJECTS.tag(f"r{self.revision}", self.abilities)


class DocumentMissing(Missing):
    """Absent, not visible to the caller, or not a text document."""

    code = "documents.missing"
    title = "No such document"


class DocumentStale(Stale):
    """A newer version was saved first."""

    code = "documents.stale"
    title = "This document was changed in the meantime"


def card_of(stored: StoredObject) -> DocumentCard:
    """An object seen as a document; one that was uploaded has its file's name for a title."""
    return DocumentCard(
        id=stored.id,
        team_id=stored.team_id,
        owner_id=stored.owner_id,
        key=stored.key,
        title=stored.version.metadata.get("title") or name_in(stored.key),
        visibility=stored.visibility,
        version=stored.version.number,
        revision=stored.revision,
        created_at=stored.created_at,
        updated_at=stored.updated_at,
    )


def document_of(stored: StoredObject, body: str) -> Document:
    """The document with its body."""
    return Document(**msgspec.structs.asdict(card_of(stored)), body=body)
