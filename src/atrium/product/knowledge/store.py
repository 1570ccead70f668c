"""SQL that writes the graph: shares, refusals, merges. What readers see of it is in `entity_rows`."""

from uuid import UUID

from atrium.kit.postgres.database import Transaction
from atrium.product.knowledge.model import Contribution, ExtractionResult, Merge
from atrium.seams.context import Principal

_MERGE = "g.id, g.keep_id, g.drop_id, g.head_id, g.merged_by, u.username, g.merged_at"


async def find_salt(db: Transaction, org_id: UUID, team_id: UUID) -> UUID | None:
    found: UUID | None = await db.value(
        "SELECT salt FROM knowledge_salts WHERE org_id = :org_id AND team_id = :team_id", org_id=org_id, team_id=team_id
    )
    return found


async def insert_salt(db: Transaction, org_id: UUID, team_id: UUID) -> None:
    await db.run(
        "INSERT INTO knowledge_salts (team_id, org_id) VALUES (:team_id, :org_id) ON CONFLICT (team_id) DO NOTHING",
        org_id=org_id,
        team_id=team_id,
    )


async def find_share(db: Transaction, org_id: UUID, object_id: UUID, version_id: UUID) -> ExtractionResult | None:
    return await db.one(
        ExtractionResult,
        """
        SELECT object_id, version_id, entities, relations FROM knowledge_shares
         WHERE org_id = :org_id AND object_id = :object_id AND version_id = :version_id
        """,
        org_id=org_id,
        object_id=object_id,
        version_id=version_id,
    )


async def delete_share(db: Transaction, org_id: UUID, object_id: UUID) -> None:
    """Delete what an object contributes, mentions and relations with it, and what was refused about it."""
    await db.run(
        "DELETE FROM knowledge_shares WHERE org_id = :org_id AND object_id = :object_id",
        org_id=org_id,
        object_id=object_id,
    )
    await db.run(
        "DELETE FROM knowledge_refusals WHERE org_id = :org_id AND object_id = :object_id",
        org_id=org_id,
        object_id=object_id,
    )


async def insert_share(db: Transaction, org_id: UUID, kept: ExtractionResult) -> None:
    await db.run(
        """
        INSERT INTO knowledge_shares (object_id, org_id, version_id, entities, relations)
        VALUES (:object_id, :org_id, :version_id, :entities, :relations)
        """,
        org_id=org_id,
        object_id=kept.object_id,
        version_id=kept.version_id,
        entities=kept.entities,
        relations=kept.relations,
    )


async def insert_mentions(db: Transaction, org_id: UUID, share: Contribution) -> None:
    await db.run(
        """
        INSERT INTO knowledge_mentions (object_id, entity_id, at, org_id, version_id, type, name, folded, quote)
        SELECT :object_id, n.entity_id, n.at, :org_id, :version_id, n.type, n.name, n.folded, n.quote
          FROM unnest(:entities::uuid[], :places::int[], :types::text[], :names::text[], :folded::text[], :quotes::text[])
            AS n (entity_id, at, type, name, folded, quote)
        """,
        org_id=org_id,
        object_id=share.object_id,
        version_id=share.version_id,
        entities=[one.entity_id for one in share.mentions],
        places=[one.at for one in share.mentions],
        types=[one.type for one in share.mentions],
        names=[one.name for one in share.mentions],
        folded=[one.folded for one in share.mentions],
        quotes=[one.quote for one in share.mentions],
    )


async def insert_relations(db: Transaction, org_id: UUID, share: Contribution) -> None:
    await db.run(
        """
        INSERT INTO knowledge_relations (object_id, from_id, to_id, type, at, org_id, version_id, quote)
        SELECT :object_id, n.from_id, n.to_id, n.type, n.at, :org_id, :version_id, n.quote
          FROM unnest(:froms::uuid[], :tos::uuid[], :types::text[], :places::int[], :quotes::text[])
            AS n (from_id, to_id, type, at, quote)
        """,
        org_id=org_id,
        object_id=share.object_id,
        version_id=share.version_id,
        froms=[one.from_id for one in share.relations],
        tos=[one.to_id for one in share.relations],
        types=[one.type for one in share.relations],
        places=[one.at for one in share.relations],
        quotes=[one.quote for one in share.relations],
    )


async def count_refusals(db: Transaction, org_id: UUID, object_id: UUID, version_id: UUID) -> int:
    return (
        await db.value(
            """
            SELECT refusals FROM knowledge_refusals
             WHERE org_id = :org_id AND object_id = :object_id AND version_id = :version_id
            """,
            org_id=org_id,
            object_id=object_id,
            version_id=version_id,
        )
        or 0
    )


