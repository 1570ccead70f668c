"""SQL of moving: keys change in one statement each, so that no reader sees half of a folder here and half of it there."""

from uuid import UUID

import msgspec

from atrium.engine.repository.model import OBJECTS
from atrium.engine.repository.object_keys import after_all_with
from atrium.engine.repository.store import READABLE, reader
from atrium.ground.sharing import rule
from atrium.kit.postgres.database import Transaction
from atrium.seams.context import Principal


class Held(msgspec.Struct, frozen=True):
    """An object of a folder, and whether the caller may move it."""

    id: UUID
    key: str
    writable: bool


async def move_object(db: Transaction, org_id: UUID, id: UUID, key: str) -> bool:
    """False when the key is taken."""
    return await db.run_unless_taken(
        f"""
        WITH moved AS (UPDATE objects SET key = :key, revision = revision + 1 WHERE org_id = :org_id AND id = :id RETURNING id, key)
        {rule.following(OBJECTS)}
        """,
        org_id=org_id,
        id=id,
        key=key,
    )


async def rename_versions(db: Transaction, org_id: UUID, id: UUID, before: str, after: str) -> None:
    """Call the versions that had the key's old name by its new one; a name that was given on its own stays."""
    await db.run(
        """
        UPDATE object_versions SET filename = :after
         WHERE org_id = :org_id AND object_id = :id AND filename = :before
        """,
        org_id=org_id,
        id=id,
        before=before,
        after=after,
    )


async def hold_folder(db: Transaction, who: Principal, prefix: str, limit: int) -> list[Held]:
    """What the caller can read below a prefix of their team, locked in the order in which everything locks objects."""
    return await db.all(
        Held,
        f"""
        SELECT o.id, o.key, {rule.allowed(OBJECTS, "o", "write")} AS writable FROM objects o
         WHERE o.team_id = :team_id AND o.key >= :prefix AND o.key < :before AND NOT o.deleted AND {READABLE}
         ORDER BY o.id LIMIT :limit FOR UPDATE OF o
        """,
        prefix=prefix,
        before=after_all_with(prefix),
        limit=limit,
        **reader(who),
        **rule.actor(who, OBJECTS, "write"),
    )


async def step_aside(db: Transaction, org_id: UUID, ids: list[UUID]) -> None:
    """Free the keys of objects that are about to get others, some of which are among these."""
    await db.run(
        "UPDATE objects SET key = chr(1) || id WHERE org_id = :org_id AND id = ANY(:ids)", org_id=org_id, ids=ids
    )


async def move_objects(db: Transaction, org_id: UUID, ids: list[UUID], keys: list[str]) -> bool:
    """Give each its key; False, with nothing done, when one of them is taken."""
    return await db.run_unless_taken(
        f"""
        WITH moved AS (
          UPDATE objects o SET key = n.key, revision = o.revision + 1 FROM unnest(:ids::uuid[], :keys::text[]) AS n (id, key)
           WHERE o.org_id = :org_id AND o.id = n.id RETURNING o.id, o.key
        )
        {rule.following(OBJECTS)}
        """,
        org_id=org_id,
        ids=ids,
        keys=keys,
    )


async def find_taken(db: Transaction, org_id: UUID, team_id: UUID, ids: list[UUID], keys: list[str]) -> str | None:
    """The first of these keys at which another object is."""
    found: str | None = await db.value(
        """
        SELECT min(key) FROM objects
         WHERE org_id = :org_id AND team_id = :team_id AND key = ANY(:keys) AND trashed_at IS NULL AND id <> ALL(:ids)
        """,
        org_id=org_id,
        team_id=team_id,
        ids=ids,
        keys=keys,
    )
    return found
