"""When a member leaves, their objects get another owner and their unfinished uploads end; when space is lacking, trash gives way."""

from atrium.engine.repository import multipart, space
from atrium.engine.repository.model import OBJECTS
from atrium.ground.identity.model import MemberRemoved
from atrium.ground.quotas.model import SpaceLacking
from atrium.ground.sharing import grants, trash
from atrium.seams.context import Context
from atrium.seams.wiring import Listener


async def on_member_removed(ctx: Context, event: MemberRemoved) -> None:
    """Hand the person's objects over, withdraw what was shared with them, and let go of their unfinished uploads."""
    left = await trash.hand_over(ctx, OBJECTS, event.person_id, event.heir, event.private)
    await grants.end_grants_to(ctx, OBJECTS, event.person_id)
    await multipart.abort_uploads_of(ctx, event.person_id)
    event.objects, event.trashed_objects = left.moved, left.trashed


async def on_space_lacking(ctx: Context, event: SpaceLacking) -> None:
    """Let go of the team's oldest trash where that is enough."""
    event.let_go = event.let_go or await space.give_way(ctx, event.team_id, event.bytes)


LISTENERS = (Listener(MemberRemoved, on_member_removed), Listener(SpaceLacking, on_space_lacking))
