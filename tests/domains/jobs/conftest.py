"""A queue of its own: a claim looks over all companies, so nobody else's jobs may be around."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atrium.boot.assemble import Application
from tests.domains.jobs.kinds import WITH_PROBES
from tests.postgres import fresh_database, run_as_owner
from tests.support.queue import TRIPWIRE, Member, Queue
from tests.support.servers import left_to_tests, open_application, settings_for


@pytest.fixture(scope="package")
async def queue_house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    folder: Path = tmp_path_factory.mktemp("queue")
    # No sweep but the tests' own: one in the background may hold a team at the moment a test claims for it.
    domains = left_to_tests("jobs.sweep", "extraction.text", domains=WITH_PROBES)
    async with fresh_database() as url:
        for statement in TRIPWIRE.split("CREATE OR REPLACE ")[1:]:
            await run_as_owner(url, f"CREATE OR REPLACE {statement.strip()}")
        async with open_application(settings_for(url, data_dir=folder), domains=domains) as house:
            yield house


@pytest.fixture
async def queue(queue_house: Application) -> Queue:
    queue = Queue(queue_house)
    await queue.empty()
    return queue


@pytest.fixture
async def member(queue: Queue) -> Member:
    return await queue.company()
