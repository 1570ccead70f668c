"""Entities among what is found: by their names, and only as far as one can read a document that uses them."""

from typing import Any

import pytest

from atrium.boot.assemble import Application
from tests.domains.search.graph import merge, say
from tests.domains.search.world import done
from tests.support.client import Client
from tests.support.people import Company


async def upload(person: Client, key: str, visibility: str = "private") -> str:
    return str(done(await person.put(f"/api/repo/{key}?visibility={visibility}", b"\0"))["id"])


async def entities(person: Client, q: str, **more: Any) -> list[dict[str, Any]]:
    items = done(await person.get("/api/search", q=q, **more))["items"]
    return [item for item in items if item["kind"] == "entity"]


async def test_an_entity_is_found_by_its_name(house: Application, company: Company) -> None:
    person = await company.join("member")
    (id,) = await say(house, person, await upload(person, "deed.bin"), "Müller Dredging Ltd")

    (item,) = await entities(person, "müller dredg")

    assert (item["id"], item["title"], item["type"], item["matched"]) == (
        id,
        "Müller Dredging Ltd",
        "organisation",
        ["name"],
    )
    assert item["team"]["id"] == person.team_id
    assert item["snippet"] == "about Müller Dredging Ltd"
    assert [item["snippet"][start:stop] for start, stop in item["marks"]] == ["Müller", "Dredging"]
    assert done(await person.get(f"/api/kg/entities/{id}"))["name"] == "Müller Dredging Ltd"


async def test_filters_and_exclusions_hold_for_entities(house: Application, company: Company) -> None:
    person = await company.join("member")
    await say(house, person, await upload(person, "vessel.bin"), "Oceanic Vessel")
    done(await person.post("/api/notes", {"title": "Oceanic note", "body": "", "visibility": "private"}))

    assert {hit["kind"] for hit in done(await person.get("/api/search", q="oceanic"))["items"]} == {"note", "entity"}
    assert [hit["kind"] for hit in done(await person.get("/api/search", q="oceanic", kind="entity"))["items"]] == [
        "entity"
    ]
    assert await entities(person, "oceanic", kind="note") == []
    assert await entities(person, "oceanic", prefix="vessel") == []
    assert await entities(person, "oceanic -vessel") == []
    assert await entities(person, "oceanic submarine") == []


async def test_the_name_itself_comes_first(house: Application, company: Company) -> None:
    person = await company.join("member")
    await say(house, person, await upload(person, "kraken.bin"), "Kraken")
    for number in range(3):
        done(
            await person.post(
                "/api/notes", {"title": f"Kraken {number}", "body": "kraken " * 9, "visibility": "private"}
            )
        )

    items = done(await person.get("/api/search", q="kraken"))["items"]

    assert items[0]["kind"] == "entity"
    assert len(items) == 5


async def test_only_readable_documents_name_an_entity(house: Application, company: Company) -> None:
    owner, reader, elsewhere = [
        await company.join("member", team=team) for team in (None, None, await company.add_team())
    ]
    seen, hidden = await upload(owner, "seen.bin", "team"), await upload(owner, "hidden.bin")
    await say(house, owner, seen, "Harlequin")
    (_, other) = await say(house, owner, hidden, "HARLEQUIN", "Pierrot")

    assert [item["title"] for item in await entities(reader, "harlequin")] == ["Harlequin"]
    assert await entities(reader, "pierrot") == []
    assert await entities(elsewhere, "harlequin") == []
    assert [item["id"] for item in await entities(owner, "pierrot")] == [other]

    done(await owner.post(f"/api/repo-obj/{seen}/visibility", {"visibility": "private"}))
    assert await entities(reader, "harlequin") == []


async def test_a_merge_names_nothing_that_is_unreadable(house: Application, company: Company) -> None:
    owner, reader = await company.join("member"), await company.join("member")
    (kept,) = await say(house, owner, await upload(owner, "kept.bin"), "Secret Holding")
    (dropped,) = await say(house, owner, await upload(owner, "dropped.bin", "team"), "Public Front")
    await merge(house, owner, kept, dropped)

    assert await entities(reader, "secret") == []
    assert [(item["id"], item["title"]) for item in await entities(reader, "front")] == [(kept, "Public Front")]
    assert [(item["id"], item["title"]) for item in await entities(owner, "secret")] == [(kept, "Secret Holding")]


async def test_the_companys_readers_find_those_of_other_teams_when_they_ask_for_them(
    house: Application, company: Company
) -> None:
    owner = await company.join("member", team=await company.add_team())
    reader = await company.join("member", org_role="org_reader")
    await say(house, owner, await upload(owner, "wide.bin", "team"), "Wide Fjord")
    await say(house, owner, await upload(owner, "own.bin"), "Narrow Fjord")

    assert await entities(reader, "fjord") == []
    assert [item["title"] for item in await entities(reader, "fjord", scope="org")] == ["Wide Fjord"]


@pytest.mark.parametrize(("scope", "found"), [(["search", "files:read"], 1), (["search", "notes:read"], 0)])
async def test_a_token_that_reads_no_files_finds_no_entity(
    house: Application, company: Company, scope: list[str], found: int
) -> None:
    owner, token = await company.join("member"), await company.join("member", scope=scope)
    await say(house, owner, await upload(owner, f"token{found}.bin", "team"), f"Tokenware {found}")

    assert len(await entities(token, f"tokenware {found}")) == found


async def test_pages_with_entities_follow_each_other(house: Application, company: Company) -> None:
    person = await company.join("member")
    made = await say(house, person, await upload(person, "many.bin"), *(f"Gantry {number}" for number in range(30)))
    notes = [
        done(await person.post("/api/notes", {"title": f"Gantry note {n}", "body": "", "visibility": "private"}))["id"]
        for n in range(5)
    ]
    seen: list[str] = []
    cursor: dict[str, Any] = {}
    while True:
        reply = done(await person.get("/api/search", q="gantry", limit=4, **cursor))
        seen += [item["id"] for item in reply["items"]]
        if reply["next_cursor"] is None:
            break
        cursor = {"cursor": reply["next_cursor"]}

    assert len(seen) == len(set(seen))
    assert set(seen) >= {*made, *notes}


async def test_e5_entities_are_results_like_others(house: Application, company: Company) -> None:
    person = await company.join("member")
    (id,) = await say(house, person, await upload(person, "charter.bin"), "Halcyon Freight")
    note = {"title": "Halcyon call", "body": "They rang.", "visibility": "private"}
    done(await person.post("/api/notes", note))

    items = done(await person.get("/api/search", q="halcyon"))["items"]

    assert {(item["kind"], item["title"]) for item in items} == {
        ("entity", "Halcyon Freight"),
        ("note", "Halcyon call"),
    }
    assert [item["id"] for item in done(await person.get("/api/search", q="halcyon", kind="entity"))["items"]] == [id]
