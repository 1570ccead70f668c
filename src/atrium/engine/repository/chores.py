"""What the repository does in the background."""

from atrium.engine.repository import parts, release, service
from atrium.seams.context import Services
from atrium.seams.wiring import Chore


async def _forget_grants(services: Services) -> None:
    await service.forget_grants(services.database)


CHORES = (
    Chore("repository.sweep", 60, release.sweep),
    Chore("repository.forget_grants", 300, _forget_grants),
    Chore("repository.forget_uploads", 300, parts.forget_uploads),
)
