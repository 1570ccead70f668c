"""The nouns of search."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec

from atrium.kit.errors import Forbidden, Invalid

Kind = Literal["note", "object", "document", "entity"]
Place = Literal["title", "key", "text", "name", "meaning"]
Asked = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Prefix = Annotated[str, msgspec.Meta(max_length=1024)]
PageSize = Annotated[int, msgspec.Meta(ge=1, le=50)]


class TeamName(msgspec.Struct, frozen=True):
    """The team that something belongs to."""

    id: UUID
    name: str


class SearchHit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that was found. `marks` are the places in `snippet` that matched, from the first character to behind the last."""

    kind: Kind
    id: UUID
    title: str
    snippet: str
    marks: list[tuple[int, int]]
    team: TeamName
    updated_at: datetime
    score: float
    matched: list[Place]
    key: str | None = None
    content_type: str | None = None
    type: str | None = None
    visibility: str | None = None


class SearchResults(msgspec.Struct, frozen=True):
    """What was found, best first. `relaxed` says that some of it has not every word, `cut` that the search was ended for its time."""

    items: list[SearchHit]
    next_cursor: str | None
    relaxed: bool
    cut: bool
    took_ms: int


class Search(msgspec.Struct, frozen=True):
    """A question: the words, and what to look through."""

    q: str
    kind: Kind | None = None
    prefix: str = ""
    scope: str = "team"


class Asking(msgspec.Struct, frozen=True):
    """What a program may ask for."""

    q: Asked
    kind: Kind | None = None


class Candidate(msgspec.Struct, frozen=True):
    """A row that matches and that the reader may read; `found` has the weights of each matching word's places."""

    id: UUID
    kind: str
    owner_id: UUID
    updated_at: datetime
    title_words: int
    head_words: int
    text_words: int
    common: int
    found: dict[str, str] | None


class SearchEmpty(Invalid):
    """The question has no word to look for."""

    code = "search.empty"
    title = "Nothing to look for"


class OrgScopeRefused(Forbidden):
    """Looking across the company needs a role in the company."""

    code = "search.org_scope"
    title = "Company-wide search needs a company role"
