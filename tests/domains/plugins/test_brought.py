"""Findings about what plugins bring."""

from pathlib import Path

import pytest

from atrium.commands.blobs import verify_blobs
from atrium.edge.endpoint import bind_plugin
from atrium.seams.wiring import PluginRoute
from tests.postgres import fresh_database
from tests.support.people import found_company
from tests.support.servers import open_application, settings_for

pytestmark = pytest.mark.finding

FOUR = """
from atrium.sdk import Plugin

class Four:
    def __init__(self, settings):
        self.folder = settings.data_dir
    def at(self, namespace, sha256):
        return self.folder / f"{namespace}-{sha256.hex()}"
    async def put(self, namespace, sha256, staged):
        self.at(namespace, sha256).write_bytes(staged.read_bytes())
    async def get(self, namespace, sha256, start=0, stop=None):
        yield self.at(namespace, sha256).read_bytes()[start:stop]
    async def delete(self, namespace, sha256):
        self.at(namespace, sha256).unlink(missing_ok=True)
    async def stat(self, namespace, sha256):
        found = self.at(namespace, sha256)
        return found.stat().st_size if found.exists() else None

PLUGIN = Plugin(blob_stores={"four": Four})
"""


async def test_d12_a_plugins_handler_that_says_nothing_answers_200_with_json() -> None:
    async def nothing(ctx: object, request: object) -> None:
        return None

    answer = await bind_plugin("x", PluginRoute("GET", "/nothing", "chat:use", nothing, "Nothing.")).call(None, None)

    assert (answer.body, answer.media_type) == (b"null", "application/json")


async def test_d13_a_store_of_four_operations_is_enough(tmp_path: Path) -> None:
    plugin = tmp_path / "plugins" / "four"
    plugin.mkdir(parents=True)
    (plugin / "plugin.toml").write_text(
        'id = "four"\nname = "Four"\nversion = "0.1.0"\ndescription = "Four"\nentry = "entry.py"\n'
    )
    (plugin / "entry.py").write_text(FOUR)
    async with fresh_database() as url:
        settings = settings_for(url, data_dir=tmp_path, plugins_dir=str(tmp_path / "plugins"), blob_store="four")
        async with open_application(settings) as house:
            person = await (await found_company(house)).join("member")
            stored = await person.put("/api/repo/a.txt", b"kept")
            read = await person.get(f"/api/repo-obj/{stored['id']}/content")

        assert (stored.status, read.raw) == (201, b"kept")
        assert await verify_blobs(settings) == 0
