"""SQL of texts: what was read, or is to be read, out of a version."""

from uuid import UUID

from atrium.engine.repository.model import FoundObject, Readable, Text
from atrium.engine.repository.store import JOINED, READABLE, reader
from atrium.kit.postgres.database import Transaction
from atrium.seams.context import Principal

# A text is looked for in so many versions of an object.
_LATEST = 50
# The oldest of those noted as unread, each looked at once more.
_UNREAD = f"""
  SELECT o.id FROM unread_objects u JOIN objects o ON o.id = u.object_id AND o.version_id = u.version_id
   WHERE u.org_id = :org_id AND u.team_id = :team_id AND NOT o.deleted AND {READABLE}
     AND NOT EXISTS (SELECT FROM object_texts t WHERE t.org_id = :org_id AND t.version_id = o.version_id)
     {{behind}} ORDER BY u.written_at, u.object_id LIMIT :most
"""
UNREAD = _UNREAD.format(behind="")
_UNREAD_BEHIND = _UNREAD.format(
    behind="""
     AND (u.written_at, u.object_id) > (SELECT b.written_at, b.object_id FROM unread_objects b
                                         WHERE b.org_id = :org_id AND b.object_id = :after)"""
)


def topic_of(version_id: UUID) -> str:
    """What wakes those who wait for the text of a version."""
    return f"text {version_id}"


async def find_text(db: Transaction, org_id: UUID, version_id: UUID, characters: int) -> Text | None:
    return await db.one(
        Text,
        """
        SELECT state, left(text, :characters), length(text), truncated, problem FROM object_texts
         WHERE org_id = :org_id AND version_id = :version_id
        """,
        org_id=org_id,
        version_id=version_id,
        characters=characters,
    )


async def await_text(db: Transaction, org_id: UUID, object_id: UUID, version_id: UUID) -> bool:
    """Whether a text is awaited now that was not before."""
    return bool(
        await db.run(
            """
            WITH noted AS (DELETE FROM unread_objects WHERE org_id = :org_id AND object_id = :object_id AND version_id = :version_id)
            INSERT INTO object_texts (version_id, org_id, object_id) VALUES (:version_id, :org_id, :object_id)
            ON CONFLICT (version_id) DO UPDATE SET state = 'waiting', problem = NULL WHERE object_texts.state = 'failed'
            """,
            version_id=version_id,
            org_id=org_id,
            object_id=object_id,
        )
    )


async def insert_text(db: Transaction, org_id: UUID, object_id: UUID, version_id: UUID, found: Text) -> None:
    """The text of a version that was written just now: nothing awaits it."""
    await db.run(
        """
        INSERT INTO object_texts (version_id, org_id, object_id, state, text, truncated)
        VALUES (:version_id, :org_id, :object_id, :state, :text, :truncated)
        """,
        version_id=version_id,
        org_id=org_id,
        object_id=object_id,
        state=found.state,
        text=found.text,
        truncated=found.truncated,
    )


async def begin_text(db: Transaction, org_id: UUID, version_id: UUID) -> Readable | None:
    """None when the version is gone, or its text is there."""
    return await db.one(
        Readable,
        """
        UPDATE object_texts t SET state = 'running' FROM object_versions v
         WHERE t.org_id = :org_id AND t.version_id = :version_id AND v.id = t.version_id AND v.org_id = :org_id
           AND t.state IN ('waiting', 'running')
        RETURNING v.sha256, v.size, v.content_type, v.filename
        """,
        org_id=org_id,
        version_id=version_id,
    )


async def lock_object_of(db: Transaction, org_id: UUID, version_id: UUID) -> UUID | None:
    """The object of a version whose text is awaited, locked before the text is: in the order of those who delete both."""
    found: UUID | None = await db.value(
        """
        SELECT o.id FROM objects o WHERE o.org_id = :org_id
           AND o.id = (SELECT object_id FROM object_texts WHERE org_id = :org_id AND version_id = :version_id)
        FOR NO KEY UPDATE OF o
        """,
        org_id=org_id,
        version_id=version_id,
    )
    return found


async def list_by_ids(db: Transaction, who: Principal, ids: list[UUID], characters: int) -> dict[UUID, FoundObject]:
    found = await db.all(
        FoundObject,
        f"""
        SELECT o.id, o.team_id, o.owner_id, o.key, o.visibility, o.document,
               coalesce(CASE WHEN o.document THEN v.metadata->>'title' END, v.filename), v.content_type, o.updated_at,
               coalesce((SELECT left(t.text, :characters) FROM object_texts t
                          WHERE t.org_id = :org_id AND t.version_id = v.id AND t.state = 'done'), '')
          FROM {JOINED} WHERE o.id = ANY(:ids) AND NOT o.deleted AND {READABLE}
        """,
        ids=ids,
        characters=characters,
        **reader(who),
    )
    return {one.id: one for one in found}


async def finish_text(db: Transaction, org_id: UUID, version_id: UUID, found: Text) -> None:
    await db.run(
        """
        WITH ended AS (
          UPDATE object_texts SET state = :state, text = :text, truncated = :truncated, problem = :problem
           WHERE org_id = :org_id AND version_id = :version_id AND state IN ('waiting', 'running') RETURNING version_id)
        SELECT pg_notify('atrium_jobs', :topic) FROM ended
        """,
        topic=topic_of(version_id),
        org_id=org_id,
        version_id=version_id,
        state=found.state,
        text=found.text,
        truncated=found.truncated,
        problem=found.problem,
    )


async def list_owners(db: Transaction, org_id: UUID, version_ids: list[UUID]) -> dict[UUID, UUID]:
    """Who owns the object of each version whose text is not there yet."""
    rows = await db.rows(
        """
        SELECT t.version_id, o.owner_id FROM object_texts t JOIN objects o ON o.org_id = :org_id AND o.id = t.object_id
         WHERE t.org_id = :org_id AND t.version_id = ANY(:version_ids) AND t.state IN ('waiting', 'running')
        """,
        org_id=org_id,
        version_ids=version_ids,
    )
    return {row[0]: row[1] for row in rows}


async def find_version_with(db: Transaction, org_id: UUID, object_id: UUID, text: str) -> UUID | None:
    found: UUID | None = await db.value(
        """
        SELECT t.version_id FROM (
          SELECT id, number FROM object_versions WHERE org_id = :org_id AND object_id = :object_id
           ORDER BY number DESC LIMIT :latest) v
          JOIN object_texts t ON t.org_id = :org_id AND t.version_id = v.id AND t.state = 'done'
         WHERE left(t.text, length(:text)) = :text ORDER BY v.number DESC LIMIT 1
        """,
        org_id=org_id,
        object_id=object_id,
        text=text,
        latest=_LATEST,
    )
    return found


async def list_unread(db: Transaction, who: Principal, after: UUID | None, most: int) -> list[UUID]:
    rows = await db.rows(UNREAD if after is None else _UNREAD_BEHIND, after=after, most=most, **reader(who))
    return [row[0] for row in rows]
