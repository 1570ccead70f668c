"""One attempt at a step: call its tool as who started the run, at most once with effect."""

import asyncio
from collections import Counter
from datetime import UTC, datetime
from math import ceil
from typing import Any, Literal
from uuid import UUID

import msgspec

from atrium.engine.tools.calls import call_tool
from atrium.engine.tools.model import BadArguments, ResultTooLarge, ToolDisabled, ToolFailed, ToolResult, ToolTimedOut
from atrium.engine.workflows import attempt_rows, progress
from atrium.engine.workflows.attempt_rows import StepKey
from atrium.engine.workflows.bounds import bind
from atrium.engine.workflows.progress import StepInput, StepResult
from atrium.engine.workflows.run_model import AlreadyDone, StepFailed
from atrium.ground.access import service as access
from atrium.ground.features import service as features
from atrium.kit.errors import AppError, Forbidden, Kind, Unauthenticated
from atrium.kit.postgres.failures import refusal_of
from atrium.kit.telemetry.log import log
from atrium.kit.web.strict_json import has_nul
from atrium.kit.work.shares import Busy
from atrium.seams.context import Actor, Context, Operation, RunStep
from atrium.seams.jobs import Assignment, Postponed
from atrium.seams.sharing import Thing
from atrium.seams.tools import Tool

# What may be otherwise next time; any other refusal would only be repeated.
_PASSING = frozenset({Kind.CONFLICT, Kind.STALE, Kind.UPSTREAM, Kind.UNAVAILABLE, Kind.REFUSED})
# What is spent may be given back before the window ends, and a company may be let in again at any time; a changed limit wakes at once.
_LONGEST_WAIT = 120
# What is told of a limit that a step waits for.
_LIMIT = ("dimension", "window", "level", "limit", "used", "resets_at")
_DONE = StepResult(kept=True)
_UNSEEN = (
    "the server stopped while this ran, and what it does elsewhere may have happened; resume from here to repeat it"
)


class StepRecord(msgspec.Struct):
    """Keeps the result of a step's tool with its effect, so that another attempt takes it."""

    key: StepKey
    attempt: int
    # Whether the step says that it may be tried again.
    again: bool
    kept: bool = False
    # What the step had made by then is noted as the run's.
    noted: set[Thing] = msgspec.field(default_factory=set)

    def accept(self, tool: Tool) -> None:
        """A spec names a tool, not a definition of it: what a team has turned on is what it calls."""

    async def begin(self, ctx: Context, tool: Tool) -> None:
        """Note a call whose effect is elsewhere: should its end not be seen, it must not be repeated unasked."""
        if not tool.acts_elsewhere:
            return
        if not await attempt_rows.note_begun(ctx.db, ctx.who.org_id, self.key, self.attempt, again=self.again):
            raise StepFailed(_UNSEEN, again=False)

    async def end(self, ctx: Context, result: ToolResult) -> None:
        """Keep what came out in the transaction of the effect, or undo that where an earlier attempt was first."""
        _require_storable(result.value)
        if not await attempt_rows.keep(ctx.db, ctx.who.org_id, self.key, {"result": result.value}):
            raise AlreadyDone("an earlier attempt at this step has done it, or the step is over")
        await progress.note_things(ctx, _touched(ctx), [(self.key[0], result.value)], made=_made(ctx))
        self.noted |= set() if ctx.step is None else ctx.step.made
        self.kept = True


async def run_step(op: Operation, job: Assignment) -> StepResult:
    """The result of a step's tool, or what a choice comes to."""
    given: StepInput = job.arguments
    if given.tool is None:
        return StepResult(result=given.arguments)
    key = given.run_id, given.step, given.place
    if job.attempt > 1 and await _is_done(op, key):
        return _DONE
    record = StepRecord(key, job.attempt, given.retry > 0)
    index = None if given.place < 0 else given.place
    step = RunStep(run_id=given.run_id, name=given.step, index=index)
    acting = msgspec.structs.replace(op, step=step, spent=Counter())
    try:
        acting = await bind(acting, given.run_id)
        features.require_feature(acting, "workflows")
        access.require(acting, "workflows:run")
        async with asyncio.timeout(given.seconds):
            result = await call_tool(acting, given.tool, given.arguments, record)
        _require_storable(result.value)
    except AlreadyDone:
        return _DONE
    except StepFailed:
        raise
    except TimeoutError:
        message = f"took more than {given.seconds} seconds"
        return await _failed(acting, key, job, "workflows.timeout", message, given.retry)
    except Busy:
        raise  # that much else is to do here says nothing of the step
    except AppError as error:
        return await _refused(acting, key, job, error)
    except Exception as error:  # a tool may do anything
        refusal = refusal_of(error)
        if refusal is not None and refusal.kind in (Kind.UNAVAILABLE, Kind.CONFLICT):
            raise  # it is the database's, and passes: the queue repeats the attempt
        if refusal is not None:
            return await _refused(acting, key, job, refusal)
        log.error("workflows.step_failed", run=given.run_id, step=given.step, tool=given.tool, exc_info=error)
        message = f"failed unexpectedly ({type(error).__name__}); the log has more under this job's id"
        return await _failed(acting, key, job, "tool.failed", message, given.retry)
    spent = {name: amount for name, amount in acting.spent.items() if amount}
    value = None if record.kept else result.value
    made = sorted(step.made - record.noted)
    return StepResult(result=value, kept=record.kept, spent=spent, things=sorted(step.touched), made=made)


