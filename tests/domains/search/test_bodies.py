"""The body of a text document is found with the change that wrote it; a text that cannot be read at once goes on by the job."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.engine.extraction.service import TEXT_KIND
from atrium.product.search import chores, index
from tests.domains.search.world import differences, done, found
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import Company, found_company
from tests.support.servers import left_to_tests, open_application, settings_for

# More characters than are cut into words at once.
LONG = "Nothing is said on this line.\n" * 1_000 + "The last one names the sextant."


@pytest.fixture(scope="module")
async def quiet_house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    """A server none of whose jobs that read a text ever begins."""
    async with fresh_database() as url:
        settings = settings_for(url, data_dir=tmp_path_factory.mktemp("bodies"))
        domains = left_to_tests(TEXT_KIND, "search.read_moved")
        async with open_application(settings, domains=domains) as house:
            yield house


@pytest.fixture
async def firm(quiet_house: Application) -> Company:
    return await found_company(quiet_house)


@pytest.fixture
async def ann(firm: Company) -> Client:
    return await firm.join()


async def jobs_of(house: Application, person: Client) -> int:
    """How many texts of a company wait for a job."""
    url = house.services.settings.database_url
    return len(await run_as_owner(url, "SELECT FROM jobs WHERE org_id = $1", UUID(person.org_id)))


async def upload(person: Client, key: str, content_type: str, body: bytes) -> str:
    return str(done(await person.put(f"/api/repo/{key}", body, headers={"content-type": content_type}))["id"])


async def test_e11_the_body_of_a_document_is_found_with_its_change(
    quiet_house: Application, firm: Company, ann: Client
) -> None:
    made = done(await ann.post("/api/documents", {"title": "Tools", "body": "A gyroscope on the shelf."}))
    (first,) = await found(ann, "gyroscope")
    done(await ann.put(f"/api/documents/{made['id']}", {"body": "An astrolabe on the shelf."}))

    (second,) = await found(ann, "astrolabe")

    assert [(hit["id"], hit["kind"], hit["matched"]) for hit in (first, second)] == [
        (made["id"], "document", ["text"])
    ] * 2
    assert [second["snippet"][start:stop] for start, stop in second["marks"]] == ["astrolabe"]
    assert await found(ann, "gyroscope") == []
    assert (await ann.get(f"/api/repo-obj/{made['id']}"))["text"]["state"] == "done"
    assert await jobs_of(quiet_house, ann) == 0
    assert await differences(quiet_house, firm) == []


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("text/markdown", b"# Gyroscope"),
        ("Text/Plain; charset=utf-8", b"a gyroscope"),
        ("text/csv", b"tool,count\ngyroscope,1\n"),
        ("text/plain", b"\xef\xbb\xbfgyroscope"),
    ],
)
async def test_e11_an_uploaded_text_is_found_with_its_change(
    quiet_house: Application, firm: Company, ann: Client, content_type: str, body: bytes
) -> None:
    id = await upload(ann, "tools", content_type, b"an astrolabe")
    await upload(ann, "tools", content_type, body)

    hits = await found(ann, "gyroscope")

    assert [hit["id"] for hit in hits] == [id]
    assert await jobs_of(quiet_house, ann) == 0
    assert await differences(quiet_house, firm) == []


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("text/html", b"<p>a gyroscope</p>"),
        ("application/json", b'"a gyroscope"'),
        ("text/plain", "a gyroscope".encode("utf-16")),
        ("text/plain", b"a gyroscope, na\xefve"),
        ("text/plain", b"a gyroscope\0"),
        ("text/plain", b"a gyroscope " * 30_000),
    ],
    ids=["a page", "JSON", "UTF-16", "Latin-1", "NUL", "long"],
)
async def test_e11_a_text_that_cannot_be_read_at_once_waits_for_the_job(
    quiet_house: Application, firm: Company, ann: Client, content_type: str, body: bytes
) -> None:
    id = await upload(ann, "tools", content_type, body)

    text = (await ann.get(f"/api/repo-obj/{id}"))["text"]

    assert (text["state"], await jobs_of(quiet_house, ann)) == ("waiting", 1)
    assert await found(ann, "gyroscope") == []
    assert await differences(quiet_house, firm) == []


async def test_e11_a_long_body_is_cut_into_words_by_a_process(
    quiet_house: Application, firm: Company, ann: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_WRITTEN_SECONDS", PATIENCE)
    monkeypatch.setattr(index, "_WRITTEN_WAITS", PATIENCE)
    made = done(await ann.post("/api/documents", {"title": "Log", "body": LONG}))

    hits = await found(ann, "sextant")

    assert [hit["id"] for hit in hits] == [made["id"]]
    assert await differences(quiet_house, firm) == []


async def test_e11_a_body_that_takes_too_long_is_found_by_its_title_and_soon_by_its_words(
    quiet_house: Application, firm: Company, ann: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_WRITTEN_SECONDS", 0.0)
    made = done(await ann.post("/api/documents", {"title": "Log", "body": LONG}))
    before = [[hit["id"] for hit in await found(ann, q)] for q in ("log", "sextant")]

    await chores.read_moved(quiet_house.services)

    assert before == [[made["id"]], []]
    assert [hit["id"] for hit in await found(ann, "sextant")] == [made["id"]]
    assert await differences(quiet_house, firm) == []
