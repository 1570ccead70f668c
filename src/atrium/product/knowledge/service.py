"""The verbs of the knowledge graph: list, read, extract. Every answer is made of what the caller can read."""

from uuid import UUID

from atrium.engine.repository import permissions
from atrium.engine.repository.model import KIND as OBJECT
from atrium.engine.workflows import service as workflows
from atrium.engine.workflows.model import Run, Starter
from atrium.ground.access import service as access
from atrium.kit.paging import Page, Pager
from atrium.product.knowledge import entity_rows, store, unread_rows
from atrium.product.knowledge.entity_rows import Counted, EntityFilter
from atrium.product.knowledge.model import (
    KIND,
    Entity,
    EntityDetail,
    EntityMissing,
    EntityType,
    FoundEntity,
    Merge,
    Merged,
    NamedEntity,
    Relation,
    ShownMention,
    Unread,
)
from atrium.product.knowledge.names import folded
from atrium.seams.context import Context
from atrium.seams.sharing import Shareable, ThingName

WORKFLOW = "index-knowledge"
MOST_AT_ONCE = 40
_MOST_ALIASES, _MOST_MERGES = 20, 200


async def list_entities(
    ctx: Context, q: str | None, type: EntityType | None, object_id: UUID | None, limit: int, cursor: str | None
) -> Page[Entity]:
    """Entities of readable documents, or of one of them, most mentioned first."""
    access.note_checked(ctx, "files:read")
    wanted = None if q is None else folded(q)
    if wanted == "":
        return Page([])
    pager = Pager(
        ctx.services.keys, "entities", ctx.who.user_id, ctx.who.team_id, wanted or "", type or "", object_id or ""
    )
    chosen = EntityFilter(wanted, type, object_id, pager.read(cursor, tuple[int, UUID]))
    found = await entity_rows.list_entities(ctx.db, permissions.reader_of(ctx.who), chosen, limit + 1)
    page = pager.page(found, limit, lambda one: (one.mentions, one.id))
    ctx.touch(KIND, [one.id for one in page.items])
    return Page(await _with_relations(ctx, page.items), page.next_cursor)


async def list_named(ctx: Context, words: list[str], limit: int, *, org_wide: bool) -> list[FoundEntity]:
    """Entities that the caller can read a name of which has all these words, most mentioned first; none for a token that reads no files.

    Without `org_wide` those of documents that the caller reads by a role in the company are left out.
    """
    wanted = [word for word in map(folded, words) if word]
    if not wanted or not ctx.who.within_scope("files:read"):
        return []
    if not await entity_rows.has_graph(ctx.db, ctx.who.org_id):
        return []
    reader = permissions.reader_of(ctx.who)
    reader["org_wide"] = reader["org_wide"] and org_wide
    heads = await entity_rows.list_named(ctx.db, reader, wanted, limit)
    ctx.touch(KIND, heads)
    members = await store.list_members(ctx.db, ctx.who.org_id, heads) if heads else []
    places = await entity_rows.list_places(ctx.db, reader, members) if heads else {}
    return [
        FoundEntity(one.id, one.type, one.names[: _MOST_ALIASES + 1], place.team_id, place.read_at, place.quote)
        for one in (await entity_rows.list_heads(ctx.db, reader, members) if heads else [])
        if (place := places.get(one.id)) is not None
    ]


async def _with_relations(ctx: Context, found: list[Counted]) -> list[Entity]:
    heads = [one.id for one in found]
    counts = await entity_rows.count_relations(ctx.db, permissions.reader_of(ctx.who), heads) if heads else {}
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


async def read_entity(ctx: Context, id: UUID, limit: int, cursor: str | None) -> EntityDetail:
    """An entity with what readable documents say about it; what was merged into another is read as that one."""
    access.note_checked(ctx, "files:read")
    reader, head = permissions.reader_of(ctx.who), await _read_head(ctx, id)
    members = await store.list_members(ctx.db, ctx.who.org_id, [head])
    found = await entity_rows.list_heads(ctx.db, reader, members)
    if not found:
        raise EntityMissing("there is no such entity, or no document that mentions it is shared with you")
    [one] = found
    ctx.touch(KIND, [head])
    return EntityDetail(
        id=head,
        type=one.type,
        name=one.names[0],
        aliases=one.names[1 : _MOST_ALIASES + 1],
        documents=one.documents,
        mentions=await _list_mentions(ctx, head, members, limit, cursor),
        relations=await _list_relations(ctx, head, members),
        merged=await _list_merged(ctx, head),
    )


