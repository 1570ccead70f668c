"""The job kind `onboarding.judge`: one sign-up, or the made-up answers of a trial."""

from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.jobs.model import FinishedJob
from atrium.product.onboarding import judge, prospect_rows
from atrium.product.onboarding.funnel import funnel_of
from atrium.product.onboarding.service import JUDGE_KIND
from atrium.seams.context import Context, Operation
from atrium.seams.jobs import Assignment, JobKind

_LEASE = 120


class JudgementOf(msgspec.Struct, forbid_unknown_fields=True):
    """Which prospect, or which criteria and answers."""

    prospect: UUID | None = None
    # Whether they were known before, so that there is nothing to judge.
    again: bool = False
    prompt: str = ""
    answers: dict[str, Any] = {}


async def _run(op: Operation, job: Assignment) -> dict[str, Any]:
    asked: JudgementOf = job.arguments
    if asked.again:
        return {"judged": False}
    if asked.prospect is None:
        said, executor = await judge.ask(op, asked.prompt, asked.answers)
        return {**msgspec.to_builtins(said), "model": executor}
    return await _judge(op, asked.prospect)


async def _judge(op: Operation, id: UUID) -> dict[str, Any]:
    async with op.begin() as ctx:
        found = await prospect_rows.find_judged(ctx.db, ctx.who.org_id, id)
        form = found and await funnel_of(ctx.services).find(ctx, ctx.who.org_id, found.version)
    if found is None or found.judged or not form or not form.judge_prompt.strip():
        return {"judged": False}
    said, executor = await judge.ask(op, form.judge_prompt, found.fields)
    kept = {"score": said.score, "reasons": said.reasons, "model": executor}
    async with op.begin() as ctx:
        return {"judged": await prospect_rows.keep_judgement(ctx.db, ctx.who.org_id, id, said.verdict, kept)}


async def _finished(ctx: Context, jobs: list[FinishedJob]) -> None:
    """A prospect whose judging failed for good says why it has no verdict."""
    for job in jobs:
        prospect = (job.input or {}).get("prospect")
        if job.state != "succeeded" and prospect is not None and not job.input.get("again"):
            reason = job.error or ("was cancelled" if job.owner else "the operator's account is gone")
            await prospect_rows.keep_judgement(
                ctx.db, ctx.who.org_id, UUID(prospect), None, {"reasons": [f"Not judged: {reason}"[:300]]}
            )


KINDS = (
    JobKind(
        name=JUDGE_KIND,
        description="What a model says about one sign-up; it advises and decides nothing.",
        arguments=JudgementOf,
        run=_run,
        finished=_finished,
        lease=_LEASE,
        public=False,
    ),
)
