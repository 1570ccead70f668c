"""SQL of search: rows that match, how rare words are, and how far the index has read. Its rows are written in `index_rows`."""

from typing import Any
from uuid import UUID, uuid5

from atrium.engine.repository.model import StoredObject, is_markdown
from atrium.ground.sharing import abilities
from atrium.kit.postgres.database import Transaction
from atrium.product.notes.model import Note
from atrium.product.search.model import Candidate, Candidates, Known
from atrium.product.search.words import IndexEntry, places_in
from atrium.seams.context import Principal

# The way words are kept, part of a row's edition: where it changes, rows are read again.
WORDS = "2"
# Behind every character of a word.
_LAST = chr(0x10FFFF)
INSERT_ROW = """
  INSERT INTO search_rows (org_id, id, kind, team_id, owner_id, key, visibility, edition, lexemes, triples, readers, title_words,
                           head_words, text_words, updated_at)
  VALUES (:org_id, :id, :kind, :team_id, :owner_id, :key, :visibility, :edition, search_lexemes(:lexemes, :languages), :triples, :readers,
          :title_words, :head_words, :text_words, :updated_at)
"""


def wide_of(org_id: UUID) -> UUID:
    """The id among the readers of everything that people see who read the whole company."""
    return uuid5(org_id, "team")


async def insert_note(db: Transaction, org_id: UUID, note: Note, read: IndexEntry) -> None:
    """The row of a note that was just made: no share of it exists yet, so its readers are known without asking."""
    await db.run(INSERT_ROW, org_id=org_id, **values_of(org_id, note, read))


async def insert_object(db: Transaction, org_id: UUID, stored: StoredObject, words: IndexEntry, *, read: bool) -> bool:
    """The row of an object that was just made, in the same way, its text `read` or not; false where it has one already."""
    kind = "document" if is_markdown(stored.version.content_type) else "object"
    own = {"kind": kind, "key": stored.key, "edition": f"{WORDS} {stored.version.id}{' read' if read else ''}"}
    values = own | _shared_values(org_id, stored, words)
    return bool(await db.run(f"{INSERT_ROW} ON CONFLICT DO NOTHING", org_id=org_id, **values))


async def insert_moved(db: Transaction, org_id: UUID, ids: list[UUID]) -> None:
    """Note the keys that objects have now, until the index has read their words again."""
    await db.run(
        """
        INSERT INTO search_moved (org_id, id, key) SELECT t.org_id, t.id, t.key FROM objects t WHERE t.org_id = :org_id AND t.id = ANY(:ids)
        ON CONFLICT (org_id, id) DO UPDATE SET key = excluded.key
        """,
        org_id=org_id,
        ids=ids,
    )


async def list_moved(db: Transaction, limit: int) -> list[tuple[UUID, UUID]]:
    """Company and id of objects whose words wait to be read since they were moved, whichever company has them."""
    rows = await db.rows("SELECT org_id, id FROM search_moved ORDER BY org_id, id LIMIT :limit", limit=limit)
    return [(row[0], row[1]) for row in rows]


async def take_moved(db: Transaction, org_id: UUID, ids: list[UUID]) -> list[UUID]:
    """Those of these that still wait; they do so no longer."""
    rows = await db.rows(
        "DELETE FROM search_moved WHERE org_id = :org_id AND id = ANY(:ids) RETURNING id", org_id=org_id, ids=ids
    )
    return [row[0] for row in rows]


def values_of(org_id: UUID, note: Note, read: IndexEntry) -> dict[str, Any]:
    """What the row of a new note holds besides its company."""
    own = {"kind": "note", "key": None, "edition": f"{WORDS} {note.version}"}
    return own | _shared_values(org_id, note, read)


def _shared_values(org_id: UUID, thing: Note | StoredObject, read: IndexEntry) -> dict[str, Any]:
    shared = [thing.team_id, wide_of(org_id)] if abilities.is_of_team(thing) else []
    return {
        "id": thing.id,
        "team_id": thing.team_id,
        "owner_id": thing.owner_id,
        "visibility": thing.visibility,
        "lexemes": read.lexemes,
        "languages": read.languages,
        "triples": read.triples.split(),
        "readers": [thing.owner_id, *shared],
        "title_words": read.title_words,
        "head_words": read.head_words,
        "text_words": read.text_words,
        "updated_at": thing.updated_at,
    }


