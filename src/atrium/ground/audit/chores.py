"""What audit does in the background."""

from atrium.ground.audit import sealer
from atrium.seams.context import Services
from atrium.seams.wiring import Chore


async def _seal(services: Services) -> None:
    services.metrics.sealed_events.inc(await sealer.seal(services.database, services.keys))


# Also when a process stops, so that little is left unchained.
CHORES = (Chore("audit.seal", 10, _seal, last=True),)
