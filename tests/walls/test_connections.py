"""Connections between requests: kept ready when their work ended well, never followed by who had them before."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from atrium.kit.postgres import pool
from atrium.kit.postgres.database import Database, UsedAfterEnd
from atrium.kit.work.shares import Busy
from tests.postgres import run_as_owner
from tests.support.patience import PATIENCE

COMPANY = UUID(int=7)
BACKEND = "SELECT pg_backend_pid()"
OPEN = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'connections test'"
)
NAMED = "?application_name=connections%20test"


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """Two connections and no more."""
    database = Database(database_url + NAMED, pool_size=2)
    await database.open()
    yield database
    await database.close()


async def backend_of(database: Database) -> int:
    async with database.begin(COMPANY) as db:
        return int(await db.value(BACKEND))


async def hold(database: Database, held: asyncio.Event, until: asyncio.Event) -> None:
    async with database.begin(COMPANY):
        held.set()
        await until.wait()


async def hold_both(database: Database, until: asyncio.Event) -> list["asyncio.Task[None]"]:
    events = [asyncio.Event(), asyncio.Event()]
    tasks = [asyncio.create_task(hold(database, held, until)) for held in events]
    await asyncio.gather(*(held.wait() for held in events))
    return tasks


async def fail_inside(database: Database) -> None:
    async with database.borrow() as connection:
        await connection.execute("BEGIN")
        raise ZeroDivisionError


async def test_a_transaction_that_ended_takes_no_more_statements(database: Database) -> None:
    async with database.begin(COMPANY) as db:
        pass

    with pytest.raises(UsedAfterEnd):
        await db.value(BACKEND)


async def test_the_connection_used_last_is_used_next(database: Database) -> None:
    first = await backend_of(database)

    assert [await backend_of(database) for _ in range(5)] == [first] * 5


async def test_a_block_that_fails_leaves_no_transaction_open(database: Database) -> None:
    with pytest.raises(ZeroDivisionError):
        await fail_inside(database)

    async with database.borrow() as connection:
        assert not connection.is_in_transaction()


async def test_a_block_that_forgets_its_transaction_does_not_hand_it_on(database: Database) -> None:
    async with database.borrow() as connection:
        await connection.execute("BEGIN")

    async with database.borrow() as connection:
        assert not connection.is_in_transaction()


async def test_a_connection_lost_while_nobody_used_it_is_replaced(database: Database, database_url: str) -> None:
    lost = await backend_of(database)
    async with database.borrow() as connection:
        ended = asyncio.Event()
        connection.add_termination_listener(lambda _: ended.set())
    await run_as_owner(database_url, "SELECT pg_terminate_backend($1)", lost)
    await ended.wait()

    assert await backend_of(database) != lost


async def test_who_waits_gets_the_first_connection_that_comes_back(database: Database) -> None:
    done = asyncio.Event()
    holders = await hold_both(database, done)
    waiters = [asyncio.create_task(backend_of(database)) for _ in range(5)]
    await asyncio.sleep(0)

    done.set()

    assert len(set(await asyncio.gather(*waiters))) <= 2
    await asyncio.gather(*holders)


async def test_waiting_for_a_connection_ends(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    done = asyncio.Event()
    holders = await hold_both(database, done)
    # Only now: opening a connection on a busy machine takes longer.
    monkeypatch.setattr(pool, "ACQUIRE_SECONDS", 0.05)

    with pytest.raises(Busy):
        await backend_of(database)

    done.set()
    await asyncio.gather(*holders)
    assert await backend_of(database)


@pytest.mark.parametrize("offered", [False, True])
async def test_a_waiter_that_is_cancelled_takes_no_connection_along(database: Database, offered: bool) -> None:
    first, second = await database.take(), await database.take()
    waiter = asyncio.create_task(database.take())
    await asyncio.sleep(0)
    if offered:
        await database.give_back(first, clean=True)

    waiter.cancel()
    await asyncio.wait({waiter})

    if not offered:
        await database.give_back(first, clean=True)
    async with asyncio.timeout(PATIENCE):
        first = await database.take()
    await database.give_back(first, clean=True)
    await database.give_back(second, clean=True)


async def test_closing_waits_for_the_last_transaction_and_leaves_nothing_open(database_url: str) -> None:
    database = Database(database_url + NAMED, pool_size=2)
    await database.open()
    done = asyncio.Event()
    holders = await hold_both(database, done)

    closing = asyncio.create_task(database.close())
    await asyncio.sleep(0)
    assert not closing.done()
    done.set()
    await closing

    await asyncio.gather(*holders)
    assert (await run_as_owner(database_url, OPEN))[0][0] == 0


async def test_putting_idle_connections_away_disturbs_nobody(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "TIDY_SECONDS", 0)
    database = Database(database_url + NAMED, pool_size=3)
    await database.open()

    async def work() -> None:
        for _ in range(40):
            assert await backend_of(database)

    await asyncio.gather(*(work() for _ in range(8)))

    await database.close()
    assert (await run_as_owner(database_url, OPEN))[0][0] == 0
