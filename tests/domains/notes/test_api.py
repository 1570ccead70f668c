"""Notes over HTTP: who reads, who writes, and what an edit may not overwrite."""

import asyncio

import pytest

from tests.support.client import Client
from tests.support.people import Company


async def note_of(client: Client, **fields: str) -> dict[str, str]:
    answer = await client.post("/api/notes", {"title": "Plan", "body": "secret-body", **fields})
    assert answer.status == 201, answer.raw
    return dict(answer.body)


async def test_a_note_reads_back_as_it_was_written(alice: Client) -> None:
    note = await note_of(alice, title="Grüße 🌍", body="# Hi\n\n- [ ] one", visibility="team")

    answer = await alice.get(f"/api/notes/{note['id']}")

    assert answer.status == 200
    assert answer.body == note
    assert answer.headers["etag"] == '"1.rwdm"'


async def test_a_private_note_is_missing_to_a_teammate(alice: Client, bob: Client) -> None:
    note = await note_of(alice, visibility="private")

    answer = await bob.get(f"/api/notes/{note['id']}")

    assert (answer.status, answer.code) == (404, "notes.missing")
    assert (await bob.get("/api/notes"))["items"] == []


async def test_a_team_note_is_read_and_edited_by_teammates(alice: Client, bob: Client) -> None:
    note = await note_of(alice, visibility="team")

    edited = await bob.put(f"/api/notes/{note['id']}", {"body": "better"})

    assert edited.status == 200
    assert (edited["body"], edited["version"], edited["title"]) == ("better", 2, "Plan")


async def test_a_viewer_reads_but_does_not_write(company: Company, alice: Client) -> None:
    viewer = await company.join("viewer")
    note = await note_of(alice, visibility="team")

    assert (await viewer.get(f"/api/notes/{note['id']}")).status == 200
    assert (await viewer.put(f"/api/notes/{note['id']}", {"body": "x"})).status == 403
    assert (await viewer.post("/api/notes", {"title": "mine"})).status == 403


async def test_a_member_deletes_their_own_but_not_anothers(alice: Client, bob: Client, admin: Client) -> None:
    mine, theirs = await note_of(alice, visibility="team"), await note_of(alice, visibility="team")

    assert (await bob.delete(f"/api/notes/{mine['id']}")).status == 403
    assert (await alice.delete(f"/api/notes/{mine['id']}")).body == {"id": mine["id"]}
    assert (await admin.delete(f"/api/notes/{theirs['id']}")).status == 200
    assert (await alice.get(f"/api/notes/{mine['id']}")).status == 404


@pytest.mark.parametrize(
    ("permission", "reads", "writes", "deletes", "shares"),
    [
        ("notes:read", 200, 403, 403, 403),
        ("notes:write", 200, 200, 403, 403),
        ("notes:delete", 200, 403, 200, 403),
        ("notes:manage", 200, 200, 200, 200),
    ],
)
async def test_a_share_gives_what_it_names_and_no_more(
    company: Company, alice: Client, permission: str, reads: int, writes: int, deletes: int, shares: int
) -> None:
    elsewhere = await company.join("viewer", team=await company.add_team())
    third = await company.join("viewer")
    note = await note_of(alice, visibility="private")
    at = f"/api/notes/{note['id']}"
    assert (await elsewhere.get(at)).status == 404

    grant = await alice.post(f"{at}/share", {"user_id": elsewhere.user_id, "permission": permission})

    assert (grant.status, grant["permission"]) == (200, permission)
    assert [item["id"] for item in (await elsewhere.get("/api/notes"))["items"]] == [note["id"]]
    assert (await elsewhere.get(at)).status == reads
    assert (await elsewhere.put(at, {"body": "x"})).status == writes
    assert (
        await elsewhere.post(f"{at}/share", {"user_id": third.user_id, "permission": "notes:read"})
    ).status == shares
    assert (await elsewhere.delete(at)).status == deletes


