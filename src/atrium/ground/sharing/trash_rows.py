"""SQL of the trash of any kind of thing: who finds what there, putting in, taking out, another owner, and what is due."""

from datetime import datetime, timedelta
from functools import lru_cache
from uuid import UUID

import msgspec

from atrium.ground.sharing import rule
from atrium.ground.sharing.model import ThingTable, Trashed
from atrium.kit.postgres.database import Transaction
from atrium.seams.context import Principal


class Due(msgspec.Struct, frozen=True):
    """A thing that has been in the trash for long enough."""

    id: UUID
    org_id: UUID


def _shown(of: ThingTable) -> str:
    key = "t.key" if of.keyed else "NULL::text"
    title, size = of.title.format(t="t"), of.size.format(t="t")
    return f"t.id, t.owner_id, {title} AS title, {key} AS key, {size} AS size, t.trashed_by, t.trashed_at"


@lru_cache(maxsize=8)
def listing_sql(of: ThingTable, *, after: bool) -> str:
    """The trash's listing: one branch and one index for each way a thing can be there."""
    grants, shown, beside = of.grants, _shown(of), of.beside.format(t="t")
    narrowed = " AND ({at}, {id}) < (:after_at, :after_id)" if after else ""
    tail = narrowed + " ORDER BY {at} DESC, {id} DESC LIMIT :limit"
    own, given = tail.format(at="t.trashed_at", id="t.id"), tail.format(at="g.trashed_at", id=f"g.{grants.thing}")
    there = "t.org_id = :org_id AND t.trashed_at IS NOT NULL"
    branches = [
        f"SELECT {shown} FROM {of.table} t{beside} WHERE {there} AND t.owner_id = :user_id {own}",
        f"SELECT {shown} FROM {of.table} t{beside} WHERE {there} AND {rule.of_team('t')} AND t.owner_id <> :user_id {own}",
        *(
            f"SELECT {shown} FROM {grants.name} g JOIN {of.table} t ON t.id = g.{grants.thing}{beside}"
            f" WHERE g.org_id = :org_id AND g.{grants.principal} = :{principal}"
            f" AND g.{grants.level} IN ({grants.levels_for('manage')}) AND g.trashed_at IS NOT NULL AND {rule.live(of)}"
            f" AND {there} AND t.visibility <> 'private' AND t.owner_id <> :user_id AND NOT {rule.of_team('t')} {given}"
            for principal in grants.principals
        ),
    ]
    # What was granted to a person, their team and their company comes by several.
    return f"""
      SELECT DISTINCT ON (trashed_at, id) * FROM ({" UNION ALL ".join(f"({branch})" for branch in branches)}) AS t
       ORDER BY trashed_at DESC, id DESC LIMIT :limit
    """


async def list_trashed(
    db: Transaction, of: ThingTable, who: Principal, after: tuple[datetime, UUID] | None, limit: int
) -> list[Trashed]:
    at, id = after or (None, None)
    return await db.all(
        Trashed,
        listing_sql(of, after=after is not None),
        after_at=at,
        after_id=id,
        limit=limit,
        **rule.manager(who, of),
    )


async def find_trashed(db: Transaction, of: ThingTable, who: Principal, id: UUID) -> Trashed | None:
    """A thing in the caller's trash, locked."""
    return await db.one(
        Trashed,
        f"""
        SELECT {_shown(of)} FROM {of.table} t{of.beside.format(t="t")}
         WHERE t.id = :id AND {rule.manageable(of, "t")} FOR UPDATE OF t
        """,
        id=id,
        **rule.manager(who, of),
    )


async def list_deleted_by(db: Transaction, of: ThingTable, who: Principal, limit: int) -> list[UUID]:
    """What the caller deleted and may purge, locked."""
    rows = await db.rows(
        f"""
        SELECT t.id FROM {of.table} t WHERE t.trashed_by = :user_id AND {rule.manageable(of, "t")}
         ORDER BY t.trashed_at, t.id LIMIT :limit FOR UPDATE OF t
        """,
        limit=limit,
        **rule.manager(who, of),
    )
    return [row[0] for row in rows]


async def put_in_trash(db: Transaction, of: ThingTable, org_id: UUID, id: UUID, by: UUID) -> None:
    grants = of.grants
    await db.run(
        f"""
        WITH gone AS (
          UPDATE {of.table} SET trashed_at = now(), trashed_by = :by
           WHERE org_id = :org_id AND id = :id AND trashed_at IS NULL RETURNING id, trashed_at
        )
        UPDATE {grants.name} g SET trashed_at = gone.trashed_at FROM gone WHERE g.org_id = :org_id AND g.{grants.thing} = gone.id
        """,
        org_id=org_id,
        id=id,
        by=by,
    )


