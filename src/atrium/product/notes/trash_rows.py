"""SQL of the notes in the trash: who finds what there, putting in, taking out, and what is due."""

from datetime import datetime, timedelta
from functools import lru_cache
from uuid import UUID

import msgspec

from atrium.ground.sharing import rule
from atrium.kit.postgres.database import Transaction
from atrium.product.notes.model import NOTES, TrashedNote
from atrium.seams.context import Principal

TRASHED = "n.id, n.owner_id, n.title, octet_length(n.body) AS size, n.trashed_by, n.trashed_at"
MANAGED = rule.manageable(NOTES, "n")


class DueNote(msgspec.Struct, frozen=True):
    """A note that has been in the trash for long enough."""

    id: UUID
    org_id: UUID


@lru_cache(maxsize=2)
def listing_sql(*, after: bool) -> str:
    """The trash's listing: one branch and one index for each way a note can be there."""
    narrowed = " AND ({at}, {id}) < (:after_at, :after_id)" if after else ""
    tail = narrowed + " ORDER BY {at} DESC, {id} DESC LIMIT :limit"
    own, given = tail.format(at="n.trashed_at", id="n.id"), tail.format(at="g.trashed_at", id="g.note_id")
    there = "n.org_id = :org_id AND n.trashed_at IS NOT NULL"
    return f"""
      SELECT * FROM (
        (SELECT {TRASHED} FROM notes n WHERE {there} AND n.owner_id = :user_id {own})
        UNION ALL
        (SELECT {TRASHED} FROM notes n WHERE {there} AND {rule.of_team("n")} AND n.owner_id <> :user_id {own})
        UNION ALL
        (SELECT {TRASHED} FROM note_grants g JOIN notes n ON n.id = g.note_id
          WHERE g.org_id = :org_id AND g.user_id = :user_id AND g.permission = 'notes:manage' AND g.trashed_at IS NOT NULL
            AND {there} AND n.visibility = 'team' AND n.owner_id <> :user_id AND NOT {rule.of_team("n")} {given})
      ) AS n ORDER BY n.trashed_at DESC, n.id DESC LIMIT :limit
    """


async def list_trashed(
    db: Transaction, who: Principal, after: tuple[datetime, UUID] | None, limit: int
) -> list[TrashedNote]:
    at, id = after or (None, None)
    return await db.all(
        TrashedNote,
        listing_sql(after=after is not None),
        after_at=at,
        after_id=id,
        limit=limit,
        **rule.manager(who, NOTES),
    )


async def find_trashed(db: Transaction, who: Principal, id: UUID) -> TrashedNote | None:
    """A note in the caller's trash, locked."""
    return await db.one(
        TrashedNote,
        f"SELECT {TRASHED} FROM notes n WHERE n.id = :id AND {MANAGED} FOR UPDATE OF n",
        id=id,
        **rule.manager(who, NOTES),
    )


async def list_deleted_by(db: Transaction, who: Principal, limit: int) -> list[TrashedNote]:
    """What the caller deleted and may purge, locked."""
    return await db.all(
        TrashedNote,
        f"""
        SELECT {TRASHED} FROM notes n WHERE n.trashed_by = :user_id AND {MANAGED}
         ORDER BY n.trashed_at, n.id LIMIT :limit FOR UPDATE OF n
        """,
        limit=limit,
        **rule.manager(who, NOTES),
    )


async def put_in_trash(db: Transaction, org_id: UUID, id: UUID, by: UUID) -> None:
    await db.run(
        """
        WITH gone AS (
          UPDATE notes SET trashed_at = now(), trashed_by = :by
           WHERE org_id = :org_id AND id = :id AND trashed_at IS NULL RETURNING id, trashed_at
        )
        UPDATE note_grants g SET trashed_at = gone.trashed_at FROM gone WHERE g.org_id = :org_id AND g.note_id = gone.id
        """,
        org_id=org_id,
        id=id,
        by=by,
    )


