"""The working process: runs jobs until told to stop, then finishes them or hands them back."""

import asyncio
import signal
from dataclasses import replace

from atrium.boot.assemble import Application
from atrium.boot.serve import prepare
from atrium.boot.supervisor import Supervisor
from atrium.engine.jobs.runner import Runner
from atrium.kit.telemetry.log import log, set_up_logging
from atrium.seams.settings import Settings


def work(settings: Settings, concurrency: int | None) -> None:
    """Run local job kinds; the first signal drains, a second one gives up on waiting."""
    set_up_logging(settings.log_level)
    # The application below starts no second worker of its own.
    settings = replace(settings, embed_worker=False, worker_concurrency=concurrency or settings.worker_concurrency)
    asyncio.run(_work(prepare(settings), settings))


async def _work(application: Application, settings: Settings) -> None:
    told, told_again = asyncio.Event(), asyncio.Event()

    def heard() -> None:
        (told_again if told.is_set() else told).set()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, heard)
    await application.app.on_start()
    runner = Runner(application.services, settings.worker_concurrency)
    runner.start()
    supervisor = Supervisor()
    supervisor.ready()
    log.info("work.started", worker=runner.id, concurrency=settings.worker_concurrency)
    await told.wait()
    application.services.state.draining = True
    supervisor.stopping()
    log.info("work.draining", running=runner.running)
    stopping = asyncio.create_task(runner.stop(settings.drain_seconds))
    hurry = asyncio.create_task(told_again.wait())
    await asyncio.wait({stopping, hurry}, return_when=asyncio.FIRST_COMPLETED)
    runner.hurry()
    hurry.cancel()
    await stopping
    await application.app.on_stop()
