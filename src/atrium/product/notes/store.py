"""SQL of notes: which rows a person may read is decided here, one index for each way."""

from datetime import datetime
from functools import lru_cache
from uuid import UUID

from atrium.kit.database import Transaction
from atrium.kit.text import contains_pattern
from atrium.product.notes.model import Grant, Note
from atrium.seams.context import Principal

NOTE = "n.id, n.team_id, n.owner_id, n.title, n.body, n.visibility, n.version, n.created_at, n.updated_at"
OF_TEAM = "(:by_role AND n.team_id = :team_id AND n.visibility = 'team')"
READABLE = f"""
  n.org_id = :org_id AND (n.owner_id = :user_id OR {OF_TEAM} OR (:org_wide AND n.visibility = 'team')
    OR EXISTS (SELECT FROM note_grants g WHERE g.org_id = :org_id AND g.user_id = :user_id AND g.note_id = n.id))
"""
FIND = f"SELECT {NOTE} FROM notes n WHERE n.id = :id AND {READABLE}"
FIND_LOCKED = FIND + " FOR UPDATE OF n"
INSERT = f"""
  INSERT INTO notes AS n (id, org_id, team_id, owner_id, title, body, visibility)
  VALUES (:id, :org_id, :team_id, :user_id, :title, :body, :visibility) RETURNING {NOTE}
"""


@lru_cache(maxsize=8)
def listing(scope: str, *, after: bool, search: bool) -> str:
    """The listing's text; a page further on and a search each add their own condition, so plans stay simple."""
    narrowed = " AND (n.updated_at, n.id) < (:after_at, :after_id)" if after else ""
    narrowed += " AND (n.title ILIKE :search OR n.body ILIKE :search)" if search else ""
    tail = f"{narrowed} ORDER BY n.updated_at DESC, n.id DESC LIMIT :limit"
    if scope == "org":
        return f"SELECT {NOTE} FROM notes n WHERE n.org_id = :org_id AND n.visibility = 'team' {tail}"
    return f"""
      SELECT * FROM (
        (SELECT {NOTE} FROM notes n WHERE n.org_id = :org_id AND n.owner_id = :user_id {tail})
        UNION ALL
        (SELECT {NOTE} FROM notes n WHERE n.org_id = :org_id AND {OF_TEAM} AND n.owner_id <> :user_id {tail})
        UNION ALL
        (SELECT {NOTE} FROM note_grants g JOIN notes n ON n.id = g.note_id
          WHERE g.org_id = :org_id AND g.user_id = :user_id AND n.org_id = :org_id AND n.owner_id <> :user_id AND NOT {OF_TEAM} {tail})
      ) AS n ORDER BY n.updated_at DESC, n.id DESC LIMIT :limit
    """


async def find_note(db: Transaction, who: Principal, id: UUID, *, lock: bool = False) -> Note | None:
    return await db.one(
        Note,
        FIND_LOCKED if lock else FIND,
        id=id,
        org_id=who.org_id,
        team_id=who.team_id,
        user_id=who.user_id,
        by_role="notes:read" in who.permissions,
        org_wide="org:read" in who.permissions,
    )


async def list_notes(
    db: Transaction, who: Principal, scope: str, after: tuple[datetime, UUID] | None, search: str | None, limit: int
) -> list[Note]:
    at, id = after or (None, None)
    return await db.all(
        Note,
        listing(scope, after=after is not None, search=search is not None),
        org_id=who.org_id,
        team_id=who.team_id,
        user_id=who.user_id,
        by_role="notes:read" in who.permissions,
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
    db: Transaction, org_id: UUID, id: UUID, title: str | None, body: str | None, visibility: str | None
) -> Note | None:
    return await db.one(
        Note,
        f"""
        UPDATE notes AS n SET title = coalesce(:title, title), body = coalesce(:body, body),
               visibility = coalesce(:visibility, visibility), version = version + 1, updated_at = now()
         WHERE n.org_id = :org_id AND n.id = :id RETURNING {NOTE}
        """,
        org_id=org_id,
        id=id,
        title=title,
        body=body,
        visibility=visibility,
    )


async def delete_note(db: Transaction, org_id: UUID, id: UUID) -> None:
    await db.run("DELETE FROM notes WHERE org_id = :org_id AND id = :id", org_id=org_id, id=id)


async def find_grant(db: Transaction, org_id: UUID, note_id: UUID, user_id: UUID) -> str | None:
    found: str | None = await db.value(
        "SELECT permission FROM note_grants WHERE org_id = :org_id AND note_id = :note_id AND user_id = :user_id",
        org_id=org_id,
        note_id=note_id,
        user_id=user_id,
    )
    return found


async def put_grant(
    db: Transaction, org_id: UUID, note_id: UUID, user_id: UUID, permission: str, by: UUID
) -> Grant | None:
    return await db.one(
        Grant,
        """
        INSERT INTO note_grants (org_id, note_id, user_id, permission, granted_by)
        VALUES (:org_id, :note_id, :user_id, :permission, :granted_by)
        ON CONFLICT (user_id, note_id) DO UPDATE SET permission = excluded.permission, granted_by = excluded.granted_by
        RETURNING note_id, user_id, permission, granted_by
        """,
        org_id=org_id,
        note_id=note_id,
        user_id=user_id,
        permission=permission,
        granted_by=by,
    )


async def delete_grant(db: Transaction, org_id: UUID, note_id: UUID, user_id: UUID) -> None:
    await db.run(
        "DELETE FROM note_grants WHERE org_id = :org_id AND note_id = :note_id AND user_id = :user_id",
        org_id=org_id,
        note_id=note_id,
        user_id=user_id,
    )


async def count_notes(db: Transaction) -> int:
    return int(await db.value("SELECT count(id) FROM notes"))