async def take_out(db: Transaction, org_id: UUID, id: UUID) -> None:
    await db.run(
        """
        WITH back AS (
          UPDATE notes SET trashed_at = NULL, trashed_by = NULL WHERE org_id = :org_id AND id = :id RETURNING id
        )
        UPDATE note_grants g SET trashed_at = NULL FROM back WHERE g.org_id = :org_id AND g.note_id = back.id
        """,
        org_id=org_id,
        id=id,
    )


async def delete_notes(db: Transaction, org_id: UUID, ids: list[UUID]) -> int:
    return await db.run("DELETE FROM notes WHERE org_id = :org_id AND id = ANY(:ids)", org_id=org_id, ids=ids)


async def list_due(db: Transaction, age: timedelta, limit: int) -> list[DueNote]:
    return await db.all(
        DueNote,
        """
        SELECT t.id, t.org_id FROM notes t
         WHERE t.trashed_at <= now() - :age::interval AND EXISTS (SELECT FROM orgs o WHERE o.id = t.org_id AND o.moving_at IS NULL)
         ORDER BY t.trashed_at, t.id LIMIT :limit
        """,
        age=age,
        limit=limit,
    )


async def claim_due(db: Transaction, org_id: UUID, ids: list[UUID], age: timedelta, weight: int) -> list[UUID]:
    """Which of these are still due, locked: as many as have so many versions together, and at least one."""
    rows = await db.rows(
        """
        SELECT n.id FROM notes n JOIN (
          SELECT id, sum(version) OVER (ORDER BY trashed_at, id) - version AS before FROM notes
           WHERE org_id = :org_id AND id = ANY(:ids)
        ) AS w ON w.id = n.id
         WHERE n.org_id = :org_id AND w.before < :weight AND n.trashed_at <= now() - :age::interval
        FOR UPDATE OF n SKIP LOCKED
        """,
        org_id=org_id,
        ids=ids,
        age=age,
        weight=weight,
    )
    return [row[0] for row in rows]


async def hand_over(db: Transaction, org_id: UUID, owner_id: UUID, to: UUID, *, private: bool) -> list[UUID]:
    """Hand a person's shared items over, trash included, and with `private` the rest as well; which notes."""
    rows = await db.rows(
        """
            WITH theirs AS (
              SELECT id, visibility FROM notes WHERE org_id = :org_id AND owner_id = :owner_id AND trashed_at IS NULL
              UNION ALL
              SELECT id, visibility FROM notes WHERE org_id = :org_id AND owner_id = :owner_id AND trashed_at IS NOT NULL
            ), moved AS (
              UPDATE notes n SET owner_id = :to, updated_by = coalesce(n.updated_by, n.owner_id) FROM theirs
               WHERE n.org_id = :org_id AND n.id = theirs.id AND (:private OR theirs.visibility = 'team'
                  OR EXISTS (SELECT FROM note_grants g WHERE g.org_id = :org_id AND g.note_id = theirs.id))
              RETURNING n.id
            ), needless AS (
              DELETE FROM note_grants g USING moved WHERE g.org_id = :org_id AND g.user_id = :to AND g.note_id = moved.id
            )
            SELECT id FROM moved
            """,
        org_id=org_id,
        owner_id=owner_id,
        to=to,
        private=private,
    )
    return [row[0] for row in rows]


async def put_all_in_trash(db: Transaction, org_id: UUID, owner_id: UUID, by: UUID) -> list[UUID]:
    """Put everything a person still owns into the trash: the private items that were not handed over."""
    rows = await db.rows(
        """
        UPDATE notes SET trashed_at = now(), trashed_by = :by
         WHERE org_id = :org_id AND owner_id = :owner_id AND trashed_at IS NULL RETURNING id
        """,
        org_id=org_id,
        owner_id=owner_id,
        by=by,
    )
    return [row[0] for row in rows]
