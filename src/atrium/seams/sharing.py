"""Things that people share: what a domain declares of them, who may still read one, and what is handed out to a bound run."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

import msgspec

# The kind of what a tool read by statements of its own: no domain knows whose that is.
UNTRACKED = "untracked"
# No more rows of a listing are looked at, however few of them are handed out to a caller who is bound by others.
MOST_LOOKED_AT = 1_000

T = TypeVar("T")
# A kind and an id.
Thing = tuple[str, UUID]


class ThingName(msgspec.Struct, frozen=True):
    """What a thing is called today; `common` when it is the team's, or the reader's own."""

    name: str
    common: bool


class HandedOver(msgspec.Struct, frozen=True):
    """Counts of a leaving person's things of one kind: handed over, and put in the trash."""

    moved: int
    trashed: int


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


async def hand_out(ctx: Any, kind: str, ids: Collection[UUID]) -> set[UUID]:
    """Those of these things, which the caller can read, that everybody by whom they are bound can read too, or that are their run's own.

    Whatever decides that the caller may read a thing asks this before it answers. What is handed out is noted for the step.
    """
    handed_out = set(ids)
    own = {id for _, id in await list_own(ctx, {(kind, id) for id in handed_out})} if ctx.is_bound else set()
    for other in ctx.others_bound():
        asked = handed_out - own
        shareable: Shareable = ctx.services.registry.shareables[kind]
        handed_out -= asked - (await shareable.list_names(other, sorted(asked), False)).keys() if asked else set()
    ctx.touch(kind, handed_out)
    return handed_out


async def list_own(ctx: Any, things: Collection[Thing]) -> set[Thing]:
    """Those of these things that are the own of the run that the caller acts for: what fired it, and what it made."""
    if ctx.bound is None:
        return set()
    own: set[Thing] = ctx.bound.own
    unknown = set(things) - own
    if unknown and ctx.bound.list_made is not None:
        own.update(await ctx.bound.list_made(ctx, unknown))
    return own.intersection(things)


async def list_handed_out(ctx: Any, kind: str, found: Iterable[T], id_of: Callable[[T], UUID]) -> list[T]:
    """Those of these rows, which the caller can read, whose things are handed out."""
    rows = list(found)
    readable = await hand_out(ctx, kind, {id_of(row) for row in rows})
    return [row for row in rows if id_of(row) in readable]


async def fill(
    ctx: Any,
    count: int,
    read: Callable[[T | None, int], Awaitable[Sequence[T]]],
    hand: Callable[[Sequence[T]], Awaitable[list[T]]],
) -> list[T]:
    """The first `count` rows of a listing that are handed out, among the first `MOST_LOOKED_AT`.

    `read` takes (the last row that was read, how many) and returns what follows; `hand` returns what of it is handed out.
    """
    filled: list[T] = []
    last, looked_at = None, 0
    while len(filled) < count and looked_at < MOST_LOOKED_AT:
        wanted = min(count, MOST_LOOKED_AT - looked_at)
        rows = await read(last, wanted)
        filled += await hand(rows)
        if len(rows) < wanted or not ctx.is_bound:
            break
        last, looked_at = rows[-1], looked_at + len(rows)
    return filled[:count]
