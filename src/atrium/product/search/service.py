"""The rules of search: what is found is what the caller can read, best first, within half a second."""

import time
from collections.abc import Awaitable, Callable, Sequence
from operator import attrgetter
from typing import Any
from uuid import UUID

import msgspec

from atrium.ground.access import service as access
from atrium.ground.identity import service as identity
from atrium.kit.errors import Invalid
from atrium.kit.postgres.database import StatementTookTooLong
from atrium.kit.web.pages import Pager
from atrium.product.search import bounds, entities, ranking, store
from atrium.product.search.entities import Named
from atrium.product.search.hits import read_hits
from atrium.product.search.languages import dictionary_of
from atrium.product.search.model import (
    Candidate,
    Candidates,
    Search,
    SearchQuery,
    SearchResults,
    SearchScopeRefused,
)
from atrium.product.search.queries import COLLECTED, Query, read_query, understood
from atrium.product.search.ranking import LIKE, NEARLY, TITLED, WITH_ALL, WITH_ANY, Position, RankedRow
from atrium.product.search.words import chunks_of, triples_of
from atrium.seams.context import Context
from atrium.seams.sharing import MOST_LOOKED_AT

# With less time left, nothing more is looked for.
_LEAST_MS = 20
# So many rows are ranked, and in a large instance.
_MOST, _MOST_OF_MANY = 200, 100
# So many matching rows are weighed against each other while the instance is small.
_LOOK = 4_000
# In a large one, so many of the newest are looked at for words that are nearly everywhere; and so many where those fill no page.
# Words that are more frequent are met sooner.
_NEAREST, _NEAR, _FAR = 500, 2_000, 8_000
# Weighing takes as long as there are rows and terms.
_WEIGHED = 8_000
# Titles have no more words, and are looked for by so many letter triples.
_LONGEST_TITLE, _TRIPLES = 12, 5
_FEW = 10
_MOST_ALIKE = 100
# A title is alike when it has so many of the triples of what was asked for.
_ALIKE = 0.3
# With more words than these, rows that have all of them count for more, and no longer come before all others.
_MOST_STRICT = 2
# With no more words than these the whole question may be a title with a typing error.
_MOST_TITLED = 3


class SearchInProgress(msgspec.Struct):
    """One search on its way: what has been found so far, and how much time is left."""

    ctx: Context
    search: Search
    query: Query
    began: float
    wanted: int
    found: dict[UUID, RankedRow] = {}
    named: dict[UUID, Named] = {}
    cut: bool = False
    # Whether a way ended before it had looked at everything.
    partial: bool = False

    @property
    def strict(self) -> bool:
        """Whether what has all words comes before all else."""
        return self.words <= _MOST_STRICT

    @property
    def words(self) -> int:
        """How many words a row has to have to have all of them."""
        return sum(max(map(len, group)) for group in self.query.groups)


async def search(ctx: Context, asked: Search, limit: int, cursor: str | None) -> SearchResults:
    """What the caller can read and has the words: all of them first, then any, then titles that are alike."""
    access.note_checked(ctx, "search")
    access.require_org_scope(ctx, asked.scope, SearchScopeRefused)
    query = await _understood(ctx, read_query(asked.q))
    pager = Pager(ctx.services.keys, "search", ctx.who.user_id, asked)
    after: Position | None = pager.read(cursor, tuple[int, float, float, UUID])
    wanted = limit + 1
    # Of what the caller can read, others by whom they are bound may not read the best.
    looking = SearchInProgress(ctx, asked, query, time.monotonic(), MOST_LOOKED_AT if ctx.is_bound else wanted)
    ranked = await bounds.list_first(ctx, await _look(looking, after), attrgetter("candidate"), wanted)
    page = pager.page(ranked, limit, lambda one: one.position)
    return SearchResults(
        items=await read_hits(ctx, query, looking.named, page.items),
        next_cursor=page.next_cursor,
        relaxed=any(one.relaxed for one in page.items),
        cut=looking.cut or (looking.partial and len(ranked) < wanted),
        took_ms=round((time.monotonic() - looking.began) * 1000),
    )


async def _understood(ctx: Context, query: Query) -> Query:
    dictionary = dictionary_of(await identity.read_locale(ctx))
    return understood(query, await store.list_known(ctx.db, query.words, query.beginning, dictionary))


async def find_some(ctx: Context, q: str, kind: str | None = None) -> list[dict[str, Any]]:
    """The best ten for a program: what each is, its id, and the piece of its text that matched."""
    try:
        asked = msgspec.convert({"q": q, "kind": kind}, SearchQuery)
    except msgspec.ValidationError as error:
        raise Invalid(f"this cannot be looked for: {error}") from error
    found = await search(ctx, Search(asked.q, asked.kind), _FEW, None)
    facts = ("kind", "id", "title", "snippet", "key", "updated_at")
    return [{name: value for name in facts if (value := getattr(hit, name)) is not None} for hit in found.items]


