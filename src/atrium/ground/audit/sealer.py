"""Chaining closed events per company, in batches, and saying in the log where each chain ends."""

from collections.abc import Iterable
from uuid import UUID

from atrium.ground.audit import store
from atrium.ground.audit.chain_keys import ChainKeys, require_keys
from atrium.ground.audit.model import GENESIS, ChainKey, ChainRow, Head, is_keyed, link, sign_head
from atrium.kit.crypto.keys import Keyring
from atrium.kit.postgres.database import Database, Transaction
from atrium.kit.telemetry.log import log

BATCH = 5_000


async def seal(database: Database, keys: Keyring) -> int:
    """Give every closed event its place; how many were sealed. One process at a time, the others pass."""
    sealed, refused = 0, set[UUID]()
    while True:
        async with database.begin_system() as db:
            rows = await _list_unsealed(db, refused)
            heads = await _seal_batch(db, keys, rows, refused) if rows else {}
        _publish(heads.values())
        sealed += sum(row.org_id not in refused for row in rows)
        if len(rows) < BATCH:
            return sealed


async def _list_unsealed(db: Transaction, refused: Iterable[UUID]) -> list[ChainRow]:
    return await store.list_unsealed(db, list(refused), BATCH) if await store.try_sealing_lock(db) else []


async def _seal_batch(db: Transaction, keys: Keyring, rows: list[ChainRow], refused: set[UUID]) -> dict[UUID, Head]:
    ring, key = await require_keys(db, keys)
    before = {head.org_id: head for head in await store.list_heads(db, list({row.org_id for row in rows}))}
    refused |= {head.org_id for head in before.values() if not _goes_on(ring, head)}
    rows = [row for row in rows if row.org_id not in refused]
    heads, links = _tied(key, rows, before)
    await store.write_links(db, [row.org_id for row in rows], [row.id for row in rows], *links)
    await store.write_heads(
        db,
        list(heads),
        [head.seq for head in heads.values()],
        [head.hash for head in heads.values()],
        [head.signature or b"" for head in heads.values()],
    )
    return heads


def _tied(
    key: ChainKey, rows: list[ChainRow], before: dict[UUID, Head]
) -> tuple[dict[UUID, Head], tuple[list[int], list[bytes]]]:
    """Where each chain ends with these rows tied to it, and each row's place and link."""
    ends: dict[UUID, tuple[int, bytes]] = {}
    seqs, hashes = [], []
    for row in rows:
        head = before.get(row.org_id)
        seq, hash = ends.get(row.org_id) or ((head.seq, head.hash) if head else (0, GENESIS))
        ends[row.org_id] = seq + 1, link(hash, seq + 1, row, key)
        seqs.append(seq + 1)
        hashes.append(ends[row.org_id][1])
    heads = {org_id: Head(org_id, seq, hash, sign_head(key, org_id, seq, hash)) for org_id, (seq, hash) in ends.items()}
    return heads, (seqs, hashes)


def _goes_on(ring: ChainKeys, head: Head) -> bool:
    """Whether the head is ours to go on from: tying to one that was set back would hide that it was."""
    if ring.signed(head) or (head.signature is None and not is_keyed(head.hash)):
        return True
    log.error("audit.head_forged", org_id=str(head.org_id), seq=head.seq)
    return False


def _publish(heads: Iterable[Head]) -> None:
    # The log is kept elsewhere: truncating a chain in the database does not remove this line.
    for head in heads:
        log.info("audit.head", org_id=str(head.org_id), seq=head.seq, hash=head.hash.hex())
