"""Drafts by a machine: jobs of at most 25 messages, each paid like any other turn, each draft whole or not kept."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.jobs import service as jobs
from atrium.engine.jobs.model import Drafts, FinishedJob
from atrium.ground.audit import service as audit
from atrium.ground.tenancy.model import LocaleName
from atrium.kit.errors import Exhausted
from atrium.kit.ids import new_id
from atrium.kit.text.catalogs import BASE
from atrium.product.localization import checks, draft_rows, service
from atrium.product.localization.model import DraftBatch, MessageRow, Namespace, NothingMissing
from atrium.product.translation import service as translation
from atrium.product.translation.model_batches import Languages
from atrium.product.translation.terms import Glossary
from atrium.seams.context import Context, Operation
from atrium.seams.jobs import Assignment

DRAFT_KIND = "localization.draft"
MOST_JOBS, MOST_STRINGS = 20, 25


class DraftOf(msgspec.Struct, forbid_unknown_fields=True):
    """Of which locale a job drafts what was marked for it; with `follow` another job comes after it while something is missing."""

    batch: UUID
    locale: LocaleName
    ns: Namespace | None = None
    follow: bool = False


async def start_drafts(op: Operation, locale: str, ns: str | None, *, follow: bool) -> DraftBatch:
    """Queue drafts of what a locale lacks; a message whose draft is queued is not queued again."""
    founding = await service.open_manager(op)
    await service.require_target(op, founding.org_id, locale)
    given = DraftOf(new_id(), locale, ns, follow)
    async with op.begin() as ctx:
        rows = await draft_rows.list_missing(ctx.db, founding.org_id, locale, ns, MOST_JOBS * MOST_STRINGS)
        if not rows:
            raise NothingMissing(f"every message of {locale} has a text, or its draft is queued")
        parts = [rows[start : start + MOST_STRINGS] for start in range(0, len(rows), MOST_STRINGS)]
        queued = await jobs.enqueue(ctx, DRAFT_KIND, [msgspec.to_builtins(given)] * len(parts))
        for job, part in zip(queued, parts, strict=True):
            await draft_rows.mark_drafting(ctx.db, founding.org_id, job, [row.id for row in part])
        remaining = await draft_rows.count_missing(ctx.db, founding.org_id, locale, ns)
        await audit.record(ctx, "localization.draft_started", locale, batch=str(given.batch), strings=len(rows))
    return DraftBatch(given.batch, queued, len(rows), remaining)


async def run_draft(op: Operation, job: Assignment) -> dict[str, Any]:
    """Draft what was marked for this job; what no reply was good enough for stays missing with the reason."""
    founding = await service.open_manager(op)
    given: DraftOf = job.arguments
    async with op.begin(reading=True) as ctx:
        rows = await draft_rows.list_drafting(ctx.db, founding.org_id, job.id)
    if not rows or job.cancel.is_set():
        return {"drafted": 0, "refused": 0}
    glossary = await translation.read_glossary(op, given.locale, founding.team_id)
    usage: Any = None
    try:
        made = await translation.draft_messages(
            op, {row.key: row.source for row in rows}, Languages(given.locale, BASE), glossary
        )
        usage, problems = made.usage, made.refused.keys() | made.reasons.keys()
        drafts = [
            _draft(
                row,
                made.messages.get(row.key),
                made.model,
                made.reasons.get(row.key) or "source" if row.key in problems else None,
            )
            for row in rows
        ]
    except Exhausted:
        drafts = [_draft(row, None, None, "quota") for row in rows]
    drafts = [_judged(row, draft, glossary) for row, draft in zip(rows, drafts, strict=True)]
    async with op.begin() as ctx:
        kept = await draft_rows.put_drafts(ctx.db, founding.org_id, job.id, drafts, op.who.user_id)
        drafted = sum(one["text"] is not None for one in drafts)
        await audit.record(ctx, "localization.drafted", given.locale, batch=str(given.batch), drafted=drafted)
    out = any(one["problem"] == "quota" for one in drafts)
    return {"drafted": drafted, "refused": len(drafts) - drafted, "kept": kept, "quota": out, "usage": usage}


def _draft(row: MessageRow, text: str | None, model: str | None, problem: str | None) -> dict[str, Any]:
    """What is kept of a draft: nothing that would not work in place of its source."""
    if text is not None and (errors := checks.errors_of(row.source, text, row.max_length)):
        text, problem = None, errors[0].code
    return {
        "id": row.id,
        "source": row.source,
        "text": text,
        "model": model,
        "problem": None if text else problem or "no_text",
        "checks": [],
    }


def _judged(row: MessageRow, draft: dict[str, Any], glossary: Glossary) -> dict[str, Any]:
    """A draft with the warnings that a proposal of the same text would have; none of them refuses it."""
    if (text := draft["text"]) is None:
        return draft
    found = checks.check(row.source, text, row.locale, row.max_length) + checks.check_terms(glossary, row.source, text)
    return draft | {"checks": msgspec.to_builtins(found)}


async def follow_up(ctx: Context, finished: Sequence[FinishedJob]) -> list[Drafts]:
    """Release what ended jobs have not drafted, and queue what comes after those that go on: nothing once one of a batch was cancelled."""
    org_id = ctx.who.org_id
    reasons = {job.id: "cancelled" if job.state == "cancelled" else job.error and job.error[:200] for job in finished}
    await draft_rows.end_drafting(ctx.db, org_id, reasons)
    following = list[Drafts]()
    for job in finished:
        goes_on = job.state == "succeeded" and job.input.get("follow") and not (job.result or {}).get("quota")
        if not goes_on or job.owner is None:
            continue
        owner = ctx.acting_as(job.owner)
        if await jobs.is_any_cancelled(owner, DRAFT_KIND, {"batch": job.input["batch"]}):
            continue
        rows = await draft_rows.list_missing(
            ctx.db, org_id, job.input["locale"], job.input.get("ns"), MOST_STRINGS, untried=True
        )
        if rows:
            drafts = await jobs.draft(owner, DRAFT_KIND, [job.input])
            await draft_rows.mark_drafting(ctx.db, org_id, drafts.jobs[0].id, [row.id for row in rows])
            following.append(drafts)
    return following
