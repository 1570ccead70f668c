"""Objects over HTTP: writing, reading back, versions, listing, deleting, and what a write may not overwrite."""

import asyncio
import hashlib
import secrets
from typing import Any

import pytest

from atrium.engine.repository import release
from atrium.ground.quotas import service as quotas
from atrium.kit.web.etags import state_of
from tests.postgres import run_as_owner
from tests.support.client import Answer, Client
from tests.support.people import Company


async def put(client: Client, key: str, body: bytes = b"bytes", **query: str) -> dict[str, Any]:
    answer = await client.send("PUT", f"/api/repo/{key}", body, query=dict(query))
    assert answer.status in (200, 201), answer.raw
    return dict(answer.body)


async def content(client: Client, id: str, **query: object) -> Answer:
    return await client.send("GET", f"/api/repo-obj/{id}/content", query=query)


async def keys(client: Client, **query: object) -> list[str]:
    answer = await client.send("GET", "/api/repo", query=query)
    assert answer.status == 200, answer.raw
    return [item["key"] for item in answer["items"]]


async def test_bytes_read_back_as_they_were_written(alice: Client) -> None:
    body = secrets.token_bytes(700_000)

    stored = await put(alice, "folder/a.bin", body)

    assert (await content(alice, stored["id"])).raw == body
    assert stored["version"]["sha256"] == hashlib.sha256(body).hexdigest()
    assert (stored["version"]["number"], stored["size"], stored["visibility"]) == (1, 700_000, "private")


@pytest.mark.parametrize("key", ["Grüße/🌍 a+b%.txt", "a//b", "dir/", "a/...", "k" * 1024, "ü" * 512])
async def test_a_key_is_any_text_of_up_to_1024_bytes(alice: Client, key: str) -> None:
    stored = await put(alice, key)

    assert stored["key"] == key
    assert await keys(alice, prefix=key) == [key]


@pytest.mark.parametrize("key", ["k" * 1025, "ü" * 513, "a\0b", "a\ufffdb", ".", "a/../b", "../a"])
async def test_what_is_no_key_is_refused(alice: Client, key: str) -> None:
    assert (await alice.put(f"/api/repo/{key}", b"x")).status == 400


async def test_an_empty_object_is_an_object(alice: Client) -> None:
    stored = await put(alice, "empty", b"")

    answer = await content(alice, stored["id"])

    assert (answer.status, answer.raw, answer.headers["content-length"]) == (200, b"", "0")


async def test_writing_a_key_again_adds_a_version(alice: Client) -> None:
    first = await put(alice, "a", b"one")

    second = await put(alice, "a", b"two")

    assert (second["id"], second["version"]["number"]) == (first["id"], 2)
    assert (await content(alice, first["id"])).raw == b"two"
    assert (await content(alice, first["id"], version=1)).raw == b"one"
    assert (await content(alice, first["id"], version=first["version"]["id"])).raw == b"one"
    assert (await content(alice, first["id"], version=3)).code == "repository.version_missing"
    assert (await content(alice, first["id"], version="nonsense")).status == 404


async def test_the_metadata_lists_versions_newest_first(alice: Client) -> None:
    stored = await put(alice, "a", b"one", filename="report.txt")
    await put(alice, "a", b"two")

    detail = await alice.get(f"/api/repo-obj/{stored['id']}")

    assert [version["number"] for version in detail["versions"]] == [2, 1]
    assert [version["filename"] for version in detail["versions"]] == ["a", "report.txt"]
    assert detail["permissions"] == ["files:delete", "files:manage", "files:read", "files:write"]
    assert detail.headers["etag"] == '"r2.rwdm"'


async def test_a_private_object_is_missing_to_a_teammate(alice: Client, bob: Client) -> None:
    stored = await put(alice, "secret")

    assert (await bob.get(f"/api/repo-obj/{stored['id']}")).code == "repository.missing"
    assert (await content(bob, stored["id"])).status == 404
    assert (await bob.delete(f"/api/repo-obj/{stored['id']}")).status == 404
    assert await keys(bob) == []


