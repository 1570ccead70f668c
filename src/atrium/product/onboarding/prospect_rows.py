"""SQL of prospects and of the proofs they spent."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from atrium.kit.postgres.database import Transaction
from atrium.kit.web.pages import MOST_TEXT
from atrium.product.onboarding.model import (
    Author,
    Decision,
    DecisionMade,
    Prospect,
    ProspectState,
    ProspectVerdict,
    Signal,
)
from atrium.product.onboarding.proof import MOST_DOUBLINGS, USUAL_AN_HOUR

# Answers that a person sends again, up to so many.
MOST_LATER = 5
# More of one network within an hour are counted no further; the work does not grow beyond that either.
_COUNTED = USUAL_AN_HOUR * (MOST_DOUBLINGS + 1)
_PROSPECT = """p.id, p.fields, p.later, p.locale, p.state, p.signals, p.gate, p.judge, p.judgement, p.submissions, p.created_at,
               p.decided_by, u.username, p.decided_at, p.note"""
_LATELY = f"""(SELECT count(*) FROM (SELECT FROM onboarding_proofs WHERE org_id = :org_id AND network = :network
                AND spent_at > now() - interval '1 hour' LIMIT {_COUNTED}) AS counted)"""
# One statement spends the proof and keeps the person: neither happens without the other, and of two with one proof or one address
# the second finds what the first wrote. Whether the person was known is not told to the sender. Without MATERIALIZED the count is made
# once for each place that uses it.
KEEP = f"""
WITH spent AS (
  INSERT INTO onboarding_proofs (org_id, digest, network)
  SELECT o.id, :digest::bytea, :network::bytea FROM orgs o, instance i
   WHERE o.id = :org_id AND o.suspended_at IS NULL AND i.suspended_at IS NULL
  ON CONFLICT (org_id, digest) DO NOTHING RETURNING 1
), lately AS MATERIALIZED (
  SELECT {_LATELY} AS many FROM spent
)
INSERT INTO prospects AS p (id, org_id, address, version, fields, words, locale, signals, gate)
SELECT :id, :org_id, :address, :version, :fields, :words, :locale,
       CASE WHEN many < {USUAL_AN_HOUR} THEN :signals::jsonb
            ELSE :signals::jsonb || jsonb_build_array(jsonb_build_object('name', 'address_burst', 'value', many + 1)) END,
       CASE WHEN many < {USUAL_AN_HOUR} THEN :gate::text ELSE 'suspect' END
  FROM lately
ON CONFLICT (org_id, address) DO UPDATE SET submissions = p.submissions + 1,
  later = CASE WHEN jsonb_array_length(p.later) < {MOST_LATER} THEN p.later || jsonb_build_array(excluded.fields) ELSE p.later END
