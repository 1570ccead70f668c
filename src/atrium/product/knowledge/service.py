"""The verbs of the knowledge graph: list, read, extract. Every answer is made of what the caller can read."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any
from uuid import UUID

from atrium.engine.repository import permissions
from atrium.engine.repository.model import KIND as OBJECT
from atrium.engine.workflows import definitions
from atrium.engine.workflows import service as workflows
from atrium.engine.workflows.run_model import Run, Starter
from atrium.ground.access import service as access
from atrium.kit.web.pages import Page, Pager
from atrium.product.knowledge import entity_rows, store, unread_rows
from atrium.product.knowledge.entity_rows import EntityCount, EntityFilter
from atrium.product.knowledge.model import (
    KIND,
    Entity,
    EntityDetail,
    EntityMissing,
    EntityType,
    FoundEntity,
    KnowledgeScopeRefused,
    Merge,
    MergeResult,
    NamedEntity,
    Relation,
    ShownMention,
    Sought,
    Unread,
)
from atrium.product.knowledge.names import fold_text
from atrium.seams.context import Context
from atrium.seams.sharing import Shareable, ThingName, fill, list_handed_out

WORKFLOW = "index-knowledge"
MOST_AT_ONCE = 40
_MOST_ALIASES, _MOST_MERGES = 20, 200


async def list_entities(ctx: Context, sought: Sought, limit: int, cursor: str | None) -> Page[Entity]:
    """Entities of readable documents, or of one of them, most mentioned first.

    Unless the whole company is asked for, documents that the caller reads by a role in it are left out; one that is named is not.
    """
    access.note_checked(ctx, "files:read")
    access.require_org_scope(ctx, sought.scope, KnowledgeScopeRefused)
    wanted = None if sought.q is None else fold_text(sought.q)
    if wanted == "" or ctx.is_bound:
        return Page([])
    reader = _reader(ctx, org_wide=sought.scope == "org" or sought.object_id is not None)
    facts = (wanted or "", sought.type or "", sought.object_id or "", sought.scope)
    pager = Pager(ctx.services.keys, "entities", ctx.who.user_id, ctx.who.team_id, *facts)
    chosen = EntityFilter(wanted, sought.type, sought.object_id, pager.read(cursor, tuple[int, UUID]))
    found = await entity_rows.list_entities(ctx.db, reader, chosen, limit + 1)
    page = pager.page(found, limit, lambda one: (one.mentions, one.id))
    ctx.touch(KIND, [one.id for one in page.items])
    return Page(await _with_relations(ctx, reader, page.items), page.next_cursor)


def _reader(ctx: Context, *, org_wide: bool) -> dict[str, Any]:
    """By what the caller reads documents; a role in the company counts only where the whole of it is asked for."""
    reader = permissions.reader_of(ctx.who)
    return reader | {"org_wide": reader["org_wide"] and org_wide}


async def list_named(ctx: Context, words: list[str], limit: int, *, org_wide: bool) -> list[FoundEntity]:
    """Entities that the caller can read a name of which has all these words, most mentioned first; none for a token that reads no files.

    Without `org_wide` those of documents that the caller reads by a role in the company are left out.
    """
    wanted = [word for word in map(fold_text, words) if word]
    # What an entity says comes from all documents that its reader can read; which of those others can read is not told apart.
    if not wanted or not ctx.who.within_scope("files:read") or ctx.is_bound:
        return []
    if not await entity_rows.has_graph(ctx.db, ctx.who.org_id):
        return []
    reader = _reader(ctx, org_wide=org_wide)
    heads = await entity_rows.list_named(ctx.db, reader, wanted, limit)
    ctx.touch(KIND, heads)
    members = await store.list_members(ctx.db, ctx.who.org_id, heads) if heads else []
    places = await entity_rows.list_places(ctx.db, reader, members) if heads else {}
    return [
        FoundEntity(one.id, one.type, one.names[: _MOST_ALIASES + 1], place.team_id, place.read_at, place.quote)
        for one in (await entity_rows.list_heads(ctx.db, reader, members) if heads else [])
        if (place := places.get(one.id)) is not None
    ]


async def _with_relations(ctx: Context, reader: dict[str, Any], found: list[EntityCount]) -> list[Entity]:
    heads = [one.id for one in found]
    counts = await entity_rows.count_relations(ctx.db, reader, heads) if heads else {}
    return [
        Entity(
            one.id,
            one.type,
            one.names[0],
            one.names[1 : _MOST_ALIASES + 1],
            one.mentions,
            one.documents,
            counts.get(one.id, 0),
        )
        for one in found
    ]


async def read_entity(ctx: Context, id: UUID, scope: str | None, limit: int, cursor: str | None) -> EntityDetail:
    """An entity with what readable documents say about it; what was merged into another is read as that one.

    Without a `scope` an entity that no document of the team mentions is looked for in the company, as far as the caller reads it.
    """
    access.note_checked(ctx, "files:read")
    access.require_org_scope(ctx, scope or "team", KnowledgeScopeRefused)
    if ctx.is_bound:
        raise EntityMissing("a run that was fired reads no entities")
    reader = _reader(ctx, org_wide=scope == "org")
    found = await _find_entity(ctx, reader, id)
    if found is None and scope is None and "org:read" in ctx.who.permissions:
        reader = _reader(ctx, org_wide=True)
        found = await _find_entity(ctx, reader, id)
    if found is None:
        raise EntityMissing("there is no such entity, or no document that mentions it is shared with you")
    one, members = found
    ctx.touch(KIND, [one.id])
    return EntityDetail(
        id=one.id,
        type=one.type,
        name=one.names[0],
        aliases=one.names[1 : _MOST_ALIASES + 1],
        documents=one.documents,
        mentions=await _list_mentions(ctx, reader, members, limit, cursor),
        relations=await _list_relations(ctx, reader, one.id, members),
        merged=await _list_merged(ctx, reader, one.id),
    )


async def _find_entity(ctx: Context, reader: dict[str, Any], id: UUID) -> tuple[EntityCount, list[UUID]] | None:
    """The root above an entity, with all that was merged into it; of one that was merged only when it has a readable mention itself."""
    head = await store.find_head(ctx.db, ctx.who.org_id, id)
    if head is not None and not await entity_rows.list_spellings(ctx.db, reader, [id]):
        return None
    members = await store.list_members(ctx.db, ctx.who.org_id, [head or id])
    found = await entity_rows.list_heads(ctx.db, reader, members)
    return (found[0], members) if found else None


async def _list_mentions(
    ctx: Context, reader: dict[str, Any], members: list[UUID], limit: int, cursor: str | None
) -> Page[ShownMention]:
    # The root is the first of its members.
    pager = Pager(ctx.services.keys, "mentions", ctx.who.user_id, ctx.who.team_id, members[0], reader["org_wide"])
    after = pager.read(cursor, tuple[UUID, int, UUID])
    found = await entity_rows.list_mentions(ctx.db, reader, members, after, limit + 1)
    page = pager.page(found, limit, lambda one: one[1])
    return Page([mention for mention, _ in page.items], page.next_cursor)


async def _list_relations(ctx: Context, reader: dict[str, Any], head: UUID, members: list[UUID]) -> list[Relation]:
    told = await entity_rows.list_relations(ctx.db, reader, head, members)
    others = await store.list_members(ctx.db, ctx.who.org_id, [one.other_id for one in told])
    named = {one.id: one for one in await entity_rows.list_heads(ctx.db, reader, others)}
    return [
        Relation(one.id, one.type, one.direction, _named(named[one.other_id]), one.documents, one.evidence)
        for one in told
        if one.other_id in named
    ]


def _named(one: EntityCount) -> NamedEntity:
    return NamedEntity(one.id, one.type, one.names[0])


async def _list_merged(ctx: Context, reader: dict[str, Any], head: UUID) -> list[MergeResult]:
    merges = await store.list_merges(ctx.db, ctx.who.org_id, head, _MOST_MERGES)
    ids = [merge.drop_id for merge in merges]
    named = await entity_rows.list_spellings(ctx.db, reader, ids) if ids else {}
    return [_merged(merge, *named[merge.drop_id]) for merge in merges if merge.drop_id in named]


def _merged(merge: Merge, type: EntityType, name: str) -> MergeResult:
    by = Starter(merge.merged_by, merge.username) if merge.merged_by and merge.username else None
    return MergeResult(merge.id, name, type, by, merge.merged_at)


async def start_extraction(ctx: Context) -> Run:
    """Start `index-knowledge` for the caller's team; while a run of it has not ended, that one is the answer.

    A version that another member published is refused until the caller has accepted what it does.
    """
    await store.lock_team(ctx.db, ctx.who.team_id)
    id = await workflows.find_open_run(ctx, WORKFLOW)
    if id is None:
        found = await definitions.find(ctx, WORKFLOW)
        await definitions.require_accepted(ctx, found)
        id = await workflows.start_run(ctx, WORKFLOW, found=found)
    return await workflows.read_run(ctx, id)


async def list_unread(ctx: Context, limit: int, cursor: str | None) -> Page[Unread]:
    """Documents of the team that were not read in their current version, oldest first, and why."""
    access.note_checked(ctx, "files:read")
    pager = Pager(ctx.services.keys, "unread knowledge", ctx.who.user_id, ctx.who.team_id)
    after = pager.read(cursor, UUID)
    found = await unread_rows.list_unread(ctx.db, ctx.who, after, limit + 1)
    return pager.page(found, limit, lambda one: one.object_id)


async def list_unextracted(ctx: Context) -> list[UUID]:
    """The ids of a few documents that can be read next."""
    access.note_checked(ctx, "files:read")

    async def read(last: Unread | None, count: int) -> list[Unread]:
        after = None if last is None else last.object_id
        return await unread_rows.list_unread(ctx.db, ctx.who, after, count, unread_rows.READ_NEXT)

    async def hand(found: Sequence[Unread]) -> list[Unread]:
        return await list_handed_out(ctx, OBJECT, found, attrgetter("object_id"))

    return [one.object_id for one in await fill(ctx, MOST_AT_ONCE, read, hand)]


async def list_names(ctx: Context, ids: list[UUID], trashed: bool) -> dict[UUID, ThingName]:
    """What those of these entities are called that a document mentions which the caller may read; none for a token that reads no files."""
    if not ctx.who.within_scope("files:read"):
        return {}
    members = await store.list_members(ctx.db, ctx.who.org_id, ids)
    found = await entity_rows.list_heads(ctx.db, permissions.reader_of(ctx.who), members)
    return {one.id: ThingName(one.names[0], False) for one in found}


ENTITY = Shareable(kind=KIND, family="files", list_names=list_names)
