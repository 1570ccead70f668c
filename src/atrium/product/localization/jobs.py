"""The job kinds of localization: imports, and drafts by a machine."""

from typing import Any

from atrium.engine.jobs.model import Drafts, FinishedJob
from atrium.product.localization import drafts, exchange, import_rows
from atrium.seams.context import Context, Operation
from atrium.seams.jobs import Assignment, JobKind


async def _import(op: Operation, job: Assignment) -> dict[str, Any]:
    return await exchange.run_import(op, job)


async def _import_ended(ctx: Context, jobs: list[FinishedJob]) -> None:
    await import_rows.end_imports(ctx.db, ctx.who.org_id, [job.id for job in jobs])


async def _draft(op: Operation, job: Assignment) -> dict[str, Any]:
    return await drafts.run_draft(op, job)


async def _draft_ended(ctx: Context, jobs: list[FinishedJob]) -> list[Drafts]:
    return await drafts.follow_up(ctx, jobs)


KINDS = (
    JobKind(
        name=exchange.IMPORT_KIND,
        description="Take catalogs into the localization manager, from disk or from an object.",
        arguments=exchange.ImportOf,
        run=_import,
        finished=_import_ended,
        # Short, because no other import begins while one may still run: a killed server's goes on elsewhere after this long.
        lease=30,
        public=False,
    ),
    JobKind(
        name=drafts.DRAFT_KIND,
        description="Draft messages that a locale lacks, by the model of the role `utility`.",
        arguments=drafts.DraftOf,
        run=_draft,
        finished=_draft_ended,
        lease=300,
        public=False,
    ),
)
