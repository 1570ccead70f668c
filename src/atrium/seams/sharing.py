"""Things that people share: what a domain declares of them, and who may still read a thing that something was made from."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec

# The kind of what a tool read by statements of its own: no domain knows whose that is.
UNTRACKED = "untracked"

# A kind and an id.
Thing = tuple[str, UUID]


class ThingName(msgspec.Struct, frozen=True):
    """What a thing is called today; `common` when it is the team's, or the reader's own."""

    name: str
    common: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Shareable:
    """A kind of thing that some people may read and others not.

    `list_names` takes (context, ids, whether those in the trash count) and returns the names of those that the caller may read now.
    """

    kind: str
    # The permission to read it is `<family>:read`.
    family: str
    # Where its ids are, so that they are known when a value names them; entities have no row of their own.
    table: str | None = None
    # How kinds of audit events about one begin, and which of their facts are words of its own: written by earlier releases, shown to
    # whom the thing itself is open.
    events: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    list_names: Callable[[Any, list[UUID], bool], Awaitable[Mapping[UUID, ThingName]]]


async def names_of(ctx: Any, things: Iterable[Thing], *, trashed: bool = False) -> dict[Thing, ThingName]:
    """The names of those of these things that the caller may read now."""
    ids: dict[str, list[UUID]] = defaultdict(list)
    for kind, id in things:
        ids[kind].append(id)
    shareables: Mapping[str, Shareable] = ctx.services.registry.shareables
    found: dict[Thing, ThingName] = {}
    for kind in sorted(ids.keys() & shareables.keys()):
        names = await shareables[kind].list_names(ctx, ids[kind], trashed)
        found |= {(kind, id): name for id, name in names.items()}
    return found


async def list_unreadable(ctx: Any, things: Iterable[Thing]) -> set[Thing]:
    """Those of these things that the caller may not read now; what is gone or of an unknown kind is among them."""
    wanted = set(things)
    return wanted - (await names_of(ctx, wanted)).keys()
