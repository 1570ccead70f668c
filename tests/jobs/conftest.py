"""A queue of its own: a claim looks over all companies, so nobody else's jobs may be around."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atrium.boot import housekeeping
from atrium.boot.assemble import House
from tests.houses import open_house, settings_for
from tests.jobs.kinds import WITH_PROBES
from tests.jobs.queue import TRIPWIRE, Member, Queue
from tests.postgres import fresh_database, run_as_owner


@pytest.fixture(scope="package")
async def queue_house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    folder: Path = tmp_path_factory.mktemp("queue")
    # No sweep but the tests' own: one in the background may hold a team at the moment a test claims for it.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(housekeeping, "JOBS_SECONDS", 3600)
        async with fresh_database() as url:
            for statement in TRIPWIRE.split("CREATE OR REPLACE ")[1:]:
                await run_as_owner(url, f"CREATE OR REPLACE {statement.strip()}")
            async with open_house(settings_for(url, data_dir=folder), domains=WITH_PROBES) as house:
                yield house


@pytest.fixture
async def queue(queue_house: House) -> Queue:
    queue = Queue(queue_house)
    await queue.empty()
    return queue


@pytest.fixture
async def member(queue: Queue) -> Member:
    return await queue.company()
