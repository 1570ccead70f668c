"""What limits do in the background."""

from atrium.ground.limits import service
from atrium.seams.context import Services
from atrium.seams.wiring import Chore


async def _forget(services: Services) -> None:
    await service.forget_old(services.database)


CHORES = (Chore("limits.forget", 300, _forget),)
