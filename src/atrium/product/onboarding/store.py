"""SQL of experiences: the draft, the published versions, the sealed secret, and how many came how far."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

import msgspec

from atrium.kit.postgres.database import Transaction
from atrium.product.onboarding.model import Author, FunnelDay, PublishedVersion

# Versions beyond these are kept and can be read, but are not listed.
MOST_LISTED = 100


class DraftRow(msgspec.Struct, frozen=True):
    """The saved draft."""

    revision: UUID
    document: dict[str, Any]


class VersionRow(msgspec.Struct, frozen=True):
    """A published version."""

    version: int
    document: dict[str, Any]


async def find_draft(db: Transaction, org_id: UUID) -> DraftRow | None:
    return await db.one(
        DraftRow, "SELECT revision, document FROM onboarding_drafts WHERE org_id = :org_id", org_id=org_id
    )


async def lock_drafts(db: Transaction, org_id: UUID) -> None:
    """One editor at a time, also while there is no row yet that could be locked."""
    await db.run(
        "SELECT pg_advisory_xact_lock(hashtext('atrium onboarding'), hashtext(:org_id::uuid::text))", org_id=org_id
    )


async def put_draft(db: Transaction, org_id: UUID, user_id: UUID, revision: UUID, document: dict[str, Any]) -> None:
    await db.run(
        """
        INSERT INTO onboarding_drafts (org_id, revision, document, saved_by)
        VALUES (:org_id, :revision, :document, :user_id)
        ON CONFLICT (org_id) DO UPDATE SET revision = excluded.revision, document = excluded.document,
                                           saved_by = excluded.saved_by, saved_at = now()
        """,
        org_id=org_id,
        user_id=user_id,
        revision=revision,
        document=document,
    )


async def insert_version(
    db: Transaction, org_id: UUID, user_id: UUID, document: dict[str, Any]
) -> tuple[int, datetime]:
    """Publish; the caller holds the lock of drafts, so that no two get one number."""
    rows = await db.rows(
        """
        INSERT INTO onboarding_versions (org_id, version, document, published_by)
        SELECT :org_id, coalesce(max(version), 0) + 1, :document, :user_id FROM onboarding_versions WHERE org_id = :org_id
        RETURNING version, published_at
        """,
        org_id=org_id,
        user_id=user_id,
        document=document,
    )
    return rows[0][0], rows[0][1]


async def find_version(db: Transaction, org_id: UUID, version: int | None) -> VersionRow | None:
    """A published version; the newest when none is named."""
    return await db.one(
        VersionRow,
        """
        SELECT version, document FROM onboarding_versions
         WHERE org_id = :org_id AND (:version::int IS NULL OR version = :version::int) ORDER BY version DESC LIMIT 1
        """,
        org_id=org_id,
        version=version,
    )


async def find_newest(db: Transaction, org_id: UUID) -> int | None:
    found: int | None = await db.value(
        "SELECT max(version) FROM onboarding_versions WHERE org_id = :org_id", org_id=org_id
    )
    return found


async def list_versions(db: Transaction, org_id: UUID) -> list[PublishedVersion]:
    """The newest first."""
    rows = await db.rows(
        """
        SELECT v.version, v.published_at, v.published_by, u.username
          FROM onboarding_versions v LEFT JOIN users u ON u.org_id = v.org_id AND u.id = v.published_by
         WHERE v.org_id = :org_id ORDER BY v.version DESC LIMIT :most
        """,
        org_id=org_id,
        most=MOST_LISTED,
    )
    return [PublishedVersion(version, at, Author(id, username)) for version, at, id, username in rows]


async def find_secret(db: Transaction, org_id: UUID) -> bytes | None:
    found: bytes | None = await db.value("SELECT sealed FROM onboarding_secrets WHERE org_id = :org_id", org_id=org_id)
    return found


async def insert_secret(db: Transaction, org_id: UUID, sealed: bytes) -> None:
    await db.run(
        "INSERT INTO onboarding_secrets (org_id, sealed) VALUES (:org_id, :sealed) ON CONFLICT DO NOTHING",
        org_id=org_id,
        sealed=sealed,
    )


async def update_secret(db: Transaction, org_id: UUID, sealed: bytes) -> None:
    await db.run("UPDATE onboarding_secrets SET sealed = :sealed WHERE org_id = :org_id", org_id=org_id, sealed=sealed)


async def add_to_day(db: Transaction, org_id: UUID, day: date, counts: dict[str, int]) -> None:
    await db.run(
        """
        INSERT INTO onboarding_days AS d (org_id, day, opened, started, refused, received)
        VALUES (:org_id, :day, :opened, :started, :refused, :received)
        ON CONFLICT (org_id, day) DO UPDATE SET opened = d.opened + excluded.opened, started = d.started + excluded.started,
          refused = d.refused + excluded.refused, received = d.received + excluded.received
        """,
        org_id=org_id,
        day=day,
        **{name: counts.get(name, 0) for name in ("opened", "started", "refused", "received")},
    )


async def list_days(db: Transaction, org_id: UUID, days: int) -> list[FunnelDay]:
    """The last days that had any visitor, the newest first."""
    return await db.all(
        FunnelDay,
        """
        SELECT day, opened, started, refused, received FROM onboarding_days
         WHERE org_id = :org_id AND day > (now() AT TIME ZONE 'UTC')::date - :days::int ORDER BY day DESC
        """,
        org_id=org_id,
        days=days,
    )
