"""SQL of the things that runs touch."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from uuid import UUID

from atrium.kit.postgres.database import Transaction
from atrium.seams.sharing import Thing


async def insert_things(
    db: Transaction,
    org_id: UUID,
    touched: Sequence[tuple[UUID, Thing, bool]],
    named: Sequence[tuple[UUID, str]],
    tables: Mapping[str, str],
) -> None:
    """Note which things runs touch: those that were handed out to them or that they made, and those whose ids are `named` in a value.

    `tables` are where the things of each kind are; an id that none of them has is no thing of the company's.
    """
    inserted = await db.rows(
        _insert_things(tuple(sorted(tables.items()))),
        org_id=org_id,
        runs=[run_id for run_id, _, _ in touched],
        kinds=[kind for _, (kind, _), _ in touched],
        things=[id for _, (_, id), _ in touched],
        made=[made for _, _, made in touched],
        named_in=[run_id for run_id, _ in named],
        named=[id for _, id in named],
    )
    known = {(run_id, id) for run_id, (_, id), made in touched if made}
    known.difference_update((run_id, id) for run_id, id in inserted)
    if known:
        await _note_made(db, org_id, sorted(known))


async def _note_made(db: Transaction, org_id: UUID, things: Sequence[tuple[UUID, UUID]]) -> None:
    """Note of things that runs have touched before that they made them; only these rows are held, in the order of all others."""
    await db.run(
        """
        WITH held AS (
          SELECT o.run_id, o.object_id FROM unnest(:runs::uuid[], :things::uuid[]) AS h (run_id, id)
            JOIN run_objects o ON o.run_id = h.run_id AND o.object_id = h.id
           WHERE o.org_id = :org_id AND NOT o.made ORDER BY o.run_id, o.object_id FOR NO KEY UPDATE OF o
        )
        UPDATE run_objects o SET made = true FROM held
         WHERE o.org_id = :org_id AND o.run_id = held.run_id AND o.object_id = held.object_id
        """,
        org_id=org_id,
        runs=[run_id for run_id, _ in things],
        things=[id for _, id in things],
    )


@lru_cache
def _insert_things(tables: tuple[tuple[str, str], ...]) -> str:
    looked_up = "".join(
        f"""
        UNION ALL SELECT n.run_id, t.id, '{kind}', false FROM unnest(:named_in::uuid[], :named::uuid[]) AS n (run_id, id)
          JOIN {table} t ON t.id = n.id WHERE t.org_id = :org_id"""
        for kind, table in tables
    )
    return f"""
        INSERT INTO run_objects (run_id, object_id, kind, org_id, made)
        SELECT run_id, id, min(kind), :org_id, bool_or(made) FROM (
          SELECT run_id, id, kind, made
            FROM unnest(:runs::uuid[], :things::uuid[], :kinds::text[], :made::boolean[]) AS h (run_id, id, kind, made){looked_up}
        ) AS t GROUP BY run_id, id ORDER BY run_id, id
        ON CONFLICT (run_id, object_id) DO NOTHING RETURNING run_id, object_id
        """
