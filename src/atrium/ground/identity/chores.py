"""What identity does in the background."""

from atrium.ground.identity import login, service
from atrium.seams.context import Services
from atrium.seams.wiring import Chore


async def _forget(services: Services) -> None:
    await service.forget_expired(services.database)


CHORES = (
    Chore("identity.record_failures", 10, login.record_failures, last=True),
    Chore("identity.forget", 300, _forget),
)
