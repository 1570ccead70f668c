"""The rules of search: what is found is what the caller can read, best first, within half a second."""

import time
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.repository import texts
from atrium.engine.repository.model import FoundObject
from atrium.ground.access import service as access
from atrium.kit.database import TookTooLong
from atrium.kit.errors import Invalid
from atrium.kit.paging import Pager
from atrium.product.notes import service as notes
from atrium.product.notes.model import Note
from atrium.product.search import ranking, snippets, store
from atrium.product.search.model import (
    Asking,
    Candidate,
    Kind,
    OrgScopeRefused,
    Place,
    Search,
    SearchHit,
    SearchResults,
    TeamName,
)
from atrium.product.search.queries import Query, read_query
from atrium.product.search.words import triples_of
from atrium.seams.context import Context

# All searches end by then, so that the reply is there in half a second.
_BUDGET_MS, _LEAST_MS = 400, 20
_MOST = 200
_FEW = 10
_MOST_ALIKE = 50
# A title is alike when it has so many of the triples of what was asked for.
_ALIKE = 0.4
# A word in one of 2^5 rows or more: in a company-wide search the newest rows are walked instead of the index.
_FREQUENT = 5
_SHORT = 2
# Snippets are looked for in the beginning of a text.
_SHOWN_CHARACTERS = 60_000
_WITH_ALL, _WITH_ANY, _LIKE = 0, 1, 2

# How well something fits, worst-to-best reversed: by which of the three ways it was found, score, age, id.
Position = tuple[int, float, float, UUID]


class Ranked(msgspec.Struct, frozen=True):
    """A candidate with its place in the order."""

    candidate: Candidate
    way: int
    score: float

    @property
    def position(self) -> Position:
        """Sorts the best first: all words before any word before likeness, then by score, then the newest."""
        return self.way, -self.score, -self.candidate.updated_at.timestamp(), self.candidate.id


class Looking(msgspec.Struct):
    """One search on its way: what has been found so far, and how much time is left."""

    ctx: Context
    search: Search
    query: Query
    known: dict[str, int]
    began: float
    found: dict[UUID, Ranked] = {}
    cut: bool = False


async def search(ctx: Context, asked: Search, limit: int, cursor: str | None) -> SearchResults:
    """What the caller can read and has the words: all of them first, then any, then titles that are alike."""
    access.note_checked(ctx, "search")
    access.require_org_scope(ctx, asked.scope, OrgScopeRefused)
    query = read_query(asked.q)
    pager = Pager(ctx.services.keys, "search", ctx.who.user_id, asked)
    after: Position | None = pager.read(cursor, tuple[int, float, float, UUID])
    looking = Looking(ctx, asked, query, await store.list_rarities(ctx.db, query.words), time.monotonic())
    ranked = await _look(looking, after, limit + 1)
    page = pager.page(ranked, limit, lambda one: one.position)
    return SearchResults(
        items=[*await _hits(ctx, query, page.items), *await list_entities(ctx, asked)],
        next_cursor=page.next_cursor,
        relaxed=any(one.way != _WITH_ALL for one in page.items),
        cut=looking.cut,
        took_ms=round((time.monotonic() - looking.began) * 1000),
    )


async def find_some(ctx: Context, q: str, kind: str | None = None) -> list[dict[str, Any]]:
    """The best ten for a program: what each is, its id, and the piece of its text that matched."""
    try:
        asked = msgspec.convert({"q": q, "kind": kind}, Asking)
    except msgspec.ValidationError as error:
        raise Invalid(f"this cannot be looked for: {error}") from error
    found = await search(ctx, Search(asked.q, asked.kind), _FEW, None)
    facts = ("kind", "id", "title", "snippet", "key", "updated_at")
    return [{name: value for name in facts if (value := getattr(hit, name)) is not None} for hit in found.items]


async def list_entities(ctx: Context, asked: Search) -> list[SearchHit]:
    """Entities of the knowledge graph that fit; there is no graph yet, so none do."""
    return []


async def _look(looking: Looking, after: Position | None, wanted: int) -> list[Ranked]:
    """The first of everything behind a position; another way is taken only while a page is not full."""
    ways: list[Callable[[Looking], Awaitable[None]]] = [_with_all, _with_any, _alike]
    fitting: list[Ranked] = []
    for way in ways:
        if not _kinds_of(looking) or looking.cut:
            break
        await way(looking)
        ordered = sorted(looking.found.values(), key=lambda one: one.position)
        fitting = [one for one in ordered if after is None or one.position > after][:wanted]
        if len(fitting) == wanted:
            break
    return fitting


async def _with_all(looking: Looking) -> None:
    query = looking.query
    await _take(looking, _WITH_ALL, await _candidates(looking, wanted=query.all_of(), first=query.in_titles()))


async def _with_any(looking: Looking) -> None:
    query = looking.query
    if len(query.phrases) > 1:
        await _take(looking, _WITH_ANY, await _candidates(looking, wanted=query.any_of(), first=query.in_titles()))


