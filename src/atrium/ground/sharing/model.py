"""The nouns of sharing: things, the grants on them, and what may be done with one."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

PrincipalType = Literal["user", "team", "org"]
Ability = Literal["read", "write", "delete", "manage"]
EVERY: tuple[Ability, ...] = ("read", "write", "delete", "manage")
Change = Literal["changed", "text", "moved", "shared", "visibility", "deleted", "restored", "handed over"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GrantTable:
    """Where the grants on one kind of thing are: its columns, and what each level that can be granted gives."""

    name: str
    thing: str
    principal: str
    level: str
    gives: Mapping[str, frozenset[Ability]]
    # The columns of a caller that a thing can be granted to.
    principals: tuple[str, ...] = ("user_id",)
    # Whether a grant may end by itself.
    ends: bool = False
    # Columns of the thing that its grants repeat, so that what was shared is read in the thing's order.
    repeats: tuple[str, ...] = ()
    # Whether visibility tells of grants: a private thing becomes `shared` by one, and one that becomes private has none any more.
    opens: bool = False
    # By what a thing's grants are listed: an index has them in this order.
    order: tuple[str, ...] = ("principal_id",)

    @property
    def is_for_anybody(self) -> bool:
        """Whether a thing can be granted to others than people; then `principal_type` says to whom it was."""
        return self.principals != ("user_id",)

    def share_with(self) -> list[PrincipalType]:
        """What kinds of principals a thing can be granted to."""
        kinds: dict[str, PrincipalType] = {"user_id": "user", "team_id": "team", "org_id": "org"}
        return [kinds[name] for name in self.principals]

    def levels_for(self, ability: Ability) -> str:
        """The levels that give an ability, as a list in SQL."""
        return ", ".join(f"'{level}'" for level, given in self.gives.items() if ability in given)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ThingTable:
    """A table whose rows people share: org_id, id, team_id, owner_id, visibility, trashed_at, trashed_by.

    Texts are about a row called `{t}`. `there` is what else is true of one that listings show; `company_hint` is always true and names
    the index of the listing of a whole company. The trash tells of each its `title` and `size`, for which `beside` is joined; `weight` is
    how many versions it has. `on_change` is what a change of its visibility or grants also writes, `on_hand_over` what another owner does.
    """

    kind: str
    table: str
    # The permissions that count are `<family>:read`, `:write`, `:delete` and `:manage`.
    family: str
    grants: GrantTable
    there: str = ""
    company_hint: str = ""
    title: str
    size: str
    beside: str = ""
    weight: str
    on_change: str = ""
    on_hand_over: str = ""

    @property
    def keyed(self) -> bool:
        """Whether it is at a key of its team, where nothing else can be, and has a revision that changes with the key."""
        return "key" in self.grants.repeats

    def permission(self, ability: Ability) -> str:
        """The permission by which a role or a token's scope has an ability."""
        return f"{self.family}:{ability}"

    def tag(self, tag: str, abilities: Collection[Ability]) -> str:
        """An entity tag of a thing as one caller sees it: what they may do with it is part of the reply."""
        return f'"{tag}.{"".join(ability[0] for ability in EVERY if ability in abilities)}"'

    def permissions_of(self, level: str) -> list[str]:
        """What a grant of a level gives, as permissions, weakest first."""
        return [self.permission(ability) for ability in EVERY if ability in self.grants.gives[level]]


class Grantee(msgspec.Struct, frozen=True):
    """Whom something is granted to."""

    principal_type: PrincipalType
    principal_id: UUID


class Grant(Grantee, frozen=True):
    """How far a principal was let in to a thing, and until when; only people have a display name."""

    name: str | None
    display_name: str | None
    level: str
    granted_by: UUID
    expires_at: datetime | None
    expired: bool
    created_at: datetime


class Trashed(msgspec.Struct, frozen=True):
    """A thing in the trash: whose it is, what it is called, how many bytes it has, who put it there, and when.

    What has a key need not have a title.
    """

    id: UUID
    owner_id: UUID
    title: str | None
    key: str | None
    size: int
    deleted_by: UUID
    deleted_at: datetime


class ThingsChanged(msgspec.Struct, frozen=True):
    """Announced in the transaction that changed things of one kind: where they are, who may read them, whether they are there.

    A text that was written is announced by its own domain instead, with the text (`NoteSaved`, `ObjectWritten`).
    """

    of: ThingTable
    ids: list[UUID]
    change: Change
