"""In what order things are found: stems, titles, misspelt words, long questions; and how an older index is read again."""

from typing import Any
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.product.search import chores, service
from atrium.product.search.languages import languages_of
from tests.domains.search.world import done, frequent_words
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.people import Company


async def note(person: Client, title: str, body: str = "") -> str:
    return str(done(await person.post("/api/notes", {"title": title, "body": body, "visibility": "private"}))["id"])


async def titles(person: Client, q: str, **more: Any) -> list[str]:
    return [item["title"] for item in done(await person.get("/api/search", q=q, **more))["items"]]


@pytest.mark.parametrize(
    ("locale", "body", "q", "marked"),
    [
        ("en", "They were connecting the pipes of the harbour.", "connections", "connecting"),
        ("en", "All directories are listed in the index of the disk.", "directory", "directories"),
        ("es", "Las canciones que cantaban los pescadores en el puerto.", "canción", "canciones"),
        ("nl", "Het rapport over de schepen van een reder dat niet klopt.", "schip schepen", "schepen"),
        ("en", "connecting", "connections", "connecting"),
    ],
)
async def test_a_word_is_found_by_its_stem_and_marked(
    company: Company, locale: str, body: str, q: str, marked: str
) -> None:
    person = await company.join("member")
    done(await person.post("/api/profile", {"locale": locale}))
    id = await note(person, "Unrelated", body)

    (item,) = done(await person.get("/api/search", q=q))["items"]

    assert item["id"] == id
    assert marked in [item["snippet"][start:stop] for start, stop in item["marks"]]


async def test_phrases_and_exclusions_mean_the_words_themselves(company: Company) -> None:
    person = await company.join("member")
    await note(person, "One", "the river bank was steep and the banking was slow")

    assert await titles(person, '"river banks"', kind="note") == []
    assert await titles(person, "river -banks") == ["One"]
    assert await titles(person, "river -bank") == []


async def test_words_that_every_text_has_are_not_asked_for(company: Company) -> None:
    person = await company.join("member")
    await note(person, "Ferry timetable")

    reply = done(await person.get("/api/search", q="when is the ferry"))

    assert [item["title"] for item in reply["items"]] == ["Ferry timetable"]
    assert not reply["relaxed"]
    assert await titles(person, "the") == []


async def test_the_title_itself_comes_first(company: Company) -> None:
    person = await company.join("member")
    await note(person, "Harbour plan")
    for number in range(5):
        await note(person, f"Harbour plan {number}", "harbour plan " * 20)

    assert (await titles(person, "harbour plan"))[0] == "Harbour plan"
    assert (await titles(person, "Plan Harbour"))[0] != "Harbour plan"


async def test_of_equal_things_ones_own_comes_first(company: Company) -> None:
    older, newer, reader = [await company.join("member") for _ in range(3)]
    for person, title in ((older, "Older"), (newer, "Newer")):
        body = {"title": title, "body": "The lantern is in the shed.", "visibility": "team"}
        done(await person.post("/api/notes", body))

    found = [await titles(person, "lantern shed") for person in (older, newer, reader)]

    # Of equal scores the newer comes first; what the reader owns has a higher one.
    assert found == [["Older", "Newer"], ["Newer", "Older"], ["Newer", "Older"]]


@pytest.mark.parametrize("q", ["quaterly budget", "quarterly bugdet", "quartrely budget", "quarterlyy budget"])
async def test_a_misspelt_title_comes_before_what_has_one_of_the_words(company: Company, q: str) -> None:
    person = await company.join("member")
    await note(person, "Quarterly budget")
    for number in range(25):
        await note(person, f"Paper {number}", "budget and quarterly " if number % 2 else "nothing but a budget here")

    reply = done(await person.get("/api/search", q=q, limit=10))

    assert "Quarterly budget" in [item["title"] for item in reply["items"]]
    assert reply["relaxed"]


async def test_a_long_question_is_answered_by_what_fits_best(company: Company) -> None:
    person = await company.join("member")
    await note(
        person, "Everything", " ".join(f"filler{n} other{n}" for n in range(900)) + " repair broken winch drum cable"
    )
    await note(person, "Winch manual", "repair the broken winch: take the drum off first, then the winch")

    reply = done(await person.get("/api/search", q="repair broken winch drum cable"))

    assert [item["title"] for item in reply["items"]] == ["Winch manual", "Everything"]
    assert reply["relaxed"]


async def test_words_that_stand_together_as_they_were_asked_for_come_first(company: Company) -> None:
    person = await company.join("member")
    await note(person, "Apart", "a winch and, on the other side of the harbour, a cable with a drum and a brake")
    await note(person, "Together", "the winch brake was new; a drum, on the other side of the harbour, and a cable")
    await note(
        person, "Elsewhere", "the cable was old, and on the other side of the harbour a winch had a drum and no brake"
    )

    assert (await titles(person, "winch brake pressure"))[0] == "Together"


async def test_rows_of_the_older_way_are_found_and_read_again(house: Application, company: Company) -> None:
    person = await company.join("member")
    id = await note(person, "Old", "They were connecting the pipes to the harbour and the town")
    url = house.services.settings.database_url
    await run_as_owner(
        url, "UPDATE search_rows SET edition = '1', lexemes = 'connecting:23B'::tsvector WHERE id = $1", UUID(id)
    )
    assert (await titles(person, "connecting"), await titles(person, "connections")) == (["Old"], [])

    await run_as_owner(url, "INSERT INTO search_backlog (source) VALUES ('notes') ON CONFLICT DO NOTHING")
    while await run_as_owner(url, "SELECT FROM search_backlog"):
        await chores.catch_up(house.services)

    assert await titles(person, "connections") == ["Old"]


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("the plan of the harbour and that of the town", "english"),
        ("el plan del puerto que los pescadores hicieron para la ciudad", "spanish"),
        ("het plan van een haven dat niet met de stad is gemaakt", "dutch"),
        ("og sem er ekki til fyrir okkur", ""),
        ("harbour", "english spanish dutch"),
        ("x " * 300, ""),
    ],
)
def test_a_text_tells_its_language(text: str, languages: str) -> None:
    assert languages_of(text.split()) == languages


async def test_frequent_words_are_looked_for_among_the_newest_and_a_reply_says_what_it_left_out(
    house: Application, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = await company.join("member")
    await note(person, "Oldest", "lantern quiche")
    for number in range(12):
        await note(person, f"Paper {number}", "lantern and quiche")
    for name, rows in (("_NEAREST", 4), ("_NEAR", 4), ("_FAR", 11)):
        monkeypatch.setattr(service, name, rows)

    async with frequent_words(house):
        newest = done(await person.get("/api/search", q="lantern", limit=3))
        phrase = done(await person.get("/api/search", q='"lantern quiche"'))
        rare = done(await person.get("/api/search", q="oldest lantern"))
        begun = done(await person.get("/api/search", q="olde"))

    assert len(newest["items"]) == 3
    assert (newest["cut"], newest["next_cursor"] is not None) == (False, True)
    assert (phrase["cut"], phrase["items"]) == (True, [])
    assert [rare["items"][0]["title"], *(item["title"] for item in begun["items"])] == ["Oldest", "Oldest"]


async def test_in_a_large_instance_a_misspelt_title_is_found_by_the_letters_that_are_right(
    house: Application, company: Company
) -> None:
    person = await company.join("member")
    await note(person, "Bobsled maintenance", "lantern")

    async with frequent_words(house):
        for q in ("bobsled maintenence", "maintennance", "bobsled maintenance lantrn", "bobsled maintenance"):
            assert await titles(person, q, kind="note") == ["Bobsled maintenance"], q