async def _alike(looking: Looking) -> None:
    triples = triples_of(looking.query.words)
    found = await _candidates(looking, way="alike", alike=triples, most=_MOST_ALIKE)
    for one in found:
        likeness = one.common / len(triples)
        if likeness >= _ALIKE and one.id not in looking.found:
            looking.found[one.id] = Ranked(one, _LIKE, round(likeness, 2))


async def _take(looking: Looking, way: int, found: list[Candidate]) -> None:
    statistics = {word: rarity for word, rarity in looking.known.items() if word} if "" in looking.known else {}
    known = statistics or ({"": 0} if "" in looking.known else {})
    rarity = ranking.rarities(looking.query, known, found)
    for one in found:
        if one.id not in looking.found:
            score = ranking.score(one, looking.query, rarity, looking.ctx.who.user_id)
            looking.found[one.id] = Ranked(one, way, score)


async def _candidates(
    looking: Looking,
    *,
    wanted: str = "",
    first: str = "",
    way: str | None = None,
    alike: list[str] | None = None,
    most: int = _MOST,
) -> list[Candidate]:
    asked, query = looking.search, looking.query
    left = _BUDGET_MS - round((time.monotonic() - looking.began) * 1000)
    if left < _LEAST_MS:
        looking.cut = True
        return []
    values = {
        "scope": asked.scope,
        "kinds": _kinds_of(looking),
        "prefix": asked.prefix,
        "way": way or _way_of(looking),
        "wanted": wanted,
        "first": first,
        "words": query.words,
        "beginning": query.beginning,
        "alike": alike or [],
        "most": most,
    }
    try:
        async with looking.ctx.db.within(left):
            return await store.list_candidates(looking.ctx.db, looking.ctx.who, values)
    except TookTooLong:
        looking.cut = True
        return []


def _way_of(looking: Looking) -> str:
    """Words that are nearly everywhere are met soon from the newest row on; the index would collect all their rows first."""
    query, known = looking.query, looking.known
    if query.beginning and len(query.beginning) <= _SHORT and len(query.words) == 1:
        return "newest"
    frequent = all(known.get(word, _FREQUENT + 1) <= _FREQUENT for word in query.words)
    return "newest" if looking.search.scope == "org" and frequent else "words"


def _kinds_of(looking: Looking) -> list[str]:
    """What the caller's credential may read of what was asked for."""
    who, asked = looking.ctx.who, looking.search.kind
    kinds = ["note"] if who.within_scope("notes:read") and not looking.search.prefix else []
    kinds += ["object", "document"] if who.within_scope("files:read") else []
    return [kind for kind in kinds if asked in (None, kind)]


async def _hits(ctx: Context, query: Query, ranked: list[Ranked]) -> list[SearchHit]:
    """What is shown, read anew with the predicates of notes and the repository: a row of the index alone shows nothing."""
    ids = [one.candidate.id for one in ranked]
    of_notes = [one.candidate.id for one in ranked if one.candidate.kind == "note"]
    found: dict[UUID, Note | FoundObject] = {
        **await notes.list_by_ids(ctx, of_notes, _SHOWN_CHARACTERS),
        **await texts.list_by_ids(ctx, list(set(ids) - set(of_notes)), _SHOWN_CHARACTERS),
    }
    teams = await store.list_team_names(ctx.db, ctx.who.org_id, list({thing.team_id for thing in found.values()}))
    return [
        _hit(query, one, thing, teams.get(thing.team_id, ""))
        for one in ranked
        if (thing := found.get(one.candidate.id)) is not None
    ]


def _hit(query: Query, ranked: Ranked, thing: Note | FoundObject, team: str) -> SearchHit:
    key, content_type, text = (
        (None, None, thing.body) if isinstance(thing, Note) else (thing.key, thing.content_type, thing.text)
    )
    snippet, marks = snippets.snippet_of(text, query.words, query.beginning)
    return SearchHit(
        kind=_kind_of(thing),
        id=thing.id,
        title=thing.title,
        snippet=snippet,
        marks=marks,
        team=TeamName(thing.team_id, team),
        updated_at=thing.updated_at,
        score=ranked.score,
        matched=_matched(query, ranked, thing.title, key),
        key=key,
        content_type=content_type,
        visibility=thing.visibility,
    )


def _kind_of(thing: Note | FoundObject) -> Kind:
    if isinstance(thing, Note):
        return "note"
    return "document" if thing.document else "object"


def _matched(query: Query, ranked: Ranked, title: str, key: str | None) -> list[Place]:
    weights = "".join((ranked.candidate.found or {}).values())
    places: list[Place] = []
    if ranked.way == _LIKE or snippets.has_words(title, query.words, query.beginning):
        places.append("title")
    if key is not None and snippets.has_words(key, query.words, query.beginning):
        places.append("key")
    if "B" in weights or "D" in weights:
        places.append("text")
    return places
