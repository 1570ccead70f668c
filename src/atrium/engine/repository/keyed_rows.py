"""SQL of the repository as gateways see it: by key, every version, and what was left with each."""

from typing import Any
from uuid import UUID

from atrium.engine.repository.model import ObjectAtKey, StoredObject, Version
from atrium.engine.repository.store import AT_KEY, JOINED, OBJECT, OF_OBJECT, READABLE, VERSION, object_of, reader
from atrium.kit.postgres.database import Transaction
from atrium.seams.context import Principal

_CHOSEN = VERSION.replace("v.", "w.")
_WIDTH = OF_OBJECT + 11


async def find_at(
    db: Transaction, who: Principal, key: str, version_id: UUID | None = None, *, lock: bool = False
) -> ObjectAtKey | None:
    """What the caller can read at a key: its current version, or the one named."""
    if lock:
        await db.run(
            f"SELECT FROM objects WHERE {AT_KEY} FOR UPDATE",
            org_id=who.org_id,
            team_id=who.team_id,
            key=key,
        )
    at = f"o.team_id = :team_id AND o.key = :key AND {READABLE}"
    if version_id is None:
        rows = await db.rows(f"SELECT {OBJECT}, v.attributes FROM {JOINED} WHERE {at}", key=key, **reader(who))
    else:
        rows = await db.rows(
            f"""
            SELECT {OBJECT}, {_CHOSEN}, w.attributes FROM {JOINED}
              JOIN object_versions w ON w.org_id = :org_id AND w.object_id = o.id AND w.id = :version_id WHERE {at}
            """,
            key=key,
            version_id=version_id,
            **reader(who),
        )
    return _keyed(rows[0]) if rows else None


async def set_attributes(db: Transaction, org_id: UUID, version_id: UUID, attributes: dict[str, Any]) -> None:
    await db.run(
        "UPDATE object_versions SET attributes = :attributes WHERE org_id = :org_id AND id = :id",
        org_id=org_id,
        id=version_id,
        attributes=attributes,
    )


async def list_versions(
    db: Transaction, who: Principal, prefix: str, before: str | None, after: tuple[str, int], limit: int
) -> list[tuple[StoredObject, Version]]:
    """Every version the caller can read, by key, newest first; from behind `after`, a key and a version's number."""
    ended = "AND o.key < :before" if before is not None else ""
    rows = await db.rows(
        f"""
        SELECT {OBJECT}, {_CHOSEN} FROM objects o JOIN object_versions v ON v.id = o.version_id
          JOIN object_versions w ON w.org_id = :org_id AND w.object_id = o.id
         WHERE o.team_id = :team_id AND o.key >= :prefix {ended} AND o.key >= :after_key
           AND (o.key > :after_key OR w.number < :after_number) AND {READABLE}
         ORDER BY o.key, w.number DESC LIMIT :limit
        """,
        prefix=prefix,
        before=before,
        after_key=after[0],
        after_number=after[1],
        limit=limit,
        **reader(who),
    )
    return [(object_of(row[:_WIDTH]), Version(*row[_WIDTH:])) for row in rows]


async def exists_below(db: Transaction, org_id: UUID, team_id: UUID, prefix: str, before: str) -> bool:
    """Whether any key begins with a prefix, delete markers included, regardless of who may see it; objects in the trash hold no keys."""
    return bool(
        await db.value(
            """
            SELECT EXISTS (SELECT FROM objects WHERE org_id = :org_id AND team_id = :team_id AND key >= :prefix AND key < :before
                              AND trashed_at IS NULL)
            """,
            org_id=org_id,
            team_id=team_id,
            prefix=prefix,
            before=before,
        )
    )


def _keyed(row: tuple[Any, ...]) -> ObjectAtKey:
    found = object_of(row[:_WIDTH])
    chosen = found.version if len(row) == _WIDTH + 1 else Version(*row[_WIDTH:-1])
    return ObjectAtKey(found, chosen, row[-1])
