"""What a serving process does beside answering: seal the audit chains, forget what has expired."""

import asyncio
from collections.abc import Awaitable, Callable

from atrium.engine.executors import service as executors
from atrium.engine.jobs import service as jobs
from atrium.engine.repository import service as repository
from atrium.ground.audit import service as audit
from atrium.ground.idempotency import service as idempotency
from atrium.ground.identity import service as identity
from atrium.ground.limits import service as limits
from atrium.ground.quotas import service as quotas
from atrium.kit.database import refusal_of
from atrium.kit.log import log
from atrium.seams.context import Services

SEAL_SECONDS, FORGET_SECONDS, SWEEP_SECONDS, EXTRACT_SECONDS, JOBS_SECONDS, PROBE_SECONDS = 10, 300, 60, 2, 1, 10


class Housekeeping:
    """The background loops of one process; several processes may run them at once."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin."""
        self._tasks = [
            asyncio.create_task(_every(SEAL_SECONDS, self._seal)),
            asyncio.create_task(_every(FORGET_SECONDS, self._forget)),
            asyncio.create_task(_every(SWEEP_SECONDS, self._sweep)),
            asyncio.create_task(_every(EXTRACT_SECONDS, self._extract)),
            asyncio.create_task(_every(JOBS_SECONDS, self._sweep_jobs)),
            asyncio.create_task(_every(PROBE_SECONDS, self._probe)),
        ]

    async def stop(self) -> None:
        """End, after one last sealing so that little is left unchained."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await _attempt(self._seal)

    async def _seal(self) -> None:
        self._services.metrics.sealed_events.inc(await audit.seal(self._services.database))

    async def _forget(self) -> None:
        database = self._services.database
        await identity.forget_expired(database)
        await idempotency.forget_old(database)
        await limits.forget_old(database)
        await quotas.forget_old(database)
        await repository.forget_grants(database)
        await repository.forget_uploads(self._services)
        await executors.forget_probes(database)
        await jobs.forget_finished(database, self._services.settings.job_retention_days)

    async def _sweep(self) -> None:
        await repository.sweep(self._services)
        await quotas.enter_noted(self._services.database)

    async def _sweep_jobs(self) -> None:
        await jobs.sweep(self._services)

    async def _probe(self) -> None:
        await executors.probe_executors(self._services)

    async def _extract(self) -> None:
        if self._services.settings.extraction:
            await repository.extract_due(self._services)


async def _every(seconds: float, work: Callable[[], Awaitable[None]]) -> None:
    while True:
        await asyncio.sleep(seconds)
        await _attempt(work)


async def _attempt(work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except Exception as error:  # an outermost loop: it must outlive whatever one round meets
        level = log.warning if refusal_of(error) else log.error
        level("housekeeping.failed", work=work.__name__, error=str(error))
