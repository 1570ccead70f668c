"""What executors do in the background."""

from atrium.engine.executors import probing, service
from atrium.seams.context import Services
from atrium.seams.wiring import Chore


async def _forget(services: Services) -> None:
    await service.forget_probes(services.database)


CHORES = (Chore("executors.probe", 10, probing.probe_executors), Chore("executors.forget", 300, _forget))
