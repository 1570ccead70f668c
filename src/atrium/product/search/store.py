"""SQL of search: rows that match, how rare words are, and how far the index has read. Its rows are written in `index_rows`."""

from typing import Any
from uuid import UUID, uuid5

from atrium.kit.database import Transaction
from atrium.product.notes.model import Note
from atrium.product.search.model import Candidate
from atrium.product.search.words import Indexed
from atrium.seams.context import Principal

INSERT_NOTE = """
  INSERT INTO search_rows (org_id, id, kind, team_id, owner_id, visibility, edition, lexemes, triples, readers, title_words,
                           head_words, text_words, updated_at)
  VALUES (:org_id, :id, 'note', :team_id, :owner_id, :visibility, :edition, :lexemes::text::tsvector, :triples, :readers,
          :title_words, :head_words, :text_words, :updated_at)
"""


def wide_of(org_id: UUID) -> UUID:
    """The id among the readers of everything that people see who read the whole company."""
    return uuid5(org_id, "team")


async def insert_note(db: Transaction, org_id: UUID, note: Note, read: Indexed) -> None:
    """The row of a note that was just made: no share of it exists yet, so its readers are known without asking."""
    await db.run(INSERT_NOTE, org_id=org_id, **values_of(org_id, note, read))


def values_of(org_id: UUID, note: Note, read: Indexed) -> dict[str, Any]:
    """What the row of a new note holds besides its company."""
    shared = [note.team_id, wide_of(org_id)] if note.visibility == "team" else []
    return {
        "id": note.id,
        "team_id": note.team_id,
        "owner_id": note.owner_id,
        "visibility": note.visibility,
        "edition": str(note.version),
        "lexemes": read.lexemes,
        "triples": read.triples.split(),
        "readers": [note.owner_id, *shared],
        "title_words": read.title_words,
        "head_words": read.head_words,
        "text_words": read.text_words,
        "updated_at": note.updated_at,
    }


async def list_candidates(db: Transaction, who: Principal, asked: dict[str, Any]) -> list[Candidate]:
    """Rows that match and that the caller may read."""
    wide = "org:read" in who.permissions and asked["scope"] == "org"
    return await db.all(
        Candidate,
        """
        SELECT id, kind, owner_id, updated_at, title_words, head_words, text_words, common, found
          FROM search_candidates(:org_id, :user_id, :team_id, :principals, :by_notes, :by_files, :wide, :kinds, :prefix, :way,
                                 :wanted::text::tsquery, :first::text::tsquery, :words, :beginning, :alike, :most)
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


async def list_team_names(db: Transaction, org_id: UUID, ids: list[UUID]) -> dict[UUID, str]:
    return dict(
        await db.rows("SELECT id, name FROM teams WHERE org_id = :org_id AND id = ANY(:ids)", org_id=org_id, ids=ids)
    )


async def list_rarities(db: Transaction, words: list[str]) -> dict[str, int]:
    """How rare these are in the instance, as far as that is known; `''` is there when anything is."""
    return dict(await db.rows("SELECT word, rarity FROM search_words WHERE word = ANY(:words)", words=["", *words]))


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
