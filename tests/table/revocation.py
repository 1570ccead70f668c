"""A credential that ends while its request runs: before the request's first transaction, between any two, and each time for good.

Whoever ends a credential first takes its person's lock alone, as the server itself does. The lock's queue is fair, so a
second ending that waits for it stands between one transaction of the request and the next; that is where it strikes.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from uuid import UUID

import asyncpg

from atrium.edge.endpoint import Endpoint
from atrium.kit.crypto.tokens import digest_of
from tests.support.client import Answer, Client
from tests.table.footprint import changed, footprint
from tests.table.specimens import Ask
from tests.table.stage import Stage

# No row has more transactions than this that write for its caller.
MOST = 8
_WAITING = """
SELECT count(*) FROM pg_locks
 WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


class OutlivedItsCredential(AssertionError):
    """Something was written after the end of its credential was acknowledged."""


async def end_midway(stage: Stage, ask: Ask, caller: Client, after: int) -> bool:
    """End the caller's credential when the request has committed so many transactions; False when it has not that many."""
    url = stage.house.services.settings.database_url
    async with AsyncExitStack() as stack:
        watch = await stack.enter_async_context(_connected(url))
        ending = await stack.enter_async_context(_connected(url))
        await _lock(ending, caller)
        request = asyncio.create_task(ask.by(caller))
        for _ in range(after):
            if await _finished(request, watch, 1):
                return _left(request.result(), False)
            following = await stack.enter_async_context(_connected(url))
            locking = asyncio.create_task(_lock(following, caller))
            await _finished(locking, watch, 2)
            await ending.execute("COMMIT")
            await locking
            ending = following
        finished = await _finished(request, watch, 1)
        before = await footprint(url)
        await ending.execute("DELETE FROM tokens WHERE digest = $1", digest_of((caller.token or "").encode()))
        await ending.execute("COMMIT")
        answer = await request
        _require_nothing(changed(before, await footprint(url)))
        return _left(answer, not finished)


def _left(answer: Answer, was_waiting: bool) -> bool:
    if was_waiting and answer.status != 401:
        raise OutlivedItsCredential(f"its credential had ended, yet the answer is {answer.status} {answer.raw[:300]!r}")
    return was_waiting


def _require_nothing(moved: list[str]) -> None:
    if moved not in ([], ["tokens"]):
        raise OutlivedItsCredential(f"written after the credential had ended: {moved}")


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        connection.terminate()


async def _lock(connection: Any, caller: Client) -> None:
    await connection.execute("BEGIN")
    await connection.execute("SELECT lock_people(NULL, ARRAY[$1::uuid])", UUID(caller.user_id))


async def _finished(task: asyncio.Task[Any], watch: Any, waiting: int) -> bool:
    """Whether it came to its end; False once that many wait for the lock."""
    while not task.done():
        if await watch.fetchval(_WAITING) >= waiting:
            return False
        await asyncio.wait({task}, timeout=0.005)
    return True


async def count_endings(stage: Stage, endpoint: Endpoint) -> int:
    """At how many moments the credential of this row's caller was ended; each on a request of its own."""
    for after in range(MOST):
        place = await stage.place(endpoint)
        ask = await stage.specimens.ask(endpoint, place)
        if not await end_midway(stage, ask, place.caller, after):
            return after
    raise AssertionError(f"more than {MOST} transactions for one request; let MOST grow when that is meant")