async def test_a_key_held_by_something_invisible_is_taken(alice: Client, bob: Client) -> None:
    await put(alice, "secret")

    answer = await bob.put("/api/repo/secret", b"mine")

    assert (answer.status, answer.code) == (409, "repository.key_taken")


async def test_a_team_object_is_read_and_rewritten_by_teammates(alice: Client, bob: Client) -> None:
    stored = await put(alice, "plan", b"one", visibility="team")

    rewritten = await put(bob, "plan", b"two")

    assert (rewritten["id"], rewritten["owner_id"]) == (stored["id"], alice.user_id)
    assert rewritten["version"]["created_by"] == bob.user_id
    assert (await content(alice, stored["id"])).raw == b"two"


async def test_rewriting_does_not_let_a_teammate_change_who_sees_it(alice: Client, bob: Client) -> None:
    await put(alice, "plan", visibility="team")

    assert (await bob.put("/api/repo/plan?visibility=private", b"x")).status == 403
    assert (await alice.put("/api/repo/plan?visibility=private", b"x")).status == 200


async def test_a_viewer_reads_the_teams_objects_and_writes_none(company: Company, alice: Client) -> None:
    viewer = await company.join("viewer")
    stored = await put(alice, "plan", visibility="team")

    assert (await content(viewer, stored["id"])).status == 200
    assert (await viewer.put("/api/repo/plan", b"x")).status == 403
    assert (await viewer.put("/api/repo/other", b"x")).status == 403


async def test_a_member_deletes_their_own_but_not_anothers(alice: Client, bob: Client, admin: Client) -> None:
    mine, theirs = await put(alice, "a", visibility="team"), await put(alice, "b", visibility="team")

    assert (await bob.delete(f"/api/repo-obj/{mine['id']}")).status == 403
    assert (await alice.delete(f"/api/repo-obj/{mine['id']}")).body == {"id": mine["id"]}
    assert (await admin.delete(f"/api/repo-obj/{theirs['id']}")).status == 200
    assert await keys(alice) == []


async def test_a_token_scoped_away_from_files_reaches_nothing(company: Company) -> None:
    narrow = await company.join("owner", scope=["notes:read"])

    assert (await narrow.get("/api/repo")).status == 403
    assert (await narrow.put("/api/repo/a", b"x")).status == 403


async def test_another_company_finds_nothing(alice: Client, stranger: Client) -> None:
    stored = await put(alice, "plan", visibility="team")

    assert (await content(stranger, stored["id"])).status == 404
    assert await keys(stranger, scope="org") == []


