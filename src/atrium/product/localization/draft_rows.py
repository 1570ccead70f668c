"""SQL of drafts: what machines were asked to write, and what they wrote."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from atrium.kit.postgres.database import Transaction
from atrium.product.localization.model import MessageRow
from atrium.product.localization.store import MESSAGE


async def discard_drafts(db: Transaction, org_id: UUID, locale: str, ns: str | None, by: UUID) -> int:
    """Take out what a machine made and no person approved; how many."""
    return await db.run(
        """
        WITH locked AS (
          SELECT id FROM l10n_messages
           WHERE org_id = :org_id AND locale = :locale AND status = 'machine' AND retired_at IS NULL AND (:ns::text IS NULL OR ns = :ns)
           ORDER BY key FOR UPDATE
        )
        UPDATE l10n_messages SET text = NULL, status = 'missing', text_source = NULL, text_by = NULL, text_at = NULL, model = NULL,
               drafted_at = NULL, fits = true, problem = NULL, changed_by = :by, revision = revision + 1, updated_at = now()
         WHERE org_id = :org_id AND id IN (SELECT id FROM locked) AND status = 'machine'
        """,
        org_id=org_id,
        locale=locale,
        ns=ns,
        by=by,
    )


async def list_missing(
    db: Transaction, org_id: UUID, locale: str, ns: str | None, limit: int, *, untried: bool = False
) -> list[MessageRow]:
    """Messages without a text and without a queued draft, locked in the order of their keys; `untried`: none that a job gave up."""
    return await db.all(
        MessageRow,
        f"""
        SELECT {MESSAGE} FROM l10n_messages
         WHERE org_id = :org_id AND locale = :locale AND status = 'missing' AND retired_at IS NULL AND draft_job IS NULL
           AND pending_text IS NULL AND (:ns::text IS NULL OR ns = :ns) AND NOT (:untried AND problem IS NOT NULL)
         ORDER BY key LIMIT :limit FOR UPDATE
        """,
        org_id=org_id,
        locale=locale,
        ns=ns,
        limit=limit,
        untried=untried,
    )


async def count_missing(db: Transaction, org_id: UUID, locale: str, ns: str | None) -> int:
    """How many messages have no text and no queued draft."""
    count: int = await db.value(
        """
        SELECT count(*) FROM l10n_messages
         WHERE org_id = :org_id AND locale = :locale AND status = 'missing' AND retired_at IS NULL AND draft_job IS NULL
           AND pending_text IS NULL AND (:ns::text IS NULL OR ns = :ns)
        """,
        org_id=org_id,
        locale=locale,
        ns=ns,
    )
    return count


async def mark_drafting(db: Transaction, org_id: UUID, job_id: UUID, ids: Sequence[UUID]) -> None:
    """Say which job drafts these messages."""
    await db.run(
        "UPDATE l10n_messages SET draft_job = :job_id, problem = NULL WHERE org_id = :org_id AND id = ANY(:ids)",
        org_id=org_id,
        job_id=job_id,
        ids=list(ids),
    )


async def list_drafting(db: Transaction, org_id: UUID, job_id: UUID) -> list[MessageRow]:
    """The messages that a job drafts and that still have no text."""
    return await db.all(
        MessageRow,
        f"""
        SELECT {MESSAGE} FROM l10n_messages
         WHERE org_id = :org_id AND draft_job = :job_id AND status = 'missing' AND retired_at IS NULL ORDER BY locale, key
        """,
        org_id=org_id,
        job_id=job_id,
    )


async def put_drafts(db: Transaction, org_id: UUID, job_id: UUID, drafts: Sequence[Mapping[str, Any]], by: UUID) -> int:
    """Keep what a job drafted where the message still has no text and the source it was made from; how many."""
    return await db.run(
        """
        WITH locked AS (
          SELECT m.id, w.text, w.model, w.problem, w.checks
            FROM jsonb_to_recordset(:drafts) AS w (id uuid, source text, text text, model text, problem text, checks jsonb)
            JOIN l10n_messages m ON m.org_id = :org_id AND m.id = w.id
           WHERE m.draft_job = :job_id AND m.status = 'missing' AND m.source = w.source
           ORDER BY m.locale, m.key FOR UPDATE OF m
        )
        UPDATE l10n_messages m
           SET text = l.text, status = CASE WHEN l.text IS NULL THEN 'missing' ELSE 'machine' END,
               text_source = CASE WHEN l.text IS NOT NULL THEN m.source END, text_at = CASE WHEN l.text IS NOT NULL THEN now() END,
               model = CASE WHEN l.text IS NOT NULL THEN l.model END, drafted_at = CASE WHEN l.text IS NOT NULL THEN now() END,
               draft_checks = l.checks, problem = l.problem, draft_job = NULL, fits = true, changed_by = :by, revision = revision + 1,
               updated_at = now()
          FROM locked l WHERE m.org_id = :org_id AND m.id = l.id AND m.status = 'missing'
        """,
        org_id=org_id,
        job_id=job_id,
        drafts=list(drafts),
        by=by,
    )


async def end_drafting(db: Transaction, org_id: UUID, reasons: Mapping[UUID, str | None]) -> int:
    """Release the messages of jobs that ended, each with why it has no draft, unless the job said so itself."""
    return await db.run(
        """
        WITH locked AS (
          SELECT m.id, w.reason FROM jsonb_to_recordset(:ended) AS w (job uuid, reason text)
            JOIN l10n_messages m ON m.org_id = :org_id AND m.draft_job = w.job ORDER BY m.locale, m.key FOR UPDATE OF m
        )
        UPDATE l10n_messages m SET draft_job = NULL, problem = coalesce(l.reason, m.problem)
          FROM locked l WHERE m.org_id = :org_id AND m.id = l.id
        """,
        org_id=org_id,
        ended=[{"job": str(job), "reason": reason} for job, reason in reasons.items()],
    )
