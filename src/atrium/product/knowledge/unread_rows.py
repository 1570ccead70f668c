"""SQL of documents that were not read yet."""

from uuid import UUID

from atrium.engine.repository.model import OBJECTS
from atrium.ground.sharing import rule
from atrium.kit.postgres.database import Transaction
from atrium.product.knowledge.entity_rows import READABLE
from atrium.product.knowledge.model import MOST_REFUSALS, Unread, VersionRead
from atrium.seams.context import Principal

# Reasons that the next extraction does away with.
READ_NEXT = ("new", "changed", "refused", "text_waiting")
_REASON = f"""
  CASE WHEN t.state = 'failed' OR (t.state = 'done' AND t.text = '') THEN 'no_text'
       WHEN NOT {rule.allowed(OBJECTS, "o", "write")} THEN 'not_writable'
       WHEN f.refusals >= {MOST_REFUSALS} THEN 'waits'
       WHEN f.refusals > 0 THEN 'refused'
       WHEN t.state <> 'done' THEN 'text_waiting'
       WHEN s.object_id IS NOT NULL THEN 'changed'
       ELSE 'new' END
"""


async def list_unread(
    db: Transaction, who: Principal, after: UUID | None, limit: int, reasons: tuple[str, ...] = ()
) -> list[Unread]:
    """Documents of the caller's team, oldest first; with `reasons` those alone."""
    rows = await db.rows(
        f"""
        SELECT u.id, u.key, u.version_id, u.number, u.reason FROM (
          SELECT o.id, o.key, v.id AS version_id, v.number, {_REASON} AS reason
            FROM {READABLE} AS o JOIN object_versions v ON v.org_id = :org_id AND v.id = o.version_id
            JOIN object_texts t ON t.org_id = :org_id AND t.version_id = o.version_id
            LEFT JOIN knowledge_shares s ON s.org_id = :org_id AND s.object_id = o.id
            LEFT JOIN knowledge_refusals f ON f.org_id = :org_id AND f.object_id = o.id AND f.version_id = o.version_id
           WHERE o.team_id = :team_id AND s.version_id IS DISTINCT FROM o.version_id {"AND o.id > :after" if after else ""}
        ) AS u {"WHERE u.reason = ANY(:reasons)" if reasons else ""} ORDER BY u.id LIMIT :limit
        """,
        after=after,
        limit=limit,
        reasons=list(reasons),
        **rule.reader(who, OBJECTS),
        **rule.actor(who, OBJECTS, "write"),
    )
    return [Unread(id, key, VersionRead(version_id, number), reason) for id, key, version_id, number, reason in rows]
