"""SQL of the index: its rows are written from the things themselves in one statement, and compared with them the same way."""

from uuid import UUID

import msgspec

from atrium.engine.repository.model import OBJECTS
from atrium.ground.sharing import rule
from atrium.kit.postgres.database import Transaction
from atrium.product.notes.model import NOTES
from atrium.product.search.store import WORDS, wide_of
from atrium.product.search.words import IndexEntry

# Of each source: its rows as `t`, which of them can be found, and what the index keeps of them besides words.
_NOTES = f"""
  SELECT t.org_id, t.id, 'note'::text AS kind, t.team_id, t.owner_id, NULL::text AS key, t.visibility, '{WORDS} ' || t.version AS edition,
         t.updated_at, t.title, t.body AS text,
         {rule.audience(NOTES, "t")} AS readers
    FROM notes t WHERE t.org_id = :org_id AND t.trashed_at IS NULL
"""
_OBJECTS = f"""
  SELECT t.org_id, t.id, CASE WHEN t.document THEN 'document' ELSE 'object' END AS kind, t.team_id, t.owner_id, t.key, t.visibility,
         '{WORDS} ' || t.version_id || CASE WHEN x.version_id IS NULL THEN '' ELSE ' read' END AS edition, t.updated_at,
         coalesce(CASE WHEN t.document THEN v.metadata->>'title' END, v.filename) AS title, coalesce(x.text, '') AS text,
         {rule.audience(OBJECTS, "t")} AS readers
    FROM objects t JOIN object_versions v ON v.org_id = :org_id AND v.id = t.version_id
    LEFT JOIN object_texts x ON x.org_id = :org_id AND x.version_id = t.version_id AND x.state = 'done'
   WHERE t.org_id = :org_id AND t.trashed_at IS NULL AND NOT t.deleted
"""
TRUTH = {"notes": _NOTES, "objects": _OBJECTS}
OF_SOURCE = {"notes": "s.kind = 'note'", "objects": "s.kind <> 'note'"}
ACCESS = "kind, team_id, owner_id, key, visibility, readers, updated_at"
_KEPT = "edition, lexemes, triples, title_words, head_words, text_words"


class IndexedThing(msgspec.Struct, frozen=True):
    """A thing whose words are to be read."""

    id: UUID
    title: str
    key: str | None
    text: str


def _of(prefix: str, names: str) -> str:
    return ", ".join(f"{prefix}.{name}" for name in names.split(", "))


_LOCK = {
    name: f"SELECT FROM {name} t WHERE t.org_id = :org_id AND t.id = ANY(:ids) ORDER BY t.id FOR NO KEY UPDATE OF t"
    for name in TRUTH
}
_UPSERT = {
    name: f"""
      INSERT INTO search_rows AS s (org_id, id, {ACCESS}, {_KEPT})
      SELECT t.org_id, t.id, {_of("t", ACCESS)}, t.edition, search_lexemes(g.lexemes, g.languages), string_to_array(g.triples, ' '),
             g.title_words, g.head_words, g.text_words
        FROM unnest(:ids::uuid[], :lexemes::text[], :languages::text[], :triples::text[], :title_words::int[], :head_words::int[],
                    :text_words::int[])
             AS g (id, lexemes, languages, triples, title_words, head_words, text_words) JOIN ({truth}) AS t ON t.id = g.id
       WHERE t.org_id = :org_id
      ON CONFLICT (org_id, id) DO UPDATE SET ({ACCESS}, {_KEPT}) = ROW ({_of("excluded", f"{ACCESS}, {_KEPT}")})
    """
    for name, truth in TRUTH.items()
}
_DELETE = {
    name: f"""
      WITH gone AS (
        DELETE FROM search_rows s
         WHERE s.org_id = :org_id AND s.id = ANY(:ids) AND NOT EXISTS (SELECT FROM ({truth}) AS t WHERE t.id = s.id) RETURNING s.id
      )
      DELETE FROM search_moved m USING gone WHERE m.org_id = :org_id AND m.id = gone.id
    """
    for name, truth in TRUTH.items()
}
_FOLLOW = {
    name: f"""
      UPDATE search_rows s SET ({ACCESS}) = ROW ({_of("t", ACCESS)}) FROM ({truth}) AS t
       WHERE s.org_id = :org_id AND s.id = ANY(:ids) AND t.id = s.id AND ({_of("s", ACCESS)}) IS DISTINCT FROM ({_of("t", ACCESS)})
    """
    for name, truth in TRUTH.items()
}
_UNREAD = {
    name: f"""
      SELECT t.id, t.title, t.key, t.text FROM ({truth}) AS t
       WHERE t.id = ANY(:ids) AND (:again OR NOT EXISTS (
         SELECT FROM search_rows s WHERE s.org_id = :org_id AND s.id = t.id AND s.edition = t.edition))
    """
    for name, truth in TRUTH.items()
}
_IDS = {
    name: f"SELECT t.id FROM {name} t WHERE t.org_id = :org_id AND t.id > :after AND t.trashed_at IS NULL ORDER BY t.id LIMIT :limit"
    for name in TRUTH
}
_WAITING = {
    name: f"""
      SELECT t.org_id, t.id FROM {name} t WHERE t.trashed_at IS NULL AND t.id > :after ORDER BY t.id LIMIT :limit
    """
    for name in TRUTH
}
_WRONG = {
    name: f"""
      SELECT t.id, CASE WHEN s.id IS NULL THEN 'missing'
                        WHEN s.edition <> t.edition OR s.lexemes <> search_lexemes(g.lexemes, g.languages) THEN 'words' ELSE 'access' END
        FROM unnest(:ids::uuid[], :lexemes::text[], :languages::text[]) AS g (id, lexemes, languages) JOIN ({truth}) AS t ON t.id = g.id
        LEFT JOIN search_rows s ON s.org_id = :org_id AND s.id = t.id
       WHERE s.id IS NULL OR s.edition <> t.edition OR s.lexemes <> search_lexemes(g.lexemes, g.languages)
          OR ({_of("s", ACCESS)}) IS DISTINCT FROM ({_of("t", ACCESS)})
    """
    for name, truth in TRUTH.items()
}
_LEFT_OVER = {
    name: f"""
      SELECT s.id FROM search_rows s
       WHERE s.org_id = :org_id AND {OF_SOURCE[name]} AND NOT EXISTS (SELECT FROM ({truth}) AS t WHERE t.id = s.id)
    """
    for name, truth in TRUTH.items()
}