RETURNING p.id
"""


class NewProspect(msgspec.Struct, frozen=True, kw_only=True):
    """A sign-up that holds."""

    id: UUID
    address: bytes
    digest: bytes
    network: bytes
    version: int
    fields: dict[str, Any]
    words: str
    locale: str
    signals: list[dict[str, Any]]
    gate: str


class Judged(msgspec.Struct, frozen=True):
    """What the judge needs of a prospect."""

    version: int
    fields: dict[str, Any]
    judged: bool


async def keep_prospect(db: Transaction, org_id: UUID, new: NewProspect) -> UUID | None:
    """Spend the proof and keep the person, in one statement; whose row it is now.

    None when the proof was spent before, or nothing is written because the company or the whole tenant is suspended.
    """
    found: UUID | None = await db.value(KEEP, org_id=org_id, **msgspec.structs.asdict(new))
    return found


async def is_suspended(db: Transaction, org_id: UUID) -> bool:
    return bool(
        await db.value(
            "SELECT o.suspended_at IS NOT NULL OR i.suspended_at IS NOT NULL FROM orgs o, instance i WHERE o.id = :org_id",
            org_id=org_id,
        )
    )


async def count_lately(db: Transaction, org_id: UUID, network: bytes) -> int:
    """How many signed up from a network within an hour."""
    return int(await db.value(f"SELECT {_LATELY}", org_id=org_id, network=network))


async def list_prospects(
    db: Transaction,
    org_id: UUID,
    state: ProspectState | None,
    verdict: str | None,
    pattern: str | None,
    before: UUID | None,
    limit: int,
) -> tuple[list[Prospect], int]:
    """Prospects, and how many of them fit on a page; what is behind the first that does not is not even read."""
    rows = await db.rows(
        f"""
        SELECT {_PROSPECT}, p.preceding < {MOST_TEXT} FROM (
          SELECT t.*, coalesce(sum(size) OVER (ORDER BY id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS preceding,
                 coalesce(sum(size) OVER (ORDER BY id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING), 0) AS earlier
            FROM (
              SELECT p.*, octet_length(p.fields::text) + octet_length(p.later::text) AS size FROM prospects p
               WHERE p.org_id = :org_id AND (:state::text IS NULL OR p.state = :state::text)
                 AND (:verdict::text IS NULL OR p.gate = :verdict::text OR p.judge = :verdict::text)
                 AND (:pattern::text IS NULL OR p.words LIKE :pattern::text)
                 AND (:before::uuid IS NULL OR p.id < :before::uuid)
               ORDER BY p.id DESC LIMIT :limit
            ) AS t
        ) AS p LEFT JOIN users u ON u.org_id = p.org_id AND u.id = p.decided_by
         WHERE p.earlier < {MOST_TEXT} ORDER BY p.id DESC
        """,
        org_id=org_id,
        state=state,
        verdict=verdict,
        pattern=pattern,
        before=before,
        limit=limit,
    )
    return [_prospect_of(row[:-1]) for row in rows], sum(row[-1] for row in rows)


async def find_prospect(db: Transaction, org_id: UUID, id: UUID) -> Prospect | None:
    rows = await db.rows(
        f"""
        SELECT {_PROSPECT} FROM prospects p LEFT JOIN users u ON u.org_id = p.org_id AND u.id = p.decided_by
         WHERE p.org_id = :org_id AND p.id = :id
        """,
        org_id=org_id,
        id=id,
    )
    return _prospect_of(rows[0]) if rows else None


async def decide(
    db: Transaction, org_id: UUID, id: UUID, user_id: UUID, state: ProspectState, note: str | None
) -> bool:
    """Decide about a prospect that waits for a decision; true for exactly one caller."""
    return bool(
        await db.run(
            """
            UPDATE prospects SET state = :state, decided_by = :user_id, decided_at = now(), note = :note
             WHERE org_id = :org_id AND id = :id AND state = 'captured'
            """,
            org_id=org_id,
            id=id,
            user_id=user_id,
            state=state,
            note=note,
        )
    )


async def find_judged(db: Transaction, org_id: UUID, id: UUID) -> Judged | None:
    return await db.one(
        Judged,
        "SELECT version, fields, judgement IS NOT NULL FROM prospects WHERE org_id = :org_id AND id = :id",
        org_id=org_id,
        id=id,
    )


async def keep_judgement(
    db: Transaction, org_id: UUID, id: UUID, verdict: str | None, judgement: dict[str, Any]
) -> bool:
    """Keep what the judge says, once."""
    return bool(
        await db.run(
            """
            UPDATE prospects SET judge = :verdict, judgement = :judgement::jsonb || jsonb_build_object('at', now())
             WHERE org_id = :org_id AND id = :id AND judgement IS NULL
            """,
            org_id=org_id,
            id=id,
            verdict=verdict,
            judgement=judgement,
        )
    )


async def forget_proofs(db: Transaction, org_id: UUID, age: timedelta, most: int) -> int:
    return await db.run(
        """
        DELETE FROM onboarding_proofs WHERE org_id = :org_id AND digest IN (
          SELECT digest FROM onboarding_proofs WHERE org_id = :org_id AND spent_at < now() - :age::interval LIMIT :most)
        """,
        org_id=org_id,
        age=age,
        most=most,
    )


async def forget_declined(db: Transaction, org_id: UUID, age: timedelta, most: int) -> int:
    return await db.run(
        """
        DELETE FROM prospects WHERE org_id = :org_id AND id IN (
          SELECT id FROM prospects WHERE org_id = :org_id AND state = 'declined' AND decided_at < now() - :age::interval
           ORDER BY decided_at LIMIT :most)
        """,
        org_id=org_id,
        age=age,
        most=most,
    )


def _prospect_of(row: tuple[Any, ...]) -> Prospect:
    id, fields, later, locale, state, signals, gate, judge, judgement, submissions, created_at, *made = row
    decided_by, username, decided_at, note = made
    found = msgspec.convert(signals, list[Signal])
    if submissions > 1:
        found.append(Signal("repeated", submissions))
    verdicts = [_gate_verdict(gate, found, created_at)]
    if judgement is not None:
        verdicts.append(
            msgspec.convert(
                {"by": "judge", "verdict": judge, "score": None, "model": None, **judgement}, ProspectVerdict
            )
        )
    decision: Decision = "accept" if state == "accepted" else "decline"
    return Prospect(
        id=id,
        fields=fields,
        later=later,
        locale=locale,
        state=state,
        signals=found,
        verdicts=verdicts,
        submissions=submissions,
        created_at=created_at,
        decided=None if decided_at is None else DecisionMade(decision, Author(decided_by, username), decided_at, note),
    )


def _gate_verdict(gate: Any, signals: list[Signal], at: Any) -> ProspectVerdict:
    return ProspectVerdict(
        by="gate", verdict=gate, score=None, reasons=[one.name for one in signals], model=None, at=at
    )
