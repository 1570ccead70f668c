"""When a member leaves, their queued jobs are cancelled and no job of theirs starts."""

from atrium.engine.jobs import service
from atrium.ground.identity.model import MemberRemoved
from atrium.seams.context import Context
from atrium.seams.wiring import Listener


async def on_member_removed(ctx: Context, event: MemberRemoved) -> None:
    """Cancel what waits in the person's name, and ask what runs to end."""
    await service.cancel_jobs_of(ctx, event.person_id)


LISTENERS = (Listener(MemberRemoved, on_member_removed),)
