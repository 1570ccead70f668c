"""SQL of what a reader sees of the graph. Every statement begins with the objects that the reader can read, in their current version."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from atrium.kit.postgres.database import Transaction
from atrium.product.knowledge.model import Direction, EntityType, ShownEvidence, ShownMention, VersionRead

Position = tuple[int, UUID]
Place = tuple[UUID, int, UUID]
SHOWN_RELATIONS, SHOWN_EVIDENCE = 200, 3
READABLE = "readable_objects(:org_id, :team_id, :user_id, :principals, :by_role, :org_wide)"
# A share counts while its version is the current one. Written as a function, because PostgreSQL would take the two columns for
# independent, expect one row in the end, and join the rest in loops.
_CURRENT = "uuid_eq({}.version_id, o.version_id)"
_MENTIONED = (
    f"{READABLE} AS o JOIN knowledge_mentions m ON m.org_id = :org_id AND m.object_id = o.id AND {_CURRENT.format('m')}"
)
# A mention counts for the entity it was merged into.
_SAID = f"""
  SELECT coalesce(g.head_id, m.entity_id) AS head, m.entity_id, m.object_id, m.type, m.name, m.folded
    FROM {_MENTIONED}
    LEFT JOIN knowledge_merges g ON g.org_id = :org_id AND g.drop_id = m.entity_id
"""
_TYPE = "coalesce(min(e.type) FILTER (WHERE e.entity_id = h.head), min(e.type))"
_RELATED = f"{READABLE} AS o JOIN knowledge_relations r ON r.org_id = :org_id AND r.object_id = o.id AND {_CURRENT.format('r')}"
# Which relations of which version a reader can read; the same twice, once from each end.
_TOLD = f"""
  SELECT coalesce(a.head_id, r.from_id) AS source, coalesce(b.head_id, r.to_id) AS target, r.type, r.object_id, r.quote, r.at
    FROM {_RELATED}
    LEFT JOIN knowledge_merges a ON a.org_id = :org_id AND a.drop_id = r.from_id
    LEFT JOIN knowledge_merges b ON b.org_id = :org_id AND b.drop_id = r.to_id