async def _read_head(ctx: Context, id: UUID) -> UUID:
    """The root above an entity; of one that was merged only when it has a readable mention itself."""
    head = await store.find_head(ctx.db, ctx.who.org_id, id)
    if head is None:
        return id
    if not await entity_rows.list_spellings(ctx.db, permissions.reader_of(ctx.who), [id]):
        raise EntityMissing("there is no such entity, or no document that mentions it is shared with you")
    return head


async def _list_mentions(
    ctx: Context, head: UUID, members: list[UUID], limit: int, cursor: str | None
) -> Page[ShownMention]:
    pager = Pager(ctx.services.keys, "mentions", ctx.who.user_id, ctx.who.team_id, head)
    after = pager.read(cursor, tuple[UUID, int, UUID])
    found = await entity_rows.list_mentions(ctx.db, permissions.reader_of(ctx.who), members, after, limit + 1)
    page = pager.page(found, limit, lambda one: one[1])
    return Page([mention for mention, _ in page.items], page.next_cursor)


async def _list_relations(ctx: Context, head: UUID, members: list[UUID]) -> list[Relation]:
    reader = permissions.reader_of(ctx.who)
    told = await entity_rows.list_relations(ctx.db, reader, head, members)
    others = await store.list_members(ctx.db, ctx.who.org_id, [one.other_id for one in told])
    named = {one.id: one for one in await entity_rows.list_heads(ctx.db, reader, others)}
    return [
        Relation(one.id, one.type, one.direction, _named(named[one.other_id]), one.documents, one.evidence)
        for one in told
        if one.other_id in named
    ]


def _named(one: Counted) -> NamedEntity:
    return NamedEntity(one.id, one.type, one.names[0])


async def _list_merged(ctx: Context, head: UUID) -> list[Merged]:
    merges = await store.list_merges(ctx.db, ctx.who.org_id, head, _MOST_MERGES)
    ids = [merge.drop_id for merge in merges]
    named = await entity_rows.list_spellings(ctx.db, permissions.reader_of(ctx.who), ids) if ids else {}
    return [_merged(merge, *named[merge.drop_id]) for merge in merges if merge.drop_id in named]


def _merged(merge: Merge, type: EntityType, name: str) -> Merged:
    by = Starter(merge.merged_by, merge.username) if merge.merged_by and merge.username else None
    return Merged(merge.id, name, type, by, merge.merged_at)


async def start_extraction(ctx: Context) -> Run:
    """Start `index-knowledge` for the caller's team; while a run of it has not ended, that one is the answer."""
    await store.lock_team(ctx.db, ctx.who.team_id)
    id = await workflows.find_open_run(ctx, WORKFLOW) or await workflows.start_run(ctx, WORKFLOW)
    return await workflows.read_run(ctx, id)


async def list_unread(ctx: Context, limit: int, cursor: str | None) -> Page[Unread]:
    """Documents of the team that were not read in their current version, oldest first, and why."""
    access.note_checked(ctx, "files:read")
    pager = Pager(ctx.services.keys, "unread knowledge", ctx.who.user_id, ctx.who.team_id)
    after = pager.read(cursor, UUID)
    found = await unread_rows.list_unread(ctx.db, permissions.reader_of(ctx.who), after, limit + 1)
    return pager.page(found, limit, lambda one: one.object_id)


async def list_unextracted(ctx: Context) -> list[UUID]:
    """The ids of a few documents that can be read next."""
    access.note_checked(ctx, "files:read")
    reader = permissions.reader_of(ctx.who)
    found = await unread_rows.list_unread(ctx.db, reader, None, MOST_AT_ONCE, unread_rows.READ_NEXT)
    ctx.touch(OBJECT, [one.object_id for one in found])
    return [one.object_id for one in found]


async def list_names(ctx: Context, ids: list[UUID], trashed: bool) -> dict[UUID, ThingName]:
    """What those of these entities are called that a document mentions which the caller may read; none for a token that reads no files."""
    if not ctx.who.within_scope("files:read"):
        return {}
    members = await store.list_members(ctx.db, ctx.who.org_id, ids)
    found = await entity_rows.list_heads(ctx.db, permissions.reader_of(ctx.who), members)
    return {one.id: ThingName(one.names[0], False) for one in found}


ENTITY = Shareable(kind=KIND, family="files", list_names=list_names)