async def _look(looking: SearchInProgress, after: Position | None) -> list[RankedRow]:
    """The first of everything behind a position; another way is taken only while a page is not full."""
    fitting: list[RankedRow] = []
    for way in _ways_of(looking):
        if looking.cut:
            break
        await way(looking)
        ordered = sorted(looking.found.values(), key=lambda one: one.position)
        fitting = [one for one in ordered if after is None or one.position > after][: looking.wanted]
        if len(fitting) == looking.wanted and way is not _named and not (way in _LOOSE and _is_misspelt(looking)):
            break
    return fitting


def _ways_of(looking: SearchInProgress) -> list[Callable[[SearchInProgress], Awaitable[None]]]:
    """Where few rows match, those with any word are weighed at once; among many, titles and rows with all words are asked for before."""
    named = (_named,) if _seeks_entities(looking) else ()
    query = looking.query
    if not _kinds_of(looking):
        return [*named]
    if query.rarities is None:
        return [*named, _with_any, _alike]
    titled = (_titled,) if len(query.asked) <= _LONGEST_TITLE else ()
    exact = (_with_exactly,) if query.is_complete() else ()
    every = () if exact and not query.begins_others() else (_with_all,)
    strict = (*exact, *every) if looking.strict else ()
    # One phrase is all that there is to look for.
    loose = () if looking.strict and len(query.phrases) == 1 else _LOOSE
    return [*named, *titled, *strict, *loose, _alike]


def _is_misspelt(looking: SearchInProgress) -> bool:
    """Whether so little has all words that one of them may have a typing error."""
    return looking.words <= _MOST_TITLED and sum(not one.relaxed for one in looking.found.values()) < _FEW


def budget_of(looking: SearchInProgress) -> int:
    """Milliseconds in which all that a search looks for is found, or left out."""
    return looking.ctx.services.settings.search_milliseconds


async def _named(looking: SearchInProgress) -> None:
    """Entities by their names; they are read with the knowledge graph's own rule, and shown as they were read."""
    try:
        async with looking.ctx.db.within(budget_of(looking)):
            found = await entities.list_fitting(looking.ctx, looking.search, looking.query)
    except StatementTookTooLong:
        looking.cut = True
        return
    for one in found:
        looking.named[one.entity.id] = one
        looking.found[one.entity.id] = RankedRow(one.candidate, TITLED if one.exact else WITH_ALL, one.score)


async def _titled(looking: SearchInProgress) -> None:
    """By some letter triples of its longest word."""
    chunk = _some(triples_of([max(looking.query.asked, key=len)]))
    found = await _collect(looking, way="titled", chunks=[" ".join(chunk)])
    _take(looking, [one for one in found if one.complete])


async def _with_exactly(looking: SearchInProgress) -> None:
    _take(looking, await _collect(looking, wanted=looking.query.all_of(exact=True)))


async def _with_all(looking: SearchInProgress) -> None:
    query = looking.query
    spread, wanted = query.spread(), query.all_of()
    meeting = _meet(looking, wanted, spread) if spread <= COLLECTED else _collect(looking, wanted=wanted)
    _take(looking, await meeting)


async def _with_rarest(looking: SearchInProgress) -> None:
    if rarest := looking.query.rarest_of():
        _take(looking, await _collect(looking, wanted=rarest))


async def _with_any(looking: SearchInProgress) -> None:
    if looking.query.rarities is None:
        _take(looking, await _collect(looking, wanted=looking.query.any_of()))
        return
    spread = looking.query.least_spread()
    if spread <= COLLECTED:
        _take(looking, await _meet(looking, looking.query.any_of(), spread))


async def _alike(looking: SearchInProgress) -> None:
    query = looking.query
    triples = triples_of(query.words)
    chunks: list[str] = []
    if query.rarities is not None:
        # A word that many rows have is hardly misspelt.
        unknown = [word for word in query.words if word not in query.rarities]
        chunks = _chunks(unknown, query.words) or _chunks(query.words, query.words)
        if not chunks:
            return
    for one in await _collect(looking, way="alike", alike=triples, chunks=chunks, most=_MOST_ALIKE):
        likeness = one.common / len(triples)
        nearly = ranking.is_nearly_titled(one, len(triples))
        earlier = looking.found.get(one.id)
        if likeness >= _ALIKE and (earlier is None or (nearly and earlier.way > NEARLY)):
            # Of two titles with as many common triples the one that has fewer others is more alike.
            score = round(2 * one.common / (len(triples) + one.triples), 2)
            looking.found[one.id] = RankedRow(one, NEARLY if nearly else LIKE, score)


