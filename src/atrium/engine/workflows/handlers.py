"""The wire of workflows and runs."""

from typing import Annotated, Any
from uuid import UUID

import msgspec

from atrium.engine.workflows import definitions, service
from atrium.engine.workflows.listing_rows import RunFilter
from atrium.engine.workflows.model import CheckedSpec, Definition, DefinitionHistory, Format, RunState, WorkflowSummary
from atrium.engine.workflows.run_model import Resume, Run, RunSummary, StepProgress
from atrium.kit.web.pages import Cursor, Limit, Page
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Accepted, Created, IfMatch
from atrium.seams.workflows import Name, Slug

EXAMPLE = {
    "slug": "count-words",
    "title": "Count words",
    "inputs": {"text": {"type": "string"}},
    "start": "count",
    "max_steps": 1,
    "steps": [{"name": "count", "kind": "tool", "tool": "word_count", "with": {"text": {"$": "input.text"}}}],
}
# Judged by the validator of the format, which finds every problem and not only the first.
Spec = Annotated[
    Any,
    msgspec.Meta(
        description="A spec of format 1; `GET /api/workflows/schema` has its JSON schema.",
        examples=[EXAMPLE],
        extra_json_schema={"type": "object"},
    ),
]
Version = Annotated[
    int, msgspec.Meta(ge=1, le=2_147_483_647, description="The number of an earlier version; absent for the newest.")
]


async def publish_workflow(
    ctx: Context, body: Spec, *, dry_run: bool = False, if_match: IfMatch | None = None
) -> Created[Definition] | CheckedSpec:
    """Publish a spec as the next version of its slug; `dry_run` only judges it."""
    if dry_run:
        return await definitions.check(ctx, body, if_match)
    return Created(await definitions.publish(ctx, body, if_match))


async def list_workflows(ctx: Context, *, limit: Limit = 50, cursor: Cursor | None = None) -> Page[WorkflowSummary]:
    """The team's workflows, those of plugins included, by slug."""
    return await definitions.list_workflows(ctx, limit, cursor)


async def read_format(op: Operation) -> Format:
    """The format of specs: kinds of steps, predicates, references, retries and the JSON schema."""
    return definitions.describe_format()


async def read_workflow(ctx: Context, slug: str, *, version: Version | None = None) -> DefinitionHistory:
    """One workflow with its spec and its versions, newest first."""
    return await definitions.read_workflow(ctx, slug, version)


class RunDraft(msgspec.Struct, forbid_unknown_fields=True):
    """A run to start: its input, and a version other than the newest; or an ended run to go on with.

    `accept` says that the starter has seen what this version may do.
    """

    input: dict[str, Any] | None = None
    version: Annotated[int, msgspec.Meta(ge=1, le=2_147_483_647)] | None = None
    resume: Resume | None = None
    accept: (
        Annotated[
            str,
            msgspec.Meta(
                max_length=64,
                description="The `digest` of the version you looked at; refused when another one would run, else kept as accepted.",
            ),
        ]
        | None
    ) = None


async def start_run(ctx: Context, slug: Slug, body: RunDraft) -> Accepted[Run]:
    """Start a run of a workflow, or resume one that has ended, from any of its steps."""
    chosen: dict[str, Any] = {"version": body.version, "resume": body.resume}
    if body.accept is not None:
        id = await service.start_accepted(ctx, slug, body.input, body.accept, **chosen)
    else:
        id = await service.start_run(ctx, slug, body.input, **chosen)
    run = await service.read_run(ctx, id)
    return Accepted(run, run.address)


async def list_runs(
    ctx: Context,
    *,
    state: Annotated[RunState, msgspec.Meta(description="Only runs in this state.")] | None = None,
    workflow: Annotated[Slug, msgspec.Meta(description="Only runs of the workflow with this slug.")] | None = None,
    trigger: Annotated[UUID, msgspec.Meta(description="Only runs that this trigger started.")] | None = None,
    mine: Annotated[bool, msgspec.Meta(description="Only runs that the caller started.")] = False,
    limit: Limit = 50,
    cursor: Cursor | None = None,
) -> Page[RunSummary]:
    """The team's runs, newest first."""
    user_id = ctx.who.user_id if mine else None
    chosen = RunFilter(state=state, workflow=workflow, trigger=trigger, user_id=user_id)
    return await service.list_runs(ctx, chosen, limit, cursor)


async def read_run(
    ctx: Context,
    id: UUID,
    *,
    step: Annotated[Name, msgspec.Meta(description="Only this step, with more of its items.")] | None = None,
    cursor: Cursor | None = None,
) -> Run:
    """A run with its steps, what they were given, what came out and why they failed."""
    return await service.read_run(ctx, id, step, cursor)


async def cancel_run(ctx: Context, id: UUID) -> Run:
    """Cancel a run: nothing of it that waits starts any more, and a step that is executing finishes."""
    return await service.cancel_run(ctx, id)


async def read_processing(ctx: Context, id: UUID) -> StepProgress:
    """Derived documents, sources, and runs touching an object."""
    return await service.read_processing(ctx, id)
