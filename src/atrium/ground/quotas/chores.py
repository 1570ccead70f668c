"""What quotas do in the background."""

from datetime import timedelta

from atrium.ground.quotas import service, store
from atrium.seams.context import Services
from atrium.seams.retention import Retention, always
from atrium.seams.wiring import Chore


async def _enter_noted(services: Services) -> None:
    await service.enter_noted(services.database)


HOLDS = Retention("quotas.forget", always(timedelta(days=1)), store.forget_holds)
CHORES = (Chore("quotas.enter_noted", 60, _enter_noted), HOLDS.chore())
