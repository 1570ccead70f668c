"""The job kind `extraction.text`: the text of one version, in every process that serves."""

from uuid import UUID

import msgspec

from atrium.engine.extraction import service
from atrium.engine.jobs.model import FinishedJob
from atrium.seams.context import Context, Operation
from atrium.seams.jobs import Assignment, JobKind

# Readers beside each other in one process; each may take as much memory as the settings allow one.
AT_ONCE = 3


class TextOf(msgspec.Struct, forbid_unknown_fields=True):
    """Which version."""

    version_id: UUID


async def _run(op: Operation, job: Assignment) -> dict[str, str]:
    return {"text": await service.read_text(op, job.arguments.version_id)}


async def _finished(ctx: Context, jobs: list[FinishedJob]) -> None:
    unread = {UUID(job.input["version_id"]): job for job in jobs if job.state != "succeeded"}
    left = [id for id, job in unread.items() if job.owner is None]
    if left:
        await service.requeue_for_owners(ctx, left)
    await service.give_up(ctx, {id: job.error or "was cancelled" for id, job in unread.items() if job.owner})


KINDS = (
    JobKind(
        name=service.TEXT_KIND,
        description="The text of one version of an uploaded document.",
        arguments=TextOf,
        run=_run,
        finished=_finished,
        at_once=AT_ONCE,
        public=False,
    ),
)