async def take_out(db: Transaction, of: ThingTable, org_id: UUID, id: UUID, key: str | None) -> bool:
    """Bring a thing back, to a key where it has one; False when the key is taken."""
    grants = of.grants
    at, given = (", key = :key, revision = revision + (key <> :key)::int", ", key = :key") if of.keyed else ("", "")
    sql = f"""
      WITH back AS (
        UPDATE {of.table} SET trashed_at = NULL, trashed_by = NULL{at} WHERE org_id = :org_id AND id = :id RETURNING id
      )
      UPDATE {grants.name} g SET trashed_at = NULL{given} FROM back WHERE g.org_id = :org_id AND g.{grants.thing} = back.id
    """
    if of.keyed:
        return await db.run_unless_taken(sql, org_id=org_id, id=id, key=key)
    await db.run(sql, org_id=org_id, id=id)
    return True


async def list_due(db: Transaction, of: ThingTable, age: timedelta, limit: int) -> list[Due]:
    return await db.all(
        Due,
        f"""
        SELECT t.id, t.org_id FROM {of.table} t
         WHERE t.trashed_at <= now() - :age::interval AND EXISTS (SELECT FROM orgs o WHERE o.id = t.org_id AND o.moving_at IS NULL)
         ORDER BY t.trashed_at, t.id LIMIT :limit
        """,
        age=age,
        limit=limit,
    )


async def claim_due(
    db: Transaction, of: ThingTable, org_id: UUID, ids: list[UUID], age: timedelta, weight: int
) -> list[UUID]:
    """Which of these are still due, locked: as many as have so many versions together, and at least one."""
    each = of.weight.format(t="w")
    rows = await db.rows(
        f"""
        SELECT t.id FROM {of.table} t JOIN (
          SELECT w.id, sum({each}) OVER (ORDER BY w.trashed_at, w.id) - {each} AS before FROM {of.table} w
           WHERE w.org_id = :org_id AND w.id = ANY(:ids)
        ) AS w ON w.id = t.id
         WHERE t.org_id = :org_id AND w.before < :weight AND t.trashed_at <= now() - :age::interval
        FOR UPDATE OF t SKIP LOCKED
        """,
        org_id=org_id,
        ids=ids,
        age=age,
        weight=weight,
    )
    return [row[0] for row in rows]


def _live_of(of: ThingTable) -> str:
    """What a person has, and not in the trash: an index each for what listings show and for what they do not."""
    there = of.there.format(t="t")
    return " UNION ALL ".join(
        f"SELECT t.id, t.visibility FROM {of.table} t"
        f" WHERE t.org_id = :org_id AND t.owner_id = :owner_id AND t.trashed_at IS NULL{half}"
        for half in ((f" AND {there}", f" AND NOT ({there})") if there else ("",))
    )


async def hand_over(
    db: Transaction, of: ThingTable, org_id: UUID, owner_id: UUID, to: UUID, *, private: bool
) -> list[UUID]:
    """Hand a person's shared things over, trash included, and with `private` the rest as well; which ones."""
    grants = of.grants
    granted = f" OR EXISTS (SELECT FROM {grants.name} g WHERE g.org_id = :org_id AND g.{grants.thing} = theirs.id)"
    also = f", {of.on_hand_over.format(t='t')}" if of.on_hand_over else ""
    followed = f""", followed AS (
          UPDATE {grants.name} g SET owner_id = :to FROM moved
           WHERE g.org_id = :org_id AND g.{grants.thing} = moved.id AND g.{grants.principal} <> :to
        )"""
    rows = await db.rows(
        f"""
        WITH theirs AS (
          {_live_of(of)}
          UNION ALL
          SELECT id, visibility FROM {of.table} WHERE org_id = :org_id AND owner_id = :owner_id AND trashed_at IS NOT NULL
        ), moved AS (
          UPDATE {of.table} t SET owner_id = :to{also} FROM theirs
           WHERE t.org_id = :org_id AND t.id = theirs.id AND (:private OR theirs.visibility <> 'private'
             {"" if grants.opens else granted}) RETURNING t.id
        ), needless AS (
          DELETE FROM {grants.name} g USING moved
           WHERE g.org_id = :org_id AND g.{grants.principal} = :to AND g.{grants.thing} = moved.id
        ){followed if "owner_id" in grants.repeats else ""}
        SELECT id FROM moved
        """,
        org_id=org_id,
        owner_id=owner_id,
        to=to,
        private=private,
    )
    return [row[0] for row in rows]


async def put_all_in_trash(db: Transaction, of: ThingTable, org_id: UUID, owner_id: UUID, by: UUID) -> list[UUID]:
    """Put everything a person still owns into the trash: the private things that were not handed over."""
    rows = await db.rows(
        f"""
        UPDATE {of.table} t SET trashed_at = now(), trashed_by = :by FROM ({_live_of(of)}) AS theirs
         WHERE t.org_id = :org_id AND t.id = theirs.id RETURNING t.id
        """,
        org_id=org_id,
        owner_id=owner_id,
        by=by,
    )
    return [row[0] for row in rows]
