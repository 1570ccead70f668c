"""What is shown of what was found: each thing as its own domain reads it for the caller, with the piece of text that matched."""

from collections.abc import Mapping
from uuid import UUID

from atrium.engine.repository import texts
from atrium.engine.repository.model import FoundObject
from atrium.kit.work.compute import TooHeavy
from atrium.kit.work.shares import Busy
from atrium.product.notes import service as notes
from atrium.product.notes.model import Note
from atrium.product.search import ranking, snippets, store
from atrium.product.search.entities import Named
from atrium.product.search.model import (
    Kind,
    Place,
    SearchHit,
    TeamName,
)
from atrium.product.search.queries import Query
from atrium.product.search.ranking import LIKE, NEARLY, RankedRow
from atrium.product.search.snippets import Cut, SnippetSource
from atrium.seams.context import Context

# Snippets are looked for in the beginning of a text.
_SHOWN_CHARACTERS = 60_000
# Texts of a page that have no more characters together are cut at once; others in so many seconds, or shown from their beginning.
_CUT_AT_ONCE, _CUT_SECONDS = 30_000, 3.0
# A search holds a connection: it does not wait for long.
_CUT_WAITS = 0.5


async def read_hits(
    ctx: Context, query: Query, named: Mapping[UUID, Named], ranked: list[RankedRow]
) -> list[SearchHit]:
    """What is shown, read anew with the predicates of notes and the repository: a row of the index alone shows nothing."""
    ids = {one.candidate.id for one in ranked} - named.keys()
    of_notes = [one.candidate.id for one in ranked if one.candidate.kind == "note"]
    found: dict[UUID, Note | FoundObject | Named] = {
        **await notes.list_by_ids(ctx, of_notes, _SHOWN_CHARACTERS),
        **await texts.list_by_ids(ctx, list(ids - set(of_notes)), _SHOWN_CHARACTERS),
        **{one.candidate.id: named[one.candidate.id] for one in ranked if one.candidate.id in named},
    }
    teams = await store.list_team_names(ctx.db, ctx.who.org_id, list({_team_of(thing) for thing in found.values()}))
    shown = [(one, thing) for one in ranked if (thing := found.get(one.candidate.id)) is not None]
    return [
        _hit(cut, one, thing, TeamName(_team_of(thing), teams.get(_team_of(thing), "")))
        for cut, (one, thing) in zip(await _cut(ctx, query, [thing for _, thing in shown]), shown, strict=True)
    ]


async def _cut(ctx: Context, query: Query, things: list[Note | FoundObject | Named]) -> list[Cut]:
    sources = [_source_of(thing) for thing in things]
    size, stems = sum(len(one.text) for one in sources), list(query.stems.values())
    try:
        return await ctx.services.compute.run(
            ctx.who.org_id, size, snippets.cut, list(query.words), query.beginning, stems, sources,
            small=_CUT_AT_ONCE, seconds=_CUT_SECONDS, waits=_CUT_WAITS,
        )  # fmt: skip
    except (Busy, TooHeavy):
        return snippets.beginnings(sources)


def _source_of(thing: Note | FoundObject | Named) -> SnippetSource:
    if isinstance(thing, Named):
        return SnippetSource(thing.name, None, thing.entity.quote)
    return (
        SnippetSource(thing.title, None, thing.body)
        if isinstance(thing, Note)
        else SnippetSource(thing.title, thing.key, thing.text)
    )


def _team_of(thing: Note | FoundObject | Named) -> UUID:
    return thing.entity.team_id if isinstance(thing, Named) else thing.team_id


def _hit(cut: Cut, ranked: RankedRow, thing: Note | FoundObject | Named, team: TeamName) -> SearchHit:
    if isinstance(thing, Named):
        return _entity_hit(cut, thing, team)
    key, content_type = (None, None) if isinstance(thing, Note) else (thing.key, thing.content_type)
    return SearchHit(
        kind=_kind_of(thing),
        id=thing.id,
        title=thing.title,
        snippet=cut.snippet,
        marks=cut.marks,
        team=team,
        updated_at=thing.updated_at,
        score=ranked.score,
        matched=_matched(cut, ranked),
        key=key,
        content_type=content_type,
        visibility=thing.visibility,
    )


def _entity_hit(cut: Cut, named: Named, team: TeamName) -> SearchHit:
    entity = named.entity
    return SearchHit(
        kind="entity",
        id=entity.id,
        title=named.name,
        snippet=cut.snippet,
        marks=cut.marks,
        team=team,
        updated_at=entity.read_at,
        score=named.score,
        matched=["name"],
        type=entity.type,
    )


def _kind_of(thing: Note | FoundObject) -> Kind:
    if isinstance(thing, Note):
        return "note"
    return "document" if thing.document else "object"


def _matched(cut: Cut, ranked: RankedRow) -> list[Place]:
    places: list[Place] = []
    if ranked.way in (NEARLY, LIKE) or cut.in_title:
        places.append("title")
    if cut.in_key:
        places.append("key")
    if ranking.is_in_text(ranked.candidate):
        places.append("text")
    return places
