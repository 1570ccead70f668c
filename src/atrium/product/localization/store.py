"""SQL of localization."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

import msgspec

from atrium.kit.postgres.database import Transaction, old_rows
from atrium.product.localization.model import FormerText, MessageRow, Shown

MESSAGE = (
    "id, locale, ns, key, source, about, max_length, screens, text, status, text_source, fits, by_person, text_by, text_at, disk_text, "
    "pending_text, pending_by, pending_at, pending_checks, comment, model, drafted_at, draft_checks, draft_job, problem, "
    "retired_at IS NOT NULL, revision, updated_at"
)
# What a merge may change, with the type in which its column travels; one array each is read several times as fast as records of JSON.
_MERGED = {
    "source": "text", "about": "text", "max_length": "int", "screens": "text", "text": "text", "status": "text", "text_source": "text",
    "fits": "bool", "by_person": "bool", "text_by": "uuid", "text_at": "timestamptz", "disk_text": "text", "pending_text": "text",
    "pending_by": "uuid", "pending_at": "timestamptz", "pending_checks": "text", "comment": "text", "model": "text",
    "drafted_at": "timestamptz", "draft_job": "uuid", "problem": "text", "changed_by": "uuid",
}  # fmt: skip
_SENT = {"id": "uuid", "key": "text"} | _MERGED
_REPLACED = ", ".join(f"{name} = excluded.{name}" for name in _MERGED)
# Lists travel as text: in an array they would be read as its further dimensions.
_LISTS = {"screens": "string_to_array(w.screens, E'\\n')", "pending_checks": "w.pending_checks::jsonb"}
_TAKEN = ", ".join(_LISTS.get(name, f"w.{name}") for name in _MERGED)
_DESCRIBED = {"key": "text", "source": "text", "text": "text", "about": "text", "max_length": "int", "screens": "text"}
_FRESH = {"id": "uuid", "fits": "bool"} | _DESCRIBED


def _unnested(columns: Mapping[str, str]) -> str:
    return f"unnest({', '.join(f':{name}::{type}[]' for name, type in columns.items())}) AS w ({', '.join(columns)})"


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Messages as the columns that `put_messages` takes; a pure step, so that a thread can do it."""
    columns: dict[str, list[Any]] = {name: [row.get(name) for row in rows] for name in _SENT}
    columns["screens"] = ["\n".join(screens) for screens in columns["screens"]]
    columns["pending_checks"] = [msgspec.json.encode(found).decode() for found in columns["pending_checks"]]
    return columns


async def list_revisions(db: Transaction, org_id: UUID) -> dict[str, int]:
    """The revision of every locale that was imported; none of an instance that never touched its catalogs."""
    rows = await db.rows("SELECT locale, revision FROM l10n_locales WHERE org_id = :org_id", org_id=org_id)
    return dict(rows)


async def list_served(db: Transaction, org_id: UUID, locale: str, *, machine: bool) -> list[str]:
    """What a locale serves, each namespace as JSON: approved texts, stale ones that still fit, and drafts when they are wanted.

    As JSON, because a locale of 50,000 texts as rows would hold the event loop for a tenth of a second after each approval.
    """
    rows = await db.rows(
        """
        SELECT json_object_agg(key, text)::text FROM l10n_messages
         WHERE org_id = :org_id AND locale = :locale AND retired_at IS NULL AND text IS NOT NULL
           AND (status = 'approved' OR (fits AND (status = 'stale' OR (:machine AND status = 'machine'))))
         GROUP BY ns ORDER BY ns
        """,
        org_id=org_id,
        locale=locale,
        machine=machine,
    )
    return [said for (said,) in rows]


async def list_counts(db: Transaction, org_id: UUID) -> list[tuple[Any, ...]]:
    """(locale, ns, approved, machine, missing, stale, pending), by name."""
    return await db.rows(
        """
        SELECT locale, ns, approved, machine, missing, stale, pending FROM l10n_counts
         WHERE org_id = :org_id AND approved + machine + missing + stale > 0 ORDER BY locale, ns
        """,
        org_id=org_id,
    )


async def find_message(db: Transaction, org_id: UUID, id: UUID, *, lock: bool = False) -> MessageRow | None:
    return await db.one(
        MessageRow,
        f"SELECT {MESSAGE} FROM l10n_messages WHERE org_id = :org_id AND id = :id AND retired_at IS NULL{' FOR UPDATE' if lock else ''}",
        org_id=org_id,
        id=id,
    )