"""


class EntityFilter(msgspec.Struct, frozen=True):
    """Which entities: with a name that contains `q`, of a type, in one object, from behind a position."""

    q: str | None = None
    type: EntityType | None = None
    object_id: UUID | None = None
    after: Position | None = None


class EntityCount(msgspec.Struct, frozen=True):
    """An entity as its readable mentions tell it; names by how often they are used."""

    id: UUID
    type: EntityType
    mentions: int
    documents: int
    names: list[str]


class FoundPlace(msgspec.Struct, frozen=True):
    """Where an entity was read last."""

    team_id: UUID
    read_at: datetime
    quote: str


class ToldRelation(msgspec.Struct, frozen=True):
    """A relation of an entity, with some of its evidence."""

    id: UUID
    type: str
    direction: Direction
    other_id: UUID
    documents: int
    evidence: list[ShownEvidence]


async def list_entities(db: Transaction, reader: dict[str, Any], chosen: EntityFilter, limit: int) -> list[EntityCount]:
    """Entities, most mentioned first."""
    having = ["true"]
    if chosen.q is not None:
        having.append("bool_or(e.is_meant)")
    if chosen.type is not None:
        having.append(f"{_TYPE} = :type")
    if chosen.after is not None:
        having.append("(sum(e.mentions) < :count OR (sum(e.mentions) = :count AND h.head > :last))")
    where = "true" if chosen.object_id is None else "m.object_id = :object_id"
    count, last = chosen.after or (0, None)
    asked = {"q": chosen.q, "type": chosen.type, "object_id": chosen.object_id, "count": count, "last": last}
    return await _counted(db, where, " AND ".join(having), {**reader, **asked}, limit)


async def has_graph(db: Transaction, org_id: UUID) -> bool:
    """Whether documents of the company were ever read for entities: most companies have none, and planning to look takes longer."""
    return bool(await db.value("SELECT EXISTS (SELECT FROM knowledge_salts k WHERE k.org_id = :org_id)", org_id=org_id))


async def list_named(db: Transaction, reader: dict[str, Any], words: list[str], limit: int) -> list[UUID]:
    """The roots of entities with a readable name that has all of these, most mentioned first."""
    rows = await db.rows(
        f"""
        SELECT s.head FROM ({_SAID} WHERE (SELECT bool_and(strpos(m.folded, w.word) > 0) FROM unnest(:words::text[]) AS w (word))) AS s
         GROUP BY s.head ORDER BY count(*) DESC, s.head LIMIT :limit
        """,
        words=words,
        limit=limit,
        **reader,
    )
    return [row[0] for row in rows]


async def list_places(db: Transaction, reader: dict[str, Any], members: list[UUID]) -> dict[UUID, FoundPlace]:
    """Of each root above these, the newest readable mention: when its document was read, whose it is, and what it says."""
    rows = await db.rows(
        f"""
        SELECT DISTINCT ON (p.head) p.head, p.team_id, p.created_at, p.quote FROM (
          SELECT coalesce(g.head_id, m.entity_id) AS head, o.team_id, h.created_at, m.quote, m.object_id, m.at
            FROM {_MENTIONED}
            JOIN knowledge_shares h ON h.org_id = :org_id AND h.object_id = m.object_id
            LEFT JOIN knowledge_merges g ON g.org_id = :org_id AND g.drop_id = m.entity_id
           WHERE m.entity_id = ANY(:members)
        ) AS p ORDER BY p.head, p.created_at DESC, p.object_id DESC, p.at
        """,
        members=members,
        **reader,
    )
    return {row[0]: FoundPlace(*row[1:]) for row in rows}


async def list_heads(db: Transaction, reader: dict[str, Any], members: list[UUID]) -> list[EntityCount]:
    """The roots above these entities that have a readable mention."""
    values = {**reader, "q": None, "members": members}
    return await _counted(db, "m.entity_id = ANY(:members)", "true", values, len(members))


async def _counted(db: Transaction, where: str, having: str, values: dict[str, Any], limit: int) -> list[EntityCount]:
    """Mentions are read once and counted by entity, then by root; names and documents are looked at for the page alone."""
    return await db.all(
        EntityCount,
        f"""
        WITH said AS MATERIALIZED (
          SELECT m.entity_id, m.object_id, m.type, m.name, m.folded FROM {_MENTIONED} WHERE {where}
        ), page AS MATERIALIZED (
          SELECT h.head, {_TYPE} AS type, sum(e.mentions)::bigint AS mentions
            FROM (SELECT s.entity_id, min(s.type) AS type, count(*) AS mentions, bool_or(strpos(s.folded, :q) > 0) AS is_meant
                    FROM said s GROUP BY s.entity_id) AS e
            LEFT JOIN knowledge_merges g ON g.org_id = :org_id AND g.drop_id = e.entity_id,
                 LATERAL (SELECT coalesce(g.head_id, e.entity_id)) AS h (head)
           GROUP BY h.head HAVING {having} ORDER BY sum(e.mentions) DESC, h.head LIMIT :limit
        ), member AS (
          SELECT p.head, p.head AS entity_id FROM page p
          UNION ALL
          SELECT p.head, g.drop_id FROM page p JOIN knowledge_merges g ON g.org_id = :org_id AND g.head_id = p.head
        ), spelling AS (
          SELECT i.head, s.name, count(*) AS used, array_agg(s.object_id) AS objects
            FROM said s JOIN member i ON i.entity_id = s.entity_id GROUP BY i.head, s.name
        )
        SELECT p.head, p.type, p.mentions,
               (SELECT count(DISTINCT o.id) FROM spelling n, unnest(n.objects) AS o (id) WHERE n.head = p.head),
               (SELECT array_agg(n.name ORDER BY n.used DESC, n.name) FROM spelling n WHERE n.head = p.head)
          FROM page p ORDER BY p.mentions DESC, p.head
        """,
        limit=limit,
        **values,
    )


async def list_spellings(
    db: Transaction, reader: dict[str, Any], ids: Sequence[UUID]
) -> dict[UUID, tuple[EntityType, str]]:
    """The type and the commonest name of each of these entities by itself, without what was merged; none without a readable mention."""
    rows = await db.rows(
        f"""
        SELECT DISTINCT ON (s.entity_id) s.entity_id, s.type, s.name FROM ({_SAID} WHERE m.entity_id = ANY(:ids)) AS s
         GROUP BY s.entity_id, s.type, s.name ORDER BY s.entity_id, count(*) DESC, s.name
        """,
        ids=list(ids),
        **reader,
    )
    return {id: (type, name) for id, type, name in rows}


async def count_relations(db: Transaction, reader: dict[str, Any], heads: list[UUID]) -> dict[UUID, int]:
    """How many relations each of these roots has."""
    rows = await db.rows(
        f"""
        WITH told AS MATERIALIZED (
          SELECT r.from_id, r.to_id, r.type FROM {_RELATED}
        ), member AS MATERIALIZED (
          SELECT h.id AS head, h.id AS entity_id FROM unnest(:heads::uuid[]) AS h (id)
          UNION ALL
          SELECT g.head_id, g.drop_id FROM knowledge_merges g WHERE g.org_id = :org_id AND g.head_id = ANY(:heads)
        )
        SELECT e.head, count(*) FROM (
          SELECT i.head, 'out' AS direction, t.type, coalesce(g.head_id, t.to_id) AS other
            FROM told t JOIN member i ON i.entity_id = t.from_id
            LEFT JOIN knowledge_merges g ON g.org_id = :org_id AND g.drop_id = t.to_id
          UNION
          SELECT i.head, 'in', t.type, coalesce(g.head_id, t.from_id)
            FROM told t JOIN member i ON i.entity_id = t.to_id
            LEFT JOIN knowledge_merges g ON g.org_id = :org_id AND g.drop_id = t.from_id
        ) AS e WHERE e.other <> e.head GROUP BY e.head
        """,
        heads=heads,
        **reader,
    )
    return dict(rows)


async def list_relations(
    db: Transaction, reader: dict[str, Any], head: UUID, members: list[UUID]
) -> list[ToldRelation]:
    """The relations of a root, those with the most documents first."""
    rows = await db.rows(
        f"""
        SELECT md5(concat_ws(' ', min(t.source::text), t.type, min(t.target::text)))::uuid, t.type, x.direction, x.other,
               count(DISTINCT t.object_id),
               (array_agg(t.object_id ORDER BY t.object_id DESC, t.at, t.quote))[1:{SHOWN_EVIDENCE}],
               (array_agg(t.quote ORDER BY t.object_id DESC, t.at, t.quote))[1:{SHOWN_EVIDENCE}]
          FROM ({_TOLD} WHERE r.from_id = ANY(:members) OR r.to_id = ANY(:members)) AS t,
               LATERAL (VALUES (t.source, 'out', t.target), (t.target, 'in', t.source)) AS x (head, direction, other)
         WHERE x.head = :head AND x.other <> :head GROUP BY t.type, x.direction, x.other
         ORDER BY count(DISTINCT t.object_id) DESC, t.type, x.direction, x.other LIMIT {SHOWN_RELATIONS}
        """,
        head=head,
        members=members,
        **reader,
    )
    return [
        ToldRelation(
            id, type, direction, other, documents, [ShownEvidence(*one) for one in zip(ids, quotes, strict=True)]
        )
        for id, type, direction, other, documents, ids, quotes in rows
    ]


async def list_mentions(
    db: Transaction, reader: dict[str, Any], members: list[UUID], after: Place | None, limit: int
) -> list[tuple[ShownMention, Place]]:
    """Mentions of an entity, newest documents first, each with its position in this listing."""
    behind = """
      AND (m.object_id < :object_id OR (m.object_id = :object_id AND (m.at, m.entity_id) > (:place, :entity_id)))
    """
    object_id, place, entity_id = after or (None, 0, None)
    rows = await db.rows(
        f"""
        SELECT m.object_id, o.key, v.id, v.number, m.quote, m.at, m.entity_id
          FROM {_MENTIONED}
          JOIN object_versions v ON v.org_id = :org_id AND v.id = m.version_id
         WHERE m.entity_id = ANY(:members) {behind if after else ""}
         ORDER BY m.object_id DESC, m.at, m.entity_id LIMIT :limit
        """,
        members=members,
        object_id=object_id,
        place=place,
        entity_id=entity_id,
        limit=limit,
        **reader,
    )
    return [
        (ShownMention(row[0], row[1], VersionRead(row[2], row[3]), row[4], row[5]), (row[0], row[5], row[6]))
        for row in rows
    ]


async def has_unreadable(db: Transaction, reader: dict[str, Any], members: list[UUID]) -> bool:
    """Whether one of these entities is mentioned in the current version of an object that the reader cannot read."""
    return bool(
        await db.value(
            f"""
            SELECT EXISTS (
              SELECT FROM knowledge_mentions m JOIN objects o ON o.org_id = :org_id AND o.id = m.object_id AND o.version_id = m.version_id
               WHERE m.org_id = :org_id AND m.entity_id = ANY(:members) AND o.trashed_at IS NULL
                 AND o.id NOT IN (SELECT r.id FROM {READABLE} AS r)
            )
            """,
            members=members,
            **reader,
        )
    )


async def list_teams(db: Transaction, reader: dict[str, Any], members: list[UUID]) -> set[UUID]:
    """The teams of the readable documents that mention these entities; an entity is of one team."""
    rows = await db.rows(
        f"""
        SELECT DISTINCT o.team_id
          FROM {_MENTIONED}
         WHERE m.entity_id = ANY(:members)
        """,
        members=members,
        **reader,
    )
    return {row[0] for row in rows}
