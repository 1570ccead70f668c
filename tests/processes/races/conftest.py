"""Two server processes on one database: what one of them cannot see, the database must settle."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import asyncpg
import httpx
import pytest

from tests.postgres import fresh_database, run_as_owner
from tests.support.processes import Process, bootstrap, serving

EVERYTHING = "TRUNCATE instance, orgs, rate_limits, login_failures CASCADE"


@dataclass(frozen=True, slots=True)
class Pair:
    """Both servers and their database."""

    url: str
    servers: list[Process]

    def of(self, number: int) -> Process:
        """Callers take turns between the servers."""
        return self.servers[number % len(self.servers)]

    async def empty(self) -> None:
        """Back to before the first run. The servers' own chores read while it waits for them, and PostgreSQL may end either."""
        for attempt in range(6):
            try:
                await run_as_owner(self.url, EVERYTHING)
            except asyncpg.DeadlockDetectedError:
                if attempt == 5:
                    raise
            else:
                return

    async def founded(self) -> str:
        """An instance with nobody in it but its operator, whose token this is."""
        await self.empty()
        return await bootstrap(self.servers[0])

    async def count(self, sql: str, *values: object) -> int:
        """A number from behind the walls."""
        return int((await run_as_owner(self.url, sql, *values))[0][0])


@pytest.fixture(scope="package")
async def pair() -> AsyncIterator[Pair]:
    async with fresh_database() as url, serving(url, 2, database_pool=12) as servers:
        yield Pair(url, servers)


def statuses(answers: list[httpx.Response]) -> list[int]:
    """The status codes, sorted."""
    return sorted(answer.status_code for answer in answers)
