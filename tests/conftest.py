"""Fixtures every test may use: one server on one fresh database for the run, and a company per test."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from atrium.boot.assemble import House
from tests.client import Client
from tests.houses import open_house, settings_for
from tests.models.llama import Llama, llama_serving
from tests.models.tiny_model import build
from tests.people import Company, found_company
from tests.postgres import fresh_database


@pytest.fixture(scope="session")
async def database_url() -> AsyncIterator[str]:
    async with fresh_database() as url:
        yield url


@pytest.fixture(scope="session")
async def house(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    settings = settings_for(database_url, data_dir=tmp_path_factory.mktemp("data"))
    async with open_house(settings) as house:
        yield house


@pytest.fixture
async def company(house: House) -> Company:
    return await found_company(house)


@pytest.fixture
async def alice(company: Company) -> Client:
    """A member."""
    return await company.join("member")


@pytest.fixture
async def bob(company: Company) -> Client:
    """Another member of the same team."""
    return await company.join("member")


@pytest.fixture
async def admin(company: Company) -> Client:
    """The team's admin."""
    return await company.join("admin")


@pytest.fixture
async def operator(company: Company) -> Client:
    """An operator of the instance."""
    return await company.join("owner", operator=True, org_role="org_owner")


@pytest.fixture
async def stranger(house: House) -> Client:
    """The owner of another company."""
    return await (await found_company(house)).join("owner", org_role="org_owner")


@pytest.fixture
def nobody(house: House) -> Client:
    """No credential."""
    return Client(house.app)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that fits into a test."""
    return build(tmp_path_factory.mktemp("model") / "tiny.gguf")


@pytest.fixture(scope="session")
def llama(tiny_model: Path) -> Iterator[Llama]:
    """A real model server, once for the run."""
    with llama_serving(tiny_model) as server:
        yield server
