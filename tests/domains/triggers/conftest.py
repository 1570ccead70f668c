"""A server of its own whose runs go on by themselves, and one more that speaks S3."""

from collections.abc import AsyncIterator

import pytest

from atrium.boot.assemble import Application
from tests.domains.s3.clients import Place, s3_place
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for


@pytest.fixture(scope="package")
async def working(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    """Every queued job is run here, too."""
    async with fresh_database() as url:
        settings = settings_for(url, data_dir=tmp_path_factory.mktemp("triggers"), embed_worker=True, extraction=False)
        async with open_application(settings) as house:
            yield house


@pytest.fixture
async def firm(working: Application) -> Company:
    return await found_company(working)


@pytest.fixture
async def boss(firm: Company) -> Client:
    """The admin of a team whose runs go on by themselves."""
    return await firm.join("admin")


@pytest.fixture(scope="package")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    async with s3_place(tmp_path_factory.mktemp("s3"), extraction=0) as place:
        yield place