async def lock_sources(db: Transaction, org_id: UUID, source: str, ids: list[UUID]) -> None:
    """Hold the things themselves, in order: the index is written by one transaction at a time, and from what is committed."""
    await db.run(_LOCK[source], org_id=org_id, ids=ids)


async def put_rows(db: Transaction, org_id: UUID, source: str, ids: list[UUID], read: list[IndexEntry]) -> None:
    columns = {name: [getattr(one, name) for one in read] for name in IndexEntry.__struct_fields__}
    await db.run(_UPSERT[source], org_id=org_id, wide=wide_of(org_id), ids=ids, **columns)


async def delete_rows(db: Transaction, org_id: UUID, source: str, ids: list[UUID]) -> None:
    """Drop the rows of those of these that are not there any more."""
    await db.run(_DELETE[source], org_id=org_id, wide=wide_of(org_id), ids=ids)


async def follow_access(db: Transaction, org_id: UUID, source: str, ids: list[UUID]) -> None:
    """Write who may read these now."""
    await db.run(_FOLLOW[source], org_id=org_id, wide=wide_of(org_id), ids=ids)


async def list_unread(
    db: Transaction, org_id: UUID, source: str, ids: list[UUID], *, again: bool = False
) -> list[IndexedThing]:
    """Those of these whose words the index does not have as they are now; with `again` all of them."""
    return await db.all(IndexedThing, _UNREAD[source], org_id=org_id, wide=wide_of(org_id), ids=ids, again=again)


async def list_ids(db: Transaction, org_id: UUID, source: str, after: UUID, limit: int) -> list[UUID]:
    rows = await db.rows(_IDS[source], org_id=org_id, after=after, limit=limit)
    return [row[0] for row in rows]


async def list_wrong(
    db: Transaction, org_id: UUID, source: str, ids: list[UUID], read: list[IndexEntry]
) -> list[tuple[UUID, str]]:
    """Where the index differs from these things, and in what."""
    columns = {name: [getattr(one, name) for one in read] for name in ("lexemes", "languages")}
    rows = await db.rows(_WRONG[source], org_id=org_id, wide=wide_of(org_id), ids=ids, **columns)
    return [(row[0], row[1]) for row in rows]


async def list_left_over(db: Transaction, org_id: UUID, source: str) -> list[UUID]:
    """Rows of things that are not there."""
    rows = await db.rows(_LEFT_OVER[source], org_id=org_id, wide=wide_of(org_id))
    return [row[0] for row in rows]


async def list_waiting(db: Transaction, source: str, after: UUID, limit: int) -> list[tuple[UUID, UUID]]:
    """Company and id of the next things of a source, whichever company has them."""
    rows = await db.rows(_WAITING[source], after=after, limit=limit)
    return [(row[0], row[1]) for row in rows]
