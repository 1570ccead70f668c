"""SQL of grants on any kind of thing: giving, withdrawing, listing, what ended; and who sees a thing besides them."""

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from atrium.ground.sharing import rule
from atrium.ground.sharing.abilities import Thing
from atrium.ground.sharing.model import Grant, Grantee, ThingTable
from atrium.kit.postgres.database import Transaction
from atrium.seams.context import Principal

_PEOPLE = "JOIN users u ON u.org_id = g.org_id AND u.id = g.{principal}"
_ANYBODY = """
  LEFT JOIN users u ON g.principal_type = 'user' AND u.org_id = g.org_id AND u.id = g.principal_id
  LEFT JOIN teams t ON g.principal_type = 'team' AND t.org_id = g.org_id AND t.id = g.principal_id
  LEFT JOIN orgs c ON g.principal_type = 'org' AND c.id = g.principal_id
"""


@lru_cache(maxsize=8)
def put_sql(of: ThingTable) -> str:
    """A grant's row: one for each principal, whose level and end may change."""
    grants = of.grants
    values = {grants.thing: "id", grants.principal: "principal_id", grants.level: "level", "granted_by": "by"}
    changed = [grants.level, "granted_by"]
    if grants.is_for_anybody:
        values["principal_type"] = "principal_type"
    if grants.ends:
        values["expires_at"] = "expires_at"
        changed.append("expires_at")
    values |= {name: name for name in grants.repeats}
    return f"""
      INSERT INTO {grants.name} (org_id, {", ".join(values)}) VALUES (:org_id, {", ".join(f":{name}" for name in values.values())})
      ON CONFLICT ({grants.thing}, {grants.principal}) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in changed)}
    """


@lru_cache(maxsize=8)
def grant_sql(of: ThingTable) -> str:
    """A thing's grants, with the names of those who hold them."""
    grants = of.grants
    to, name, named = "'user'", "u.username", _PEOPLE.format(principal=grants.principal)
    if grants.is_for_anybody:
        to, name, named = "g.principal_type", "coalesce(u.username, t.name, c.name)", _ANYBODY
    until = "g.expires_at" if grants.ends else "NULL::timestamptz"
    return f"""
      SELECT {to}, g.{grants.principal}, {name}, u.display_name, g.{grants.level}, g.granted_by, {until}, NOT {rule.live(of)}, g.created_at
        FROM {grants.name} g {named} WHERE g.org_id = :org_id AND g.{grants.thing} = :id
    """


def listing_sql(of: ThingTable, *, after: bool) -> str:
    """A page of a thing's grants, in the order of an index."""
    order = ", ".join(f"g.{column}" for column in of.grants.order)
    behind = ", ".join(f":after_{column}" for column in of.grants.order)
    narrowed = f"AND ({order}) > ({behind})" if after else ""
    return f"{grant_sql(of)} {narrowed} ORDER BY {order} LIMIT :limit"


async def put_grant(
    db: Transaction,
    of: ThingTable,
    who: Principal,
    thing: Thing,
    to: Grantee,
    level: str,
    expires_at: datetime | None,
) -> None:
    repeated: Mapping[str, Any] = {name: getattr(thing, name) for name in of.grants.repeats}
    await db.run(
        put_sql(of),
        org_id=who.org_id,
        id=thing.id,
        principal_type=to.principal_type,
        principal_id=to.principal_id,
        level=level,
        by=who.user_id,
        expires_at=expires_at,
        **repeated,
    )


async def find_grant(db: Transaction, of: ThingTable, org_id: UUID, id: UUID, principal_id: UUID) -> Grant | None:
    return await db.one(
        Grant,
        f"{grant_sql(of)} AND g.{of.grants.principal} = :principal_id",
        org_id=org_id,
        id=id,
        principal_id=principal_id,
    )


async def list_grants(
    db: Transaction, of: ThingTable, org_id: UUID, id: UUID, after: tuple[Any, ...] | None, limit: int
) -> list[Grant]:
    behind = {f"after_{column}": value for column, value in zip(of.grants.order, after or (), strict=False)}
    return await db.all(Grant, listing_sql(of, after=after is not None), org_id=org_id, id=id, limit=limit, **behind)


async def has_grants(db: Transaction, of: ThingTable, org_id: UUID, id: UUID) -> bool:
    return bool(
        await db.value(
            f"SELECT EXISTS (SELECT FROM {of.grants.name} WHERE org_id = :org_id AND {of.grants.thing} = :id)",
            org_id=org_id,
            id=id,
        )
    )


async def list_levels(db: Transaction, of: ThingTable, org_id: UUID, id: UUID, principals: list[UUID]) -> list[str]:
    rows = await db.rows(
        f"""
        SELECT g.{of.grants.level} FROM {of.grants.name} g
         WHERE g.org_id = :org_id AND g.{of.grants.thing} = :id AND g.{of.grants.principal} = ANY(:principals) AND {rule.live(of)}
        """,
        org_id=org_id,
        id=id,
        principals=principals,
    )
    return [row[0] for row in rows]


async def delete_grants(
    db: Transaction, of: ThingTable, org_id: UUID, id: UUID, principal_id: UUID | None = None
) -> int:
    """End one principal's grants, or everybody's."""
    return await db.run(
        f"""
        DELETE FROM {of.grants.name} WHERE org_id = :org_id AND {of.grants.thing} = :id
           AND (:principal_id::uuid IS NULL OR {of.grants.principal} = :principal_id)
        """,
        org_id=org_id,
        id=id,
        principal_id=principal_id,
    )


async def delete_grants_to(db: Transaction, of: ThingTable, org_id: UUID, principal_id: UUID) -> list[UUID]:
    """The things that were granted to this principal."""
    rows = await db.rows(
        f"""
        DELETE FROM {of.grants.name} WHERE org_id = :org_id AND {of.grants.principal} = :principal_id
        RETURNING {of.grants.thing}
        """,
        org_id=org_id,
        principal_id=principal_id,
    )
    return [row[0] for row in rows]


async def forget_grants(db: Transaction, of: ThingTable) -> list[tuple[UUID, UUID]]:
    """The company and the thing of each grant that is forgotten."""
    rows = await db.rows(
        f"DELETE FROM {of.grants.name} WHERE expires_at < now() - interval '30 days' RETURNING org_id, {of.grants.thing}"
    )
    return [(row[0], row[1]) for row in rows]


async def list_ended(db: Transaction, of: ThingTable, since: datetime) -> list[tuple[UUID, UUID]]:
    """Company and thing of grants whose time has come since then."""
    rows = await db.rows(
        f"SELECT DISTINCT org_id, {of.grants.thing} FROM {of.grants.name} WHERE expires_at > :since AND expires_at <= now()",
        since=since,
    )
    return [(row[0], row[1]) for row in rows]


async def set_visibility(db: Transaction, of: ThingTable, org_id: UUID, id: UUID, visibility: str) -> None:
    await db.run(
        f"""
        UPDATE {of.table} t SET visibility = :visibility{of.on_change and ", " + of.on_change.format(t="t")}
         WHERE t.org_id = :org_id AND t.id = :id
        """,
        org_id=org_id,
        id=id,
        visibility=visibility,
    )