def _chunks(misspelt: list[str], words: list[str]) -> list[str]:
    """Letter triples of titles in which one of some words has a typing error; where it is short, those of the others, which are whole."""
    chunks: list[list[str]] = []
    for word in misspelt:
        others = _some(triples_of([one for one in words if one != word]))
        chunks += chunks_of(word) or ([others] if others else [])
    return [" ".join(chunk) for chunk in chunks]


def _some(triples: list[str]) -> list[str]:
    """A few of these: each more that is looked for would take as long as the first."""
    return triples[:: max(1, -(-len(triples) // _TRIPLES))]


# Behind these a title with a typing error may still come before what was found.
_LOOSE = (_with_rarest, _with_any)


def _take(looking: SearchInProgress, found: list[Candidate]) -> None:
    query, found_before = looking.query, looking.found
    scorer, strict = ranking.Scorer(query, looking.ctx.who.user_id), looking.strict
    for one in found:
        if one.id in found_before:
            continue
        way = WITH_ALL if one.complete and strict else WITH_ANY
        found_before[one.id] = RankedRow(one, TITLED if ranking.is_titled(one, query) else way, scorer.score(one))


async def _collect(looking: SearchInProgress, *, way: str = "words", **asked: Any) -> list[Candidate]:
    """Rows that match, out of the index."""
    look = _LOOK if looking.query.rarities is None else _bounded(looking, _NEAR)
    return (await _candidates(looking, look, way=way, **asked)).rows


async def _meet(looking: SearchInProgress, wanted: str, spread: int) -> list[Candidate]:
    """Rows that match among the newest: words that are nearly everywhere are met soon; the index would collect all their rows first."""
    rows: list[Candidate] = []
    # Words of a phrase are met sooner than the phrase.
    phrased = any(len(phrase) > 1 for phrase in looking.query.phrases)
    for most in (_NEAR if phrased else max(_NEAREST, min(_NEAR, _MOST_OF_MANY << spread)), _FAR):
        look = _bounded(looking, most)
        found = await _candidates(looking, look, way="newest", wanted=wanted)
        # The second look sees all that the first one did, unless it takes too long.
        rows = found.rows or rows
        if len(rows) >= _FEW or found.looked < look:
            looking.partial = looking.partial or found.looked >= look
            return rows
    looking.partial = True
    return rows


def _bounded(looking: SearchInProgress, most: int) -> int:
    return min(most, most * _WEIGHED // (_NEAR * len(looking.query.phrases)))


async def _candidates(
    looking: SearchInProgress,
    look: int,
    *,
    way: str,
    wanted: str = "",
    alike: Sequence[str] = (),
    chunks: Sequence[str] = (),
    most: int | None = None,
) -> Candidates:
    asked, query = looking.search, looking.query
    spent = round((time.monotonic() - looking.began) * 1000)
    left = budget_of(looking) - spent
    if left < _LEAST_MS:
        looking.cut = True
        return Candidates([], 0)
    values = {
        "scope": asked.scope,
        "kinds": _kinds_of(looking),
        "prefix": asked.prefix,
        "way": way,
        "wanted": wanted,
        "every": query.all_of(),
        "titled": query.in_title(),
        "terms": [query.term(phrase) for phrase in query.phrases],
        "rarities": ranking.rarities(query),
        "words": list(dict.fromkeys([*query.lexemes, *(word for phrase in query.without for word in phrase)])),
        "beginning": query.beginning,
        "alike": alike,
        "chunks": chunks,
        "strict": looking.strict,
        "look": look,
        "most": most or (_MOST if query.rarities is None else _MOST_OF_MANY),
    }
    try:
        async with looking.ctx.db.within(left):
            found = await store.list_candidates(looking.ctx.db, looking.ctx.who, values)
    except StatementTookTooLong:
        looking.cut = True
        return Candidates([], 0)
    # In every way: titles that are alike are looked for by letters, which say nothing of words.
    return Candidates(
        [ranking.without_excluded(one, query) for one in found.rows if not ranking.is_excluded(one, query)],
        found.looked,
    )


def _kinds_of(looking: SearchInProgress) -> list[str]:
    """What the caller's credential may read of what was asked for."""
    who, asked = looking.ctx.who, looking.search.kind
    kinds = ["note"] if who.within_scope("notes:read") and not looking.search.prefix else []
    kinds += ["object", "document"] if who.within_scope("files:read") else []
    return [kind for kind in kinds if asked in (None, kind)]


def _seeks_entities(looking: SearchInProgress) -> bool:
    search = looking.search
    return search.kind in (None, "entity") and not search.prefix and looking.ctx.who.within_scope("files:read")
