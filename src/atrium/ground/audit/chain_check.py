"""Checking the chains: every link recomputed, the end compared with its signature and with heads that were kept outside."""

from collections.abc import AsyncIterator, Iterable
from uuid import UUID

from atrium.ground.audit import store
from atrium.ground.audit.chain_keys import ChainKeys, read_keys
from atrium.ground.audit.model import GENESIS, ChainRow, ChainVerdict, Head, is_keyed, link
from atrium.kit.crypto.keys import Keyring
from atrium.kit.postgres.database import Database, Transaction

BATCH = 5_000
Trusted = dict[int, bytes]


async def verify(database: Database, keys: Keyring | None, trusted: Iterable[Head] = ()) -> AsyncIterator[ChainVerdict]:
    """Recompute every company's chain; `trusted` heads, kept outside the database, also catch a cut-off tail."""
    outside: dict[UUID, Trusted] = {}
    for head in trusted:
        outside.setdefault(head.org_id, {})[head.seq] = head.hash
    async with database.begin_system() as db:
        org_ids = await store.list_orgs_with_events(db)
        ring = await read_keys(db, keys) if keys else ChainKeys([])
    for org_id in [*org_ids, *(outside.keys() - set(org_ids))]:
        async with database.begin_system(steady=True) as db:
            yield await _Walk(db, ring, org_id, outside.get(org_id, {})).verdict()


async def verify_one(db: Transaction, keys: Keyring, org_id: UUID) -> ChainVerdict:
    """The same for one company, in the caller's transaction."""
    return await _Walk(db, await read_keys(db, keys), org_id, {}).verdict()


class _Walk:
    """One company's chain from its first event to its last."""

    def __init__(self, db: Transaction, ring: ChainKeys, org_id: UUID, trusted: Trusted) -> None:
        self._db, self._ring, self._org_id, self._trusted = db, ring, org_id, trusted
        self._seq, self._hash, self._unkeyed = 0, GENESIS, 0

    async def verdict(self) -> ChainVerdict:
        unsealed = await store.count_unsealed(self._db, self._org_id)
        problem = await self._problem()
        return ChainVerdict(self._org_id, self._seq, unsealed, problem, self._unkeyed)

    async def _problem(self) -> str | None:
        if await store.count_before_first(self._db, self._org_id):
            return "an event was slipped in before the first"
        while rows := await store.list_chain(self._db, self._org_id, self._seq, BATCH):
            for row in rows:
                if problem := self._step(row):
                    return problem
        return self._problem_at_end(await store.list_heads(self._db, [self._org_id]))

    def _step(self, row: ChainRow) -> str | None:
        place = self._seq + 1
        if row.seq != place:
            return f"event {place} is missing"
        if is_keyed(self._hash) and not is_keyed(row.hash):
            return f"event {place} ({row.kind}) was changed: it lost its key"
        key = self._ring.of(row.hash) if row.hash is not None and is_keyed(row.hash) else None
        if is_keyed(row.hash) and key is None:
            return f"event {place} was tied with a key that this SERVICE_SECRET_KEY cannot open"
        if row.hash != link(self._hash, place, row, key):
            return f"event {place} ({row.kind}) was changed"
        self._seq, self._hash, self._unkeyed = place, row.hash, self._unkeyed + (key is None)
        if self._trusted.get(place, row.hash) != row.hash:
            return f"event {place} differs from the head kept outside"
        return None

    def _problem_at_end(self, heads: list[Head]) -> str | None:
        seq, head = self._seq, heads[0] if heads else None
        if (head.seq, head.hash) != (seq, self._hash) if head else seq:
            return f"the chain ends at {seq} but its head says otherwise: events were cut off"
        if head and not self._ring.signed(head) and (head.signature is not None or is_keyed(head.hash)):
            return f"the chain ends at {seq} but this instance did not sign that end: events were cut off"
        if (last := max(self._trusted, default=0)) > seq:
            return f"the chain ends at {seq} but the head kept outside is at {last}"
        return None
