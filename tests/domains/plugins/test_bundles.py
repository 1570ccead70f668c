"""Pages of plugins: who gets which file, how caches and browsers treat it, and that no address leaves the folder."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn

from atrium.admin.plugins.loader import load_plugins
from atrium.boot.assemble import Application
from atrium.boot.connection import Connection
from atrium.edge.app import STRICTEST
from atrium.seams.wiring import Registry
from tests.support.client import Answer, Client
from tests.support.patience import PATIENCE
from tests.support.people import found_company
from tests.support.plugin_folders import write_plugin
from tests.support.servers import open_application, settings_for
from tests.support.signing_in import in_browser
from tests.support.signing_in import person as member

LANDING, BUNDLE = "/beta/bundle/paged-probe", "/api/x/paged-probe/bundle"
SECRET = b"outside the folder"
SANDBOX = "sandbox allow-scripts"


def fill(folder: Path, outside: Path) -> None:
    """One folder of pages with everything that may and may not be served."""
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / ".git").mkdir()
    for name in (
        "index.html",
        "picture.svg",
        "feed.xml",
        "main.js",
        "style.css",
        "deep/er/a.txt",
        "odd.unknown",
        "LOUD.HTML",
    ):
        (folder / name).write_bytes(f"{folder.name}/{name}".encode())
    for name in (".env", ".git/config", "deep/.hidden"):
        (folder / name).write_bytes(SECRET)
    (folder / "link.txt").symlink_to(outside)
    (folder / "linked").symlink_to(outside.parent, target_is_directory=True)
    os.mkfifo(folder / "pipe")


@pytest.fixture(scope="module")
async def pages(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    root = tmp_path_factory.mktemp("plugins")
    (root / "secret.txt").write_bytes(SECRET)
    plugin = write_plugin(root, "paged-probe")
    (plugin / "secret.txt").write_bytes(SECRET)
    for name in ("bundle", "landing"):
        fill(plugin / name, root / "secret.txt")
    write_plugin(root, "bare-probe")
    async with open_application(settings_for(database_url, plugins_dir=str(root))) as house:
        yield house


@pytest.fixture
async def person(pages: Application) -> Client:
    return await (await found_company(pages)).join("viewer")


@pytest.fixture
def stranger(pages: Application) -> Client:
    return Client(pages.app)


async def test_everybody_may_see_a_landing_file_and_keep_it_for_five_minutes(stranger: Client) -> None:
    answer = await stranger.get(f"{LANDING}/style.css")

    assert (answer.status, answer.raw) == (200, b"landing/style.css")
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert answer.headers["cache-control"] == "public, max-age=300"
    assert answer.headers["x-content-type-options"] == "nosniff"
    # Its pages are origins of their own and load it from here.
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert "access-control-allow-origin" not in answer.headers


async def test_a_bundle_file_is_for_people_who_are_signed_in_and_for_no_cache(person: Client, stranger: Client) -> None:
    answer = await person.get(f"{BUNDLE}/main.js")
    refused = await stranger.get(f"{BUNDLE}/main.js")

    assert (answer.status, answer.raw) == (200, b"bundle/main.js")
    assert answer.headers["cache-control"] == "private, no-store"
    assert "Authorization" in answer.headers["vary"]
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert (refused.status, refused.headers["cache-control"]) == (401, "no-store")


async def test_a_client_that_has_the_file_is_not_sent_it_again(person: Client, stranger: Client) -> None:
    for client, path in ((stranger, f"{LANDING}/main.js"), (person, f"{BUNDLE}/main.js")):
        first = await client.get(path)
        again = await client.get(path, headers={"if-none-match": first.headers["etag"]})
        other = await client.get(path, headers={"if-none-match": '"another"'})

        assert (again.status, again.raw) == (304, b"")
        assert again.headers["cache-control"] == first.headers["cache-control"]
        assert (other.status, other.raw) == (200, first.raw)


class SharedCache:
    """A caching proxy in front: keeps what RFC 9111 lets a shared cache keep, and answers everybody with it."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, ...], Answer] = {}

    async def get(self, client: Client, path: str) -> Answer:
        sent = {"authorization": f"Bearer {client.token}"} if client.token else {}
        sent |= {"cookie": client.cookie} if client.cookie else {}
        for key, answer in self.kept.items():
            if key == _key(path, answer, sent):
                return answer
        answer = await client.get(path)
        # A cookie in a request forbids a cache nothing; a credential in `Authorization` does.
        if _is_shared(answer, bool(client.token)):
            self.kept[_key(path, answer, sent)] = answer
        return answer


