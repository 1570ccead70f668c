"""What a serving process does beside answering: the chores that domains declare, each in a loop of its own."""

import asyncio
from collections.abc import Sequence

from atrium.kit.postgres.failures import refusal_of
from atrium.kit.telemetry import trace_context
from atrium.kit.telemetry.log import log
from atrium.seams.context import Services
from atrium.seams.wiring import Chore


class Housekeeping:
    """The background loops of one process; several processes may run them at once."""

    def __init__(self, services: Services, chores: Sequence[Chore]) -> None:
        self._services, self._chores = services, chores
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin."""
        self._tasks = [asyncio.create_task(self._forever(chore)) for chore in self._chores]

    async def stop(self) -> None:
        """End, after a last round of those that ask for one, the lowest domain's at the end; nothing when they never began."""
        if not self._tasks:
            return
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for chore in reversed(self._chores):
            if chore.last:
                await self._attempt(chore)

    async def _forever(self, chore: Chore) -> None:
        while True:
            await asyncio.sleep(chore.seconds)
            await self._attempt(chore)

    async def _attempt(self, chore: Chore) -> None:
        # A trace of its own for each round, and never a recorded one: there are many rounds, and most find nothing to do.
        trace_context.enter(None, chore.name, "internal", None, f"{chore.name}-{trace_context.new_id(8)}")
        try:
            await chore.run(self._services)
        except Exception as error:  # an outermost loop: it must outlive whatever one round meets
            level = log.warning if refusal_of(error) else log.error
            level("housekeeping.failed", work=chore.name, error=str(error))
