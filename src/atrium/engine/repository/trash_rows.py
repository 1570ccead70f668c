"""SQL of the objects in the trash: who finds what there, putting in, taking out, and what is due."""

from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.repository.model import OBJECTS, TrashedObject
from atrium.engine.repository.object_keys import name_in
from atrium.ground.sharing import rule
from atrium.kit.postgres.database import Transaction
from atrium.seams.context import Principal

MANAGED = rule.manageable(OBJECTS, "o")
# What is told of each: a document by its title, anything else by its name.
_SHOWN = """
  SELECT o.id, o.owner_id, o.team_id, o.key, CASE WHEN o.document THEN v.metadata->>'title' END, o.size, o.trashed_by, o.trashed_at
    FROM objects o JOIN object_versions v ON v.id = o.version_id
"""

# What a person has, and not in the trash: an index each for what is shown and for what is behind a delete marker.
_LIVE_OF = """
  SELECT id, visibility FROM objects WHERE org_id = :org_id AND owner_id = :owner_id AND NOT deleted AND trashed_at IS NULL
  UNION ALL
  SELECT id, visibility FROM objects WHERE org_id = :org_id AND owner_id = :owner_id AND deleted AND trashed_at IS NULL
"""


class OldObject(msgspec.Struct, frozen=True):
    """An object in the trash, and the bytes of all its versions."""

    id: UUID
    size: int


class DueObject(msgspec.Struct, frozen=True):
    """An object that has been in the trash for long enough."""

    id: UUID
    org_id: UUID


@lru_cache(maxsize=2)
def listing_sql(*, after: bool) -> str:
    """The trash's listing: a page of ids from one branch and one index for each way, merged, then the objects themselves."""
    narrowed = " AND ({at}, {id}) < (:after_at, :after_id)" if after else ""
    tail = narrowed + " ORDER BY {at} DESC, {id} DESC LIMIT :limit"
    own, given = tail.format(at="o.trashed_at", id="o.id"), tail.format(at="g.trashed_at", id="g.object_id")
    there = "o.org_id = :org_id AND o.trashed_at IS NOT NULL"
    branches = [
        f"SELECT o.id, o.trashed_at FROM objects o WHERE {there} AND o.owner_id = :user_id {own}",
        f"SELECT o.id, o.trashed_at FROM objects o WHERE {there} AND {rule.of_team('o')} {own}",
        *(
            "SELECT g.object_id AS id, g.trashed_at FROM object_grants g WHERE g.org_id = :org_id "
            f"AND g.principal_id = :{principal} AND g.capability = 'manage' AND g.trashed_at IS NOT NULL AND {rule.live(OBJECTS)} {given}"
            for principal in ("user_id", "team_id", "org_id")
        ),
    ]
    merged = " UNION ALL ".join(f"({branch})" for branch in branches)
    return f"""
      SELECT found.* FROM (
        SELECT DISTINCT ON (trashed_at, id) trashed_at, id FROM ({merged}) AS b ORDER BY trashed_at DESC, id DESC LIMIT :limit
      ) AS page, LATERAL ({_SHOWN} WHERE o.org_id = :org_id AND o.id = page.id OFFSET 0) AS found
       ORDER BY page.trashed_at DESC, page.id DESC
    """


def _trashed(row: tuple[Any, ...]) -> TrashedObject:
    id, owner_id, team_id, key, title, *rest = row
    return TrashedObject(id, owner_id, team_id, key, title or name_in(key), *rest)


async def list_trashed(
    db: Transaction, who: Principal, after: tuple[datetime, UUID] | None, limit: int
) -> list[TrashedObject]:
    at, id = after or (None, None)
    rows = await db.rows(
        listing_sql(after=after is not None), after_at=at, after_id=id, limit=limit, **rule.manager(who, OBJECTS)
    )
    return [_trashed(row) for row in rows]


async def find_trashed(db: Transaction, who: Principal, id: UUID) -> TrashedObject | None:
    """An object in the caller's trash, locked."""
    rows = await db.rows(
        f"{_SHOWN} WHERE o.id = :id AND {MANAGED} FOR UPDATE OF o", id=id, **rule.manager(who, OBJECTS)
    )
    return _trashed(rows[0]) if rows else None


async def list_deleted_by(db: Transaction, who: Principal, limit: int) -> list[TrashedObject]:
    """What the caller deleted and may purge, locked."""
    rows = await db.rows(
        f"{_SHOWN} WHERE o.trashed_by = :user_id AND {MANAGED} ORDER BY o.trashed_at, o.id LIMIT :limit FOR UPDATE OF o",
        limit=limit,
        **rule.manager(who, OBJECTS),
    )
    return [_trashed(row) for row in rows]


async def put_in_trash(db: Transaction, org_id: UUID, id: UUID, by: UUID) -> None:
    await db.run(
        """
        WITH gone AS (
          UPDATE objects SET trashed_at = now(), trashed_by = :by
           WHERE org_id = :org_id AND id = :id AND trashed_at IS NULL RETURNING id, trashed_at
        )
        UPDATE object_grants g SET trashed_at = gone.trashed_at FROM gone WHERE g.org_id = :org_id AND g.object_id = gone.id
        """,
        org_id=org_id,
        id=id,
        by=by,
    )


