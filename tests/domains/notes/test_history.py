"""What a note said before, and whom it is shared with."""

import asyncio
import hashlib
from typing import Any

import pytest

from tests.support.client import Answer, Client
from tests.support.people import Company

ROWS = ("versions", "versions/1", "restore", "shares")


async def note_of(client: Client, **fields: str) -> dict[str, Any]:
    answer = await client.post("/api/notes", {"title": "Plan", "body": "one", **fields})
    assert answer.status == 201, answer.raw
    return dict(answer.body)


async def numbers_of(client: Client, note: dict[str, Any]) -> list[int]:
    return [one["number"] for one in (await client.get(f"/api/notes/{note['id']}/versions"))["items"]]


async def test_every_save_is_a_version_newest_first(alice: Client, bob: Client) -> None:
    note = await note_of(alice, visibility="team")
    await bob.put(f"/api/notes/{note['id']}", {"body": "zwei 🌍"})
    await alice.put(f"/api/notes/{note['id']}", {"title": "Better plan"})

    found = (await alice.get(f"/api/notes/{note['id']}/versions"))["items"]

    assert [(one["number"], one["title"], one["created_by"]) for one in found] == [
        (3, "Better plan", alice.user_id),
        (2, "Plan", bob.user_id),
        (1, "Plan", alice.user_id),
    ]
    body = "zwei 🌍".encode()
    assert (found[1]["size"], found[1]["sha256"]) == (len(body), hashlib.sha256(body).hexdigest())
    assert found[0]["created_at"] > found[1]["created_at"] > found[2]["created_at"] == note["created_at"]


async def test_a_version_reads_as_it_was_written(alice: Client) -> None:
    note = await note_of(alice)
    await alice.put(f"/api/notes/{note['id']}", {"title": "Other", "body": "two"})

    texts = [(await alice.get(f"/api/notes/{note['id']}/versions/{number}")).body for number in (1, 2)]

    assert [(one["number"], one["title"], one["body"]) for one in texts] == [(1, "Plan", "one"), (2, "Other", "two")]


@pytest.mark.parametrize("number", ["3", "0", "999999999"])
async def test_a_version_that_never_was_is_missing(alice: Client, number: str) -> None:
    note = await note_of(alice)

    answer = await alice.get(f"/api/notes/{note['id']}/versions/{number}")

    assert (answer.status, answer.code) == (404, "notes.version_missing")


@pytest.mark.parametrize("number", ["one", "01", "-1", "1.0", "9999999999", "٣"])
async def test_what_is_no_number_is_nothings_address(alice: Client, number: str) -> None:
    note = await note_of(alice)

    answer = await alice.get(f"/api/notes/{note['id']}/versions/{number}")

    assert answer.status == 404


async def test_restoring_adds_a_version_and_takes_none_away(alice: Client) -> None:
    note = await note_of(alice)
    await alice.put(f"/api/notes/{note['id']}", {"title": "Other", "body": "two", "visibility": "team"})

    restored = await alice.post(f"/api/notes/{note['id']}/restore", {"version": 1})

    assert (restored["title"], restored["body"], restored["version"]) == ("Plan", "one", 3)
    assert restored["visibility"] == "team"
    assert restored.headers["etag"] == '"3.rwdm"'
    assert await numbers_of(alice, note) == [3, 2, 1]
    assert (await alice.post(f"/api/notes/{note['id']}/restore", {"version": 9})).code == "notes.version_missing"


async def test_restoring_over_a_newer_save_is_refused(alice: Client) -> None:
    note = await note_of(alice)
    await alice.put(f"/api/notes/{note['id']}", {"body": "two"})

    stale = await alice.post(f"/api/notes/{note['id']}/restore", {"version": 1}, headers={"if-match": '"1"'})
    good = await alice.post(f"/api/notes/{note['id']}/restore", {"version": 1}, headers={"if-match": '"2"'})

    assert (stale.status, stale.code, stale["version"]) == (412, "notes.stale", 2)
    assert (good.status, good["version"]) == (200, 3)


