"""What quotas do in the background."""

from atrium.ground.quotas import service
from atrium.seams.context import Services
from atrium.seams.wiring import Chore


async def _forget(services: Services) -> None:
    await service.forget_old(services.database)


async def _enter_noted(services: Services) -> None:
    await service.enter_noted(services.database)


CHORES = (Chore("quotas.enter_noted", 60, _enter_noted), Chore("quotas.forget", 300, _forget))