def _key(path: str, answer: Answer, sent: dict[str, str]) -> tuple[str, ...]:
    varied = sorted(name.strip().lower() for name in answer.headers.get("vary", "").split(","))
    return (path, *(f"{name}={sent.get(name, '')}" for name in varied))


def _is_shared(answer: Answer, signed_in: bool) -> bool:
    words = {word.strip().partition("=")[0] for word in answer.headers.get("cache-control", "").split(",")}
    if answer.status != 200 or words & {"no-store", "private", "no-cache"}:
        return False
    return not signed_in or bool(words & {"public", "s-maxage", "must-revalidate"})


@pytest.mark.parametrize("credential", ["token", "cookie"])
async def test_a_shared_cache_hands_nobody_what_is_another_persons(
    pages: Application, stranger: Client, credential: str
) -> None:
    people = [await member(await found_company(pages), "viewer") for _ in range(2)]
    one, other = people if credential == "token" else [await in_browser(each) for each in people]
    cache = SharedCache()
    for path in (f"{BUNDLE}/main.js", f"{BUNDLE}/index.html", "/api/whoami", "/api/plugins"):
        assert (await cache.get(one, path)).status == 200
        assert (await cache.get(stranger, path)).status == 401
        assert (await cache.get(other, path)).status == 200
    assert cache.kept == {}

    landing = [await cache.get(each, f"{LANDING}/style.css") for each in (one, stranger, other)]

    assert {answer.raw for answer in landing} == {b"landing/style.css"}
    assert cache.kept


def test_the_cache_would_keep_a_bundle_that_says_it_may() -> None:
    loose = Answer(200, {"cache-control": "public, max-age=300"}, b"x")

    assert _is_shared(loose, signed_in=True)
    assert not _is_shared(Answer(200, {"cache-control": "max-age=300"}, b"x"), signed_in=True)


@pytest.mark.parametrize("name", ["index.html", "picture.svg", "feed.xml", "LOUD.HTML"])
async def test_documents_get_an_origin_of_their_own(person: Client, stranger: Client, name: str) -> None:
    for answer in (await stranger.get(f"{LANDING}/{name}"), await person.get(f"{BUNDLE}/{name}")):
        assert (answer.status, answer.headers["content-security-policy"]) == (200, SANDBOX)


@pytest.mark.parametrize("name", ["main.js", "style.css", "deep/er/a.txt", "odd.unknown"])
async def test_everything_else_runs_nothing_when_it_is_opened(person: Client, stranger: Client, name: str) -> None:
    for answer in (await stranger.get(f"{LANDING}/{name}"), await person.get(f"{BUNDLE}/{name}")):
        assert (answer.status, answer.headers["content-security-policy"]) == (200, STRICTEST.decode())
        assert answer.headers["content-type"] != "text/html; charset=utf-8"


