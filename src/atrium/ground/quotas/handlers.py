"""The wire of quotas."""

from atrium.ground.quotas import service
from atrium.ground.quotas.model import Limit, LimitChange, Usage
from atrium.kit.web.pages import Page
from atrium.seams.context import Context


async def read_usage(ctx: Context) -> Page[Usage]:
    """What the team and its company have used and reserved, with limits and reset times."""
    return Page(await service.read_usage(ctx))


async def set_team_quota(ctx: Context, body: LimitChange) -> Limit:
    """Set a limit for the caller's team."""
    return await service.set_limit(ctx, ctx.who.org_id, ctx.who.team_id, body.dimension, body.window, body.limit)
