"""Two populated companies on a database of their own, so that every row in it is one's or the other's."""

from collections.abc import AsyncIterator

import pytest

from atrium.boot import housekeeping
from atrium.boot.assemble import House
from tests.houses import open_house, settings_for
from tests.postgres import fresh_database
from tests.walls.population import Populated, populate


@pytest.fixture(scope="package")
async def walled_house() -> AsyncIterator[House]:
    # No sealing and no reading of texts meanwhile: whatever changes in these companies was changed by a test.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(housekeeping, "SEAL_SECONDS", 3600)
        patch.setattr(housekeeping, "EXTRACT_SECONDS", 3600)
        async with fresh_database() as url, open_house(settings_for(url)) as house:
            yield house


@pytest.fixture(scope="package")
async def ours(walled_house: House) -> Populated:
    return await populate(walled_house)


@pytest.fixture(scope="package")
async def theirs(walled_house: House) -> Populated:
    return await populate(walled_house)
