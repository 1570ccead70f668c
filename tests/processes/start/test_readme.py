"""The README's quick start does what it says, in minutes, and ends with a console in a browser."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from atrium.kit.crypto.tokens import new_token
from tests.postgres import run_as_owner
from tests.processes.start.quick_start import (
    README_PORT,
    QuickStartFailed,
    Ran,
    commands_under,
    network_answers,
    quick_start,
    script_of,
)
from tests.support.processes import ROOT

# The console's packages are fetched and its build is made, too.
LIMIT = 300
CREDENTIAL = re.compile(rb"\bat[a-z]_[A-Za-z0-9]{49}\b")
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")


@contextmanager
def quickly_started(without: str | None = None) -> Iterator[Ran]:
    """The README's commands, all done; skipped where nothing can be fetched."""
    try:
        with quick_start(LIMIT, without) as ran:
            yield ran
    except QuickStartFailed as failure:
        if not network_answers():
            pytest.skip("NO NETWORK: pip cannot fetch packages, so the README's quick start was NOT tried")
        pytest.fail(f"the README's quick start did not work:\n{failure}")


async def fetch(ran: Ran, path: str) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False, base_url=f"http://127.0.0.1:{ran.port}") as client:
        return await client.get(path)


def drawn(ran: Ran) -> str:
    """What a browser shows under the server's address; empty where there is no browser."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return ""
    look = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={ran.folder / 'browser'}"]
    shown = [*look, "--virtual-time-budget=60000", "--dump-dom", f"http://127.0.0.1:{ran.port}/"]
    return subprocess.run(shown, capture_output=True, check=True, text=True, timeout=LIMIT).stdout


@pytest.mark.proof
async def test_the_quick_start_ends_with_an_instance_and_a_first_note_in_minutes() -> None:
    with quickly_started() as ran:
        database = f"postgresql://postgres@/atrium?host={ran.folder}/atrium-data/postgres"
        counts = await run_as_owner(
            database,
            "SELECT (SELECT count(*) FROM instance), (SELECT count(*) FROM users WHERE operator), (SELECT count(*) FROM notes)",
        )
        left = files_with_credentials(ran.folder)
        config = (await fetch(ran, "/api/config")).json()
        page = (await fetch(ran, "/")).text
        parts = [await fetch(ran, path) for path in re.findall(r'(?:src|href)="(/assets/[^"]+)"', page)]
        shown = drawn(ran)

    print(f"the quick start took {ran.seconds:.1f} s")
    assert ran.seconds < LIMIT
    assert tuple(counts[0]) == (1, 1, 1)
    assert config["needs_bootstrap"] is False
    assert json.loads(ran.output.splitlines()[-1])["title"]
    assert left == []
    # P4: what was installed has its console.
    assert parts
    assert {part.status_code for part in parts} == {200}
    assert not shown or 'type="password"' in shown


@pytest.mark.proof
async def test_p4_the_page_of_a_server_without_a_console_leads_to_one() -> None:
    with quickly_started(without="make console") as ran:
        before = (await fetch(ran, "/")).text
        for commands in re.findall(r"<pre>(.*?)</pre>", before, re.DOTALL):
            subprocess.run(["bash", "-ec", commands], cwd=ran.folder, check=True, capture_output=True, timeout=LIMIT)
        after = (await fetch(ran, "/")).text

    assert ("<pre>" in before, "/assets/" in before) == (True, False)
    assert ("<pre>" in after, "/assets/" in after) == (False, True)


def files_with_credentials(folder: Path) -> list[str]:
    """What the commands left in the checkout that holds a token of ours; the data folder is the server's own."""
    ours = {".venv", "atrium-data", "build", "console"}
    found = [path for path in folder.rglob("*") if path.is_file() and path.relative_to(folder).parts[0] not in ours]
    return [str(path.relative_to(folder)) for path in found if CREDENTIAL.search(path.read_bytes())]


def test_a_token_in_a_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "operator.json").write_text(f'{{"token": "{new_token("session")}"}}')
    (tmp_path / "guide.md").write_text("ATRIUM_TOKEN=atw_… atrium-worker")

    assert files_with_credentials(tmp_path) == ["operator.json"]


def test_blocks_are_found_under_their_own_heading_only() -> None:
    text = "# A\n\n## One\n\n```sh\nfirst\nsecond\n```\n\n```python\nno\n```\n\n### Two\n```sh\nthird\n```\n## Three\n```sh\nno\n```\n"

    assert commands_under(text, "## One") == ["first\nsecond\n"]
    assert commands_under(text, "### Two") == ["third\n"]
    with pytest.raises(QuickStartFailed):
        commands_under(text, "## Four")


def test_a_taken_port_is_replaced_everywhere_it_is_written() -> None:
    script = script_of((ROOT / "README.md").read_text(), 12_345)

    assert f":{README_PORT}/" not in script
    assert "atrium up --port 12345" in script
    assert script.count(":12345/") >= 3
