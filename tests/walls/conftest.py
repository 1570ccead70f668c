"""Two populated companies on a database of their own, so that every row in it is one's or the other's."""

from collections.abc import AsyncIterator

import pytest

from atrium.boot.assemble import Application
from atrium.boot.wiring import DOMAINS
from tests.support.servers import fresh_application, left_to_tests
from tests.walls.population import Populated, populate


@pytest.fixture(scope="package")
async def walled_house() -> AsyncIterator[Application]:
    # No chore and no reading of texts meanwhile: whatever changes in these companies was changed by a test.
    chores = (chore.name for domain in DOMAINS for chore in domain.chores)
    domains = left_to_tests("extraction.text", *chores)
    async with fresh_application(domains=domains) as house:
        yield house


@pytest.fixture(scope="package")
async def ours(walled_house: Application) -> Populated:
    return await populate(walled_house)


@pytest.fixture(scope="package")
async def theirs(walled_house: Application) -> Populated:
    return await populate(walled_house)
