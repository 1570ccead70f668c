"""When a member leaves, their notes get another owner and shares with them end."""

from atrium.ground.identity.model import MemberRemoved
from atrium.ground.sharing import grants, trash
from atrium.product.notes.model import NOTES
from atrium.seams.context import Context
from atrium.seams.wiring import Listener


async def on_member_removed(ctx: Context, event: MemberRemoved) -> None:
    """Hand the person's notes over, and withdraw what was shared with them."""
    left = await trash.hand_over(ctx, NOTES, event.person_id, event.heir, event.private)
    await grants.end_grants_to(ctx, NOTES, event.person_id)
    event.notes, event.trashed_notes = left.moved, left.trashed


LISTENERS = (Listener(MemberRemoved, on_member_removed),)