def _touched(acting: Actor) -> list[tuple[UUID, Thing]]:
    return [(acting.step.run_id, thing) for thing in acting.step.touched] if acting.step else []


def _made(acting: Actor) -> list[tuple[UUID, Thing]]:
    return [(acting.step.run_id, thing) for thing in acting.step.made] if acting.step else []


async def _refused(op: Operation, key: StepKey, job: Assignment, error: AppError) -> StepResult:
    await _put_off(op, key, error)
    retry = job.arguments.retry if error.kind in _PASSING and not error.lasting else -1
    return await _failed(op, key, job, _code_of(error), error.message, retry)


def _require_storable(value: Any) -> None:
    if has_nul(msgspec.json.encode(value)):
        raise ToolFailed("a text in the tool's result has a NUL character")


async def _is_done(op: Operation, key: StepKey) -> bool:
    """Whether an earlier attempt has done it; refused when its run has ended meanwhile."""
    async with op.begin(held=False) as ctx:
        row = await attempt_rows.find_kept(ctx.db, ctx.who.org_id, key)
    if row is None or row.kept:
        return True
    if row.run_state != "running":
        raise StepFailed("its run has ended", again=False)
    return False


async def _put_off(op: Operation, key: StepKey, error: AppError) -> None:
    """Quotas and suspensions make a step wait."""
    if error.lasting or error.kind not in (Kind.EXHAUSTED, Kind.SUSPENDED):
        return
    reason: Literal["quota", "org_suspended"] = "quota" if error.kind is Kind.EXHAUSTED else "org_suspended"
    async with op.begin(held=False) as ctx:
        facts = msgspec.to_builtins({name: error.facts[name] for name in _LIMIT if name in error.facts})
        await attempt_rows.note_waiting(ctx.db, ctx.who.org_id, key, reason, facts)
    seconds = ceil(float(str(error.facts.get("retry_after", 30))))
    raise Postponed(max(1, min(seconds, _LONGEST_WAIT)), reason)


async def _failed(op: Operation, key: StepKey, job: Assignment, code: str, message: str, retry: int) -> StepResult:
    """Note a failure and end the attempt; another one follows while the step's `retry` allows it."""
    failure = {"attempt": job.attempt, "code": code, "message": message[:2000].replace("\0", "")}
    failure |= {"began": job.begun_at.isoformat(), "at": _now()}
    spent = {name: amount for name, amount in op.spent.items() if amount}
    async with op.begin(held=False) as ctx:
        row = await attempt_rows.note_failure(ctx.db, ctx.who.org_id, key, failure, spent)
        await progress.note_things(ctx, _touched(ctx), made=_made(ctx))
    if row is not None and row.kept:
        return _DONE
    raise StepFailed(message, again=row is not None and len(row.failures) <= retry)


def _code_of(error: AppError) -> str:
    if isinstance(error, ToolDisabled):
        return "tools.disabled"
    if isinstance(error, ToolTimedOut):
        return "workflows.timeout"
    if isinstance(error, ResultTooLarge):
        return "workflows.too_large"
    if isinstance(error, ToolFailed) and error.code == ToolFailed.code:
        return "tool.failed"
    if isinstance(error, BadArguments):
        return "tool.bad_arguments"
    if isinstance(error, Unauthenticated):
        return "workflows.owner_gone"
    return "access.denied" if isinstance(error, Forbidden) and error.code.startswith("access.") else error.code


def _now() -> str:
    return datetime.now(UTC).isoformat()