async def test_a_withdrawn_share_ends_at_once(alice: Client, bob: Client) -> None:
    note = await note_of(alice, visibility="private")
    at = f"/api/notes/{note['id']}"
    await alice.post(f"{at}/share", {"user_id": bob.user_id, "permission": "notes:read"})
    assert (await bob.get(at)).status == 200

    await alice.post(f"{at}/share", {"user_id": bob.user_id, "permission": None})

    assert (await bob.get(at)).status == 404


async def test_sharing_reaches_nobody_outside_the_company(alice: Client, stranger: Client) -> None:
    note = await note_of(alice)

    answer = await alice.post(
        f"/api/notes/{note['id']}/share", {"user_id": stranger.user_id, "permission": "notes:read"}
    )

    assert (answer.status, answer.code) == (400, "notes.not_sharable")


async def test_only_notes_permissions_can_be_granted(alice: Client, bob: Client) -> None:
    note = await note_of(alice)

    answer = await alice.post(f"/api/notes/{note['id']}/share", {"user_id": bob.user_id, "permission": "files:read"})

    assert answer.status == 400
    assert answer["errors"][0]["path"] == "permission"


async def test_an_org_reader_sees_team_notes_of_the_company_and_no_private_ones(
    company: Company, alice: Client
) -> None:
    other = await company.join("member", team=await company.add_team())
    open_note, private = await note_of(other, visibility="team"), await note_of(other, visibility="private")
    reader = await company.join("member", org_role="org_reader")

    found = {item["id"] for item in (await reader.get("/api/notes", scope="org"))["items"]}

    assert open_note["id"] in found
    assert private["id"] not in found
    assert (await reader.get(f"/api/notes/{open_note['id']}")).status == 200
    assert (await reader.put(f"/api/notes/{open_note['id']}", {"body": "x"})).status == 403
    assert (await alice.get("/api/notes", scope="org")).status == 403


async def test_a_note_says_who_saved_it_last(alice: Client, bob: Client) -> None:
    made = await alice.post("/api/notes", {"title": "Tides", "visibility": "team"})
    changed = await bob.put(f"/api/notes/{made['id']}", {"body": "High at noon."})

    listed = (await alice.get("/api/notes"))["items"][0]

    assert made["updated_by"] == alice.user_id
    assert changed["updated_by"] == listed["updated_by"] == bob.user_id
    assert changed["owner_id"] == alice.user_id


async def test_a_stale_edit_is_refused_with_the_current_version(alice: Client, bob: Client) -> None:
    note = await note_of(alice, visibility="team")
    at = f"/api/notes/{note['id']}"
    await bob.put(at, {"body": "bob"}, headers={"if-match": '"1"'})

    refused = await alice.put(at, {"body": "alice"}, headers={"if-match": '"1"'})

    assert (refused.status, refused.code, refused.headers["etag"]) == (412, "notes.stale", '"2"')
    assert (await alice.get(at))["body"] == "bob"
    assert (await alice.delete(at, headers={"if-match": '"1"'})).status == 412
    assert (await alice.put(at, {"body": "alice"}, headers={"if-match": '"2"'})).status == 200


async def test_of_many_edits_on_one_version_exactly_one_lands(alice: Client) -> None:
    note = await note_of(alice)
    at = f"/api/notes/{note['id']}"

    answers = await asyncio.gather(*(alice.put(at, {"body": str(n)}, headers={"if-match": '"1"'}) for n in range(20)))

    assert sorted(answer.status for answer in answers) == [200] + [412] * 19


async def test_a_known_version_is_not_sent_again(alice: Client) -> None:
    note = await note_of(alice)

    answer = await alice.get(f"/api/notes/{note['id']}", headers={"if-none-match": '"1.rwdm"'})

    assert (answer.status, answer.raw) == (304, b"")


async def test_paging_visits_every_note_once_last_edited_first(alice: Client, bob: Client) -> None:
    made = [(await note_of(alice if n % 2 else bob, title=f"n{n}", visibility="team"))["id"] for n in range(23)]
    seen: list[str] = []
    cursor = None

    while True:
        page = await alice.get("/api/notes", limit=5, **({"cursor": cursor} if cursor else {}))
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break

    assert seen == made[::-1]


