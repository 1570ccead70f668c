"""SQL of notes. Which rows a person may read comes from `ground/sharing/rule`, one index for each way."""

from datetime import datetime
from functools import lru_cache
from uuid import UUID

from atrium.ground.sharing import rule
from atrium.kit.postgres.database import Transaction
from atrium.kit.text.plain import contains_pattern
from atrium.kit.web.pages import MOST_TEXT
from atrium.product.notes.model import NOTES, FoundNote, Note, NoteText, NoteVersion
from atrium.seams.context import Principal
from atrium.seams.sharing import ThingName

NOTE = """
  n.id, n.team_id, n.owner_id, n.title, n.body, n.visibility, n.version, n.created_at, n.updated_at,
  coalesce(n.updated_by, n.owner_id) AS updated_by
"""
BEGINNING = NOTE.replace("n.body", "left(n.body, :characters)")
READABLE = rule.readable(NOTES, "n")
# The text a note has, as a row of `note_versions`.
CURRENT = """
  n.version AS number, n.title, octet_length(n.body) AS size, sha256(convert_to(n.body, 'UTF8')) AS sha256,
  coalesce(n.updated_by, n.owner_id) AS created_by, n.updated_at AS created_at, n.version_name AS name, n.body
"""
VERSION = "v.number, v.title, v.size, encode(v.sha256, 'hex'), v.created_by, v.created_at, v.name"
NEWEST = "n.updated_at DESC, n.id DESC"
# So many notes are sent whole, however long; adding up the lengths of everybody's short ones would cost more.
FEW = 51
FIND = rule.lookup(NOTES, "n", NOTE)
FIND_LOCKED = FIND + " FOR UPDATE OF n"
INSERT = f"""
  INSERT INTO notes AS n (id, org_id, team_id, owner_id, updated_by, title, body, visibility)
  VALUES (:id, :org_id, :team_id, :user_id, :user_id, :title, :body, :visibility) RETURNING {NOTE}
"""


@lru_cache(maxsize=16)
def listing_sql(scope: str, *, after: bool, search: bool, many: bool) -> str:
    """The listing's text; a page further on, a search and a long page each add their own condition, so plans stay simple."""
    narrowed = " AND (n.updated_at, n.id) < (:after_at, :after_id)" if after else ""
    narrowed += " AND (n.title ILIKE :search OR n.body ILIKE :search)" if search else ""
    page = rule.page(NOTES, "n", NOTE, NEWEST, narrowed, scope)
    return _bounded(page) if many else page


def _bounded(page: str) -> str:
    """What fits on a page and one row more; the texts of the others are not even read."""
    before = f"ORDER BY {NEWEST} ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING"
    return f"""
      SELECT {NOTE} FROM (
        SELECT n.*, sum(octet_length(n.body)) OVER ({before}) AS before FROM ({page}) AS n
      ) AS n WHERE n.before IS NULL OR n.before < {MOST_TEXT} ORDER BY {NEWEST}
    """


async def find_note(db: Transaction, who: Principal, id: UUID, *, lock: bool = False) -> FoundNote | None:
    return await db.one(
        FoundNote,
        FIND_LOCKED if lock else FIND,
        id=id,
        **rule.reader(who, NOTES),
    )


async def list_by_ids(db: Transaction, who: Principal, ids: list[UUID], characters: int) -> dict[UUID, Note]:
    """Readable ones of these notes, with the beginning of each text."""
    found = await db.all(
        Note,
        f"SELECT {BEGINNING} FROM notes n WHERE n.id = ANY(:ids) AND {READABLE}",
        ids=ids,
        characters=characters,
        **rule.reader(who, NOTES),
    )
    return {note.id: note for note in found}


async def list_names(db: Transaction, who: Principal, ids: list[UUID], *, trashed: bool) -> dict[UUID, ThingName]:
    rows = await db.rows(
        f"""
        SELECT n.id, n.title, {rule.common("n")} FROM notes n
         WHERE n.id = ANY(:ids) AND n.org_id = :org_id AND (:trashed OR n.trashed_at IS NULL) AND {rule.admitted(NOTES, "n")}
        """,
        ids=ids,
        trashed=trashed,
        **rule.reader(who, NOTES),
    )
    return {id: ThingName(title, common) for id, title, common in rows}


async def list_notes(
    db: Transaction, who: Principal, scope: str, after: tuple[datetime, UUID] | None, search: str | None, limit: int
) -> list[Note]:
    at, id = after or (None, None)
    return await db.all(
        Note,
        listing_sql(scope, after=after is not None, search=search is not None, many=limit > FEW),
        **rule.reader(who, NOTES),
        after_at=at,
        after_id=id,
        search=search and contains_pattern(search),
        limit=limit,
    )


