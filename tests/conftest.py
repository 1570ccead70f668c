"""Fixtures every test may use: one server on one fresh database for the run, and a company per test."""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from itertools import chain
from pathlib import Path

import pytest
import structlog
from hypothesis import settings

from atrium.boot.assemble import Application
from tests import order
from tests.postgres import fresh_database
from tests.support import announcements
from tests.support.client import Client
from tests.support.llama import Llama, llama_serving
from tests.support.people import Company, found_company
from tests.support.processes import PROOFS
from tests.support.servers import open_application, settings_for
from tests.support.tiny_model import build
from tests.table.tally import lines

SHOWN_FILES, SLOW_FILE = 20, 5

# A busy machine is not a defect: no example has a deadline. The gate draws the same examples every time; proofs draw new ones.
settings.register_profile("gate", deadline=None, max_examples=60, derandomize=True, database=None)
settings.register_profile("proofs", deadline=None, max_examples=500, print_blob=True)
settings.load_profile("proofs" if PROOFS else "gate")


def pytest_configure(config: pytest.Config) -> None:
    """Logs without the values of variables: a server in the tests' own process would stand still while it prints them all.

    xdist hands out files in the order in which they are collected, and not those with the most tests first.
    """
    config.option.loadscopereorder = False
    announcements.observe()
    render = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[structlog.processors.add_log_level, structlog.processors.TimeStamper(), render])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where several processes share the files, the longest come first; the order within a file stays."""
    if hasattr(config, "workerinput"):
        files = order.longest_first([item.nodeid for item in items], order.known_seconds())
        place = {file: number for number, file in enumerate(files)}
        items.sort(key=lambda item: place[order.file_of(item.nodeid)])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Where the time went, and what the probes of every row asked when they were part of the run and all held."""
    for seconds, file in slowest_files(terminalreporter)[:SHOWN_FILES]:
        terminalreporter.write_line(f"{seconds:7.1f}s  {file}")
    over = [report for report in terminalreporter.stats.get("", []) if report.when == "teardown"]
    if not terminalreporter.stats.get("failed"):
        for line in lines(found for report in over for found in report.user_properties):
            terminalreporter.write_line(line)


def slowest_files(terminalreporter: pytest.TerminalReporter) -> list[tuple[float, str]]:
    """Seconds per file, set-up and tear-down included; of a short run nothing."""
    seconds: dict[str, float] = defaultdict(float)
    for report in chain.from_iterable(terminalreporter.stats.values()):
        if isinstance(report, pytest.TestReport):
            seconds[report.location[0]] += report.duration
    return sorted(((spent, file) for file, spent in seconds.items() if spent > SLOW_FILE), reverse=True)


@pytest.fixture(scope="session")
async def database_url() -> AsyncIterator[str]:
    async with fresh_database() as url:
        yield url


@pytest.fixture(scope="session")
async def house(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    settings = settings_for(database_url, data_dir=tmp_path_factory.mktemp("data"))
    async with announcements.compared(database_url), open_application(settings) as house:
        yield house


@pytest.fixture(scope="module", autouse=True)
async def announced() -> AsyncIterator[None]:
    """What the tests of this file changed was announced, and nothing else."""
    yield
    await announcements.require_equal()


@pytest.fixture
async def company(house: Application) -> Company:
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
async def stranger(house: Application) -> Client:
    """The owner of another company."""
    return await (await found_company(house)).join("owner", org_role="org_owner")


@pytest.fixture
def nobody(house: Application) -> Client:
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
