"""Running local kinds in this process: claim what there is room for, keep the leases, settle, and stop without losing anything."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.jobs import attempts, queue_rows
from atrium.engine.jobs.model import Attempt, AttemptReport, Claim, JobStream, StaleClaim, backoff, readable
from atrium.engine.jobs.settlement import settle_and_take
from atrium.kit.errors import AppError, Kind
from atrium.kit.ids import new_id
from atrium.kit.postgres.database import Transaction
from atrium.kit.postgres.failures import refusal_of
from atrium.kit.postgres.notify import wait_for
from atrium.kit.telemetry import trace_context
from atrium.kit.telemetry.log import log
from atrium.kit.web.strict_json import has_nul
from atrium.kit.work.shares import Busy
from atrium.seams.context import HoldLevel, Operation, Services
from atrium.seams.jobs import Assignment, Beside, JobKind, Postponed

POLL_SECONDS = 1.0
# A larger claim would hold the teams it visits for longer; the next one follows while this one's attempts begin.
AT_ONCE = 100
PRESENCE_SECONDS = 15.0
# What takes longer is done by itself: other places of this worker, and other workers, do the rest meanwhile.
QUICK_SECONDS = 0.25
# A job that found no place here is tried again after so long.
BUSY_SECONDS = 2
# What may be otherwise next time; any other refusal would only be repeated.
PASSING = frozenset({Kind.CONFLICT, Kind.STALE, Kind.EXHAUSTED, Kind.UPSTREAM, Kind.UNAVAILABLE})


@dataclass(slots=True)
class _Running:
    attempt: Attempt
    assignment: Assignment
    task: "asyncio.Task[None] | None" = field(default=None)


class Runner:
    """One worker inside a process; several processes, and several in one, share the queue.

    Without `apart` it runs every local kind but those that say how many at once; such a kind has a runner of its own.
    """

    def __init__(self, services: Services, concurrency: int, apart: JobKind | None = None) -> None:
        self.id = new_id()
        self._services, self._concurrency = services, concurrency
        here = [kind for kind in services.registry.job_kinds.values() if not kind.remote and kind.at_once is None]
        self._kinds = {kind.name: kind for kind in ([apart] if apart else here)}
        self.apart = apart is not None
        # How many attempts of each team a runner apart has.
        self._busy: Counter[UUID] = Counter()
        self._running: dict[asyncio.Task[None], _Running] = {}
        self._beside = Beside()
        self._beginning: dict[asyncio.Task[None], int] = {}
        self._stopping = False
        self._loops: list[asyncio.Task[None]] = []
        self._look = asyncio.Event()
        self._hurry = asyncio.Event()

    @property
    def running(self) -> int:
        """How many jobs run right now."""
        return len(self._running)

    def hurry(self) -> None:
        """Stop waiting for running jobs while stopping."""
        self._hurry.set()

    def start(self) -> None:
        """Begin to claim."""
        self._loops = [asyncio.create_task(self._claim_forever()), asyncio.create_task(self._keep_forever())]

    async def stop(self, seconds: float) -> None:
        """Claim nothing more, let running jobs finish for so long, then hand the rest back."""
        self._stopping = True
        self._look.set()
        if self._loops:
            await asyncio.gather(self._loops[0], return_exceptions=True)
        await asyncio.gather(*self._beginning, return_exceptions=True)
        hurry = asyncio.create_task(self._hurry.wait())
        ends: set[asyncio.Future[Any]] = {asyncio.gather(*self._running, return_exceptions=True), hurry}
        await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        hurry.cancel()
        left = list(self._running)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        log.info("work.stopped", handed_back=len(left))
        await self._leave()

    async def _claim_forever(self) -> None:
        with self._services.notifier.subscribe(frozenset(self._kinds)) as self._look:
            while not self._stopping:
                try:
                    hungry = await self._claim_some()
                except Exception as error:  # an outermost loop: it must outlive whatever one round meets
                    level = log.warning if refusal_of(error) else log.error
                    level("work.claim_failed", error=str(error))
                    hungry = True
                if hungry and not self._stopping:
                    await wait_for(self._look, POLL_SECONDS)

    async def _claim_some(self) -> bool:
        """Whether there was less to do than free slots, or no free slot."""
        free = self._concurrency - len(self._running) - sum(self._beginning.values())
        if free < 1:
            return True
        most = 1 if self.apart else min(free, AT_ONCE)
        claims = await (self._claim_fairly() if self.apart else self._claim(most))
        if claims:
            task = asyncio.create_task(self._begin(claims))
            self._beginning[task] = len(claims)
            task.add_done_callback(self._begun)
        return len(claims) < most

    async def _claim(self, most: int, passing: Sequence[UUID] = ()) -> list[Claim]:
        return await attempts.claim(self._services.database, list(self._kinds), self.id, most, None, passing)

    async def _claim_fairly(self) -> list[Claim]:
        """One attempt, of a team that has none here if there is one; the last place is never a team's that has the others."""
        busy = [team for team, count in self._busy.items() if count > 0]
        claims = await self._claim(1, busy)
        if not claims and busy:
            most = max(1, self._concurrency - 1)
            claims = await self._claim(1, [team for team in busy if self._busy[team] >= most])
        self._busy.update(claim.team_id for claim in claims)
        return claims

    async def _begin(self, claims: list[Claim]) -> None:
        begun: set[UUID] = set()
        try:
            for attempt in await attempts.begin(self._services, claims):
                begun.add(attempt.claim.id)
                self._start(attempt)
        finally:
            self._busy.subtract(claim.team_id for claim in claims if claim.id not in begun)

    def _begun(self, task: asyncio.Task[None]) -> None:
        del self._beginning[task]
        self._look.set()

    def _start(self, attempt: Attempt) -> None:
        claim = attempt.claim
        assignment = Assignment(
            id=claim.id, kind=claim.kind, model=claim.model, attempt=claim.attempt, arguments=attempt.arguments,
            lease_until=claim.lease_until,
        )  # fmt: skip
        task = asyncio.create_task(self._run(attempt, assignment))
        self._running[task] = _Running(attempt, assignment, task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._busy[self._running.pop(task).attempt.claim.team_id] -= 1
        self._look.set()

    async def _run(self, attempt: Attempt, assignment: Assignment) -> None:
        parent = trace_context.parse(attempt.traceparent.encode()) if attempt.traceparent else None
        name = f"job {assignment.kind}"
        trace = trace_context.enter(self._services.telemetry, name, "consumer", parent, str(assignment.id))
        if trace.span is None:
            await self._carry_out(attempt, assignment)
            return
        trace.span.note("atrium.job.id", str(assignment.id))
        trace.span.note("atrium.job.kind", assignment.kind)
        trace.span.note("atrium.job.attempt", assignment.attempt)
        try:
            await self._carry_out(attempt, assignment)
        finally:
            trace.span.end()

    async def _carry_out(self, attempt: Attempt, assignment: Assignment) -> None:
        op = Operation(
            who=attempt.owner,
            services=self._services,
            request_id=str(assignment.id),
            holding=HoldLevel.CREDENTIAL,
        )
        try:
            report = await self._performed(op, attempt, assignment)
            if report.outcome == "failed" and (span := trace_context.recorded_span()) is not None:
                span.note("error.type", "job_failed")
        except asyncio.CancelledError:
            if not self._stopping:
                return  # the lease is lost: whatever came out could not land
            report = AttemptReport(claim=attempt.claim, outcome="returned")
        if not (self._stopping or self.apart):
            report = replace(report, take=self._take)
        try:
            settled, following = await settle_and_take(self._services, report)
        except StaleClaim:
            log.warning("job.lost", job=assignment.id, kind=assignment.kind, attempt=assignment.attempt)
        except Exception as error:  # the lease runs out, and another attempt follows
            log.error("job.settle_failed", job=assignment.id, kind=assignment.kind, exc_info=error)
        else:
            self._services.metrics.jobs.labels(settled.kind, settled.state).inc()
            if following is not None:
                self._start(following)
        finally:
            self._beside.ids.difference_update(one.id for one in report.beside)

    async def _performed(self, op: Operation, attempt: Attempt, assignment: Assignment) -> AttemptReport:
        began = asyncio.get_running_loop().time()
        report = await _performed(op, attempt, assignment)
        quick = asyncio.get_running_loop().time() < began + QUICK_SECONDS
        if attempt.kind.beside is None or report.outcome != "succeeded" or not quick or self._stopping:
            return report
        try:
            beside = await attempt.kind.beside(op, assignment, self._beside)
            return replace(report, beside=[replace(one, result=_storable(one.result)) for one in beside])
        except Exception as error:  # the attempt itself succeeded, and what was to be done beside it waits as before
            log.warning("job.beside_failed", job=assignment.id, kind=assignment.kind, error=error)
            return report

    async def _take(self, db: Transaction, following: JobStream, most: int) -> list[Attempt]:
        """Attempts at jobs that follow from what this runner settles; they take the places of what has ended."""
        return await attempts.claim_next(self._services, db, following, self.id, most)

    async def _keep_forever(self) -> None:
        period = min((kind.lease for kind in self._kinds.values()), default=60) / 3
        announced = 0.0
        while True:
            try:
                await self._keep_leases()
                if announced <= 0:
                    await self._announce_presence()
                    announced = PRESENCE_SECONDS
            except Exception as error:  # an outermost loop: it must outlive whatever one round meets
                level = log.warning if refusal_of(error) else log.error
                level("work.heartbeat_failed", error=str(error))
            pause = min(period, PRESENCE_SECONDS)
            announced -= pause
            await asyncio.sleep(pause)

    async def _keep_leases(self) -> None:
        running = list(self._running.items())
        if not running:
            return
        claims = [one.attempt.claim for _, one in running]
        async with self._services.database.begin_system() as db:
            kept = {
                lease.id: lease
                for lease in await queue_rows.extend(db, [c.id for c in claims], [c.token for c in claims])
            }
        for task, one in running:
            lease = kept.get(one.attempt.claim.id)
            if lease is None:
                task.cancel()
            elif lease.cancel_requested:
                one.assignment.cancel.set()

    async def _announce_presence(self) -> None:
        async with self._services.database.begin_system() as db:
            await queue_rows.note_workers(db, [self.id], None, list(self._kinds))

    async def _leave(self) -> None:
        try:
            async with self._services.database.begin_system() as db:
                await queue_rows.forget_worker(db, self.id)
        except Exception as error:  # leaving politely is not worth failing to stop
            log.warning("work.leave_failed", error=error)


async def start_runners(services: Services) -> list[Runner]:
    """A runner for each kind that every process runs, and one for the others when this process is to run jobs."""
    kinds, settings = services.registry.job_kinds.values(), services.settings
    runners = [Runner(services, kind.at_once, kind) for kind in kinds if kind.at_once is not None]
    if settings.embed_worker:
        runners.append(Runner(services, settings.worker_concurrency))
    for runner in runners:
        runner.start()
    return runners


async def stop_runners(services: Services, runners: list[Runner]) -> None:
    """Jobs under way get time to end; what runs apart is handed back at once, because every other process takes it."""
    patience = services.settings.drain_seconds
    await asyncio.gather(*(runner.stop(0 if runner.apart else patience) for runner in runners))


async def _performed(op: Operation, attempt: Attempt, assignment: Assignment) -> AttemptReport:
    return replace(await _outcome(op, attempt, assignment), input=attempt.input)


async def _outcome(op: Operation, attempt: Attempt, assignment: Assignment) -> AttemptReport:
    claim, kind = attempt.claim, attempt.kind
    try:
        assert kind.run is not None  # noqa: S101 - only local kinds are claimed here
        return AttemptReport(claim=claim, outcome="succeeded", result=_storable(await kind.run(op, assignment)))
    except Postponed as put_off:
        again_in = timedelta(seconds=put_off.seconds)
        return AttemptReport(claim=claim, outcome="returned", again=again_in, put_off_for=put_off.reason)
    except AppError as error:
        if isinstance(error, Busy) and not any(op.spent.values()):
            # That much else is to do here counts against no attempt, as long as nothing was paid for.
            return AttemptReport(claim=claim, outcome="returned", again=timedelta(seconds=BUSY_SECONDS))
        again = backoff(claim.attempt) if error.kind in PASSING and not error.lasting else None
        used = kind.spent(error) if kind.spent else None
        return AttemptReport(claim=claim, outcome="failed", error=readable(error.message), again=again, used=used)
    except Exception as error:  # a kind may raise anything; an attempt is the boundary
        log.error("job.failed", job=claim.id, kind=claim.kind, attempt=claim.attempt, exc_info=error)
        text = f"failed unexpectedly ({type(error).__name__}); the log has more under this job's id"
        return AttemptReport(claim=claim, outcome="failed", error=text, again=backoff(claim.attempt))


def _storable(result: Any) -> Any:
    """The result as JSON has it; whatever cannot be kept is the kind's defect, found here and not while settling."""
    raw = msgspec.json.encode(result)
    if has_nul(raw):
        raise ValueError("a text in the result has a NUL character")
    return msgspec.json.decode(raw)
