"""What a migration keeps others waiting for, on tables that hold something: which it locks, and how much it does meanwhile."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import asyncpg

from tests.postgres import connected

# How each table grows from the rows that are there: what differs from copy to copy.
GROWN = {
    "notes": "'id', {id}",
    "note_versions": "'note_id', {id}",
    "objects": "'id', {id}, 'version_id', {id}, 'key', 'grown/' || i",
    "object_versions": "'id', {id}, 'object_id', {id}",
    "jobs": "'id', {id}",
    "users": "'id', {id}, 'username', 'grown-' || i",
    "search_rows": "'id', {id}",
    "audit_events": "'id', {id}, 'seq', 1000000 + i",
}
# A lock from SHARE on stops writers.
_STOPPING = """
SELECT c.relname, l.mode FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
 WHERE l.pid = pg_backend_pid() AND l.granted AND c.relname = ANY($1)
   AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
"""
_WORK = "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0) + n_tup_ins + n_tup_upd + n_tup_del)::bigint FROM pg_stat_xact_user_tables"


async def grow(url: str, rows: int) -> None:
    """So many rows in each of these tables, without what triggers and foreign keys would make of it."""
    async with connected(url) as connection:
        await connection.execute("SET session_replication_role = replica")
        for table, differs in GROWN.items():
            await connection.execute(
                f"INSERT INTO {table} SELECT r.* FROM (SELECT o AS t FROM {table} o LIMIT 1) AS one, generate_series(1, {rows}) AS i,"
                f" LATERAL jsonb_populate_record(one.t, jsonb_build_object({differs.format(id='md5(i::text)::uuid')})) AS r"
            )
        await connection.execute("ANALYZE")


@dataclass(slots=True)
class Cost:
    """What a migration stopped, how many rows it touched while it did, and the longest that a writer waited meanwhile."""

    stopped: dict[str, str] = field(default_factory=dict)
    touched: int = 0
    waited: float = 0.0

    def keeps_writers(self, rows: int) -> bool:
        """Whether it stops writers for longer the more rows there are."""
        return bool(self.stopped) and self.touched >= rows / 2


async def apply_text(url: str, text: str) -> Cost:
    """One transaction, looked at before it is committed."""
    async with connected(url) as connection, connection.transaction():
        await connection.execute("SET LOCAL lock_timeout = '1s'")
        await connection.execute(text)
        held = await connection.fetch(_STOPPING, list(GROWN))
        return Cost(dict(map(tuple, held)), await connection.fetchval(_WORK) or 0)


@dataclass(slots=True)
class Writer:
    """Writes to every one of the tables in turn; remembers the longest write."""

    longest: float = 0.0
    writes: int = 0


@asynccontextmanager
async def writing(url: str, limit: str) -> AsyncIterator[Writer]:
    """A writer beside the block; one that waits longer than the limit for a lock fails it."""
    writer = Writer()
    async with connected(url) as connection:
        await connection.execute(f"SET lock_timeout = '{limit}'; SET session_replication_role = replica")
        task = asyncio.create_task(_write(connection, writer))
        try:
            yield writer
        finally:
            task.cancel()
            [ended] = await asyncio.gather(task, return_exceptions=True)
    if isinstance(ended, asyncpg.LockNotAvailableError):
        raise AssertionError(f"a writer waited longer than {limit}: {ended}")
    if not isinstance(ended, asyncio.CancelledError):
        raise ended  # type: ignore[misc]


async def _write(connection: Any, writer: Writer) -> None:
    while True:
        for table in GROWN:
            began = time.monotonic()
            await connection.execute(
                f"UPDATE {table} SET org_id = org_id WHERE ctid = (SELECT ctid FROM {table} LIMIT 1)"
            )
            writer.longest = max(writer.longest, time.monotonic() - began)
            writer.writes += 1
            await asyncio.sleep(0)