async def list_candidates(db: Transaction, who: Principal, asked: dict[str, Any]) -> Candidates:
    """Rows that match and that the caller may read."""
    wide = "org:read" in who.permissions and asked["scope"] == "org"
    rows = await db.rows(
        """
        SELECT looked, id, kind, owner_id, updated_at, title_words, head_words, text_words, common, triples, complete, rarity, found, begun
          FROM search_candidates(:org_id, :user_id, :team_id, :principals, :by_notes, :by_files, :wide, :kinds, :prefix, :way,
                                 :wanted::text::tsquery, :every::text::tsquery, :titled::text::tsquery, :terms::text[]::tsquery[],
                                 :rarities, :words, :beginning, :alike, :chunks, :strict, :look, :most)
        """,
        org_id=who.org_id,
        user_id=who.user_id,
        team_id=who.team_id,
        principals=[who.user_id, who.team_id, who.org_id, *([wide_of(who.org_id)] if wide else [])],
        by_notes="notes:read" in who.permissions,
        by_files="files:read" in who.permissions,
        wide=wide,
        **{name: value for name, value in asked.items() if name != "scope"},
    )
    # One row says at how many this looked, also where none of them matches.
    found = [Candidate(*(*row[1:-2], places_in(row[-2]), row[-1])) for row in rows if row[1] is not None]
    return Candidates(found, rows[0][0] if rows else 0)


async def list_team_names(db: Transaction, org_id: UUID, ids: list[UUID]) -> dict[UUID, str]:
    return dict(
        await db.rows("SELECT id, name FROM teams WHERE org_id = :org_id AND id = ANY(:ids)", org_id=org_id, ids=ids)
    )


async def list_known(db: Transaction, words: list[str], beginning: str, dictionary: str) -> list[Known]:
    """The stems of these words by a dictionary, and how rare they are in the instance, as far as that is known; of the one that is a
    beginning, in how many rows what begins so is."""
    return await db.all(
        Known,
        """
        SELECT w.word, l.stems, (SELECT min(r.rarity) FROM search_words r WHERE r.word IN (w.word, l.stems[1], '=' || l.stems[1])),
               CASE w.word WHEN :beginning THEN (
                 SELECT sum(0.5::float ^ r.rarity) FROM search_words r WHERE r.word >= w.word AND r.word < w.word || :last) END,
               EXISTS (SELECT FROM search_words r WHERE r.word = '')
          FROM unnest(:words::text[]) AS w (word), LATERAL (SELECT ts_lexize(:dictionary::text::regdictionary, w.word)) AS l (stems)
        """,
        words=words,
        beginning=beginning,
        last=_LAST,
        dictionary=dictionary,
    )


async def list_shares(db: Transaction, most: int) -> list[tuple[str, int, int]]:
    rows = await db.rows("SELECT word, rows, looked_at FROM search_word_shares(:most)", most=most)
    return [(row[0], row[1], row[2]) for row in rows]


async def replace_rarities(db: Transaction, rarities: dict[str, int]) -> None:
    await db.run("DELETE FROM search_words")
    await db.run(
        "INSERT INTO search_words (word, rarity) SELECT * FROM unnest(:words::text[], :rarities::int[]) ON CONFLICT DO NOTHING",
        words=list(rarities),
        rarities=list(rarities.values()),
    )


async def claim_backlog(db: Transaction) -> tuple[str, UUID] | None:
    """A source that has not been read to its end, held by this process."""
    rows = await db.rows("SELECT source, after_id FROM search_backlog ORDER BY source LIMIT 1 FOR UPDATE SKIP LOCKED")
    return (rows[0][0], rows[0][1]) if rows else None


async def move_backlog(db: Transaction, source: str, after: UUID) -> None:
    await db.run("UPDATE search_backlog SET after_id = :after WHERE source = :source", source=source, after=after)


async def end_backlog(db: Transaction, source: str) -> None:
    await db.run("DELETE FROM search_backlog WHERE source = :source", source=source)


async def has_backlog(db: Transaction) -> bool:
    return bool(await db.value("SELECT EXISTS (SELECT FROM search_backlog)"))
