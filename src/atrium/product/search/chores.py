"""What search does in the background: read what was there before it, and renew how rare words are."""

from itertools import groupby
from uuid import UUID

from atrium.product.search import index, index_rows, store
from atrium.seams.context import Services
from atrium.seams.wiring import Chore

_BATCH, _MOST_BATCHES = 200, 50
_SAMPLE = 20_000
# With fewer rows a single one could be told from how rare its words are.
_LEAST_SAMPLE = 5_000
_RAREST = 10


async def catch_up(services: Services) -> int:
    """Read some of the things that were there before the index; how many. One process at a time does so for each source."""
    done = 0
    for _ in range(_MOST_BATCHES):
        read = await _read_batch(services)
        if not read:
            break
        done += read
    return done


async def _read_batch(services: Services) -> int:
    async with services.database.begin_system() as db:
        claimed = await store.claim_backlog(db)
        if claimed is None:
            return 0
        source, after = claimed
        waiting = await index_rows.list_waiting(db, source, after, _BATCH)
        for org_id, things in groupby(sorted(waiting), key=lambda one: one[0]):
            await _refresh(services, org_id, source, [id for _, id in things])
        if len(waiting) < _BATCH:
            await store.end_backlog(db, source)
        else:
            await store.move_backlog(db, source, waiting[-1][1])
    return len(waiting) or 1


async def _refresh(services: Services, org_id: UUID, source: str, ids: list[UUID]) -> None:
    async with services.database.begin(org_id) as db:
        await index.refresh(db, services.compute, org_id, source, ids)


async def read_moved(services: Services) -> int:
    """Read the words of objects that were moved with a large folder; how many. Several processes may do so at once."""
    done = 0
    for _ in range(_MOST_BATCHES):
        async with services.database.begin_system() as db:
            waiting = await store.list_moved(db, _BATCH)
        for org_id, things in groupby(waiting, key=lambda one: one[0]):
            async with services.database.begin(org_id) as db:
                await index.read_moved(db, services.compute, org_id, [id for _, id in things])
        done += len(waiting)
        if len(waiting) < _BATCH:
            break
    return done


async def count_words(services: Services) -> int:
    """Renew how rare frequent words are, in powers of two, over a sample of the whole instance; how many words that are."""
    async with services.database.begin_system() as db:
        shares = await store.list_shares(db, _SAMPLE)
        if not shares or shares[0][2] < _LEAST_SAMPLE:
            return 0
        # The empty word says that there are statistics.
        rarities = {"": 0} | {word: rarity_of(rows, looked_at) for word, rows, looked_at in shares}
        await store.replace_rarities(db, rarities)
    return len(rarities) - 1


def rarity_of(rows: int, looked_at: int) -> int:
    """The power of two that comes closest from below: a word in one of 2^n rows or more."""
    return min(_RAREST, max(0, (looked_at // max(1, rows)).bit_length() - 1))


CHORES = (
    Chore("search.catch_up", 5, catch_up),
    Chore("search.read_moved", 5, read_moved),
    Chore("search.count_words", 3600, count_words),
)
