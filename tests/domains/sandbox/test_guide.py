"""The guests of the guide work as they are pasted."""

import re
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from atrium.boot.assemble import Application
from atrium.kit.isolation.sandbox import Sandbox
from tests.domains.sandbox.guests import call, serving, turn_on, value_of
from tests.support.client import Client
from tests.support.folders import readable_folder
from tests.support.people import Company, found_company

GUIDE = Path(__file__).parents[3] / "docs/guides/guests.md"
_BLOCK = re.compile(r'^```\w+ title="guests/([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_GRANTS = re.compile(r"^export SERVICE_OOP_GRANTS='(.*)'$", re.MULTILINE)


@pytest.fixture(scope="module")
def guest_folder() -> Iterator[Path]:
    with readable_folder() as root:
        for name, text in _BLOCK.findall(GUIDE.read_text()):
            (root / name).parent.mkdir(mode=0o755, exist_ok=True)
            (root / name).write_text(text)
        yield root


@pytest.fixture(scope="module")
async def hosting(
    sandbox: Sandbox, database_url: str, guest_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Application]:
    if shutil.which("node", path="/usr/local/bin:/usr/bin") is None:
        pytest.skip("the guide's second guest needs a node below /usr")
    (grants,) = _GRANTS.findall(GUIDE.read_text())
    async with serving(database_url, guest_folder, tmp_path_factory.mktemp("private"), grants=grants) as found:
        yield found


@pytest.fixture
async def company(hosting: Application) -> Company:
    made = await found_company(hosting)
    await turn_on(made)
    return made


async def test_both_guests_are_ready(alice: Client) -> None:
    found = (await alice.get("/api/oop"))["items"]

    assert [(one["id"], one["state"]) for one in found] == [("keywords", "ready"), ("wordcount", "ready")], found


async def test_the_python_guest_counts_the_words_of_a_note(alice: Client, bob: Client) -> None:
    note = await alice.post("/api/notes", {"title": "Mine", "body": "three words here", "visibility": "private"})

    found = await value_of(alice, "wordcount", "count_words", id=note["id"])
    refused = await call(bob, "wordcount", "count_words", id=note["id"])

    assert found == {"title": "Mine", "words": 3}
    assert (refused.status, "no such note" in refused["detail"]) == (502, True)


async def test_the_javascript_guest_finds_keywords(alice: Client) -> None:
    text = "Lorem ipsum ships lorem, ships and more ships"

    assert await value_of(alice, "keywords", "find_keywords", text=text, most=2) == ["ships", "lorem"]
