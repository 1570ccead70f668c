"""What search and the change feed are told of things that people share; nothing else announces a change of them."""

from uuid import UUID

from atrium.ground.sharing.model import Change, ThingsChanged, ThingTable
from atrium.seams.context import Context


async def announce_change(ctx: Context, of: ThingTable, ids: list[UUID], change: Change) -> None:
    """Tell whom it concerns, in the transaction that changed these things."""
    await ctx.announce(ThingsChanged(of, ids, change))
