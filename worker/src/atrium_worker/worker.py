"""The loop: claim, keep the lease, run, hand in. One claim waits at a time; as many jobs run as there are slots."""

import asyncio
import inspect
import logging
import signal
import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx

from atrium_worker.api import Job, Refused, Server, StaleClaim

Function = Callable[[Job], Any]
log = logging.getLogger("atrium_worker")
_MAX_WAIT, _LONGEST_PAUSE = 30.0, 30.0
# While a function says something, its words are sent this often.
_SAY_SECONDS = 0.4


class Worker:
    """Runs jobs of the kinds it has functions for, until it is told to stop."""

    def __init__(
        self, url: str, token: str, *, concurrency: int = 4, models: "list[str] | None" = None, drain: float = 30
    ) -> None:
        self._url, self._token = url, token
        self._concurrency, self._models, self._drain = concurrency, models or [], drain
        self._functions: dict[str, Function] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()

    def kind(self, name: str) -> Callable[[Function], Function]:
        """Use the decorated function for jobs of this kind."""

        def register(function: Function) -> Function:
            self.add(name, function)
            return function

        return register

    def add(self, name: str, function: Function) -> None:
        """Use a function for jobs of this kind."""
        self._functions[name] = function

    def run(self) -> None:
        """Work until SIGTERM or Ctrl-C."""
        asyncio.run(self.work(signals=True))

    def stop(self) -> None:
        """Claim nothing more; `work` returns when what runs has ended, or after the drain time."""
        self._stopping.set()

    async def work(self, *, signals: bool = False) -> None:
        """Work until `stop` is called."""
        if not self._functions:
            raise ValueError("name at least one kind and its function")
        if signals:
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self.stop)
        server = Server(self._url, self._token)
        log.info("working for %s: %s", self._url, ", ".join(sorted(self._functions)))
        try:
            await self._claim_until_stopped(server)
            await self._finish()
        finally:
            await server.close()

    async def _claim_until_stopped(self, server: Server) -> None:
        pause = 0.0
        while not self._stopping.is_set():
            if len(self._running) >= self._concurrency:
                await self._first_of(*self._running)
                continue
            try:
                job = await self._first_of(server.claim(list(self._functions), self._models, _MAX_WAIT))
                pause = 0.0
            except Refused:
                raise
            except (httpx.HTTPError, StaleClaim) as error:
                pause = min(_LONGEST_PAUSE, pause * 2 or 0.5)
                log.warning(
                    "the server did not answer (%s); asking again in %.1f s", error or type(error).__name__, pause
                )
                await self._first_of(asyncio.sleep(pause))
                continue
            if job is not None:
                self._start(server, job)

    async def _first_of(self, *awaited: "Awaitable[Any]") -> Any:
        """Whatever ends first, unless we are told to stop meanwhile; running jobs are left alone, the rest is cancelled."""
        stopping = asyncio.ensure_future(self._stopping.wait())
        tasks = {asyncio.ensure_future(one) for one in awaited}
        try:
            done, _ = await asyncio.wait({stopping, *tasks}, return_when=asyncio.FIRST_COMPLETED)
            ended = done & tasks
            return next(iter(ended)).result() if ended else None
        finally:
            for task in {stopping, *tasks} - self._running:
                task.cancel()

    def _start(self, server: Server, job: Job) -> None:
        task = asyncio.get_running_loop().create_task(self._attempt(server, job))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _finish(self) -> None:
        """Let what runs end, for as long as the drain time allows; the rest returns to the queue when its lease runs out."""
        if self._running:
            log.info("stopping; %d job(s) may take up to %g s to end", len(self._running), self._drain)
            await asyncio.wait(self._running, timeout=self._drain)
        for task in list(self._running):
            task.cancel()

    async def _attempt(self, server: Server, job: Job) -> None:
        """Run one job and hand in what came of it; nothing that happens here ends the worker."""
        work = asyncio.ensure_future(self._result_of(job))
        lease = asyncio.ensure_future(self._keep_lease(server, job, work))
        try:
            await self._hand_in(server, job, work)
        except StaleClaim as error:
            log.warning("job %s is no longer ours, its result is dropped: %s", job.id, error)
        except (httpx.HTTPError, Refused) as error:
            log.error("job %s could not be handed in: %s", job.id, error)
        finally:
            lease.cancel()
            work.cancel()

    async def _result_of(self, job: Job) -> Any:
        function = self._functions[job.kind]
        if inspect.iscoroutinefunction(function):
            return await function(job)
        return await asyncio.to_thread(function, job)

    async def _hand_in(self, server: Server, job: Job, work: "asyncio.Future[Any]") -> None:
        try:
            result = await work
        except asyncio.CancelledError:
            if not job.cancelled:
                raise
            await _again(job, lambda: server.fail(job, "cancelled"))
        except Exception as error:  # the function's own failure is the job's
            log.exception("job %s (%s) failed", job.id, job.kind)
            reason = f"{type(error).__name__}: {error}"
            await _again(job, lambda: server.fail(job, reason))
        else:
            try:
                await _again(job, lambda: server.complete(job, result))
                log.info("job %s (%s) done", job.id, job.kind)
            except Refused as error:
                refusal = f"the result was refused: {error}"
                await _again(job, lambda: server.fail(job, refusal))

    async def _keep_lease(self, server: Server, job: Job, work: "asyncio.Future[Any]") -> None:
        while not work.done():
            await _until_due(job)
            try:
                await server.extend(job)
            except StaleClaim:
                job.cancelled = True
                work.cancel()
                return
            except (httpx.HTTPError, Refused) as error:
                log.warning("the lease of job %s was not extended: %s", job.id, error)
                continue
            if job.cancelled:
                work.cancel()


async def _until_due(job: Job) -> None:
    """Wait until a third of the lease has passed, or there is something to say."""
    due = time.monotonic() + max(0.2, job.seconds_left() / 3)
    while True:
        # A function may say something in a thread of its own: looked for, not waited for.
        await asyncio.sleep(min(_SAY_SECONDS, max(0.0, due - time.monotonic())))
        if len(job.said) > job.heard or time.monotonic() >= due:
            return


async def _again(job: Job, say: Callable[[], Awaitable[None]]) -> None:
    """Say it, and again while the server cannot be reached, as long as the lease holds."""
    pause = 0.5
    while True:
        try:
            return await say()
        except httpx.HTTPError:
            if job.seconds_left() <= pause:
                raise
            await asyncio.sleep(pause)
            pause = min(5.0, pause * 2)
