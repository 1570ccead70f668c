"""Moving and renaming: another key, and everything else as it was; folders whole or not at all."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from atrium.engine.repository import moves
from atrium.product.search import chores, index_check
from tests.postgres import run_as_owner
from tests.support.client import Answer, Client
from tests.support.people import Company


async def put(client: Client, key: str, body: bytes = b"bytes", visibility: str = "team") -> str:
    answer = await client.put(f"/api/repo/{key}?visibility={visibility}", body)
    assert answer.status in (200, 201), answer.raw
    return str(answer["id"])


async def move(client: Client, id: str, key: str, **headers: str) -> Answer:
    return await client.send("POST", f"/api/repo-obj/{id}/move", {"key": key}, headers=headers)


async def batch(client: Client, **body: Any) -> Answer:
    return await client.post("/api/repo-batch", body)


async def keys(client: Client, prefix: str = "", **query: object) -> list[str]:
    asked = {"prefix": prefix, "limit": 200, **query}
    return [one["key"] for one in (await client.send("GET", "/api/repo", query=asked))["items"]]


async def found(client: Client, q: str, **query: object) -> list[str]:
    return [one["key"] for one in (await client.send("GET", "/api/search", query={"q": q, **query}))["items"]]


async def test_a_moved_object_is_the_same_under_another_key(alice: Client, bob: Client) -> None:
    id = await put(alice, "ports/tides.txt", b"first", "private")
    await put(alice, "ports/tides.txt", b"second", "private")
    await alice.post(f"/api/repo-obj/{id}/share", {"user_id": bob.user_id, "capability": "view"})
    before = (await alice.get(f"/api/repo-obj/{id}")).body

    answer = await move(alice, id, "archive/2025/tides.txt")

    after = (await alice.get(f"/api/repo-obj/{id}")).body
    assert (answer.status, answer["id"], answer["key"]) == (200, id, "archive/2025/tides.txt")
    assert answer.headers["etag"] == f'"r{after["revision"]}.rwdm"'
    # The text is read meanwhile.
    moved = {"key": "archive/2025/tides.txt", "revision": before["revision"] + 1, "text": after["text"]}
    assert after == {**before, **moved}
    assert await keys(alice) == await keys(bob, shared=1) == ["archive/2025/tides.txt"]
    assert (await alice.get(f"/api/repo-obj/{id}/content", version=1)).raw == b"first"
    assert await put(alice, "ports/tides.txt") != id


async def test_a_renamed_object_is_downloaded_under_its_new_name(alice: Client) -> None:
    id = await put(alice, "a/old.txt")
    given = str((await alice.send("PUT", "/api/repo/a/scan.pdf", b"x", query={"filename": "Invoice.pdf"}))["id"])

    await move(alice, id, "a/new.txt")
    await move(alice, given, "a/renamed.pdf")

    shown = await alice.get(f"/api/repo-obj/{id}/content")
    assert 'filename="new.txt"' in shown.headers["content-disposition"]
    assert (await alice.get(f"/api/repo-obj/{id}"))["filename"] == "new.txt"
    assert (await alice.get(f"/api/repo-obj/{given}"))["filename"] == "Invoice.pdf"


async def test_a_key_that_is_taken_stays_with_its_object(alice: Client, bob: Client) -> None:
    id, other, hidden = await put(alice, "a"), await put(alice, "b"), await put(bob, "c", visibility="private")

    refused = [await move(alice, id, "b"), await move(alice, id, "c")]
    same = await move(alice, id, "a")

    assert [(one.status, one.code) for one in refused] == [(409, "repository.key_taken")] * 2
    assert (same.status, same["revision"]) == (200, 1)
    assert await keys(alice) == ["a", "b"]
    assert (await bob.get(f"/api/repo-obj/{hidden}"))["key"] == "c"
    await alice.delete(f"/api/repo-obj/{other}")
    assert (await move(alice, id, "b")).status == 200


async def test_a_key_that_is_no_path_is_refused(alice: Client) -> None:
    id = await put(alice, "a")

    answers = [await move(alice, id, key) for key in ("a/../b", "..", "./a", "a/.", "a\x01b", "\u00e9" * 513, "")]

    assert {answer.status for answer in answers} == {400}
    assert await keys(alice) == ["a"]


async def test_a_put_refuses_dots_between_slashes_too(alice: Client) -> None:
    refused = [await alice.put(f"/api/repo/{key}", b"x") for key in ("a/../b", "..", "a/./b")]
    kept = [await alice.put(f"/api/repo/{key}", b"x") for key in ("a/...", "a/.b", "c..d/e")]

    assert [(one.status, one.code) for one in refused] == [(400, "repository.bad_key")] * 3
    assert [one.status for one in kept] == [201] * 3


async def test_moving_needs_the_right_to_edit_and_the_state_that_was_seen(
    company: Company, alice: Client, bob: Client, stranger: Client
) -> None:
    viewer = await company.join("viewer")
    shown, hidden = await put(alice, "shown"), await put(alice, "hidden", visibility="private")
    lent = await put(alice, "lent", visibility="private")
    await alice.post(f"/api/repo-obj/{lent}/share", {"user_id": bob.user_id, "capability": "view"})

    statuses = [
        (await move(viewer, shown, "x")).status,
        (await move(bob, hidden, "x")).status,
        (await move(stranger, shown, "x")).status,
        (await move(bob, lent, "x")).status,
        (await move(bob, shown, "x", **{"If-Match": '"r9"'})).status,
        (await move(bob, shown, "x", **{"If-Match": '"r1"'})).status,
    ]
    await alice.post(f"/api/repo-obj/{lent}/share", {"user_id": bob.user_id, "capability": "edit"})

    assert statuses == [403, 404, 404, 403, 412, 200]
    assert (await move(bob, lent, "y")).status == 200


async def test_a_folder_moves_whole_and_leaves_what_is_not_seen(alice: Client, bob: Client) -> None:
    ids = [await put(alice, key) for key in ("a/", "a/1", "a/b/2", "a/b/c/3")]
    await put(alice, "ab")
    await put(bob, "a/hidden", visibility="private")
    lent = await put(bob, "a/lent", visibility="private")
    await bob.post(f"/api/repo-obj/{lent}/share", {"user_id": alice.user_id, "capability": "edit"})

    answer = await batch(alice, op="move", **{"from": "a/"}, to="z/y/")

    assert answer.status == 200
    assert (sorted(answer["done"]), answer["failed"]) == (sorted([*ids, lent]), [])
    assert await keys(alice) == ["ab", "z/y/", "z/y/1", "z/y/b/2", "z/y/b/c/3", "z/y/lent"]
    assert await keys(bob, "a/") == ["a/hidden"]
    assert await keys(alice, shared=1) == ["z/y/lent"]


async def test_a_folder_moves_up_over_names_that_move_themselves(alice: Client) -> None:
    for key in ("a/a/x", "a/a/a/x", "a/a/a/a/x", "a/y"):
        await put(alice, key)

    assert (await batch(alice, op="move", **{"from": "a/a/"}, to="a/")).status == 200

    assert await keys(alice) == ["a/a/a/x", "a/a/x", "a/x", "a/y"]


async def test_a_folder_that_cannot_move_whole_stays(company: Company, alice: Client, bob: Client) -> None:
    for key in ("a/1", "a/2", "b/2"):
        await put(alice, key)
    lent = await put(bob, "c/lent", visibility="private")
    await bob.post(f"/api/repo-obj/{lent}/share", {"user_id": alice.user_id, "capability": "view"})
    await put(alice, "c/own")
    long = "d/" + "x" * 1000
    await put(alice, long)
    before = await keys(alice)

    answers = [
        await batch(alice, op="move", **{"from": "a/"}, to="b/"),
        await batch(alice, op="move", **{"from": "c/"}, to="e/"),
        await batch(alice, op="move", **{"from": "d/"}, to="d" * 40 + "/"),
        await batch(alice, op="move", **{"from": "a/"}, to="a/b/"),
        await batch(alice, op="move", **{"from": "none/"}, to="e/"),
        await batch(alice, op="move", **{"from": "a/"}, to="../e/"),
    ]

    assert [(one.status, one.code) for one in answers] == [
        (409, "repository.key_taken"),
        (403, "access.permission_missing"),
        (400, "repository.bad_key"),
        (400, "repository.bad_key"),
        (404, "repository.missing"),
        (400, "repository.bad_key"),
    ]
    assert answers[0]["key"] == "b/2"
    assert await keys(alice) == before


async def test_many_are_done_each_on_its_own(alice: Client, bob: Client) -> None:
    mine, other = await put(alice, "a/1"), await put(alice, "a/2")
    theirs, hidden = await put(bob, "b/1"), await put(bob, "b/h", visibility="private")
    await put(alice, "z/2")

    moved = await batch(alice, op="move", ids=[mine, other, theirs, hidden, mine], to="z/")
    shown = await batch(alice, op="visibility", ids=[mine, theirs], visibility="private")
    deleted = await batch(alice, op="delete", ids=[mine, theirs, hidden])

    assert moved["done"] == [mine]
    assert {one["id"]: one["code"] for one in moved["failed"]} == {
        other: "repository.key_taken",
        theirs: "repository.key_taken",
        hidden: "repository.missing",
    }
    assert (shown["done"], [one["code"] for one in shown["failed"]]) == ([mine], ["access.permission_missing"])
    assert deleted["done"] == [mine]
    assert [one["id"] for one in deleted["failed"]] == [theirs, hidden]
    assert [one["id"] for one in (await alice.get("/api/trash"))["items"]] == [mine]


WRONG: list[dict[str, Any]] = [
    {"op": "move", "to": "a/"},
    {"op": "move", "ids": [], "to": "a/"},
    {"op": "move", "ids": [str(UUID(int=1))]},
    {"op": "move", "ids": [str(UUID(int=1))], "to": "a"},
    {"op": "move", "ids": [str(UUID(int=1))], "from": "b/", "to": "a/"},
    {"op": "move", "from": "b", "to": "a/"},
    {"op": "move", "from": "/", "to": "a/"},
    {"op": "move", "from": "b/", "to": ""},
    {"op": "delete", "from": "b/"},
    {"op": "delete", "ids": [str(UUID(int=1))], "to": "a/"},
    {"op": "visibility", "ids": [str(UUID(int=1))]},
    {"op": "move", "ids": [str(UUID(int=1))], "to": "a/", "visibility": "team"},
    {"op": "delete", "ids": [str(UUID(int=number)) for number in range(1001)]},
]


async def test_a_batch_that_says_too_little_or_too_much_is_refused(alice: Client) -> None:
    answers = [await batch(alice, **body) for body in WRONG]

    assert [answer.status for answer in answers] == [400] * len(WRONG)


async def test_a_token_does_what_its_scope_says(company: Company, alice: Client) -> None:
    narrow = await company.join("member", scope=["files:read", "files:delete"])
    one, _ = await put(alice, "n/1"), await put(alice, "n/2")

    moved = await batch(narrow, op="move", ids=[one], to="m/")
    folder = await batch(narrow, op="move", **{"from": "n/"}, to="m/")

    assert [failure["code"] for failure in moved["failed"]] == ["access.permission_missing"]
    assert folder.status == 403
    assert await keys(alice) == ["n/1", "n/2"]


async def test_search_finds_a_moved_object_by_its_new_key(alice: Client) -> None:
    id = await put(alice, "harbour/lantern.txt")

    await move(alice, id, "lighthouse/beacon.txt")

    assert await found(alice, "lantern") == await found(alice, "harbour") == []
    assert await found(alice, "lighthouse") == await found(alice, "beacon") == ["lighthouse/beacon.txt"]
    assert await found(alice, "beacon", prefix="lighthouse/") == ["lighthouse/beacon.txt"]
    assert await found(alice, "beacon", prefix="harbour/") == []


async def seed_folder(company: Company, owner: Client, prefix: str, many: int) -> None:
    """So many team-visible objects, written past the services, and the search index read from them."""
    first = await put(owner, f"{prefix}00000.txt")
    url = company.house.services.settings.database_url
    await run_as_owner(
        url,
        """
        WITH made AS (
          INSERT INTO objects (id, org_id, team_id, owner_id, key, visibility, version_id, size, etag)
          SELECT gen_random_uuid(), org_id, team_id, owner_id, $2 || lpad(n::text, 5, '0') || '.txt', visibility, gen_random_uuid(),
                 size, etag
            FROM objects, generate_series(1, $3::int) n WHERE id = $1 RETURNING id, version_id, key
        )
        INSERT INTO object_versions (id, org_id, object_id, number, sha256, size, etag, content_type, filename, metadata, created_by)
        SELECT made.version_id, v.org_id, made.id, 1, v.sha256, v.size, v.etag, v.content_type, split_part(made.key, '/', -1), v.metadata,
               v.created_by
          FROM made, object_versions v WHERE v.object_id = $1
        """,
        UUID(first),
        prefix,
        many - 1,
    )
    await index_check.rebuild(company.house.services.database, company.house.services.compute, company.org.id)


async def test_readers_never_see_half_of_a_folder(company: Company, alice: Client) -> None:
    await seed_folder(company, alice, "old/", 150)
    seen: set[tuple[int, int]] = set()
    done = asyncio.Event()

    async def look() -> None:
        while not done.is_set():
            both = await alice.get("/api/repo", limit=200)
            names = [one["key"] for one in both["items"]]
            seen.add((sum(one.startswith("old/") for one in names), sum(one.startswith("new/") for one in names)))

    looking = [asyncio.create_task(look()) for _ in range(3)]
    for there, back in (("old/", "new/"), ("new/", "old/"), ("old/", "new/")):
        assert (await batch(alice, op="move", **{"from": there}, to=back)).status == 200
    done.set()
    await asyncio.gather(*looking)

    assert seen <= {(150, 0), (0, 150)}
    assert await keys(alice, "old/") == []


async def test_a_folder_with_too_much_in_it_stays(alice: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        await put(alice, f"a/{number}")
    monkeypatch.setattr(moves, "MOST", 3)

    refused = await batch(alice, op="move", **{"from": "a/"}, to="b/")
    monkeypatch.setattr(moves, "MOST", 4)

    assert refused.status == 413
    assert (await batch(alice, op="move", **{"from": "a/"}, to="b/")).status == 200


async def test_search_looks_below_the_newest_key_while_words_wait(company: Company, alice: Client) -> None:
    await seed_folder(company, alice, "manifests/", 30)
    await batch(alice, op="move", **{"from": "manifests/"}, to="ledgers/")
    before = sorted(await found(alice, "manifests", prefix="ledgers/", limit=50))
    first, second, *others = before
    listed = (await alice.get("/api/repo", prefix="ledgers/", limit=200))["items"]
    ids = {one["key"]: one["id"] for one in listed}

    await move(alice, ids[first], "elsewhere/one.txt")
    await alice.delete(f"/api/repo-obj/{ids[second]}")
    await alice.post(f"/api/trash/{ids[second]}/restore")
    await move(alice, ids[second], "elsewhere/two.txt")

    assert await found(alice, "manifests", prefix="manifests/") == []
    assert sorted(await found(alice, "manifests", prefix="ledgers/", limit=50)) == others
    assert sorted(await found(alice, "txt", prefix="elsewhere/")) == ["elsewhere/one.txt", "elsewhere/two.txt"]


async def test_words_of_many_moved_objects_are_read_again_soon(company: Company, alice: Client) -> None:
    await seed_folder(company, alice, "manifests/", 300)
    await batch(alice, op="move", **{"from": "manifests/"}, to="ledgers/")
    services = company.house.services

    while await chores.read_moved(services):
        pass

    assert await found(alice, "manifests") == []
    assert len(await found(alice, "ledgers", limit=50)) == 50
    assert [one async for one in index_check.verify(services.database, services.compute, company.org.id)] == []
