"""What a search finds, for whom, and how it looks."""

from typing import Any

import pytest

from atrium.product.search import service, store
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import Company


async def note(person: Client, title: str, body: str = "", visibility: str = "private") -> str:
    reply = await person.post("/api/notes", {"title": title, "body": body, "visibility": visibility})
    assert reply.status == 201
    return str(reply["id"])


async def titles(person: Client, q: str, **more: Any) -> list[str]:
    reply = await person.get("/api/search", q=q, **more)
    assert reply.status == 200, reply.raw
    return [item["title"] for item in reply["items"]]


async def test_a_note_is_found_by_its_words_with_a_marked_snippet(alice: Client) -> None:
    id = await note(alice, "Budget", "The Überweisung for the café was late.\nAsk Ingrid.", "team")

    reply = await alice.get("/api/search", q="cafe uberweisung")

    (item,) = reply["items"]
    assert (item["kind"], item["id"], item["title"], item["matched"]) == ("note", id, "Budget", ["text"])
    assert [item["snippet"][start:stop] for start, stop in item["marks"]] == ["Überweisung", "café"]
    assert item["team"]["id"] == alice.team_id
    assert (reply["relaxed"], reply["cut"], reply["next_cursor"]) == (False, False, None)
    assert "total" not in reply.body


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("river bank", {"Bank of the river", "River bank walk"}),
        ('"river bank"', {"River bank walk"}),
        ("river -walk", {"Bank of the river"}),
        ("walk or credit", {"River bank walk", "Credit"}),
        ("cred", {"Credit"}),
    ],
)
async def test_words_phrases_exclusions_alternatives_and_beginnings(alice: Client, q: str, found: set[str]) -> None:
    for title in ("Bank of the river", "River bank walk", "Credit"):
        await note(alice, title)

    reply = await alice.get("/api/search", q=q)

    assert {item["title"] for item in reply["items"] if item["score"] > 0 or not reply["relaxed"]} >= found
    if not reply["relaxed"]:
        assert {item["title"] for item in reply["items"]} == found


async def test_a_typo_in_a_title_is_forgiven_and_said(alice: Client) -> None:
    await note(alice, "Quarterly report")

    reply = await alice.get("/api/search", q="quaterly report")

    assert [item["title"] for item in reply["items"]] == ["Quarterly report"]
    assert reply["relaxed"]


async def test_files_are_found_by_key_name_and_prefix(alice: Client) -> None:
    await alice.put("/api/repo/plans/harbour-2026.bin", b"\0\1")
    await alice.put("/api/repo/other/harbour.bin", b"\0\1")

    assert sorted(await titles(alice, "harbour", kind="object")) == ["harbour-2026.bin", "harbour.bin"]
    assert await titles(alice, "harbour", prefix="plans/") == ["harbour-2026.bin"]
    assert await titles(alice, "plans") == ["harbour-2026.bin"]
    assert await titles(alice, "harbour", kind="note") == []
    assert await titles(alice, "harbour", kind="entity") == []


async def test_pages_follow_each_other_without_gap_or_repetition(alice: Client) -> None:
    made = {await note(alice, f"Lantern {number}") for number in range(7)}
    seen: list[str] = []
    cursor: str | None = None
    while True:
        more: dict[str, Any] = {"cursor": cursor} if cursor else {}
        reply = await alice.get("/api/search", q="lantern", limit=3, **more)
        seen += [item["id"] for item in reply["items"]]
        if (cursor := reply["next_cursor"]) is None:
            break

    assert len(seen) == 7
    assert set(seen) == made


async def test_a_cursor_belongs_to_its_question(alice: Client) -> None:
    for number in range(3):
        await note(alice, f"Lantern {number}")
    cursor = (await alice.get("/api/search", q="lantern", limit=1))["next_cursor"]

    assert (await alice.get("/api/search", q="other", limit=1, cursor=cursor)).code == "paging.bad_cursor"


@pytest.mark.parametrize("q", ["-only", "()", '""', "!!!", "or", "\u200b", "'"])
async def test_a_question_without_a_word_is_refused(alice: Client, q: str) -> None:
    reply = await alice.get("/api/search", q=q)

    assert (reply.status, reply.code) == (400, "search.empty")


async def test_the_company_is_searched_by_people_who_read_it(company: Company, alice: Client) -> None:
    elsewhere = await company.join("member", team=await company.add_team())
    reader = await company.join("member", org_role="org_reader")
    await note(elsewhere, "Observatory plans", visibility="team")
    await note(elsewhere, "Observatory diary", visibility="private")

    assert (await alice.get("/api/search", q="observatory", scope="org")).code == "search.org_scope"
    assert await titles(reader, "observatory") == []
    assert await titles(reader, "observatory", scope="org") == ["Observatory plans"]


async def test_a_token_finds_only_what_its_scope_reads(company: Company, alice: Client) -> None:
    await note(alice, "Windmill note", visibility="team")
    await alice.put("/api/repo/windmill.bin?visibility=team", b"\0")
    of_notes = await company.join("member", scope=["search", "notes:read"])
    of_nothing = await company.join("member", scope=["search"])
    without = await company.join("member", scope=["notes:read"])

    assert await titles(of_notes, "windmill") == ["Windmill note"]
    assert await titles(of_nothing, "windmill") == []
    assert (await without.get("/api/search", q="windmill")).status == 403


async def test_a_search_that_takes_too_long_is_cut_and_says_so(alice: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    await note(alice, "Slow barometer")
    monkeypatch.setattr(service, "_LEAST_MS", 0)
    monkeypatch.setattr(service, "budget_of", lambda looking: 1)
    monkeypatch.setattr(service, "_MOST", 1)

    async def slowly(db: Any, *_: object) -> None:
        await db.run(f"SELECT pg_sleep({2 * PATIENCE})")

    monkeypatch.setattr(store, "list_candidates", slowly)
    reply = await alice.get("/api/search", q="barometer")

    assert (reply.status, reply["cut"], reply["items"]) == (200, True, [])


async def test_e4_what_is_excluded_is_not_found_in_any_way(alice: Client) -> None:
    await note(alice, "Zebra crossing")
    await note(alice, "Zebra on the road")
    await note(alice, "Crossing")

    assert await titles(alice, "zebra -crossing") == ["Zebra on the road"]
    # A title that is only alike, and one whose words stand otherwise.
    assert await titles(alice, "zebar -crossing") == ["Zebra on the road"]
    assert await titles(alice, 'zebar -"zebra crossing"') == ["Zebra on the road"]
    assert set(await titles(alice, 'crosing -"crossing zebra"')) == {"Crossing", "Zebra crossing"}
