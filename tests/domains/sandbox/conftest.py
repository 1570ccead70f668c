"""A server with guests that misbehave, and a company that has turned them on."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from atrium.boot.assemble import Application
from atrium.kit.isolation.sandbox import Sandbox
from tests.domains.sandbox.guests import serving, turn_on, write_guest
from tests.support.client import Client
from tests.support.folders import readable_folder
from tests.support.people import Company, found_company

GRANTS = '{"odd": ["notes.read", "notes.write", "documents.read", "files.read", "search", "ai.turn"], "plain": ["notes.read"]}'
CAPABILITIES = (
    'capabilities = ["notes.read", "notes.write", "documents.read", "files.read", "search", "ai.turn"]\nseconds = 5\n'
)


@pytest.fixture(scope="session")
async def sandbox() -> Sandbox:
    """A working sandbox; tests that need one are skipped where there is none, and say why."""
    found = Sandbox()
    if reason := await found.reason():
        pytest.skip(f"there is no working sandbox here: {reason}")
    return found


@pytest.fixture(scope="module")
def guest_folder() -> Iterator[Path]:
    with readable_folder() as root:
        write_guest(root, "odd", manifest=CAPABILITIES)
        write_guest(root, "plain", manifest='capabilities = ["notes.write"]\nseconds = 5\n')
        yield root


@pytest.fixture(scope="module")
async def hosting(
    sandbox: Sandbox, database_url: str, guest_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Application]:
    private = tmp_path_factory.mktemp("private")
    async with serving(
        database_url, guest_folder, private, grants=GRANTS, effects='{"odd": {"echo": "read", "use": "write"}}'
    ) as found:
        yield found


@pytest.fixture
async def company(hosting: Application) -> Company:
    made = await found_company(hosting)
    await turn_on(made)
    return made


@pytest.fixture
async def stranger(hosting: Application) -> Client:
    """A member of another company, which has turned the guests on as well."""
    made = await found_company(hosting)
    await turn_on(made)
    return await made.join("member")
