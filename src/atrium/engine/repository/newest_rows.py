"""SQL of the newest versions, and of keys by id."""

from collections.abc import Collection
from uuid import UUID

from atrium.engine.repository.model import Version, WrittenVersion
from atrium.engine.repository.store import JOINED, OBJECT, OF_OBJECT, READABLE, VERSION, object_of, reader
from atrium.kit.postgres.database import Transaction
from atrium.seams.context import Principal

# No more of a company's newest versions are looked at, however few of them a person can read.
WALKED = 10_000
_CHOSEN = VERSION.replace("v.", "w.")
_WIDTH = OF_OBJECT + 11


async def list_keys(db: Transaction, who: Principal, ids: Collection[UUID]) -> dict[UUID, str]:
    rows = await db.rows(
        f"SELECT o.id, o.key FROM objects o WHERE o.id = ANY(:ids) AND {READABLE}", ids=list(ids), **reader(who)
    )
    return dict(rows)


async def list_newest(db: Transaction, who: Principal, object_id: UUID | None, limit: int) -> list[WrittenVersion]:
    """Versions with content of the team's objects that the caller can read, newest first; of all, or of one object."""
    of_one = "AND object_id = :object_id" if object_id is not None else ""
    rows = await db.rows(
        f"""
        SELECT {OBJECT}, {_CHOSEN}, d.run_id, d.version_id IS NOT NULL
          FROM (SELECT * FROM object_versions WHERE org_id = :org_id AND NOT delete_marker {of_one} ORDER BY id DESC LIMIT {WALKED}) AS w
          JOIN ({JOINED}) ON o.id = w.object_id
          LEFT JOIN LATERAL (SELECT version_id, run_id FROM derivations WHERE org_id = :org_id AND version_id = w.id LIMIT 1) AS d ON true
         WHERE o.team_id = :team_id AND NOT o.deleted AND {READABLE} ORDER BY w.id DESC LIMIT :limit
        """,
        object_id=object_id,
        limit=limit,
        **reader(who),
    )
    return [WrittenVersion(object_of(row[:_WIDTH]), Version(*row[_WIDTH:-2]), row[-1], row[-2]) for row in rows]
