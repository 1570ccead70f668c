"""What the queue does in the background."""

from atrium.engine.jobs import parts, service
from atrium.seams.context import Services
from atrium.seams.wiring import Chore


async def _forget(services: Services) -> None:
    await service.forget_finished(services.database, services.settings.job_retention_days)


CHORES = (
    Chore("jobs.sweep", 1, service.sweep),
    Chore("jobs.forget", 300, _forget),
    Chore("jobs.forget_parts", 60, parts.forget),
)