@lru_cache(maxsize=64)
def _listing(*, status: str | None, ns: bool, search: bool, after: bool) -> str:
    narrowed = (
        "" if status is None else " AND pending_text IS NOT NULL" if status == "pending" else " AND status = :status"
    )
    # A dot and the character after it: in the collation C every key of the namespace stands between them.
    narrowed += " AND key > :ns || '.' AND key < :ns || '/'" if ns else ""
    # Not LIKE, for which PostgreSQL expects few rows and reads every locale in parallel; so it follows the index until the page is full.
    narrowed += ' AND strpos(folded, lower(:search) COLLATE "C") > 0' if search else ""
    narrowed += " AND key > :after" if after else ""
    return f"""
      SELECT {MESSAGE} FROM l10n_messages WHERE org_id = :org_id AND locale = :locale AND retired_at IS NULL{narrowed}
       ORDER BY key LIMIT :limit
    """


async def list_messages(
    db: Transaction,
    org_id: UUID,
    locale: str,
    chosen: tuple[Shown | None, str | None, str | None],
    after: str | None,
    limit: int,
) -> list[MessageRow]:
    """Messages of a locale by key; `chosen` is a status, a namespace and a part of any text."""
    return await db.all(
        MessageRow,
        _listing(status=chosen[0], ns=chosen[1] is not None, search=chosen[2] is not None, after=after is not None),
        org_id=org_id,
        locale=locale,
        status=chosen[0],
        ns=chosen[1],
        search=chosen[2],
        after=after,
        limit=limit,
    )


async def list_history(db: Transaction, org_id: UUID, ids: Sequence[UUID], most: int) -> dict[UUID, list[FormerText]]:
    """The last texts that each of these messages had before, the last one first."""
    rows = await db.rows(
        """
        SELECT message_id, text, was, text_by, text_at, replaced_by, replaced_at FROM (
          SELECT *, row_number() OVER (PARTITION BY message_id ORDER BY replaced_at DESC, id) AS place
            FROM l10n_history WHERE org_id = :org_id AND message_id = ANY(:ids)
        ) AS h WHERE place <= :most ORDER BY message_id, place
        """,
        org_id=org_id,
        ids=list(ids),
        most=most,
    )
    found: dict[UUID, list[FormerText]] = {id: [] for id in ids}
    for id, *former in rows:
        found[id].append(FormerText(*former))
    return found


def _assigned(changes: Iterable[str]) -> str:
    return ", ".join(f"{name} = :{name}" for name in changes)


async def change_message(db: Transaction, org_id: UUID, id: UUID, changes: Mapping[str, Any]) -> None:
    """Set columns of one message, which the caller has locked."""
    await db.run(
        f"UPDATE l10n_messages SET {_assigned(changes)}, revision = revision + 1, updated_at = now() WHERE org_id = :org_id AND id = :id",
        org_id=org_id,
        id=id,
        **changes,
    )


async def list_differing(
    db: Transaction, org_id: UUID, locale: str, wanted: Mapping[str, Sequence[Any]]
) -> dict[str, bool]:
    """The keys among these whose rows are absent, retired, or say something else than the files, each with whether it has a row.

    `wanted` are columns.
    """
    rows = await db.rows(
        f"""
        SELECT w.key, m.id IS NOT NULL FROM {_unnested(_DESCRIBED)}
          LEFT JOIN l10n_messages m ON m.org_id = :org_id AND m.locale = :locale AND m.key = w.key
         WHERE m.id IS NULL OR m.retired_at IS NOT NULL OR m.source <> w.source OR m.about <> w.about
            OR m.max_length IS DISTINCT FROM w.max_length OR m.screens <> string_to_array(w.screens, E'\\n')
            OR (w.text IS NOT NULL AND m.disk_text IS DISTINCT FROM w.text)
        """,
        org_id=org_id,
        locale=locale,
        **wanted,
    )
    return dict(rows)


async def lock_messages(db: Transaction, org_id: UUID, locale: str, keys: Sequence[str]) -> list[MessageRow]:
    """These messages, retired ones too, locked in the order of their keys."""
    return await db.all(
        MessageRow,
        f"""
        SELECT {MESSAGE} FROM l10n_messages WHERE org_id = :org_id AND locale = :locale AND key = ANY(:keys) ORDER BY key FOR UPDATE
        """,
        org_id=org_id,
        locale=locale,
        keys=list(keys),
    )


