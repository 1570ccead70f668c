"""The stages of the probes: the real house, and one with planted rows."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from atrium.boot.assemble import Application
from atrium.boot.wiring import DOMAINS
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.servers import fresh_application, left_to_tests, open_application, settings_for
from tests.table.footprint import stop_looking
from tests.table.planted import PLANTED_DOMAINS, PLANTED_ROUTES, PLANTED_SPECIMENS
from tests.table.specimens import SPECIMENS
from tests.table.stage import Stage, set_stage

PROVISION_TOKEN = "the host's own token"
# Chores that change rows by themselves would look as if a probed request had written them.
SLOW_CHORES = tuple(chore.name for domain in DOMAINS for chore in domain.chores if chore.seconds >= 60)
QUIET = left_to_tests(*SLOW_CHORES)


@pytest.fixture(scope="package", autouse=True)
def looking() -> Iterator[None]:
    yield
    stop_looking()


@pytest.fixture(scope="package")
async def probed_url() -> AsyncIterator[str]:
    """A database of its own: probes change what is the instance's, and other tests look at it untouched."""
    async with fresh_database() as url:
        yield url


@pytest.fixture(scope="package")
async def planted_house(probed_url: str) -> AsyncIterator[Application]:
    async with open_application(
        settings_for(probed_url), PLANTED_ROUTES, left_to_tests(*SLOW_CHORES, domains=PLANTED_DOMAINS)
    ) as house:
        yield house


@pytest.fixture(scope="package")
async def stage(probed_url: str) -> AsyncIterator[Stage]:
    async with open_application(settings_for(probed_url), domains=QUIET) as house:
        yield await set_stage(house, SPECIMENS)


@pytest.fixture(scope="package")
async def planted_stage(planted_house: Application) -> Stage:
    return await set_stage(planted_house, PLANTED_SPECIMENS)


@pytest.fixture(scope="package")
async def untouched_stage() -> AsyncIterator[Stage]:
    """A server of its own: the first run is asked for here, and would be over for everybody else."""
    async with fresh_application(domains=QUIET) as house:
        yield await set_stage(house, SPECIMENS)


@asynccontextmanager
async def a_hosted_stage() -> AsyncIterator[Stage]:
    async with fresh_application(hosted=True, provision_token=PROVISION_TOKEN, domains=QUIET) as house:
        await Client(house.app, PROVISION_TOKEN).post("/api/provision", {"username": "ada", "org": "Acme"})
        yield await set_stage(house, SPECIMENS)


@pytest.fixture(scope="package")
async def hosted_stage() -> AsyncIterator[Stage]:
    """A server in hosted mode, its tenant provisioned; some specimens make another company its first."""
    async with a_hosted_stage() as stage:
        yield stage


@pytest.fixture(scope="package")
async def untouched_hosted_stage() -> AsyncIterator[Stage]:
    """The same, and its tenant stays the first."""
    async with a_hosted_stage() as stage:
        yield stage


@pytest.fixture(scope="package")
def stages(stage: Stage, planted_stage: Stage) -> dict[bool, Stage]:
    """The stage of a row, by whether it is a planted one."""
    return {False: stage, True: planted_stage}
