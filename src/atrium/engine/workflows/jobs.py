"""The job kind `workflows.step`: every step, item of a map and choice is one job."""

from atrium.engine.jobs.model import Drafts, FinishedJob
from atrium.engine.workflows import progress, step_attempt
from atrium.engine.workflows.beside import read_beside
from atrium.engine.workflows.progress import STEP_KIND, StepInput, StepResult
from atrium.seams.context import Context, Operation
from atrium.seams.jobs import Assignment, Beside, DoneBeside, JobKind


async def _run(op: Operation, job: Assignment) -> StepResult:
    return await step_attempt.run_step(op, job)


async def _finished(ctx: Context, jobs: list[FinishedJob]) -> list[Drafts]:
    return await progress.advance(ctx, jobs)


async def _beside(op: Operation, job: Assignment, beside: Beside) -> list[DoneBeside]:
    return await read_beside(op, job, beside)


async def _broken(ctx: Context, job: FinishedJob) -> None:
    await progress.break_off(ctx, job)


KINDS = (
    JobKind(
        name=STEP_KIND,
        description="One step of a workflow's run.",
        arguments=StepInput,
        run=_run,
        finished=_finished,
        broken=_broken,
        beside=_beside,
        # A step says itself how often it is tried; the rest is for servers that stop while they run it.
        attempts=16,
        lease=30,
        public=False,
    ),
)
