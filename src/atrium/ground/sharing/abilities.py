"""What a caller may do with one thing that they can read, and the refusal of everything else.

It is missing, and not forbidden, for whom `rule.readable` leaves it out; nothing here is asked for them.
"""

from collections.abc import Collection
from typing import Any, Protocol
from uuid import UUID

from atrium.ground.access.model import NotPermitted, ReadersRefused
from atrium.ground.sharing.model import EVERY, Ability, ThingTable
from atrium.seams.context import Actor, Principal


class Thing(Protocol):
    """A row of a table that people share."""

    @property
    def id(self) -> UUID:
        """Which one."""

    @property
    def team_id(self) -> UUID:
        """The team it belongs to."""

    @property
    def owner_id(self) -> UUID:
        """Whose it is."""

    @property
    def visibility(self) -> str:
        """`private`, `team` when the whole team sees it, `shared` when others do."""


def abilities_of(who: Principal, of: ThingTable, thing: Thing, levels: Collection[str]) -> frozenset[Ability]:
    """Everything a person may do with a thing, who holds live grants of these levels on it."""
    if thing.owner_id == who.user_id:
        held: set[Ability] = set(EVERY)
    else:
        held = _by_role(who, of, thing).union(*(of.grants.gives[level] for level in levels))
    return frozenset(ability for ability in held if who.within_scope(of.permission(ability)))


def list_abilities(who: Principal, of: ThingTable, thing: Thing, levels: Collection[str]) -> list[Ability]:
    """What a reply offers, weakest first: nothing that changes something while the company may not write."""
    held = abilities_of(who, of, thing, levels)
    return [ability for ability in EVERY if ability in held and (ability == "read" or who.suspended is None)]


def offer(who: Principal, of: ThingTable, thing: Thing, levels: Collection[str]) -> dict[str, Any]:
    """What a reply about a thing says of sharing: what this caller may do, and what a grant can be."""
    return {
        "abilities": list_abilities(who, of, thing, levels),
        "share_with": of.grants.share_with(),
        "levels": [*of.grants.gives],
        "expires": of.grants.ends,
    }


def _by_role(who: Principal, of: ThingTable, thing: Thing) -> set[Ability]:
    """A role counts for what one's own team sees, and a company's readers read what any team does.

    Deleting another person's thing takes the role's permission to manage, not the one to delete.
    """
    if not is_of_team(thing):
        return set()
    if thing.team_id != who.team_id:
        return {"read"} if "org:read" in who.permissions else set()
    held: set[Ability] = {ability for ability in EVERY if of.permission(ability) in who.permissions}
    if "org:read" in who.permissions:
        held.add("read")
    return held if "manage" in held else held - {"delete"}


def require(acting: Actor, of: ThingTable, thing: Thing, ability: Ability, levels: Collection[str]) -> None:
    """Refuse what is not among a caller's abilities."""
    permission = of.permission(ability)
    acting.checked.add(permission)
    if not acting.who.within_scope(permission):
        raise NotPermitted(f"this token's scope does not include {permission}", permission=permission)
    if ability not in abilities_of(acting.who, of, thing, levels):
        raise NotPermitted(f"this needs the permission {permission} here", permission=permission)


def is_private(thing: Thing) -> bool:
    """Only its owner, and people who hold a grant, can read it."""
    return thing.visibility == "private"


def is_of_team(thing: Thing) -> bool:
    """Its whole team can read it."""
    return thing.visibility == "team"


def is_confined(acting: Actor) -> bool:
    """Whether what the caller writes now is for them alone: a run that was fired by what not everybody who bound it can read."""
    return acting.bound is not None and acting.bound.confined


def require_no_readers(acting: Actor, thing: Thing, *, shared: bool) -> None:
    """Refuse a confined caller to write what is not theirs alone: another's, the team's, or `shared` with other people."""
    if is_confined(acting) and (shared or not is_private(thing) or thing.owner_id != acting.who.user_id):
        raise ReadersRefused(
            "others can read this, and not everybody who set up this run can read the file that fired it"
        )
