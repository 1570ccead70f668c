"""Where limits come from: who set one and when, and whether the caller may change it."""

from uuid import UUID

import msgspec

from atrium.ground.quotas import store
from atrium.ground.quotas.model import WINDOWS, LimitOrigin, Setter, SettersShown, Source, Usage, Window
from atrium.seams.context import Context


class Origins(msgspec.Struct, frozen=True):
    """Where the limits of some scopes come from, as far as a caller may know it, and whether they may set them."""

    found: dict[tuple[UUID, str, str], LimitOrigin]
    people: dict[UUID, str]
    may_change: bool

    def explain(self, line: Usage, scope_id: UUID, window: Window | None) -> Usage:
        """A line with where its limit comes from; `window` is what the limit was set for, if one was."""
        origin = None if window is None else self.found.get((scope_id, line.dimension, window))
        if origin is None:
            source: Source = "none" if line.limit is None else "default"
            return msgspec.structs.replace(line, source=source, may_change=self.may_change)
        setter = None if origin.set_by not in self.people else Setter(origin.set_by, self.people[origin.set_by])
        return msgspec.structs.replace(
            line,
            source="plan" if origin.by_plan else "limit",
            limit_window=window,
            set_by=setter,
            set_at=origin.set_at,
            raised_from=origin.raised_from,
            raised_at=None if origin.raised_from is None else origin.raised_at,
            may_change=self.may_change,
        )


async def list_origins(ctx: Context, org_id: UUID, scopes: list[UUID]) -> Origins:
    """Of every limit of these scopes."""
    found = await store.list_origins(ctx.db, org_id, scopes)
    shown = SettersShown(frozenset(one.set_by for one in found if one.set_by is not None))
    if shown.people:
        await ctx.announce(shown)
    return Origins(
        {(one.scope_id, one.dimension, one.per): one for one in found},
        shown.known,
        ctx.who.operator and "instance:manage" in ctx.who.permissions,
    )


def tightest(limited: dict[str, int]) -> Window | None:
    """What the smallest of several limits was set for, of those that count at the same moment."""
    return min((window for window in WINDOWS if window in limited), key=lambda window: limited[window], default=None)
