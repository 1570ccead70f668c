"""SQL of texts: what was read, or is to be read, out of a version."""

from uuid import UUID

from atrium.engine.repository.model import Readable, Text
from atrium.kit.database import Transaction


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


async def insert_text(db: Transaction, org_id: UUID, object_id: UUID, version_id: UUID) -> None:
    await db.run(
        "INSERT INTO object_texts (version_id, org_id, object_id) VALUES (:version_id, :org_id, :object_id)",
        version_id=version_id,
        org_id=org_id,
        object_id=object_id,
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


async def finish_text(db: Transaction, org_id: UUID, version_id: UUID, found: Text) -> None:
    await db.run(
        """
        UPDATE object_texts SET state = :state, text = :text, truncated = :truncated, problem = :problem
         WHERE org_id = :org_id AND version_id = :version_id AND state IN ('waiting', 'running')
        """,
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
