"""Every command of the tutorials does what its page says, in seconds."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import fresh_database
from tests.processes.start.tutorials import PAGES, Part, differences, parts_of, run_page, script_of
from tests.support.processes import FIRST_RUN, bootstrap, free_port, serving
from tests.support.servers import SECRET

READERS = {"run", "work", "build"}


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="atrium-tutorial-") as name:
        yield Path(name)


def test_there_is_a_tutorial_for_each_reader() -> None:
    assert {path.stem for path in PAGES.glob("*.md")} == READERS


async def test_running_an_instance(folder: Path) -> None:
    await asyncio.to_thread(run_page, "run", folder, free_port())


async def test_working_in_a_team(folder: Path) -> None:
    async with fresh_database() as url, serving(url, data_dir=folder / "data") as (server,):
        async with server.client(await bootstrap(server)) as ada:
            assert (await ada.post("/api/members", json={"username": "bob", "role": "member"})).status_code == 201

        await asyncio.to_thread(
            run_page, "work", folder, server.port, ATRIUM=server.address, PASSWORD=FIRST_RUN["password"]
        )


async def test_building_a_plugin_and_a_worker(folder: Path) -> None:
    async with fresh_database() as url:
        await asyncio.to_thread(
            run_page, "build", folder, free_port(), SERVICE_DATABASE_URL=url, SERVICE_SECRET_KEY=SECRET
        )


def test_a_page_is_read_in_order() -> None:
    page = 'Text.\n\n```sh title="server"\natrium up\n```\n\n```toml title="a/b.toml"\nx = 1\n```\n\nPress Ctrl-C.\n\n```sh\ndate\n```\n'

    found = parts_of(page)

    assert found == [
        Part("sh", "server", "atrium up\n"),
        Part("toml", "a/b.toml", "x = 1\n"),
        Part("stop", "", ""),
        Part("sh", "", "date\n"),
    ]
    assert "atrium up --port 12345" in script_of(found, 12_345)


def test_an_output_that_differs_is_found(folder: Path) -> None:
    parts = [Part("sh", "", "…"), Part("text", "", "first … last\n")]

    (folder / "printed-0").write_text("first and last\n")
    assert list(differences(parts, folder, 1)) == []

    (folder / "printed-0").write_text("first and second\n")
    assert len(list(differences(parts, folder, 1))) == 1
