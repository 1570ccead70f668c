"""When a member leaves, their objects get another owner and their unfinished uploads end."""

from atrium.engine.repository import parts, sharing, trash
from atrium.ground.identity.model import MemberRemoved
from atrium.seams.context import Context
from atrium.seams.wiring import Listener


async def on_member_removed(ctx: Context, event: MemberRemoved) -> None:
    """Hand the person's objects over, withdraw what was shared with them, and let go of their unfinished uploads."""
    left = await trash.hand_over(ctx, event.person_id, event.heir, event.private)
    await sharing.end_grants_to(ctx, event.person_id)
    await parts.abort_uploads_of(ctx, event.person_id)
    event.objects, event.trashed_objects = left.moved, left.trashed


LISTENERS = (Listener(MemberRemoved, on_member_removed),)
