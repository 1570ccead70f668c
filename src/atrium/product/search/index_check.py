"""Making the index anew, and comparing it with what it is made of, company by company beside writers."""

from collections.abc import AsyncIterator
from uuid import UUID

import msgspec

from atrium.kit.ids import NIL
from atrium.kit.postgres.database import Database, Transaction
from atrium.kit.work.compute import ComputePool
from atrium.product.search import index, index_rows

_BATCH = 100


class IndexDifference(msgspec.Struct, frozen=True):
    """A thing whose row is missing, has other words or other readers, or a row without a thing."""

    org_id: UUID
    source: str
    id: UUID
    problem: str


async def rebuild(database: Database, compute: ComputePool, org_id: UUID) -> int:
    """Write every row of a company anew and drop what is left over; how many things were read."""
    done = 0
    for source in index_rows.TRUTH:
        after = NIL
        while True:
            async with database.begin(org_id) as db:
                ids = await index_rows.list_ids(db, org_id, source, after, _BATCH)
                await index.refresh(db, compute, org_id, source, ids, again=True)
            done += len(ids)
            if len(ids) < _BATCH:
                break
            after = ids[-1]
        async with database.begin(org_id) as db:
            left = await index_rows.list_left_over(db, org_id, source)
            await index.refresh(db, compute, org_id, source, left)
    return done


async def verify(database: Database, compute: ComputePool, org_id: UUID) -> AsyncIterator[IndexDifference]:
    """Every difference between a company's rows and its things, each thing as of one moment."""
    for source in index_rows.TRUTH:
        after = NIL
        while True:
            async with database.begin(org_id) as db:
                ids = await index_rows.list_ids(db, org_id, source, after, _BATCH)
                await index_rows.lock_sources(db, org_id, source, ids)
                wrong = await _wrong(db, compute, org_id, source, ids)
            for id, problem in wrong:
                yield IndexDifference(org_id, source, id, problem)
            if len(ids) < _BATCH:
                break
            after = ids[-1]
        async with database.begin(org_id) as db:
            left = await index_rows.list_left_over(db, org_id, source)
        for id in left:
            yield IndexDifference(org_id, source, id, "left over")


async def _wrong(
    db: Transaction, compute: ComputePool, org_id: UUID, source: str, ids: list[UUID]
) -> list[tuple[UUID, str]]:
    things = await index_rows.list_unread(db, org_id, source, ids, again=True)
    read = [await index.read(compute, org_id, one.title, one.key or "", one.text) for one in things]
    return await index_rows.list_wrong(db, org_id, source, [one.id for one in things], read)