async def insert_messages(
    db: Transaction, org_id: UUID, locale: str, columns: Mapping[str, Sequence[Any]], by: UUID | None
) -> None:
    """Insert messages with the texts of their files, all in one statement; one that is there meanwhile stays as it is."""
    await db.run(
        f"""
        INSERT INTO l10n_messages (id, org_id, locale, ns, key, source, about, max_length, screens, text, status, text_source, fits,
                                   text_by, text_at, disk_text, changed_by)
        SELECT w.id, :org_id, :locale, split_part(w.key, '.', 1), w.key, w.source, w.about, w.max_length,
               string_to_array(w.screens, E'\\n'), w.text, CASE WHEN w.text IS NULL THEN 'missing' ELSE 'approved' END,
               CASE WHEN w.text IS NOT NULL THEN w.source END, w.fits, CASE WHEN w.text IS NOT NULL THEN :by::uuid END,
               CASE WHEN w.text IS NOT NULL THEN now() END, w.text, :by
          FROM {_unnested(_FRESH)} ORDER BY w.key
        ON CONFLICT (org_id, locale, key) DO NOTHING
        """,
        org_id=org_id,
        locale=locale,
        by=by,
        **columns,
    )


async def put_messages(db: Transaction, org_id: UUID, locale: str, columns: Mapping[str, Sequence[Any]]) -> None:
    """Insert messages, or change those that are there, all in one statement; `columns_of` makes the columns."""
    await db.run(
        f"""
        INSERT INTO l10n_messages AS m (id, org_id, locale, ns, key, {", ".join(_MERGED)})
        SELECT w.id, :org_id, :locale, split_part(w.key, '.', 1), w.key, {_TAKEN} FROM {_unnested(_SENT)} ORDER BY w.key
        ON CONFLICT (org_id, locale, key) DO UPDATE
          SET {_REPLACED}, retired_at = NULL, revision = m.revision + 1, updated_at = now()
        """,
        org_id=org_id,
        locale=locale,
        **columns,
    )


async def list_locales(db: Transaction, org_id: UUID) -> list[str]:
    rows = await db.rows("SELECT locale FROM l10n_locales WHERE org_id = :org_id ORDER BY locale", org_id=org_id)
    return [locale for (locale,) in rows]


async def list_keys(
    db: Transaction, org_id: UUID, locale: str, namespaces: Sequence[str], after: str, limit: int
) -> list[str]:
    """The keys of these namespaces that are not retired, by name, a page of them."""
    rows = await db.rows(
        """
        SELECT key FROM l10n_messages
         WHERE org_id = :org_id AND locale = :locale AND key > :after AND ns = ANY(:namespaces) AND retired_at IS NULL
         ORDER BY key LIMIT :limit
        """,
        org_id=org_id,
        locale=locale,
        namespaces=list(namespaces),
        after=after,
        limit=limit,
    )
    return [key for (key,) in rows]


async def retire(db: Transaction, org_id: UUID, locale: str, keys: Sequence[str], by: UUID | None) -> int:
    """Put messages of a locale aside, locked in the order of their keys; how many."""
    return await db.run(
        """
        WITH locked AS (
          SELECT id FROM l10n_messages WHERE org_id = :org_id AND locale = :locale AND key = ANY(:keys) AND retired_at IS NULL
           ORDER BY key FOR UPDATE
        )
        UPDATE l10n_messages SET retired_at = now(), draft_job = NULL, changed_by = :by, revision = revision + 1, updated_at = now()
         WHERE org_id = :org_id AND id IN (SELECT id FROM locked)
        """,
        org_id=org_id,
        locale=locale,
        keys=list(keys),
        by=by,
    )


async def forget_retired(db: Transaction, age: timedelta, most: int) -> int:
    """Delete messages that were retired long ago; their texts stay in the history."""
    return await db.run(old_rows("l10n_messages", "retired_at"), age=age, most=most)


async def list_approved(db: Transaction, org_id: UUID, locale: str) -> list[tuple[str, str]]:
    """(key, text) of what is approved, by key."""
    rows = await db.rows(
        """
        SELECT key, text FROM l10n_messages
         WHERE org_id = :org_id AND locale = :locale AND status = 'approved' AND retired_at IS NULL ORDER BY key
        """,
        org_id=org_id,
        locale=locale,
    )
    return [(key, text) for key, text in rows]
