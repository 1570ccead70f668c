"""SQL of imports: which one runs, and how far it is."""

from collections.abc import Sequence
from uuid import UUID

from atrium.kit.postgres.database import Transaction
from atrium.product.localization.model import ImportProgress


async def find_import(db: Transaction, org_id: UUID) -> tuple[str | None, UUID | None]:
    """What was imported last, and the import that runs."""
    rows = await db.rows("SELECT fingerprint, job_id FROM l10n_imports WHERE org_id = :org_id", org_id=org_id)
    return (rows[0][0], rows[0][1]) if rows else (None, None)


async def lock_imports(db: Transaction) -> None:
    """Let one first import follow the other."""
    await db.value("SELECT pg_advisory_xact_lock(hashtextextended('localization import', 0))")


async def take_import_turn(db: Transaction) -> bool:
    """Whether no other process looks at the disk; until this transaction ends none will."""
    return bool(await db.value("SELECT pg_try_advisory_xact_lock(hashtextextended('localization import', 0))"))


async def note_import(db: Transaction, org_id: UUID, fingerprint: str) -> None:
    """Remember what is imported now."""
    await db.run(
        """
        INSERT INTO l10n_imports (org_id, fingerprint, imported_at) VALUES (:org_id, :fingerprint, now())
        ON CONFLICT (org_id) DO UPDATE SET fingerprint = excluded.fingerprint, imported_at = now()
        """,
        org_id=org_id,
        fingerprint=fingerprint,
    )


async def claim_import(db: Transaction, org_id: UUID, job_id: UUID) -> bool:
    """Whether this import may run: true while no other one does."""
    return bool(
        await db.run(
            """
            INSERT INTO l10n_imports AS i (org_id, job_id) VALUES (:org_id, :job_id)
            ON CONFLICT (org_id) DO UPDATE SET job_id = excluded.job_id, done = 0, total = 0 WHERE i.job_id IS NULL
            """,
            org_id=org_id,
            job_id=job_id,
        )
    )


async def note_progress(db: Transaction, org_id: UUID, job_id: UUID, done: int, total: int) -> None:
    """Say how far the import that runs is."""
    await db.run(
        "UPDATE l10n_imports SET done = :done, total = :total WHERE org_id = :org_id AND job_id = :job_id",
        org_id=org_id,
        job_id=job_id,
        done=done,
        total=total,
    )


async def find_progress(db: Transaction, org_id: UUID) -> ImportProgress | None:
    """How far the import that runs is; None when none does."""
    return await db.one(
        ImportProgress,
        "SELECT job_id, done, total FROM l10n_imports WHERE org_id = :org_id AND job_id IS NOT NULL",
        org_id=org_id,
    )


async def end_imports(db: Transaction, org_id: UUID, job_ids: Sequence[UUID]) -> None:
    await db.run(
        "UPDATE l10n_imports SET job_id = NULL WHERE org_id = :org_id AND job_id = ANY(:job_ids)",
        org_id=org_id,
        job_ids=list(job_ids),
    )