async def insert_note(db: Transaction, who: Principal, id: UUID, title: str, body: str, visibility: str) -> Note | None:
    return await db.one(
        Note,
        INSERT,
        id=id,
        org_id=who.org_id,
        team_id=who.team_id,
        user_id=who.user_id,
        title=title,
        body=body,
        visibility=visibility,
    )


async def update_note(
    db: Transaction, who: Principal, id: UUID, title: str | None, body: str | None, visibility: str | None
) -> Note | None:
    """Save over a note the caller has locked; the text it had becomes a version."""
    return await db.one(
        Note,
        f"""
        WITH replaced AS (
          INSERT INTO note_versions (org_id, note_id, number, title, size, sha256, created_by, created_at, name, body)
          SELECT n.org_id, n.id, {CURRENT} FROM notes n WHERE n.org_id = :org_id AND n.id = :id
        )
        UPDATE notes AS n SET title = coalesce(:title, title), body = coalesce(:body, body), updated_by = :user_id,
               version_name = NULL, {rule.EDITED}, version = version + 1, updated_at = now()
         WHERE n.org_id = :org_id AND n.id = :id RETURNING {NOTE}
        """,
        org_id=who.org_id,
        user_id=who.user_id,
        id=id,
        title=title,
        body=body,
        visibility=visibility,
    )


async def delete_notes(db: Transaction, org_id: UUID, ids: list[UUID]) -> int:
    return await db.run("DELETE FROM notes WHERE org_id = :org_id AND id = ANY(:ids)", org_id=org_id, ids=ids)


async def list_versions(db: Transaction, org_id: UUID, id: UUID, before: int, limit: int) -> list[NoteVersion]:
    """A note's saves before one, newest first, the present one included."""
    return await db.all(
        NoteVersion,
        f"""
        SELECT {VERSION} FROM (
          (SELECT {CURRENT} FROM notes n WHERE n.org_id = :org_id AND n.id = :id AND n.version < :before)
          UNION ALL
          (SELECT number, title, size, sha256, created_by, created_at, name, body FROM note_versions
            WHERE org_id = :org_id AND note_id = :id AND number < :before ORDER BY number DESC LIMIT :limit)
        ) AS v ORDER BY v.number DESC LIMIT :limit
        """,
        org_id=org_id,
        id=id,
        before=before,
        limit=limit,
    )


async def find_version(db: Transaction, org_id: UUID, id: UUID, number: int) -> NoteText | None:
    return await db.one(
        NoteText,
        f"""
        SELECT {VERSION}, v.body FROM (
          SELECT {CURRENT} FROM notes n WHERE n.org_id = :org_id AND n.id = :id AND n.version = :number
          UNION ALL
          SELECT number, title, size, sha256, created_by, created_at, name, body FROM note_versions
           WHERE org_id = :org_id AND note_id = :id AND number = :number
        ) AS v
        """,
        org_id=org_id,
        id=id,
        number=number,
    )


async def name_version(db: Transaction, org_id: UUID, id: UUID, number: int, name: str | None) -> bool:
    """Call a version something, or nothing; False when there is no such version."""
    named = await db.run(
        "UPDATE note_versions SET name = :name WHERE org_id = :org_id AND note_id = :id AND number = :number",
        org_id=org_id,
        id=id,
        number=number,
        name=name,
    )
    return bool(named) or bool(
        await db.run(
            "UPDATE notes SET version_name = :name WHERE org_id = :org_id AND id = :id AND version = :number",
            org_id=org_id,
            id=id,
            number=number,
            name=name,
        )
    )


async def count_notes(db: Transaction) -> int:
    return int(await db.value("SELECT count(id) FROM notes WHERE trashed_at IS NULL"))


async def count_kept(db: Transaction, org_id: UUID) -> dict[UUID, int]:
    """How many bytes of titles and texts are there, versions and the trash included, by team."""
    rows = await db.rows(
        """
        SELECT team_id, sum(size) FROM (
          SELECT n.team_id, octet_length(n.title) + octet_length(n.body) AS size FROM notes n WHERE n.org_id = :org_id
          UNION ALL
          SELECT n.team_id, octet_length(v.title) + octet_length(v.body) FROM notes n
            JOIN note_versions v ON v.org_id = n.org_id AND v.note_id = n.id WHERE n.org_id = :org_id
        ) AS t GROUP BY team_id
        """,
        org_id=org_id,
    )
    return {team_id: int(size) for team_id, size in rows}
