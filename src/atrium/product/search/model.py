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
    """What was found, best first. `relaxed` says that some of it has not every word, `cut` that the search did not look at everything."""

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


class SearchQuery(msgspec.Struct, frozen=True):
    """What a program may ask for."""

    q: Asked
    kind: Kind | None = None


class Candidate(msgspec.Struct, frozen=True):
    """A row that matches and that the reader may read. `complete` says that it has every word, `rarity` what each term counts for, `found`
    where its words stand, `begun` the weights of places where a word begins as the last one that was asked for."""

    id: UUID
    kind: str
    owner_id: UUID
    updated_at: datetime
    title_words: int
    head_words: int
    text_words: int
    common: int
    triples: int
    complete: bool
    rarity: list[float]
    found: dict[str, list[int]]
    begun: str


class Candidates(msgspec.Struct, frozen=True):
    """Rows that match, the best of them, out of so many that were looked at."""

    rows: list[Candidate]
    looked: int


class Known(msgspec.Struct, frozen=True):
    """A word that was asked for: its stem in the reader's language, none for one that every text has; how rare it is, if that is known, and
    where it may be the beginning of others, the share of rows that have those, added up."""

    word: str
    stems: list[str] | None
    rarity: int | None
    begun: float | None
    measured: bool


class SearchEmpty(Invalid):
    """The question has no word to look for."""

    code = "search.empty"
    title = "Nothing to look for"


class SearchScopeRefused(Forbidden):
    """Looking across the company needs a role in the company."""

    code = "search.org_scope"
    title = "Company-wide search needs a company role"
