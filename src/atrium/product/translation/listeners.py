"""When a member leaves, what was translated for them is deleted."""

from atrium.ground.identity.model import MemberRemoved
from atrium.product.translation import service
from atrium.seams.context import Context
from atrium.seams.wiring import Listener


async def on_member_removed(ctx: Context, event: MemberRemoved) -> None:
    """Delete the person's translations: they were private, and have no other reader."""
    await service.forget_person(ctx, event.person_id)


LISTENERS = (Listener(MemberRemoved, on_member_removed),)
