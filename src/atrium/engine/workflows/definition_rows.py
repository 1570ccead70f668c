"""SQL of workflows' definitions."""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.workflows.model import STATES, RunState, WorkflowPublication
from atrium.kit.postgres.database import Transaction
from atrium.kit.web.pages import MOST_TEXT
from atrium.seams.context import Principal


class KnownRow(msgspec.Struct, frozen=True):
    """A version of a team's workflow, and which spec of a plugin the team has looked at."""

    slug: str
    version: int
    source: str
    plugin_digest: bytes | None
    created_by: UUID | None = None


class DefinitionRow(msgspec.Struct, frozen=True):
    """One version, and what is known of its workflow."""

    slug: str
    version: int
    source: str
    plugin_digest: bytes | None
    spec: dict[str, Any]
    created_by: UUID | None
    created_at: datetime


class SummaryRow(msgspec.Struct, frozen=True):
    """A workflow with the facts of its newest spec and its newest run, and whether it fits on a page."""

    slug: str
    version: int
    source: str
    title: str | None
    description: str | None
    inputs: dict[str, Any] | None
    steps: int
    run_id: UUID | None
    run_state: RunState | None
    run_created_at: datetime | None
    fits: bool


async def list_known(db: Transaction, who: Principal, slugs: list[str]) -> list[KnownRow]:
    return await db.all(
        KnownRow,
        """
        SELECT slug, version, source, plugin_digest FROM workflows
         WHERE org_id = :org_id AND team_id = :team_id AND slug = ANY (:slugs)
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        slugs=slugs,
    )


async def list_summaries(db: Transaction, who: Principal, after: str, limit: int) -> list[SummaryRow]:
    # The newest run of each state, each the first of its index, and of these the newest.
    return await db.all(
        SummaryRow,
        f"""
        SELECT w.slug, w.version, w.source, w.title, w.description, w.inputs, w.steps, r.id, r.state, r.created_at, w.before < {MOST_TEXT}
          FROM (
            SELECT p.*, coalesce(sum(p.size) OVER (ORDER BY p.slug ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before,
                   coalesce(sum(p.size) OVER (ORDER BY p.slug ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING), 0) AS earlier
              FROM (
                SELECT w.org_id, w.team_id, w.slug, w.version, w.source, v.spec ->> 'title' AS title,
                       v.spec ->> 'description' AS description, v.spec -> 'inputs' AS inputs,
                      jsonb_array_length(v.spec -> 'steps') AS steps,
                       octet_length(concat(v.spec -> 'description', v.spec -> 'inputs')) AS size
                  FROM workflows w
                  JOIN workflow_versions v
                    ON v.org_id = w.org_id AND v.team_id = w.team_id AND v.slug = w.slug AND v.version = w.version
                 WHERE w.org_id = :org_id AND w.team_id = :team_id AND w.slug > :after ORDER BY w.slug LIMIT :limit
              ) AS p
          ) AS w
          LEFT JOIN LATERAL (
            SELECT l.id, l.state, l.created_at FROM unnest(:states::text[]) AS s (state)
             CROSS JOIN LATERAL (
               SELECT n.id, n.state, n.created_at FROM runs n
                WHERE n.org_id = w.org_id AND n.team_id = w.team_id AND n.slug = w.slug AND n.state = s.state
                ORDER BY n.id DESC LIMIT 1
             ) AS l ORDER BY l.id DESC LIMIT 1
          ) AS r ON true
         WHERE w.earlier < {MOST_TEXT} ORDER BY w.slug
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        after=after,
        limit=limit,
        states=list(STATES),
    )


async def find_known(db: Transaction, who: Principal, slug: str, version: int | None) -> KnownRow | None:
    """A version of a workflow, the newest when none is named, without its spec."""
    return await db.one(
        KnownRow,
        """
        SELECT w.slug, v.version, w.source, w.plugin_digest, v.created_by
          FROM workflows w
          JOIN workflow_versions v ON v.org_id = w.org_id AND v.team_id = w.team_id AND v.slug = w.slug
         WHERE w.org_id = :org_id AND w.team_id = :team_id AND w.slug = :slug
           AND v.version = coalesce(:version::int, w.version)
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        slug=slug,
        version=version,
    )


async def find_definition(db: Transaction, who: Principal, slug: str, version: int | None) -> DefinitionRow | None:
    """One version of a workflow, the newest when none is named."""
    return await db.one(
        DefinitionRow,
        """
        SELECT w.slug, v.version, w.source, w.plugin_digest, v.spec, v.created_by, v.created_at
          FROM workflows w
          JOIN workflow_versions v ON v.org_id = w.org_id AND v.team_id = w.team_id AND v.slug = w.slug
         WHERE w.org_id = :org_id AND w.team_id = :team_id AND w.slug = :slug
           AND v.version = coalesce(:version::int, w.version)
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        slug=slug,
        version=version,
    )


async def hold_version(db: Transaction, who: Principal, slug: str, version: int) -> bool:
    """Keep a version from being removed until the transaction ends; False when it is gone."""
    held: int | None = await db.value(
        """
        SELECT version FROM workflow_versions
         WHERE org_id = :org_id AND team_id = :team_id AND slug = :slug AND version = :version FOR KEY SHARE
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        slug=slug,
        version=version,
    )
    return held is not None


async def list_companies_of_many(db: Transaction) -> list[UUID]:
    """Companies that may have a workflow with more versions than stay in any case; the number is the index's too.

    None that is leaving, of which nothing changes; and none at all on the day of the upgrade: processes of the last release do not
    hold the version that they start by its number.
    """
    rows = await db.rows(
        """
        SELECT DISTINCT w.org_id FROM workflows w
         WHERE w.version > 200 AND EXISTS (SELECT FROM orgs o WHERE o.id = w.org_id AND o.moving_at IS NULL)
           AND EXISTS (SELECT FROM schema_migrations m WHERE m.number = 101 AND m.applied_at < now() - interval '1 day')
        """
    )
    return [row[0] for row in rows]


async def lock_unnamed(db: Transaction, org_id: UUID, newest: int, limit: int) -> list[tuple[UUID, str, int]]:
    """Versions older than so many newest ones, followed for a day, that no run names; one that a run is about to name is passed over."""
    rows = await db.rows(
        """
        SELECT v.team_id, v.slug, v.version FROM workflows w
         CROSS JOIN LATERAL (
           SELECT k.version FROM workflow_versions k WHERE k.org_id = :org_id AND k.team_id = w.team_id AND k.slug = w.slug
            ORDER BY k.version DESC OFFSET :newest::int - 1 LIMIT 1
         ) AS oldest
          JOIN workflow_versions v ON v.org_id = :org_id AND v.team_id = w.team_id AND v.slug = w.slug AND v.version < oldest.version
         WHERE w.org_id = :org_id AND w.version > 200
           AND EXISTS (SELECT FROM workflow_versions f WHERE f.org_id = :org_id AND f.team_id = v.team_id AND f.slug = v.slug
                          AND f.version > v.version AND f.created_at < now() - interval '1 day')
           AND NOT EXISTS (SELECT FROM runs r WHERE r.org_id = :org_id AND r.team_id = v.team_id AND r.slug = v.slug
                              AND r.version = v.version)
         LIMIT :limit FOR UPDATE OF v SKIP LOCKED
        """,
        org_id=org_id,
        newest=newest,
        limit=limit,
    )
    return [(team_id, slug, version) for team_id, slug, version in rows]


async def delete_unnamed(db: Transaction, org_id: UUID, held: list[tuple[UUID, str, int]]) -> int:
    """Remove versions the caller has locked, but those that a run names since."""
    return await db.run(
        """
        DELETE FROM workflow_versions v
         USING unnest(:team_ids::uuid[], :slugs::text[], :versions::int[]) AS h (team_id, slug, version)
         WHERE v.org_id = :org_id AND v.team_id = h.team_id AND v.slug = h.slug AND v.version = h.version
           AND NOT EXISTS (SELECT FROM runs r WHERE r.org_id = :org_id AND r.team_id = h.team_id AND r.slug = h.slug
                              AND r.version = h.version)
        """,
        org_id=org_id,
        team_ids=[one[0] for one in held],
        slugs=[one[1] for one in held],
        versions=[one[2] for one in held],
    )


async def lock_version(db: Transaction, who: Principal, slug: str) -> int | None:
    """The newest version of a workflow, which cannot be followed by another one until the transaction ends."""
    found: int | None = await db.value(
        "SELECT version FROM workflows WHERE org_id = :org_id AND team_id = :team_id AND slug = :slug FOR UPDATE",
        org_id=who.org_id,
        team_id=who.team_id,
        slug=slug,
    )
    return found


async def list_publications(db: Transaction, who: Principal, slug: str, limit: int) -> list[WorkflowPublication]:
    return await db.all(
        WorkflowPublication,
        """
        SELECT version, created_by, created_at FROM workflow_versions
         WHERE org_id = :org_id AND team_id = :team_id AND slug = :slug ORDER BY version DESC LIMIT :limit
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        slug=slug,
        limit=limit,
    )


_LATER_VERSION = """
  UPDATE workflows SET version = version + 1, source = 'team', plugin_digest = :plugin_digest
   WHERE org_id = :org_id AND team_id = :team_id AND slug = :slug RETURNING version
"""
_FIRST_VERSION = """
  INSERT INTO workflows (org_id, team_id, slug, version, source, plugin_digest)
  VALUES (:org_id, :team_id, :slug, 1, 'team', :plugin_digest) ON CONFLICT DO NOTHING RETURNING version
"""


async def publish(
    db: Transaction, who: Principal, slug: str, spec: dict[str, Any], plugin_digest: bytes | None
) -> WorkflowPublication | None:
    """Store a team's own spec as the next version; the version inside it is the one that it gets."""
    # The table has two keys with the same columns: an upsert by one of them fails on the other beside a second writer.
    for next_version in (_LATER_VERSION, _FIRST_VERSION, _LATER_VERSION):
        published = await db.one(
            WorkflowPublication,
            f"""
            WITH next AS ({next_version})
            INSERT INTO workflow_versions (org_id, team_id, slug, version, spec, created_by)
            SELECT :org_id, :team_id, :slug, n.version, :spec::jsonb || jsonb_build_object('version', n.version), :user_id
              FROM next n RETURNING version, created_by, created_at
            """,
            org_id=who.org_id,
            team_id=who.team_id,
            user_id=who.user_id,
            slug=slug,
            spec=spec,
            plugin_digest=plugin_digest,
        )
        if published is not None:
            return published
    return None


async def insert_plugins(
    db: Transaction, who: Principal, slug: str, source: str, version: int, digest: bytes, spec: dict[str, Any]
) -> int:
    """Give a team a plugin's workflow; nothing when it has one of that slug by now."""
    return await db.run(
        """
        WITH made AS (
          INSERT INTO workflows AS w (org_id, team_id, slug, version, source, plugin_digest)
          VALUES (:org_id, :team_id, :slug, :version, :source, :digest)
          ON CONFLICT DO NOTHING RETURNING w.version
        )
        INSERT INTO workflow_versions (org_id, team_id, slug, version, spec)
        SELECT :org_id, :team_id, :slug, m.version, :spec::jsonb || jsonb_build_object('version', m.version) FROM made m
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        slug=slug,
        source=source,
        version=version,
        digest=digest,
        spec=spec,
    )


async def follow_plugin(
    db: Transaction, who: Principal, slug: str, source: str, version: int, digest: bytes, spec: dict[str, Any]
) -> int:
    """Make a plugin's other spec the next version of a workflow that the team has left to plugins; once, however many ask for it."""
    return await db.run(
        """
        WITH next AS (
          UPDATE workflows AS w SET version = greatest(w.version + 1, :version::int), source = :source, plugin_digest = :digest
           WHERE w.org_id = :org_id AND w.team_id = :team_id AND w.slug = :slug AND w.source <> 'team'
             AND w.plugin_digest IS DISTINCT FROM :digest::bytea
          RETURNING w.version
        )
        INSERT INTO workflow_versions (org_id, team_id, slug, version, spec)
        SELECT :org_id, :team_id, :slug, n.version, :spec::jsonb || jsonb_build_object('version', n.version) FROM next n
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        slug=slug,
        source=source,
        version=version,
        digest=digest,
        spec=spec,
    )


async def is_accepted(db: Transaction, who: Principal, slug: str, digest: str) -> bool:
    found: bool = await db.value(
        """
        SELECT EXISTS (SELECT FROM workflow_reviews WHERE org_id = :org_id AND team_id = :team_id AND slug = :slug
                          AND user_id = :user_id AND digest = :digest)
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        slug=slug,
        user_id=who.user_id,
        digest=digest,
    )
    return found


async def insert_review(db: Transaction, who: Principal, slug: str, digest: str) -> None:
    await db.run(
        """
        INSERT INTO workflow_reviews (team_id, slug, user_id, digest, org_id) VALUES (:team_id, :slug, :user_id, :digest, :org_id)
        ON CONFLICT DO NOTHING
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        slug=slug,
        user_id=who.user_id,
        digest=digest,
    )


async def count_kept(db: Transaction, org_id: UUID) -> dict[UUID, int]:
    """How many bytes of specs are there, by team."""
    rows = await db.rows(
        """
        SELECT team_id, sum(octet_length(spec::text)) FROM workflow_versions WHERE org_id = :org_id GROUP BY team_id
        """,
        org_id=org_id,
    )
    return {team_id: int(size) for team_id, size in rows}
