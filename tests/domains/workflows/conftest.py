"""A server of its own whose runs are advanced by the tests' own worker."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atrium.boot.assemble import Application
from tests.domains.workflows import probes
from tests.domains.workflows.engine import AT_COMMIT, Engine, Starter
from tests.postgres import fresh_database, run_as_owner
from tests.support.queue import TRIPWIRE
from tests.support.servers import left_to_tests, open_application, settings_for


@pytest.fixture(scope="package")
async def workflow_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    folder: Path = tmp_path_factory.mktemp("workflows")
    domains = left_to_tests("jobs.sweep", "workflows.forget", "extraction.text", domains=probes.WITH_PROBES)
    async with fresh_database() as url:
        for statement in TRIPWIRE.split("CREATE OR REPLACE ")[1:]:
            await run_as_owner(url, f"CREATE OR REPLACE {statement.strip()}")
        for statement in AT_COMMIT:
            await run_as_owner(url, statement)
        async with open_application(settings_for(url, data_dir=folder), domains=domains) as server:
            yield server


@pytest.fixture
async def engine(workflow_server: Application) -> Engine:
    engine = Engine(workflow_server)
    await engine.empty()
    return engine


@pytest.fixture
async def starter(engine: Engine) -> Starter:
    return await engine.company()


@pytest.fixture(autouse=True)
def fresh_probes() -> None:
    probes.STUMBLES.clear()
    probes.GATES.clear()
    probes.CALLS.clear()
    probes.NAMED.clear()
