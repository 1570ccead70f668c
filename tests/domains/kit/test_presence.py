"""A process that is busy is not taken for dead, also behind a pooler, where no session of its own could say so."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from urllib.parse import SplitResult, urlsplit, urlunsplit
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.engine.turns import lost_turns
from atrium.kit.ids import new_id
from atrium.kit.postgres.presence import SPACE, key_of
from tests.domains.kit.test_loop import PLACE_TURN
from tests.postgres import connected, fresh_database, run_as_owner, server_url
from tests.support.patience import PATIENCE
from tests.support.people import found_company
from tests.support.servers import open_application, settings_for
from tests.walls.test_pgbouncer import PGBOUNCER, bouncer

pytestmark = pytest.mark.finding

# The message in which PostgreSQL says which process serves a session.
_OWN_NUMBER = b"K\x00\x00\x00\x0c"
BEATS = 2


class Pooler:
    """In front of a PostgreSQL, in a thread of its own: says another number than the session's, as poolers do."""

    def __init__(self, server: SplitResult) -> None:
        self._server = server
        self._started, self._ended = threading.Event(), asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self.port = 0

    def start(self) -> None:
        self._thread.start()
        assert self._started.wait(PATIENCE)

    def stop(self) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(PATIENCE)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._pass, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._ended.wait()
        server.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, ahead = await asyncio.open_connection(self._server.hostname, self._server.port or 5432)
        await asyncio.gather(self._copy(reader, ahead), self._copy(behind, writer, renumbered=True))

    async def _copy(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, renumbered: bool = False
    ) -> None:
        try:
            while piece := await reader.read(1 << 16):
                if renumbered and (at := piece.find(_OWN_NUMBER)) >= 0:
                    at += len(_OWN_NUMBER)
                    piece, renumbered = piece[:at] + b"\x00\x00\x00\x01" + piece[at + 4 :], False
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()


@asynccontextmanager
async def renumbering(folder: Path) -> AsyncIterator[int]:
    """The port of a pooler that hands on everything else as it comes."""
    pooler = Pooler(urlsplit(server_url()))
    pooler.start()
    try:
        yield pooler.port
    finally:
        pooler.stop()


@contextmanager
def standing_still() -> Iterator[None]:
    """Every thread that the process shares is held until the block ends."""
    release, held = threading.Event(), threading.Semaphore(0)

    def hold() -> None:
        held.release()
        release.wait(PATIENCE)

    loop = asyncio.get_running_loop()
    threads = min(32, (os.cpu_count() or 1) + 4)
    for _ in range(threads):
        loop.run_in_executor(None, hold)
    for _ in range(threads):
        assert held.acquire(timeout=PATIENCE)
    try:
        yield
    finally:
        release.set()


async def beats_of(url: str, process_id: UUID) -> int:
    """How often a process says that it is there, each time it has not done so for a minute."""
    async with connected(url) as connection, asyncio.timeout(PATIENCE):
        for _ in range(BEATS):
            await connection.execute(
                "UPDATE turn_processes SET seen_at = now() - interval '1 minute' WHERE id = $1", process_id
            )
            while not await connection.fetchval(
                "SELECT seen_at > now() - interval '30 seconds' FROM turn_processes WHERE id = $1", process_id
            ):
                await asyncio.sleep(0.05)
    return BEATS


def process_of(house: Application) -> UUID:
    found: UUID = house.services.turns.process_id
    return found


async def locks_of(url: str, house: Application) -> int:
    """How many sessions hold the lock of a process."""
    key = key_of(process_of(house)) & 0xFFFFFFFF
    sql = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = $1::bigint::oid AND objid = $2::bigint::oid"
    return int((await run_as_owner(url, sql, SPACE, key))[0][0])


@pytest.mark.parametrize(
    "pooler",
    [renumbering, pytest.param(bouncer, marks=pytest.mark.skipif(PGBOUNCER is None, reason="NO PGBOUNCER"))],
    ids=["pretended", "pgbouncer"],
)
async def test_g5_behind_a_pooler_a_thread_tells_that_a_busy_process_is_there(
    pooler: Callable[[Path], AbstractAsyncContextManager[int]], tmp_path: Path
) -> None:
    async with pooler(tmp_path) as port, fresh_database() as url:
        pooled = urlunsplit(urlsplit(url)._replace(netloc=f"{urlsplit(url).username}@127.0.0.1:{port}"))
        settings = settings_for(pooled, data_dir=tmp_path, database_statement_cache=0)
        async with open_application(settings) as busy, open_application(settings_for(url, data_dir=tmp_path)) as other:
            member = await (await found_company(busy)).join("member")
            await run_as_owner(url, PLACE_TURN, new_id(), UUID(member.org_id), UUID(member.team_id), UUID(member.user_id), new_id(),
                               process_of(busy))  # fmt: skip
            with standing_still(), ThreadPoolExecutor(1) as thread:
                # The event loop waits here, and nothing on it can tell anything.
                told = thread.submit(asyncio.run, beats_of(url, process_of(busy))).result()
            await run_as_owner(url, "UPDATE turn_processes SET steady_since = now() - interval '1 minute'")

            assert told == BEATS
            assert await locks_of(url, busy) == 0
            assert await lost_turns.settle_lost(other.services) == 0