async def take_out(db: Transaction, org_id: UUID, id: UUID, key: str) -> bool:
    """Restore an object to a key; False when the key is taken."""
    return await db.run_unless_taken(
        """
        WITH back AS (
          UPDATE objects SET trashed_at = NULL, trashed_by = NULL, key = :key, revision = revision + (key <> :key)::int
           WHERE org_id = :org_id AND id = :id RETURNING id
        )
        UPDATE object_grants g SET trashed_at = NULL, key = :key FROM back WHERE g.org_id = :org_id AND g.object_id = back.id
        """,
        org_id=org_id,
        id=id,
        key=key,
    )


async def list_bytes_of(db: Transaction, org_id: UUID, ids: list[UUID]) -> tuple[set[bytes], dict[UUID, int]]:
    """The digests that objects' versions refer to, and how many bytes each team was counted for them."""
    rows = await db.rows(
        """
        SELECT o.team_id, v.sha256, sum(v.size)::bigint FROM objects o JOIN object_versions v ON v.object_id = o.id
         WHERE o.org_id = :org_id AND o.id = ANY(:ids) AND v.org_id = :org_id AND v.sha256 IS NOT NULL GROUP BY o.team_id, v.sha256
        """,
        org_id=org_id,
        ids=ids,
    )
    counted: dict[UUID, int] = {}
    for team_id, _, size in rows:
        counted[team_id] = counted.get(team_id, 0) + size
    return {row[1] for row in rows}, counted


async def delete_objects(db: Transaction, org_id: UUID, ids: list[UUID]) -> int:
    return await db.run("DELETE FROM objects WHERE org_id = :org_id AND id = ANY(:ids)", org_id=org_id, ids=ids)


async def list_due(db: Transaction, age: timedelta, limit: int) -> list[DueObject]:
    return await db.all(
        DueObject,
        """
        SELECT t.id, t.org_id FROM objects t
         WHERE t.trashed_at <= now() - :age::interval AND EXISTS (SELECT FROM orgs o WHERE o.id = t.org_id AND o.moving_at IS NULL)
         ORDER BY t.trashed_at, t.id LIMIT :limit
        """,
        age=age,
        limit=limit,
    )


async def claim_oldest(db: Transaction, org_id: UUID, team_id: UUID, needed: int) -> list[OldObject]:
    """As much of a team's trash as makes so many bytes, what was deleted first before the rest, locked."""
    return await db.all(
        OldObject,
        """
        SELECT o.id, w.size FROM objects o JOIN (
          SELECT h.id, h.size, sum(h.size) OVER (ORDER BY h.trashed_at, h.id) - h.size AS before FROM (
            SELECT o.id, o.trashed_at, sum(v.size)::bigint AS size FROM objects o JOIN object_versions v ON v.object_id = o.id
             WHERE o.org_id = :org_id AND o.team_id = :team_id AND o.trashed_at IS NOT NULL AND v.org_id = :org_id
             GROUP BY o.id, o.trashed_at HAVING sum(v.size) > 0
          ) AS h
        ) AS w ON w.id = o.id
         WHERE o.org_id = :org_id AND w.before < :needed AND o.trashed_at IS NOT NULL
        FOR UPDATE OF o SKIP LOCKED
        """,
        org_id=org_id,
        team_id=team_id,
        needed=needed,
    )


async def claim_due(db: Transaction, org_id: UUID, ids: list[UUID], age: timedelta, weight: int) -> list[UUID]:
    """Which of these are still due, locked: as many as have so many versions together, and at least one."""
    rows = await db.rows(
        """
        SELECT o.id FROM objects o JOIN (
          SELECT id, sum(number) OVER (ORDER BY trashed_at, id) - number AS before FROM objects
           WHERE org_id = :org_id AND id = ANY(:ids)
        ) AS w ON w.id = o.id
         WHERE o.org_id = :org_id AND w.before < :weight AND o.trashed_at <= now() - :age::interval
        FOR UPDATE OF o SKIP LOCKED
        """,
        org_id=org_id,
        ids=ids,
        age=age,
        weight=weight,
    )
    return [row[0] for row in rows]


async def hand_over(db: Transaction, org_id: UUID, owner_id: UUID, to: UUID, *, private: bool) -> list[UUID]:
    """Hand a person's shared items over, trash included, and with `private` the rest as well; which objects."""
    rows = await db.rows(
        f"""
            WITH theirs AS (
              {_LIVE_OF}
              UNION ALL
              SELECT id, visibility FROM objects WHERE org_id = :org_id AND owner_id = :owner_id AND trashed_at IS NOT NULL
            ), moved AS (
              UPDATE objects o SET owner_id = :to FROM theirs
               WHERE o.org_id = :org_id AND o.id = theirs.id AND (:private OR theirs.visibility <> 'private') RETURNING o.id
            ), needless AS (
              DELETE FROM object_grants g USING moved WHERE g.org_id = :org_id AND g.object_id = moved.id AND g.principal_id = :to
            ), followed AS (
              UPDATE object_grants g SET owner_id = :to FROM moved
               WHERE g.org_id = :org_id AND g.object_id = moved.id AND g.principal_id <> :to
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
        f"""
        UPDATE objects o SET trashed_at = now(), trashed_by = :by FROM ({_LIVE_OF}) AS theirs
         WHERE o.org_id = :org_id AND o.id = theirs.id RETURNING o.id
        """,
        org_id=org_id,
        owner_id=owner_id,
        by=by,
    )
    return [row[0] for row in rows]
