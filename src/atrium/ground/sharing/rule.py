"""Who may read, manage or find a shared thing, as SQL. No other file compares a visibility or looks into grants to decide that.

A function of PostgreSQL with a sub-select is not inlined, and a partial index needs its condition in the statement: so these are texts.
`t` is how a statement calls the thing; the values that the texts name are those of `reader`, `manager` and `actor`.
"""

from typing import Any, NamedTuple

from atrium.ground.sharing.model import EVERY, Ability, ThingTable
from atrium.seams.context import Principal

# What an edit writes of who sees a thing besides its owner: what it names, else what there is.
EDITED = "visibility = coalesce(:visibility, visibility)"


class Way(NamedTuple):
    """One way in which things are readable: FROM and WHERE, and whether it begins with grants, called `g`."""

    source: str
    where: str
    granted: bool = False


def reader(who: Principal, of: ThingTable) -> dict[str, Any]:
    """Who looks, and what their role admits."""
    by_all = all(of.permission(ability) in who.permissions for ability in EVERY)
    return _asked_by(who, of, "read") | {"org_wide": "org:read" in who.permissions, "by_all": by_all}


def manager(who: Principal, of: ThingTable) -> dict[str, Any]:
    """Who looks into the trash, and whether their role manages the team's things."""
    return _asked_by(who, of, "manage")


def actor(who: Principal, of: ThingTable, ability: Ability) -> dict[str, Any]:
    """What `allowed` names besides: whether the caller's role has the permission for an ability."""
    return {"by_permission": of.permission(ability) in who.permissions}


def _asked_by(who: Principal, of: ThingTable, ability: Ability) -> dict[str, Any]:
    return {
        "org_id": who.org_id,
        "team_id": who.team_id,
        "user_id": who.user_id,
        "principals": [getattr(who, name) for name in of.grants.principals],
        "by_role": of.permission(ability) in who.permissions,
    }


def live(of: ThingTable) -> str:
    """A grant, called `g`, that has not ended."""
    return "(g.expires_at IS NULL OR g.expires_at > now())" if of.grants.ends else "true"


def of_team(t: str, role: str = ":by_role") -> str:
    """The caller's team sees it, and their role counts there."""
    return f"({role} AND {t}.team_id = :team_id AND {t}.visibility = 'team')"


def granted(of: ThingTable, t: str, ability: Ability = "read") -> str:
    """A live grant gives the caller the ability."""
    grants = of.grants
    to = "= :user_id" if grants.principals == ("user_id",) else "= ANY(:principals)"
    level = "" if ability == "read" else f" AND g.{grants.level} IN ({grants.levels_for(ability)})"
    return (
        f"EXISTS (SELECT FROM {grants.name} g WHERE g.org_id = :org_id AND g.{grants.thing} = {t}.id"
        f" AND g.{grants.principal} {to}{level} AND {live(of)})"
    )


def admitted(of: ThingTable, t: str) -> str:
    """Whom a thing is for, whether it is in the trash or not."""
    return f"({t}.owner_id = :user_id OR {of_team(t)} OR (:org_wide AND {t}.visibility = 'team') OR {granted(of, t)})"


def lookup(of: ThingTable, t: str, columns: str) -> str:
    """One thing that the caller may read, by `:id`, and the levels at which it was granted to them, as an array.

    Grants are read once, and not for an owner or for a role that may do everything with it: nothing can be added to that.
    """
    grants = of.grants
    to = "= :user_id" if grants.principals == ("user_id",) else "= ANY(:principals)"
    return (
        f"SELECT {columns}, coalesce(held.levels, '{{}}') FROM {of.table} {t}, LATERAL ("
        f"SELECT array_agg(g.{grants.level}) AS levels FROM {grants.name} g"
        f" WHERE {t}.owner_id <> :user_id AND NOT {of_team(t, ':by_all')} AND g.org_id = :org_id"
        f" AND g.{grants.thing} = {t}.id AND g.{grants.principal} {to} AND {live(of)}) AS held"
        f" WHERE {t}.id = :id AND {t}.org_id = :org_id AND {t}.trashed_at IS NULL AND ({t}.owner_id = :user_id"
        f" OR {of_team(t)} OR (:org_wide AND {t}.visibility = 'team') OR held.levels IS NOT NULL)"
    )


def readable(of: ThingTable, t: str) -> str:
    """A thing that the caller may read."""
    return f"{t}.org_id = :org_id AND {t}.trashed_at IS NULL AND {admitted(of, t)}"


def allowed(of: ThingTable, t: str, ability: Ability) -> str:
    """Something else that the caller may do with a thing they can read."""
    return f"({t}.owner_id = :user_id OR {of_team(t, ':by_permission')} OR {granted(of, t, ability)})"


