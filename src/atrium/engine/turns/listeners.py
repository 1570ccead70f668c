"""When a member leaves, the models stop that were answering them."""

from atrium.engine.turns import store
from atrium.ground.identity.model import MemberRemoved
from atrium.seams.context import Context
from atrium.seams.wiring import Listener


async def on_member_removed(ctx: Context, event: MemberRemoved) -> None:
    """Stop the person's turns, in whichever process they run."""
    await store.ask_to_stop_all(ctx.db, ctx.who.org_id, event.person_id)


LISTENERS = (Listener(MemberRemoved, on_member_removed),)
