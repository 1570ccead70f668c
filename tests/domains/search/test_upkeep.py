"""What was there before the index is read later, some at a time; the commands say what they found."""

from contextlib import redirect_stdout
from io import StringIO
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.commands.search import rebuild_search, verify_search
from atrium.engine.repository import texts
from atrium.engine.repository.model import OBJECTS, Text
from atrium.ground.sharing import grants
from atrium.product.search import chores
from atrium.seams.context import Context
from tests.domains.search.world import done, found
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for


async def test_older_things_are_read_in_batches(
    house: Application, company: Company, alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chores, "_BATCH", 3)
    for number in range(8):
        done(await alice.post("/api/notes", {"title": f"Sundial {number}", "body": "", "visibility": "team"}))
    done(await alice.put("/api/repo/sundial.bin", b"\0"))
    url = house.services.settings.database_url
    await run_as_owner(url, "DELETE FROM search_rows WHERE org_id = $1", company.org.id)
    assert await found(alice, "sundial") == []
    await run_as_owner(url, "INSERT INTO search_backlog (source) VALUES ('notes'), ('objects')")

    while await run_as_owner(url, "SELECT FROM search_backlog"):
        await chores.catch_up(house.services)

    assert len(await found(alice, "sundial")) == 9


async def test_an_extracted_text_is_found_with_its_place(house: Application, alice: Client) -> None:
    stored = done(await alice.put("/api/repo/scan.bin", b"\0"))
    org, version = UUID(alice.org_id), UUID(stored["version"]["id"])
    async with house.services.database.begin(org) as db:
        ctx = Context.of_company(house.services, db, org)
        await run_as_owner(
            house.services.settings.database_url,
            "INSERT INTO object_texts (version_id, org_id, object_id) VALUES ($1, $2, $3)",
            version, org, UUID(stored["id"]),
        )  # fmt: skip
        await texts.finish_text(ctx, version, Text("done", "pages and pages " * 100 + "about a Gyroscope"))

    (hit,) = await found(alice, "gyroscope")

    assert (hit["id"], hit["matched"]) == (stored["id"], ["text"])
    assert [hit["snippet"][start:stop] for start, stop in hit["marks"]] == ["Gyroscope"]


async def test_a_grant_that_ended_long_ago_is_forgotten_and_its_row_follows(
    house: Application, alice: Client, bob: Client
) -> None:
    id = done(await alice.put("/api/repo/lent.bin", b"\0"))["id"]
    body = {"principal_type": "user", "principal_id": bob.user_id, "expires_at": "2999-01-01T00:00:00Z"}
    done(await alice.post(f"/api/repo-obj/{id}/share", body))
    url = house.services.settings.database_url
    await run_as_owner(
        url, "UPDATE object_grants SET expires_at = now() - interval '40 days' WHERE object_id = $1", UUID(id)
    )

    assert await grants.forget_grants(house.services, OBJECTS) >= 1

    ((readers,),) = await run_as_owner(url, "SELECT readers FROM search_rows WHERE id = $1", UUID(id))
    assert UUID(bob.user_id) not in readers


async def test_the_commands_find_and_mend(tmp_path_factory: pytest.TempPathFactory) -> None:
    async with fresh_database() as url:
        settings = settings_for(url, data_dir=tmp_path_factory.mktemp("data"))
        async with open_application(settings) as house:
            person = await (await found_company(house)).join("member")
            done(await person.post("/api/notes", {"title": "Sextant", "body": "", "visibility": "team"}))
        await run_as_owner(url, "UPDATE search_rows SET readers = '{}'")
        said = StringIO()
        with redirect_stdout(said):
            codes = [await verify_search(settings), await rebuild_search(settings), await verify_search(settings)]

    assert codes == [1, 0, 0]
    assert "1 differences: 1 access" in said.getvalue()
    assert "0 differences" in said.getvalue()


async def test_a_model_finds_with_the_rights_of_its_person(company: Company, alice: Client, bob: Client) -> None:
    done(await alice.post("/api/notes", {"title": "Astrolabe mine", "body": "", "visibility": "private"}))
    done(await alice.post("/api/notes", {"title": "Astrolabe ours", "body": "", "visibility": "team"}))
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "search", "arguments": {"q": "astrolabe"}},
    }

    said = [str((await person.post("/mcp", call)).raw) for person in (alice, bob)]

    assert ["mine" in text for text in said] == [True, False]
    assert ["ours" in text for text in said] == [True, True]
