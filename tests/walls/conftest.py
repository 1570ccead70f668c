"""Two populated companies on a database of their own, so that every row in it is one's or the other's."""

from collections.abc import AsyncIterator

import pytest

from atrium.boot.assemble import House
from tests.houses import open_house, settings_for
from tests.postgres import fresh_database
from tests.walls.population import Populated, populate


@pytest.fixture(scope="session")
async def walled_house() -> AsyncIterator[House]:
    async with fresh_database() as url, open_house(settings_for(url)) as house:
        yield house


@pytest.fixture(scope="session")
async def ours(walled_house: House) -> Populated:
    return await populate(walled_house)


@pytest.fixture(scope="session")
async def theirs(walled_house: House) -> Populated:
    return await populate(walled_house)