def common(t: str) -> str:
    """A thing is the team's, or the caller's own."""
    return f"({t}.owner_id = :user_id OR {t}.visibility = 'team')"


def ways(of: ThingTable, t: str, scope: str) -> list[Way]:
    """Everything of a listing: with `org` what every team of the company sees, else own, the team's and granted; nothing comes by two."""
    there, grants = _there(of, t), of.grants
    if scope == "org":
        return [_company(of, t)]
    return [
        Way(f"{of.table} {t}", f"{there} AND {t}.owner_id = :user_id"),
        Way(f"{of.table} {t}", f"{there} AND {of_team(t)} AND {t}.owner_id <> :user_id"),
        Way(
            f"{grants.name} g JOIN {of.table} {t} ON {t}.id = g.{grants.thing}",
            f"g.org_id = :org_id AND g.{grants.principal} = :user_id AND g.trashed_at IS NULL AND {live(of)} AND {there}"
            f" AND {t}.owner_id <> :user_id AND NOT {of_team(t)}",
            granted=True,
        ),
    ]


def keyed_ways(of: ThingTable, t: str, scope: str, *, shared: bool = False) -> list[Way]:
    """The same where grants repeat the key and each principal's are read in its order; with `shared` what others own and granted.

    A thing may come by several ways: the caller merges them and drops it.
    """
    if scope == "org":
        return [_company(of, t)]
    there, grants = _there(of, t), of.grants
    others = " AND g.owner_id <> :user_id" if shared else ""
    found = [
        Way(
            f"{grants.name} g JOIN {of.table} {t} ON {t}.id = g.{grants.thing}",
            f"g.org_id = :org_id AND g.{grants.principal} = :{principal} AND {live(of)} AND g.trashed_at IS NULL AND {there}{others}",
            granted=True,
        )
        for principal in grants.principals
    ]
    if not shared:
        found.append(Way(f"{of.table} {t}", f"{there} AND {t}.owner_id = :user_id"))
        found.append(Way(f"{of.table} {t}", f"{there} AND {of_team(t)}"))
    return found


def _company(of: ThingTable, t: str) -> Way:
    hint = f" AND {of.company_hint.format(t=t)}" if of.company_hint else ""
    return Way(f"{of.table} {t}", f"{_there(of, t)} AND {t}.visibility = 'team'{hint}")


def _there(of: ThingTable, t: str) -> str:
    there = f" AND {of.there.format(t=t)}" if of.there else ""
    return f"{t}.org_id = :org_id AND {t}.trashed_at IS NULL{there}"


def page(of: ThingTable, t: str, columns: str, order: str, narrowed: str, scope: str) -> str:
    """The first `:limit` things of a listing, in an order that an index of each way has."""
    tail = f"{narrowed} ORDER BY {order} LIMIT :limit"
    found = [f"SELECT {columns} FROM {way.source} WHERE {way.where} {tail}" for way in ways(of, t, scope)]
    if len(found) == 1:
        return found[0]
    return f"SELECT * FROM ({' UNION ALL '.join(f'({one})' for one in found)}) AS {t} ORDER BY {order} LIMIT :limit"


def manageable(of: ThingTable, t: str) -> str:
    """A thing in the caller's trash: their own, and of what others see what they may manage. A private one is in its owner's alone."""
    return (
        f"{t}.org_id = :org_id AND {t}.trashed_at IS NOT NULL AND ({t}.owner_id = :user_id OR {of_team(t)}"
        f" OR ({t}.visibility <> 'private' AND {granted(of, t, 'manage')}))"
    )


def audience(of: ThingTable, t: str) -> str:
    """Everybody who may read a thing, as ids: its owner, team and company (`:wide`) when they see it, and all it was granted to."""
    grants = of.grants
    return (
        f"{t}.owner_id || CASE WHEN {t}.visibility = 'team' THEN ARRAY[{t}.team_id, :wide::uuid] ELSE '{{}}' END"
        f" || ARRAY(SELECT g.{grants.principal} FROM {grants.name} g WHERE g.org_id = :org_id AND g.{grants.thing} = {t}.id ORDER BY 1)"
    )


def following(of: ThingTable) -> str:
    """What a move writes to grants that repeat the key, behind a part of the statement that is called `moved` and has id and key."""
    grants = of.grants
    return f"UPDATE {grants.name} g SET key = moved.key FROM moved WHERE g.org_id = :org_id AND g.{grants.thing} = moved.id"


def ended(of: ThingTable) -> str:
    """Grants on `:ids` whose time has come, as rows of id, principal and expires_at."""
    grants = of.grants
    return (
        f"SELECT g.{grants.thing} AS id, g.{grants.principal} AS principal, g.expires_at FROM {grants.name} g"
        f" WHERE g.org_id = :org_id AND g.{grants.thing} = ANY(:ids) AND g.expires_at <= now()"
    )