@pytest.mark.parametrize("limit", [50, 200])
async def test_a_page_of_long_notes_ends_early_and_the_next_goes_on(alice: Client, limit: int) -> None:
    made = [await note_of(alice, title=str(number), body="é" * 160_000) for number in range(10)]

    sizes: list[int] = []
    seen: list[str] = []
    cursor = None
    while cursor is not None or not seen:
        page = await alice.get("/api/notes", limit=limit, **({"cursor": cursor} if cursor else {}))
        sizes.append(len(page["items"]))
        seen += [note["id"] for note in page["items"]]
        cursor = page["next_cursor"]

    assert sizes == [7, 3]
    assert seen == [note["id"] for note in reversed(made)]


async def test_a_page_that_is_full_with_the_last_note_leads_nowhere(alice: Client) -> None:
    for _ in range(5):
        await note_of(alice, body="a" * 400_000)

    page = await alice.get("/api/notes", limit=200)

    assert (len(page["items"]), page["next_cursor"]) == (5, None)


async def test_a_cursor_is_worth_nothing_to_anybody_else_or_elsewhere(alice: Client, bob: Client) -> None:
    for n in range(3):
        await note_of(alice, title=f"n{n}")
    cursor = (await alice.get("/api/notes", limit=1))["next_cursor"]

    for answer in (
        await bob.get("/api/notes", cursor=cursor),
        await alice.get("/api/notes", cursor=cursor, q="x"),
        await alice.get("/api/notes", cursor=cursor[:-2] + "AA"),
        await alice.get("/api/notes", cursor="not a cursor"),
    ):
        assert (answer.status, answer.code) == (400, "paging.bad_cursor")


async def test_search_narrows_to_what_contains_the_words(alice: Client) -> None:
    await note_of(alice, title="100% sure")
    await note_of(alice, title="1000 things")

    found = await alice.get("/api/notes", q="100%")

    assert [item["title"] for item in found["items"]] == ["100% sure"]


async def test_a_scoped_token_narrows_even_its_owner(company: Company) -> None:
    scoped = await company.join("member", scope=["chat:use"])

    assert (await scoped.get("/api/notes")).status == 403
    assert (await scoped.post("/api/notes", {"title": "x"})).status == 403


async def test_a_repeated_post_with_one_key_makes_one_note(alice: Client) -> None:
    once = {"idempotency-key": "same-again"}

    answers = await asyncio.gather(*(alice.post("/api/notes", {"title": "once"}, headers=once) for _ in range(10)))
    other = await alice.post("/api/notes", {"title": "another"}, headers=once)

    assert {answer.status for answer in answers} == {201}
    assert len({answer["id"] for answer in answers}) == 1
    assert len((await alice.get("/api/notes"))["items"]) == 1
    assert (other.status, other.code) == (409, "idempotency.reused")


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, ""),
        ({"title": ""}, "title"),
        ({"title": "   "}, "title"),
        ({"title": "x", "visibility": "everyone"}, "visibility"),
        ({"title": 7}, "title"),
        ({"title": "x", "colour": "red"}, ""),
        ([], ""),
    ],
)
async def test_a_malformed_note_is_refused_by_field(alice: Client, body: object, path: str) -> None:
    answer = await alice.post("/api/notes", body)

    assert answer.status == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer["errors"][0]["path"] == path


@pytest.mark.parametrize("raw", [b"{", b"\xff", b'{"title": "a\\u0000b"}', b'{"title": "\\ud800"}', b"[" * 5000])
async def test_bytes_that_are_no_note_are_refused(alice: Client, raw: bytes) -> None:
    assert (await alice.post("/api/notes", raw)).status == 400


async def test_every_change_leaves_its_audit_event(admin: Client) -> None:
    note = await note_of(admin)
    at = f"/api/notes/{note['id']}"
    await admin.put(at, {"body": "x"})
    await admin.delete(at)

    events = (await admin.get("/api/audit"))["items"]

    assert [event["kind"] for event in events if event["subject"] == note["id"]] == [
        "notes.deleted",
        "notes.changed",
        "notes.created",
    ]
