"""Two servers on one database whose model says what a test tells it to."""

from collections.abc import AsyncIterator

import pytest

from atrium.boot.assemble import Application
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for
from tests.support.speaker import Speaker, speaking


@pytest.fixture(scope="module")
async def speaker() -> AsyncIterator[Speaker]:
    async with speaking() as found:
        yield found


@pytest.fixture(scope="module")
async def houses(speaker: Speaker, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[list[Application]]:
    async with fresh_database() as url:
        settings = settings_for(url, data_dir=tmp_path_factory.mktemp("turns"), local_model_url=speaker.url)
        async with open_application(settings) as first, open_application(settings) as second:
            yield [first, second]


@pytest.fixture(scope="module")
def spoken_house(houses: list[Application]) -> Application:
    return houses[0]


@pytest.fixture
async def company(spoken_house: Application) -> Company:
    return await found_company(spoken_house)


@pytest.fixture
async def alice(company: Company) -> Client:
    return await company.join()


@pytest.fixture
def elsewhere(houses: list[Application], alice: Client) -> Client:
    """The same person at another process."""
    return Client(houses[1].app, alice.token, alice.user_id, alice.team_id, alice.org_id, alice.username)


async def used(person: Client) -> dict[str, int]:
    lines = (await person.get("/api/usage"))["items"]
    return {line["dimension"]: line["used"] for line in lines if line["level"] == "team"}


async def reserved(person: Client) -> int:
    lines = (await person.get("/api/usage"))["items"]
    return sum(line["reserved"] for line in lines)