async def test_versions_are_paged_without_gaps(alice: Client) -> None:
    note = await note_of(alice)
    for number in range(6):
        await alice.put(f"/api/notes/{note['id']}", {"body": str(number)})

    seen, cursor = [], None
    while True:
        page = await alice.get(f"/api/notes/{note['id']}/versions?limit=3" + (f"&cursor={cursor}" if cursor else ""))
        seen += [one["number"] for one in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break

    assert seen == [7, 6, 5, 4, 3, 2, 1]


async def test_of_many_who_save_at_once_no_text_is_lost(alice: Client, bob: Client) -> None:
    note = await note_of(alice, visibility="team")

    await asyncio.gather(
        *((alice, bob)[turn % 2].put(f"/api/notes/{note['id']}", {"body": f"text {turn}"}) for turn in range(20))
    )

    texts = {(await bob.get(f"/api/notes/{note['id']}/versions/{number}"))["body"] for number in range(1, 22)}
    assert texts == {"one", *(f"text {turn}" for turn in range(20))}


async def test_history_is_for_readers_and_restoring_for_writers(
    company: Company, alice: Client, bob: Client, stranger: Client
) -> None:
    viewer = await company.join("viewer")
    shown, hidden = await note_of(alice, visibility="team"), await note_of(alice)

    reached = [
        [await _status(person, note["id"], row) for row in ROWS]
        for person, note in ((viewer, shown), (bob, hidden), (stranger, shown))
    ]

    assert reached == [[200, 200, 403, 403], [404] * 4, [404] * 4]


async def _status(person: Client, id: str, row: str) -> int:
    if row == "restore":
        return (await person.post(f"/api/notes/{id}/{row}", {"version": 1})).status
    return (await person.get(f"/api/notes/{id}/{row}")).status


async def test_shares_are_listed_for_whoever_may_change_them(company: Company, alice: Client, bob: Client) -> None:
    carol = await company.join("member", team=await company.add_team())
    note = await note_of(alice)
    for person, permission in ((bob, "notes:write"), (carol, "notes:manage")):
        await alice.post(f"/api/notes/{note['id']}/share", {"user_id": person.user_id, "permission": permission})

    found = await carol.get(f"/api/notes/{note['id']}/shares", limit=1)
    rest = await carol.get(f"/api/notes/{note['id']}/shares", limit=1, cursor=found["next_cursor"])

    assert found["items"] == [
        {
            "user_id": bob.user_id,
            "username": bob.username,
            "display_name": bob.username,
            "permission": "notes:write",
            "granted_by": alice.user_id,
            "created_at": found["items"][0]["created_at"],
        }
    ]
    assert [one["user_id"] for one in rest["items"]] == [carol.user_id]
    assert rest["next_cursor"] is None
    refused = await bob.get(f"/api/notes/{note['id']}/shares")
    assert (refused.status, refused.code) == (403, "access.permission_missing")


async def test_a_withdrawn_share_is_listed_no_longer(alice: Client, bob: Client) -> None:
    note = await note_of(alice)
    share = {"user_id": bob.user_id, "permission": "notes:read"}
    await alice.post(f"/api/notes/{note['id']}/share", share)

    await alice.post(f"/api/notes/{note['id']}/share", {**share, "permission": None})

    assert (await alice.get(f"/api/notes/{note['id']}/shares"))["items"] == []
    assert (await bob.get(f"/api/notes/{note['id']}/versions")).status == 404


async def test_a_cursor_is_good_for_its_own_note(alice: Client) -> None:
    one, other = await note_of(alice), await note_of(alice)
    for note in (one, other):
        await alice.put(f"/api/notes/{note['id']}", {"body": "two"})
    cursor = (await alice.get(f"/api/notes/{one['id']}/versions", limit=1))["next_cursor"]

    answer = await alice.get(f"/api/notes/{other['id']}/versions", limit=1, cursor=cursor)

    assert (answer.status, answer.code) == (400, "paging.bad_cursor")


async def _name(client: Client, note: dict[str, Any], number: int, name: str | None) -> Answer:
    return await client.put(f"/api/notes/{note['id']}/versions/{number}", {"name": name})


async def _names(client: Client, note: dict[str, Any]) -> list[str | None]:
    return [one["name"] for one in (await client.get(f"/api/notes/{note['id']}/versions"))["items"]]


async def test_a_version_keeps_its_name_when_others_follow(alice: Client) -> None:
    note = await note_of(alice)
    named = await _name(alice, note, 1, "Sent to the port")
    same = await alice.get(f"/api/notes/{note['id']}")
    await alice.put(f"/api/notes/{note['id']}", {"body": "two"})
    await _name(alice, note, 2, "Second")
    await alice.post(f"/api/notes/{note['id']}/restore", {"version": 1})

    assert (named.status, named["number"], named["name"]) == (200, 1, "Sent to the port")
    assert "body" not in named.body
    assert same.body == note
    assert await _names(alice, note) == [None, "Second", "Sent to the port"]
    assert (await alice.get(f"/api/notes/{note['id']}/versions/1"))["name"] == "Sent to the port"


async def test_a_name_is_changed_and_taken_away(alice: Client) -> None:
    note = await note_of(alice)
    await alice.put(f"/api/notes/{note['id']}", {"body": "two"})

    for number in (1, 2):
        await _name(alice, note, number, "x" * 100)
        await _name(alice, note, number, "Draft")
    assert await _names(alice, note) == ["Draft", "Draft"]
    for number in (1, 2):
        await _name(alice, note, number, None)

    assert await _names(alice, note) == [None, None]


async def test_a_version_is_named_by_writers_and_must_be_there(
    company: Company, alice: Client, bob: Client, stranger: Client
) -> None:
    viewer = await company.join("viewer")
    shown, hidden = await note_of(alice, visibility="team"), await note_of(alice)

    answers = [
        await _name(viewer, shown, 1, "x"),
        await _name(bob, hidden, 1, "x"),
        await _name(stranger, shown, 1, "x"),
        await _name(alice, shown, 2, "x"),
        await _name(alice, shown, 999999999, "x"),
        await _name(alice, shown, 1, ""),
        await _name(alice, shown, 1, " "),
        await _name(alice, shown, 1, "x" * 101),
    ]

    assert [answer.status for answer in answers] == [403, 404, 404, 404, 404, 400, 400, 400]
    assert answers[3].code == "notes.version_missing"
    assert await _names(alice, shown) == [None]
