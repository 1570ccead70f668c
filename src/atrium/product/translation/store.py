"""SQL of translation: what was translated for a person, and a team's glossary."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from uuid import UUID

import msgspec

from atrium.kit.postgres.database import Transaction, old_rows
from atrium.kit.text.plain import contains_pattern
from atrium.kit.web.pages import MOST_TEXT
from atrium.product.translation.model import GlossaryTerm, StoredTranslation, TermDraft, Translation
from atrium.seams.context import Principal

_STORED = "id, text, source, target, format, report, usage, model, simulated, created_at, original"
_TERM = "id, target, term, translation, note, case_sensitive, changed_by, changed_at"
_NEWEST = "created_at DESC, id DESC"


async def insert_translation(db: Transaction, who: Principal, made: Translation, original: str) -> None:
    await db.run(
        """
        INSERT INTO translations (id, org_id, team_id, user_id, source, target, format, original, text, report, usage, model,
                                  simulated, created_at)
        VALUES (:id, :org_id, :team_id, :user_id, :source, :target, :format, :original, :text, :report, :usage, :model,
                :simulated, :created_at)
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        user_id=who.user_id,
        original=original,
        **msgspec.structs.asdict(made) | {"report": made.report, "usage": made.usage},
    )


@lru_cache(maxsize=4)
def _listing(*, after: bool, target: bool) -> str:
    """What fits on a page and one row more; the texts of the others are not even read."""
    narrowed = " AND target = :target" if target else ""
    narrowed += " AND (created_at, id) < (:after_at, :after_id)" if after else ""
    before = f"ORDER BY {_NEWEST} ROWS BETWEEN UNBOUNDED PRECEDING AND"
    return f"""
      SELECT {_STORED}, before < {MOST_TEXT} FROM (
        SELECT t.*, coalesce(sum(size) OVER ({before} 1 PRECEDING), 0) AS before,
               coalesce(sum(size) OVER ({before} 2 PRECEDING), 0) AS earlier FROM (
          SELECT {_STORED}, octet_length(text) + octet_length(original) + octet_length(report::text) AS size
            FROM translations WHERE org_id = :org_id AND user_id = :user_id{narrowed} ORDER BY {_NEWEST} LIMIT :limit
        ) AS t
      ) AS t WHERE earlier < {MOST_TEXT} ORDER BY {_NEWEST}
    """


async def list_translations(
    db: Transaction, who: Principal, target: str | None, after: tuple[datetime, UUID] | None, limit: int
) -> tuple[list[StoredTranslation], int]:
    """Translations, and how many of them fit on a page with their reports."""
    at, id = after or (None, None)
    rows = await db.rows(
        _listing(after=after is not None, target=target is not None),
        org_id=who.org_id,
        user_id=who.user_id,
        target=target,
        after_at=at,
        after_id=id,
        limit=limit,
    )
    names = [*_STORED.split(", "), "fits"]
    found = [msgspec.convert(dict(zip(names, row, strict=True)), StoredTranslation) for row in rows]
    return found, sum(row[-1] for row in rows)


async def delete_translations_of(db: Transaction, org_id: UUID, user_id: UUID) -> int:
    return await db.run(
        "DELETE FROM translations WHERE org_id = :org_id AND user_id = :user_id", org_id=org_id, user_id=user_id
    )


async def forget_translations(db: Transaction, age: timedelta, most: int) -> int:
    """Delete what is older; how many."""
    return await db.run(old_rows("translations", "created_at"), age=age, most=most)


async def lock_glossary(db: Transaction, team_id: UUID) -> None:
    """Let one change of a team's glossary follow the other, so that its size is counted right."""
    await db.value("SELECT pg_advisory_xact_lock(hashtextextended('glossary ' || :team_id, 0))", team_id=str(team_id))


async def count_terms(db: Transaction, who: Principal) -> int:
    count: int = await db.value(
        "SELECT count(*) FROM glossary_terms WHERE org_id = :org_id AND team_id = :team_id",
        org_id=who.org_id,
        team_id=who.team_id,
    )
    return count


async def find_term(db: Transaction, who: Principal, target: str, term: str) -> GlossaryTerm | None:
    return await db.one(
        GlossaryTerm,
        f"""
        SELECT {_TERM} FROM glossary_terms
         WHERE org_id = :org_id AND team_id = :team_id AND target = :target AND term = :term
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        target=target,
        term=term,
    )


async def list_caseless(db: Transaction, who: Principal, target: str, length: int) -> list[GlossaryTerm]:
    """The terms of a language in which case does not count, of so many characters."""
    return await db.all(
        GlossaryTerm,
        f"""
        SELECT {_TERM} FROM glossary_terms
         WHERE org_id = :org_id AND team_id = :team_id AND target = :target AND NOT case_sensitive AND length(term) = :length ORDER BY term
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        target=target,
        length=length,
    )


async def put_term(db: Transaction, who: Principal, id: UUID, draft: TermDraft) -> GlossaryTerm | None:
    return await db.one(
        GlossaryTerm,
        f"""
        INSERT INTO glossary_terms (id, org_id, team_id, target, term, translation, note, case_sensitive, changed_by)
        VALUES (:id, :org_id, :team_id, :target, :term, :translation, :note, :case_sensitive, :user_id)
        ON CONFLICT (team_id, target, term) DO UPDATE
          SET translation = excluded.translation, note = excluded.note, case_sensitive = excluded.case_sensitive,
              changed_by = excluded.changed_by, changed_at = now()
        RETURNING {_TERM}
        """,
        id=id,
        org_id=who.org_id,
        team_id=who.team_id,
        user_id=who.user_id,
        **msgspec.structs.asdict(draft),
    )


async def delete_term(db: Transaction, who: Principal, id: UUID) -> None:
    await db.run(
        "DELETE FROM glossary_terms WHERE org_id = :org_id AND team_id = :team_id AND id = :id",
        org_id=who.org_id,
        team_id=who.team_id,
        id=id,
    )


async def list_terms_for(db: Transaction, org_id: UUID, team_id: UUID, targets: Sequence[str]) -> list[GlossaryTerm]:
    """Every term of the team for one of these languages."""
    return await db.all(
        GlossaryTerm,
        f"SELECT {_TERM} FROM glossary_terms WHERE org_id = :org_id AND team_id = :team_id AND target = ANY(:targets)",
        org_id=org_id,
        team_id=team_id,
        targets=list(targets),
    )


@lru_cache(maxsize=8)
def _term_listing(*, after: bool, target: bool, search: bool) -> str:
    narrowed = " AND target = :target" if target else ""
    narrowed += " AND (term ILIKE :search OR translation ILIKE :search)" if search else ""
    narrowed += " AND (term, id) > (:after_term, :after_id)" if after else ""
    return f"""
      SELECT {_TERM} FROM glossary_terms WHERE org_id = :org_id AND team_id = :team_id{narrowed} ORDER BY term, id LIMIT :limit
    """


async def list_terms(
    db: Transaction,
    who: Principal,
    target: str | None,
    search: str | None,
    after: tuple[str, UUID] | None,
    limit: int,
) -> list[GlossaryTerm]:
    term, id = after or (None, None)
    return await db.all(
        GlossaryTerm,
        _term_listing(after=after is not None, target=target is not None, search=search is not None),
        org_id=who.org_id,
        team_id=who.team_id,
        target=target,
        search=search and contains_pattern(search),
        after_term=term,
        after_id=id,
        limit=limit,
    )
