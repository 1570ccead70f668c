"""Transactions of a login that is more than the serving role: one that sees everything at one instant, one that changes the schema."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from atrium.kit.postgres.database import Transaction
from atrium.kit.postgres.jsonb import teach_jsonb
from atrium.kit.postgres.pool import patiently
from atrium.kit.refusals import CommandFailure


class DatabaseRefused(CommandFailure):
    """PostgreSQL refused a statement of a command."""


class RowsRefused(DatabaseRefused):
    """PostgreSQL refused a row: a rule of its table is against it."""


@asynccontextmanager
async def export_snapshot(url: str) -> AsyncIterator[tuple[Transaction, str]]:
    """A transaction that reads one instant, and the name under which other connections may read the same one while it lasts."""
    async with _connected(url) as connection, connection.transaction(isolation="repeatable_read", readonly=True):
        yield Transaction(connection), await connection.fetchval("SELECT pg_export_snapshot()")


@asynccontextmanager
async def begin_as_owner(url: str) -> AsyncIterator[Transaction]:
    """A transaction as the login itself, past the serving role."""
    async with _connected(url) as connection, connection.transaction():
        yield Transaction(connection)


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[Any]:
    connection = await patiently(lambda: asyncpg.connect(url, statement_cache_size=0))
    try:
        await teach_jsonb(connection)
        yield connection
    except (asyncpg.IntegrityConstraintViolationError, asyncpg.DataError) as error:
        raise RowsRefused(f"the database refused: {error}") from error
    except asyncpg.PostgresError as error:
        raise DatabaseRefused(f"the database refused: {error}") from error
    finally:
        await connection.close()