async def add_refusal(db: Transaction, org_id: UUID, object_id: UUID, version_id: UUID) -> None:
    """One more of this version; those of another one are forgotten."""
    await db.run(
        """
        INSERT INTO knowledge_refusals AS f (object_id, org_id, version_id, refusals) VALUES (:object_id, :org_id, :version_id, 1)
        ON CONFLICT (object_id) DO UPDATE SET version_id = excluded.version_id,
          refusals = CASE WHEN f.version_id = excluded.version_id THEN f.refusals + 1 ELSE 1 END
        """,
        org_id=org_id,
        object_id=object_id,
        version_id=version_id,
    )


async def lock_team(db: Transaction, team_id: UUID) -> None:
    """Let merges of a team, and starts of its extraction, follow one another."""
    await db.value("SELECT pg_advisory_xact_lock(hashtextextended('knowledge ' || :team_id, 0))", team_id=str(team_id))


async def insert_merge(db: Transaction, who: Principal, id: UUID, keep_id: UUID, drop_id: UUID) -> None:
    """Drop one root into another, with all that is below it."""
    await db.run(
        """
        UPDATE knowledge_merges SET head_id = :keep_id
         WHERE org_id = :org_id AND team_id = :team_id AND head_id = :drop_id
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        keep_id=keep_id,
        drop_id=drop_id,
    )
    await db.run(
        """
        INSERT INTO knowledge_merges (id, org_id, team_id, keep_id, drop_id, head_id, merged_by)
        VALUES (:id, :org_id, :team_id, :keep_id, :drop_id, :keep_id, :user_id)
        """,
        id=id,
        org_id=who.org_id,
        team_id=who.team_id,
        keep_id=keep_id,
        drop_id=drop_id,
        user_id=who.user_id,
    )


async def find_merge(db: Transaction, who: Principal, id: UUID) -> Merge | None:
    return await db.one(
        Merge,
        f"""
        SELECT {_MERGE} FROM knowledge_merges g LEFT JOIN users u ON u.org_id = :org_id AND u.id = g.merged_by
         WHERE g.org_id = :org_id AND g.team_id = :team_id AND g.id = :id
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        id=id,
    )


async def delete_merge(db: Transaction, who: Principal, merge: Merge) -> None:
    """Take one apart again: what was dropped is the root of all that was below it."""
    await db.run(
        "DELETE FROM knowledge_merges WHERE org_id = :org_id AND team_id = :team_id AND id = :id",
        org_id=who.org_id,
        team_id=who.team_id,
        id=merge.id,
    )
    await db.run(
        """
        WITH RECURSIVE below AS (
          SELECT g.drop_id FROM knowledge_merges g WHERE g.org_id = :org_id AND g.keep_id = :drop_id
          UNION
          SELECT g.drop_id FROM below b JOIN knowledge_merges g ON g.org_id = :org_id AND g.keep_id = b.drop_id
        )
        UPDATE knowledge_merges SET head_id = :drop_id
         WHERE org_id = :org_id AND team_id = :team_id AND drop_id IN (SELECT b.drop_id FROM below b)
        """,
        org_id=who.org_id,
        team_id=who.team_id,
        drop_id=merge.drop_id,
    )


async def list_merges(db: Transaction, org_id: UUID, head_id: UUID, limit: int) -> list[Merge]:
    """What was merged below a root, newest first."""
    return await db.all(
        Merge,
        f"""
        SELECT {_MERGE} FROM knowledge_merges g LEFT JOIN users u ON u.org_id = :org_id AND u.id = g.merged_by
         WHERE g.org_id = :org_id AND g.head_id = :head_id ORDER BY g.merged_at DESC, g.id LIMIT :limit
        """,
        org_id=org_id,
        head_id=head_id,
        limit=limit,
    )


async def find_head(db: Transaction, org_id: UUID, entity_id: UUID) -> UUID | None:
    """The root that an entity was merged into; None while it is one itself."""
    found: UUID | None = await db.value(
        "SELECT head_id FROM knowledge_merges WHERE org_id = :org_id AND drop_id = :entity_id",
        org_id=org_id,
        entity_id=entity_id,
    )
    return found


async def list_members(db: Transaction, org_id: UUID, heads: list[UUID]) -> list[UUID]:
    """Roots with everything that was merged into them."""
    rows = await db.rows(
        "SELECT drop_id FROM knowledge_merges WHERE org_id = :org_id AND head_id = ANY(:heads)",
        org_id=org_id,
        heads=heads,
    )
    return [*heads, *(row[0] for row in rows)]
