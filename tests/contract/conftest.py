"""The stages of the probes: the real house, and one with planted rows."""

from collections.abc import AsyncIterator

import pytest

from atrium.boot.assemble import House
from tests.client import Client
from tests.contract.planted import PLANTED_DOMAINS, PLANTED_ROUTES, PLANTED_SPECIMENS
from tests.contract.specimens import SPECIMENS
from tests.contract.stage import Stage, set_stage
from tests.houses import open_house, settings_for
from tests.postgres import fresh_database

PROVISION_TOKEN = "the host's own token"


@pytest.fixture(scope="package")
async def probed_url() -> AsyncIterator[str]:
    """A database of its own: probes change what is the instance's, and other tests look at it untouched."""
    async with fresh_database() as url:
        yield url


@pytest.fixture(scope="package")
async def planted_house(probed_url: str) -> AsyncIterator[House]:
    async with open_house(settings_for(probed_url), PLANTED_ROUTES, PLANTED_DOMAINS) as house:
        yield house


@pytest.fixture(scope="package")
async def stage(probed_url: str) -> AsyncIterator[Stage]:
    async with open_house(settings_for(probed_url)) as house:
        yield await set_stage(house, SPECIMENS)


@pytest.fixture(scope="package")
async def planted_stage(planted_house: House) -> Stage:
    return await set_stage(planted_house, PLANTED_SPECIMENS)


@pytest.fixture(scope="package")
async def untouched_stage() -> AsyncIterator[Stage]:
    """A server of its own: the first run is asked for here, and would be over for everybody else."""
    async with fresh_database() as url, open_house(settings_for(url)) as house:
        yield await set_stage(house, SPECIMENS)


@pytest.fixture(scope="package")
async def hosted_stage() -> AsyncIterator[Stage]:
    """A server in hosted mode, its tenant provisioned."""
    async with (
        fresh_database() as url,
        open_house(settings_for(url, hosted=True, provision_token=PROVISION_TOKEN)) as house,
    ):
        await Client(house.app, PROVISION_TOKEN).post("/api/provision", {"username": "ada", "org": "Acme"})
        yield await set_stage(house, SPECIMENS)


@pytest.fixture(scope="package")
def stages(stage: Stage, planted_stage: Stage) -> dict[bool, Stage]:
    """The stage of a row, by whether it is a planted one."""
    return {False: stage, True: planted_stage}
