"""The console as the server hands it out: one page with this instance's facts, files that may be kept, a strict policy."""

import json
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from atrium.product.console import service
from tests.support.client import Answer, Client
from tests.support.servers import fresh_application

INDEX = """<!doctype html><html><head><title>Atrium</title>
<script type="application/json" id="boot">{}</script><script src="/assets/boot-abcd1234.js"></script></head></html>"""


@pytest.fixture(autouse=True)
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A console as a build leaves it."""
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text(INDEX)
    (tmp_path / "sw.js").write_text("// worker")
    (tmp_path / "assets" / "main-abcd1234.js").write_text("plain")
    (tmp_path / "assets" / "main-abcd1234.js.gz").write_bytes(b"packed by gzip")
    (tmp_path / "assets" / "main-abcd1234.js.br").write_bytes(b"packed by brotli")
    (tmp_path / "secret.txt").write_text("outside")
    monkeypatch.setattr(service, "built", lambda: tmp_path)
    return tmp_path


def facts_of(page: Answer) -> dict[str, object]:
    found = re.search(r'id="boot">(.*?)</script>', page.raw.decode())
    assert found is not None
    return dict(json.loads(found[1]))


@pytest.mark.parametrize("path", ["/", "/index.html", "/login", "/activate"])
async def test_every_door_gives_the_page(nobody: Client, path: str) -> None:
    page = await nobody.get(path)

    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b"/assets/boot-abcd1234.js" in page.raw


async def test_the_page_is_kept_by_nobody_and_runs_under_a_strict_policy(nobody: Client) -> None:
    page = await nobody.get("/")

    policy = page.headers["content-security-policy"]
    assert page.headers["cache-control"] == "no-store"
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy


async def test_the_page_carries_the_facts_of_its_instance() -> None:
    async with fresh_application() as house:
        before = facts_of(await Client(house.app).get("/"))
        await Client(house.app).post(
            "/api/bootstrap", {"username": "ada", "password": "correct horse", "org": "O", "team": "T"}
        )

        after = facts_of(await Client(house.app).get("/"))

    assert (before["needs_bootstrap"], after["needs_bootstrap"]) == (True, False)
    assert after["title"] == "Atrium"
    assert after["localization"] == {
        "default_locale": "en",
        "locales": ["en", "es", "is", "nl"],
        "switching": True,
        "serve_machine": False,
    }


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("is,en;q=0.5", "is"),
        ("fr-FR, nl-BE;q=0.9, en;q=0.8", "nl"),
        ("en;q=0.3, es-MX", "es"),
        ("fr", "en"),
        ("es;q=0, nl;q=nonsense", "en"),
        ("", "en"),
    ],
)
async def test_the_page_speaks_the_language_the_browser_asks_for(nobody: Client, asked: str, given: str) -> None:
    page = await nobody.get("/", headers={"accept-language": asked})

    assert facts_of(page)["locale"] == given


@asynccontextmanager
async def branded(**look: object) -> AsyncIterator[Client]:
    """A stranger to an instance of its own, which looks like this."""
    async with fresh_application() as house:
        first = {"username": "ada", "password": "correct horse", "org": "O", "team": "T"}
        founded = await Client(house.app).post("/api/bootstrap", first)
        await Client(house.app, founded["token"]).put("/api/branding", look)
        yield Client(house.app)


async def test_a_title_cannot_break_out_of_the_page() -> None:
    title = "</title></script><script>alert(1)</script>"
    async with branded(title=title) as nobody:
        page = await nobody.get("/")

    assert b"<script>alert" not in page.raw
    assert facts_of(page)["title"] == title


async def test_the_page_carries_the_look_of_its_instance() -> None:
    async with branded(title="Harbour & Sons", tagline="Ships", theme={"radius": "2px"}) as nobody:
        page = await nobody.get("/")

    facts = facts_of(page)
    assert (facts["title"], facts["tagline"], facts["logo"]) == ("Harbour & Sons", "Ships", None)
    assert facts["theme"] == {"radius": "2px"}
    assert b"<title>Harbour &amp; Sons</title>" in page.raw


async def test_an_asset_with_a_hash_is_kept_for_a_year(nobody: Client) -> None:
    asset = await nobody.get("/assets/main-abcd1234.js")

    assert (asset.status, asset.raw) == (200, b"plain")
    assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert asset.headers["content-type"] == "text/javascript; charset=utf-8"
    assert asset.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    ("accepted", "body", "encoding"),
    [
        ("gzip, deflate, br", b"packed by brotli", "br"),
        ("gzip", b"packed by gzip", "gzip"),
        ("identity", b"plain", None),
    ],
)
async def test_an_asset_comes_in_the_smallest_form_the_browser_takes(
    nobody: Client, accepted: str, body: bytes, encoding: str | None
) -> None:
    asset = await nobody.get("/assets/main-abcd1234.js", headers={"accept-encoding": accepted})

    assert (asset.raw, asset.headers.get("content-encoding")) == (body, encoding)


@pytest.mark.parametrize("path", ["nothing.js", "../secret.txt", "..%2fsecret.txt", "main-abcd1234.js.gz", "", "."])
async def test_nothing_outside_the_assets_is_served(nobody: Client, path: str) -> None:
    answer = await nobody.get(f"/assets/{path}")

    assert answer.status == 404


async def test_the_worker_is_asked_for_anew_each_time(nobody: Client) -> None:
    worker = await nobody.get("/sw.js")

    assert (worker.status, worker.raw, worker.headers["cache-control"]) == (200, b"// worker", "no-cache")


def advice_of(page: Answer) -> list[str]:
    """The commands that the page of a server without a console gives."""
    assert (page.status, "script" in page.headers["content-security-policy"]) == (200, False)
    return re.findall(r"<pre>(.*?)</pre>", page.raw.decode(), re.DOTALL)


async def test_p4_a_server_installed_without_a_console_says_all_that_has_to_be_done(
    nobody: Client, built: Path
) -> None:
    shutil.rmtree(built)

    page = await nobody.get("/")

    assert advice_of(page) == ["make console\n.venv/bin/pip install '.[local]'"]
    assert b"Stop the server and start it again." in page.raw


async def test_p4_in_a_checkout_building_is_enough(
    nobody: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "package.json").write_text("{}")
    monkeypatch.setattr(service, "built", lambda: tmp_path / "dist")

    assert advice_of(await nobody.get("/")) == ["make console"]


async def test_the_pages_of_the_interface_stay_uncached(alice: Client) -> None:
    assert (await alice.get("/api/whoami")).headers["cache-control"] == "no-store"
