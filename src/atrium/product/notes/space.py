"""Space for texts: what a save adds to the storage of its team, asked for before it is written."""

from uuid import UUID

from atrium.ground.quotas import service as quotas
from atrium.product.notes import store
from atrium.seams.context import Context
from atrium.seams.wiring import Keeper

KEEPER = Keeper("notes", store.count_kept)


async def require_space(ctx: Context, team_id: UUID, title: str, body: str) -> None:
    """Refuse a save that does not fit: the text it replaces stays as a version, so every save adds its own text."""
    await quotas.require_space(ctx, team_id, len(title.encode()) + len(body.encode()))