def ways_out() -> Iterator[str]:
    """Addresses that would leave the folder if anything in them were believed, as they stand on the wire."""
    for target in (
        "secret.txt",
        "plugin.py",
        "plugin.toml",
        "landing/main.js",
        "bundle/main.js",
        "paged-probe/secret.txt",
    ):
        for up in (
            "..",
            "%2e%2e",
            ".%2e",
            "%2E%2E",
            "%252e%252e",
            "..%00",
            "..;",
            "%c0%ae%c0%ae",
            "...",
            ". .",
            "..\\",
            "..%5c",
        ):
            for join in ("/", "%2f", "%5c"):
                yield f"{up}{join}{target}"
    yield from (
        ".env", "%2eenv", ".git/config", "deep/.hidden", "link.txt", "linked/secret.txt", "pipe", "deep", "deep/", "deep/er/",
        ".", "./", "./main.js", "deep/../main.js", "deep/er/../../main.js", "//main.js", "/main.js", "main.js/", "main.js/x",
        "main.js%00", "main.js%00.css", "%00", "%2fetc%2fpasswd", "/etc/passwd", "file:///etc/passwd", "C:%5cWindows", "~", "~root",
        "x" * 300, "x/" * 2000, "%ff%fe", "%ed%a0%80", "\\..\\secret.txt", "main.js?/../secret.txt%3f", "MAIN.JS", "main.js%20", "main.js.",
        "%E2%80%AE", "con", "nul", "*", "**/*", "[m]ain.js", "$(id)", "`id`", "{main,x}.js",
    )  # fmt: skip


@asynccontextmanager
async def listening(house: Application) -> AsyncIterator[int]:
    """The port of the application behind the server that it has in production."""
    config = uvicorn.Config(house.app, http=Connection, lifespan="off", log_config=None, access_log=False, ws="none")
    config.load()
    state, loop = uvicorn.server.ServerState(), asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(config, state, {}), "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def ask(port: int, address: str, client: Client) -> bytes:
    """Everything that comes back for an address, which is sent as it stands."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    credential = f"authorization: Bearer {client.token}\r\n" if client.token else ""
    writer.write(f"GET {address} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{credential}\r\n".encode())
    answer = await asyncio.wait_for(reader.read(), PATIENCE)
    writer.close()
    return answer


async def test_no_address_leaves_the_folder(pages: Application, person: Client, stranger: Client) -> None:
    tried = 0
    async with listening(pages) as port:
        for client, root in ((stranger, LANDING), (person, BUNDLE)):
            assert (await ask(port, f"{root}/main.js", client)).startswith(b"HTTP/1.1 200 ")
            for way in ways_out():
                answer = await ask(port, f"{root}/{way.replace('?', '%3f')}", client)
                tried += 1
                assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 404 ")), (root, way, answer[:200])
                assert SECRET not in answer

    assert tried >= 400


async def test_what_is_absent_is_one_404(person: Client, stranger: Client) -> None:
    bodies = set()
    absent = [("paged-probe", name) for name in ("none.js", ".env", "deep", "link.txt")]
    for plugin, name in (*absent, ("bare-probe", "main.js"), ("none", "main.js")):
        landing = await stranger.get(f"/beta/bundle/{plugin}/{name}")
        bundle = await person.get(f"/api/x/{plugin}/bundle/{name}")
        bodies |= {(answer.status, answer["code"], answer["detail"]) for answer in (landing, bundle)}

    assert bodies == {(404, "plugins.file_missing", "no plugin has a file at this address")}


async def test_a_plugins_card_says_what_its_page_is_called(person: Client) -> None:
    cards = {card["id"]: card for card in (await person.get("/api/plugins"))["items"]}

    assert cards["example-tools"]["page"]["en"] == "Word counter"
    assert (cards["paged-probe"]["page"], cards["bare-probe"]["page"]) == ({}, None)
    assert cards["paged-probe"]["bundles"] == ["bundle", "landing"]


@pytest.mark.parametrize(
    "card", ["{", "[]", '{"title": "x"}', '{"title": {"en": ""}}', '{"title": {"../x": "y"}}', '{"name": "x"}']
)
def test_a_malformed_card_fails_the_plugins_load(tmp_path: Path, card: str) -> None:
    bundle = write_plugin(tmp_path, "card-probe") / "bundle"
    bundle.mkdir()
    (bundle / "main.js").write_text("export function mount() {}")
    (bundle / "page.json").write_text(card)
    registry = Registry()

    load_plugins([tmp_path], registry)

    assert "card-probe" not in registry.plugins
    assert "bundle/page.json" in registry.failed_plugins["card-probe"]
