"""Chaining closed events per company, in batches, and checking the chains."""

from collections.abc import AsyncIterator
from uuid import UUID

from atrium.ground.audit import store
from atrium.ground.audit.model import GENESIS, ChainRow, Head, Verdict, link
from atrium.kit.database import Database, Transaction

BATCH = 5_000


async def seal(database: Database) -> int:
    """Give every closed event its place; how many were sealed. One process at a time, the others pass."""
    sealed = 0
    while True:
        async with database.begin_system() as db:
            done = await _seal_batch(db) if await store.try_sealing_lock(db) else 0
        sealed += done
        if done < BATCH:
            return sealed


async def _seal_batch(db: Transaction) -> int:
    rows = await store.list_unsealed(db, BATCH)
    if not rows:
        return 0
    heads = {
        head.org_id: (head.seq, head.hash) for head in await store.list_heads(db, list({row.org_id for row in rows}))
    }
    seqs, hashes = [], []
    for row in rows:
        seq, before = heads.get(row.org_id, (0, GENESIS))
        heads[row.org_id] = seq + 1, link(before, seq + 1, row)
        seqs.append(seq + 1)
        hashes.append(heads[row.org_id][1])
    await store.write_links(db, [row.org_id for row in rows], [row.id for row in rows], seqs, hashes)
    await store.write_heads(db, list(heads), [seq for seq, _ in heads.values()], [hash for _, hash in heads.values()])
    return len(rows)


async def verify(database: Database, trusted: dict[UUID, Head] | None = None) -> AsyncIterator[Verdict]:
    """Recompute every company's chain; `trusted` heads, kept outside the database, also catch a cut-off tail."""
    async with database.begin_system() as db:
        org_ids = await store.list_orgs_with_events(db)
    for org_id in [*org_ids, *(set(trusted or ()) - set(org_ids))]:
        async with database.begin_system(steady=True) as db:
            yield await _verify_one(db, org_id, (trusted or {}).get(org_id))


async def _verify_one(db: Transaction, org_id: UUID, trusted: Head | None) -> Verdict:
    seq, before = 0, GENESIS
    unsealed = await store.count_unsealed(db, org_id)
    if await store.count_before_first(db, org_id):
        return Verdict(org_id, seq, unsealed, "an event was slipped in before the first")
    while rows := await store.list_chain(db, org_id, seq, BATCH):
        for row in rows:
            problem = _problem_with(row, seq, before)
            if problem:
                return Verdict(org_id, seq, unsealed, problem)
            seq, before = seq + 1, link(before, seq + 1, row)
            if trusted and trusted.seq == seq and trusted.hash != before:
                return Verdict(org_id, seq, unsealed, f"event {seq} differs from the head kept outside")
    heads = await store.list_heads(db, [org_id])
    if (heads[0].seq, heads[0].hash) != (seq, before) if heads else seq:
        return Verdict(
            org_id, seq, unsealed, f"the chain ends at {seq} but its head says otherwise: events were cut off"
        )
    if trusted and trusted.seq > seq:
        return Verdict(org_id, seq, unsealed, f"the chain ends at {seq} but the head kept outside is at {trusted.seq}")
    return Verdict(org_id, seq, unsealed)


def _problem_with(row: ChainRow, seq: int, before: bytes) -> str | None:
    if row.seq != seq + 1:
        return f"event {seq + 1} is missing"
    if row.hash != link(before, seq + 1, row):
        return f"event {seq + 1} ({row.kind}) was changed"
    return None