async def test_a_refused_write_does_not_read_its_body(company: Company) -> None:
    viewer = await company.join("viewer")
    asked: list[str] = []
    scope = {
        "type": "http", "method": "PUT", "path": "/api/repo/a", "scheme": "http", "query_string": b"", "client": ("198.51.100.7", 1),
        "headers": [(b"authorization", f"Bearer {viewer.token}".encode()), (b"content-length", b"5")],
    }  # fmt: skip
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        asked.append("body")
        return {"type": "http.request", "body": b"bytes", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await viewer.app(scope, receive, send)

    assert (sent[0]["status"], asked) == (403, [])
    assert (b"connection", b"close") in sent[0]["headers"]


async def test_a_write_with_a_stale_tag_is_refused(alice: Client) -> None:
    first = await alice.put("/api/repo/a", b"one")
    second = await alice.put("/api/repo/a", b"two", headers={"if-match": first.headers["etag"]})

    third = await alice.put("/api/repo/a", b"three", headers={"if-match": first.headers["etag"]})

    assert (second.status, third.status, third.code) == (200, 412, "repository.stale")
    assert third.headers["etag"] == state_of(second.headers["etag"])
    assert (await alice.put("/api/repo/new", b"x", headers={"if-match": "*"})).status == 412


async def test_of_twenty_that_create_a_key_one_wins(alice: Client) -> None:
    writes = (alice.put("/api/repo/once", f"{n}".encode(), headers={"if-none-match": "*"}) for n in range(20))

    answers = await asyncio.gather(*writes)

    assert sorted(answer.status for answer in answers) == [201] + [412] * 19


async def test_concurrent_writes_of_one_key_all_become_versions(alice: Client) -> None:
    answers = await asyncio.gather(*(alice.put("/api/repo/busy", f"{n}".encode()) for n in range(12)))

    assert sorted(answer.status for answer in answers) == [200] * 11 + [201], [answer.raw for answer in answers]
    assert sorted(answer["version"]["number"] for answer in answers) == list(range(1, 13))


async def test_a_listing_is_by_the_bytes_of_keys_and_paged(alice: Client) -> None:
    names = ["B", "a", "a/1", "a/2", "aa", "b", "ä"]
    for name in reversed(names):
        await put(alice, name)

    seen: list[str] = []
    cursor = None
    while True:
        answer = await alice.get("/api/repo", limit=2, **({"cursor": cursor} if cursor else {}))
        seen += [item["key"] for item in answer["items"]]
        cursor = answer["next_cursor"]
        if cursor is None:
            break

    assert seen == names
    assert await keys(alice, prefix="a") == ["a", "a/1", "a/2", "aa"]
    assert await keys(alice, prefix="a/") == ["a/1", "a/2"]


async def test_a_cursor_of_one_prefix_is_no_use_for_another(alice: Client) -> None:
    for name in ("a/1", "a/2", "b/1"):
        await put(alice, name)
    cursor = (await alice.get("/api/repo", prefix="a/", limit=1))["next_cursor"]

    assert (await alice.get("/api/repo", prefix="b/", cursor=cursor)).code == "paging.bad_cursor"


async def test_a_delimiter_folds_folders(alice: Client) -> None:
    for name in ("a.txt", "docs/1", "docs/2", "docs/deep/3", "pics/4", "z.txt", "docs0"):
        await put(alice, name)

    top = await alice.get("/api/repo", delimiter="/")
    inner = await alice.get("/api/repo", prefix="docs/", delimiter="/")

    assert ([item["key"] for item in top["items"]], top["prefixes"]) == (
        ["a.txt", "docs0", "z.txt"],
        ["docs/", "pics/"],
    )
    assert ([item["key"] for item in inner["items"]], inner["prefixes"]) == (["docs/1", "docs/2"], ["docs/deep/"])


async def test_folders_are_paged_like_everything_else(alice: Client) -> None:
    for n in range(5):
        await put(alice, f"f{n}/x")
        await put(alice, f"f{n}x")

    pages, cursor = [], None
    while True:
        answer = await alice.get("/api/repo", delimiter="/", limit=3, **({"cursor": cursor} if cursor else {}))
        pages.append((answer["prefixes"], [item["key"] for item in answer["items"]]))
        cursor = answer["next_cursor"]
        if cursor is None:
            break

    assert [len(prefixes) + len(items) for prefixes, items in pages] == [3, 3, 3, 1]
    assert [one for prefixes, _ in pages for one in prefixes] == [f"f{n}/" for n in range(5)]
    assert [one for _, items in pages for one in items] == [f"f{n}x" for n in range(5)]


async def test_scope_org_shows_the_companys_team_objects_to_a_company_role(company: Company, alice: Client) -> None:
    elsewhere = await company.join("member", team=await company.add_team())
    reader = await company.join("viewer", org_role="org_reader")
    await put(alice, "ours", visibility="team")
    await put(elsewhere, "theirs", visibility="team")
    await put(elsewhere, "private")

    assert await keys(reader, scope="org") == ["ours", "theirs"]
    assert await keys(reader) == ["ours"]
    assert (await alice.get("/api/repo", scope="org")).code == "repository.org_scope"


async def test_purging_gives_the_bytes_back(company: Company, alice: Client) -> None:
    stored = await put(alice, "a", b"x" * 1000)
    await put(alice, "a", b"y" * 500)
    before = await used(company)

    await alice.delete(f"/api/repo-obj/{stored['id']}")
    kept = await used(company)
    await alice.delete(f"/api/trash/{stored['id']}")

    assert (before, kept, await used(company)) == (1500, 1500, 0)


async def test_an_upload_over_the_quota_is_refused_and_costs_nothing(
    company: Company, alice: Client, operator: Client
) -> None:
    await operator.post("/api/quota", {"dimension": "storage.bytes", "limit": 1000, "window": "total"})
    await put(alice, "a", b"x" * 900)

    answer = await alice.put("/api/repo/b", b"x" * 200)

    assert (answer.status, answer.code) == (429, "quotas.exceeded")
    assert await used(company) == 900
    assert await keys(alice) == ["a"]


async def test_an_upload_without_a_length_is_admitted_as_it_comes(
    company: Company, alice: Client, operator: Client
) -> None:
    await operator.post("/api/quota", {"dimension": "storage.bytes", "limit": 1000, "window": "total"})

    answer = await alice.send("PUT", "/api/repo/b", b"x" * 1001, headers={"content-length": "unknown"})

    assert (answer.status, answer.code) == (429, "quotas.exceeded")
    assert await used(company) == 0


async def test_an_upload_whose_client_leaves_costs_nothing(company: Company, alice: Client) -> None:
    scope = {
        "type": "http", "method": "PUT", "path": "/api/repo/a", "scheme": "http", "query_string": b"", "client": ("198.51.100.7", 1),
        "headers": [(b"authorization", f"Bearer {alice.token}".encode()), (b"content-length", b"5000000")],
    }  # fmt: skip
    coming: list[dict[str, Any]] = [
        {"type": "http.request", "body": b"x" * 2_000_000, "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> dict[str, Any]:
        return coming.pop(0)

    async def send(message: dict[str, Any]) -> None:
        raise AssertionError("nobody is there to answer")

    await alice.app(scope, receive, send)

    assert (await used(company), await keys(alice)) == (0, [])
    assert [path.name for path in company.house.services.staging.folder.iterdir() if path.name.endswith(".part")] == []


async def test_a_suspended_company_reads_and_does_not_write(company: Company, alice: Client) -> None:
    stored = await put(alice, "a")
    await company.suspend()

    assert (await content(alice, stored["id"])).status == 200
    assert (await alice.put("/api/repo/a", b"x")).status == 402


async def test_every_write_and_delete_is_in_the_trail(alice: Client, admin: Client) -> None:
    stored = await put(alice, "a")
    await alice.delete(f"/api/repo-obj/{stored['id']}")

    events = (await admin.get("/api/audit"))["items"]

    assert [event["kind"] for event in events[:2]] == ["repository.deleted", "repository.written"]


async def test_what_is_purged_leaves_the_store_at_the_next_sweep(company: Company, alice: Client) -> None:
    body = secrets.token_bytes(100)
    one, two = await put(alice, "a", body), await put(alice, "b", body)
    blobs, digest = company.house.services.blobs, hashlib.sha256(body).digest()

    kept = []
    for stored in (one, two):
        await alice.delete(f"/api/repo-obj/{stored['id']}")
        await release.sweep(company.house.services)
        kept.append(await blobs.stat(company.org.id, digest))
        await alice.delete("/api/trash")
        await release.sweep(company.house.services)
        kept.append(await blobs.stat(company.org.id, digest))

    assert kept == [100, 100, 100, None]


async def used(company: Company) -> int:
    await quotas.enter_noted(company.house.services.database)
    rows = await run_as_owner(
        company.house.services.settings.database_url,
        "SELECT coalesce(sum(total + reserved), 0) AS used FROM quota_usage WHERE scope_id = $1 AND dimension = 'storage.bytes'",
        company.team.id,
    )
    return int(rows[0]["used"])
