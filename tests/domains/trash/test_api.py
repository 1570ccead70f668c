"""The trash over HTTP: what is found there by whom, what comes back, and what goes for good."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from atrium.engine.repository import release
from atrium.ground.identity import sessions
from atrium.ground.identity.credential_model import TokenTerms
from atrium.ground.quotas import service as quotas
from atrium.kit.ids import new_id
from atrium.product.trash import service as trash
from atrium.seams.context import ANONYMOUS, Operation
from tests.postgres import connected, run_as_owner
from tests.support.client import Answer, Client
from tests.support.people import Company, found_company
from tests.support.servers import fresh_application


async def note_of(client: Client, **fields: str) -> str:
    answer = await client.post("/api/notes", {"title": "Plan", "body": "words", **fields})
    assert answer.status == 201, answer.raw
    return str(answer["id"])


async def object_of(client: Client, key: str, body: bytes = b"bytes", visibility: str = "private") -> str:
    answer = await client.put(f"/api/repo/{key}?visibility={visibility}", body)
    assert answer.status in (200, 201), answer.raw
    return str(answer["id"])


async def document_of(client: Client, **fields: str) -> str:
    answer = await client.post("/api/documents", {"title": "Offer", "body": "text", **fields})
    assert answer.status == 201, answer.raw
    return str(answer["id"])


async def trash_of(client: Client, **query: object) -> list[dict[str, Any]]:
    answer = await client.send("GET", "/api/trash", query=query)
    assert answer.status == 200, answer.raw
    return list(answer["items"])


async def ids_in_trash(client: Client) -> list[str]:
    return [item["id"] for item in await trash_of(client)]


async def restore(client: Client, id: str, **fields: str) -> Answer:
    return await client.post(f"/api/trash/{id}/restore", fields)


async def stored_bytes(client: Client) -> int:
    """Of files; notes count beside them."""
    lines = (await client.get("/api/usage"))["items"]
    return int(
        next(one["parts"]["files"] for one in lines if (one["dimension"], one["level"]) == ("storage.bytes", "team"))
    )


async def grow_old(company: Company, id: str, days: float) -> None:
    """As if it had been deleted so many days ago."""
    for table in ("notes", "objects"):
        await run_as_owner(
            company.house.services.settings.database_url,
            f"UPDATE {table} SET trashed_at = trashed_at - $2::interval WHERE id = $1",
            UUID(id),
            timedelta(days=days),
        )


async def test_what_is_deleted_is_gone_at_once_and_in_the_trash(alice: Client) -> None:
    note, stored, document = await note_of(alice), await object_of(alice, "a/b.txt"), await document_of(alice)

    for path in (f"/api/notes/{note}", f"/api/repo-obj/{stored}", f"/api/documents/{document}"):
        assert (await alice.delete(path)).body == {"id": path.rpartition("/")[2]}
        assert (await alice.get(path)).status == 404

    found = await trash_of(alice)
    assert [(one["id"], one["kind"], one["title"]) for one in found] == [
        (document, "object", "Offer"),
        (stored, "object", "b.txt"),
        (note, "note", "Plan"),
    ]
    assert {one["deleted_by"] for one in found} == {alice.user_id}
    for one in found:
        kept = datetime.fromisoformat(one["purge_at"]) - datetime.fromisoformat(one["deleted_at"])
        assert kept == timedelta(days=30)
    assert (await alice.get("/api/notes"))["items"] == (await alice.get("/api/repo"))["items"] == []


async def test_a_note_comes_back_with_its_shares_and_versions(alice: Client, bob: Client) -> None:
    note = await note_of(alice)
    await alice.put(f"/api/notes/{note}", {"body": "more words"})
    await alice.post(f"/api/notes/{note}/share", {"user_id": bob.user_id, "permission": "notes:write"})
    before = [(await alice.get(f"/api/notes/{note}{part}")).body for part in ("", "/shares", "/versions")]
    await alice.delete(f"/api/notes/{note}")
    hidden = [(await bob.get(f"/api/notes/{note}")).status, (await bob.get("/api/notes"))["items"]]

    back = await restore(alice, note)

    assert hidden == [404, []]
    assert back.body == {"id": note, "kind": "note", "key": None}
    assert [(await alice.get(f"/api/notes/{note}{part}")).body for part in ("", "/shares", "/versions")] == before
    assert (await bob.get(f"/api/notes/{note}"))["body"] == "more words"
    assert [one["id"] for one in (await bob.get("/api/notes"))["items"]] == [note]
    assert await trash_of(alice) == []


async def test_an_object_comes_back_with_its_grants_and_versions(alice: Client, bob: Client) -> None:
    stored = await object_of(alice, "a.bin", b"one")
    await object_of(alice, "a.bin", b"two!")
    await alice.post(f"/api/repo-obj/{stored}/share", {"user_id": bob.user_id, "capability": "edit"})
    before = [(await alice.get(f"/api/repo-obj/{stored}{part}")).body for part in ("", "/grants")]
    await alice.delete(f"/api/repo-obj/{stored}")
    hidden = [(await bob.get(f"/api/repo-obj/{stored}")).status, (await bob.get("/api/repo", shared=1))["items"]]

    back = await restore(alice, stored)

    assert hidden == [404, []]
    assert back.body == {"id": stored, "kind": "object", "key": "a.bin"}
    assert [(await alice.get(f"/api/repo-obj/{stored}{part}")).body for part in ("", "/grants")] == before
    assert (await bob.get(f"/api/repo-obj/{stored}/content")).raw == b"two!"
    assert (await bob.get(f"/api/repo-obj/{stored}/content", version=1)).raw == b"one"
    assert [one["id"] for one in (await bob.get("/api/repo", shared=1))["items"]] == [stored]


async def test_a_key_in_the_trash_is_free_and_what_took_it_stays(alice: Client, bob: Client) -> None:
    first = await object_of(alice, "a.txt", b"first")
    await alice.delete(f"/api/repo-obj/{first}")
    second = await object_of(bob, "a.txt", b"second")

    taken = await restore(alice, first)
    back = await restore(alice, first, key="old/a.txt")

    assert second != first
    assert (taken.status, taken.code) == (409, "repository.key_taken")
    assert back["key"] == "old/a.txt"
    shown = await alice.get(f"/api/repo-obj/{first}")
    assert (shown["key"], shown["versions"][0]["number"]) == ("old/a.txt", 1)
    assert (await alice.get(f"/api/repo-obj/{first}/content")).raw == b"first"
    assert (await bob.get(f"/api/repo-obj/{second}/content")).raw == b"second"


async def test_a_renamed_object_is_listed_to_whom_it_is_shared(alice: Client, bob: Client) -> None:
    stored = await object_of(alice, "a.txt")
    await alice.post(f"/api/repo-obj/{stored}/share", {"user_id": bob.user_id})
    await alice.delete(f"/api/repo-obj/{stored}")

    await restore(alice, stored, key="z.txt")

    listed = (await bob.get("/api/repo", shared=1, prefix="z"))["items"]
    assert [(one["id"], one["key"]) for one in listed] == [(stored, "z.txt")]


@pytest.mark.parametrize(
    ("key", "status", "code"),
    [("x" * 1025, 400, "request.invalid"), ("", 400, "request.invalid"), ("ж" * 600, 400, "repository.bad_key")],
    ids=["long", "empty", "many bytes"],
)
async def test_a_key_that_is_none_leaves_it_in_the_trash(alice: Client, key: str, status: int, code: str) -> None:
    stored = await object_of(alice, "a.txt")
    await alice.delete(f"/api/repo-obj/{stored}")

    answer = await restore(alice, stored, key=key)

    assert (answer.status, answer.code) == (status, code)
    assert await ids_in_trash(alice) == [stored]


async def test_a_note_takes_no_key(alice: Client) -> None:
    note = await note_of(alice)
    await alice.delete(f"/api/notes/{note}")

    answer = await restore(alice, note, key="a.txt")

    assert (answer.status, answer.code) == (400, "trash.no_key")
    assert await ids_in_trash(alice) == [note]


async def test_a_private_thing_is_in_its_owners_trash_alone(company: Company, alice: Client, admin: Client) -> None:
    reader = await company.join("member", org_role="org_reader")
    manager = await company.join("member")
    note, stored = await note_of(alice), await object_of(alice, "a.txt")
    await alice.post(f"/api/notes/{note}/share", {"user_id": manager.user_id, "permission": "notes:manage"})

    # Deleted by somebody who was let in: it is still its owner's.
    assert (await manager.delete(f"/api/notes/{note}")).status == 200
    await alice.delete(f"/api/repo-obj/{stored}")

    assert set(await ids_in_trash(alice)) == {note, stored}
    for other in (admin, reader, manager):
        assert await trash_of(other) == []
        for id in (note, stored):
            assert (await restore(other, id)).code == "trash.missing"
            assert (await other.delete(f"/api/trash/{id}")).code == "trash.missing"
        assert (await other.delete("/api/trash")).body == {"purged": 0}
    assert [(await restore(alice, id)).status for id in (note, stored)] == [200, 200]


async def test_what_the_team_sees_is_also_in_the_trash_of_whoever_manages_it(
    company: Company, alice: Client, bob: Client, admin: Client
) -> None:
    elsewhere = await company.join("admin", team=await company.add_team())
    reader = await company.join("member", org_role="org_reader")
    viewer = await company.join("viewer")
    carol = await company.join("member", team=await company.add_team("Third"))
    note, stored = await note_of(alice, visibility="team"), await object_of(alice, "a.txt", visibility="team")
    await alice.post(f"/api/notes/{note}/share", {"user_id": carol.user_id, "permission": "notes:manage"})
    await alice.post(f"/api/repo-obj/{stored}/share", {"user_id": carol.user_id, "capability": "manage"})

    await admin.delete(f"/api/notes/{note}")
    await admin.delete(f"/api/repo-obj/{stored}")

    for person in (alice, admin, carol):
        assert await ids_in_trash(person) == [stored, note]
        assert {one["deleted_by"] for one in await trash_of(person)} == {admin.user_id}
    for person in (bob, elsewhere, reader, viewer):
        assert await trash_of(person) == []
        assert [(await restore(person, id)).status for id in (note, stored)] == [404, 404]
    assert [(await restore(carol, id)).status for id in (note, stored)] == [200, 200]


async def test_a_share_that_ended_opens_no_trash(company: Company, alice: Client) -> None:
    carol = await company.join("member", team=await company.add_team())
    stored = await object_of(alice, "a.txt", visibility="team")
    await alice.post(f"/api/repo-obj/{stored}/share", {"user_id": carol.user_id, "capability": "manage"})
    await alice.delete(f"/api/repo-obj/{stored}")
    await run_as_owner(
        company.house.services.settings.database_url,
        "UPDATE object_grants SET expires_at = now() - interval '1 second' WHERE object_id = $1",
        UUID(stored),
    )

    assert await trash_of(carol) == []
    assert (await restore(carol, stored)).status == 404


async def test_purging_takes_it_away_for_good(alice: Client) -> None:
    note, stored = await note_of(alice), await object_of(alice, "a.txt")
    await alice.put(f"/api/notes/{note}", {"body": "more"})
    await alice.delete(f"/api/notes/{note}")
    await alice.delete(f"/api/repo-obj/{stored}")

    assert [(await alice.delete(f"/api/trash/{id}")).body for id in (note, stored)] == [{"id": note}, {"id": stored}]

    assert await trash_of(alice) == []
    for id in (note, stored):
        assert (await restore(alice, id)).code == "trash.missing"
        assert (await alice.delete(f"/api/trash/{id}")).code == "trash.missing"


async def test_what_was_not_deleted_cannot_be_purged_or_restored(alice: Client) -> None:
    note, stored = await note_of(alice), await object_of(alice, "a.txt")

    for id in (note, stored, str(new_id())):
        assert (await alice.delete(f"/api/trash/{id}")).code == "trash.missing"
        assert (await restore(alice, id)).code == "trash.missing"

    assert (await alice.get(f"/api/notes/{note}")).status == (await alice.get(f"/api/repo-obj/{stored}")).status == 200


async def test_bytes_are_counted_until_they_are_purged(alice: Client) -> None:
    stored = await object_of(alice, "a.txt", b"x" * 1000)
    await object_of(alice, "a.txt", b"y" * 500)

    await alice.delete(f"/api/repo-obj/{stored}")
    in_trash = await stored_bytes(alice)
    await restore(alice, stored)
    restored = await stored_bytes(alice)
    await alice.delete(f"/api/repo-obj/{stored}")
    await alice.delete(f"/api/trash/{stored}")

    assert (in_trash, restored, await stored_bytes(alice)) == (1500, 1500, 0)


async def test_emptying_takes_what_the_caller_deleted_and_nothing_else(alice: Client, admin: Client) -> None:
    mine = [await note_of(alice, visibility="team"), await object_of(alice, "a.txt", visibility="team")]
    theirs = [await note_of(alice, visibility="team"), await object_of(alice, "b.txt", visibility="team")]
    for person, (note, stored) in ((alice, mine), (admin, theirs)):
        await person.delete(f"/api/notes/{note}")
        await person.delete(f"/api/repo-obj/{stored}")

    emptied = await admin.delete("/api/trash")

    assert emptied.body == {"purged": 2}
    assert set(await ids_in_trash(alice)) == set(mine)
    assert set(await ids_in_trash(admin)) == set(mine)
    assert (await alice.delete("/api/trash")).body == {"purged": 2}


async def test_emptying_waits_for_what_is_in_use(company: Company, alice: Client) -> None:
    note, stored = await note_of(alice), await object_of(alice, "a.txt")
    await alice.delete(f"/api/notes/{note}")
    await alice.delete(f"/api/repo-obj/{stored}")

    # As a transaction that writes rows which refer to them, such as the reading of a text.
    async with connected(company.house.services.settings.database_url) as other:
        async with other.transaction():
            await other.execute("SELECT 1 FROM notes WHERE id = $1 FOR KEY SHARE", UUID(note))
            await other.execute("SELECT 1 FROM objects WHERE id = $1 FOR KEY SHARE", UUID(stored))
            emptying = asyncio.ensure_future(alice.delete("/api/trash"))
            done, _ = await asyncio.wait([emptying], timeout=0.5)
        emptied = await emptying

    assert not done
    assert emptied.body == {"purged": 2}


async def test_emptying_does_not_stop_at_a_batch(company: Company, alice: Client) -> None:
    for number in range(3):
        await alice.delete(f"/api/notes/{await note_of(alice)}")
        await alice.delete(f"/api/repo-obj/{await object_of(alice, f'k{number}')}")
    await run_as_owner(
        company.house.services.settings.database_url,
        "INSERT INTO notes (id, org_id, team_id, owner_id, title, body, visibility, trashed_at, trashed_by)"
        " SELECT gen_random_uuid(), $1, $2, $3, 't', 'b', 'private', now(), $3 FROM generate_series(1, 250)",
        UUID(alice.org_id), UUID(alice.team_id), UUID(alice.user_id),
    )  # fmt: skip

    assert (await alice.delete("/api/trash")).body == {"purged": 256}
    assert await trash_of(alice) == []


async def test_the_trash_is_paged_over_both_kinds_in_one_order(alice: Client) -> None:
    deleted = []
    for number in range(4):
        deleted += [await note_of(alice), await object_of(alice, f"k{number}")]
        await alice.delete(f"/api/notes/{deleted[-2]}")
        await alice.delete(f"/api/repo-obj/{deleted[-1]}")

    seen, cursor = [], None
    while True:
        page = await alice.get("/api/trash?limit=3" + (f"&cursor={cursor}" if cursor else ""))
        seen += [one["id"] for one in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break

    assert seen == deleted[::-1]
    assert [one["id"] for one in await trash_of(alice, kind="note")] == deleted[::-1][1::2]
    assert [one["id"] for one in await trash_of(alice, kind="object")] == deleted[::-1][::2]
    cursor = (await alice.get("/api/trash", limit=1))["next_cursor"]
    assert (await alice.get("/api/trash", limit=1, kind="note", cursor=cursor)).code == "paging.bad_cursor"


async def test_a_token_reaches_what_its_scope_says(company: Company) -> None:
    owner = await company.join("member")
    note, stored = await note_of(owner), await object_of(owner, "a.txt")
    await owner.delete(f"/api/notes/{note}")
    await owner.delete(f"/api/repo-obj/{stored}")
    tokens = {
        scope: await _token_of(company, owner, [scope]) for scope in ("notes:delete", "files:delete", "files:read")
    }

    assert await ids_in_trash(tokens["notes:delete"]) == [note]
    assert await ids_in_trash(tokens["files:delete"]) == [stored]
    assert (await tokens["files:read"].get("/api/trash")).status == 403
    assert (await restore(tokens["notes:delete"], stored)).status == 403
    assert (await tokens["files:delete"].delete(f"/api/trash/{note}")).status == 403
    assert (await tokens["notes:delete"].delete("/api/trash")).body == {"purged": 1}
    assert (await restore(tokens["files:delete"], stored)).status == 200


async def _token_of(company: Company, person: Client, scope: list[str]) -> Client:
    async with Operation(who=ANONYMOUS, services=company.house.services).begin_system() as ctx:
        issued = await sessions.issue(
            ctx, UUID(person.user_id), UUID(person.team_id), UUID(person.org_id), TokenTerms(kind="token", scope=scope)
        )
    return replace(person, token=issued.token)


async def test_whoever_lost_the_right_to_write_still_gets_their_own_back(company: Company, alice: Client) -> None:
    note = await note_of(alice)
    await alice.delete(f"/api/notes/{note}")
    await run_as_owner(
        company.house.services.settings.database_url,
        "UPDATE users SET role = 'viewer' WHERE id = $1",
        UUID(alice.user_id),
    )

    assert (await restore(alice, note)).status == 200


async def test_time_takes_away_what_is_due_and_nothing_before(company: Company, alice: Client) -> None:
    old = [await note_of(alice), await object_of(alice, "old", b"12345")]
    new = [await note_of(alice), await object_of(alice, "new", b"123")]
    there = [await note_of(alice), await object_of(alice, "there", b"1")]
    for note, stored in (old, new):
        await alice.delete(f"/api/notes/{note}")
        await alice.delete(f"/api/repo-obj/{stored}")
    for id in old:
        await grow_old(company, id, 30)
    for id in new:
        await grow_old(company, id, 29.99)

    assert await trash.purge_due(company.house.services) >= 2

    assert set(await ids_in_trash(alice)) == set(new)
    assert [(await restore(alice, id)).status for id in old] == [404, 404]
    assert (await alice.get(f"/api/notes/{there[0]}")).status == 200
    assert await stored_bytes(alice) == 4


async def test_bytes_leave_the_store_with_the_purge_and_not_before(company: Company, alice: Client) -> None:
    services = company.house.services
    shared, alone = b"shared " * 100, new_id().bytes * 8
    first, second = await object_of(alice, "one", shared), await object_of(alice, "two", shared)
    third = await object_of(alice, "three", alone)
    for id in (first, third):
        await alice.delete(f"/api/repo-obj/{id}")
    await release.sweep(services, 0)
    kept = await restore(alice, third)
    assert (kept.status, (await alice.get(f"/api/repo-obj/{third}/content")).raw) == (200, alone)

    await alice.delete(f"/api/repo-obj/{third}")
    assert (await alice.delete("/api/trash")).body == {"purged": 2}
    await release.sweep(services, 0)
    await quotas.enter_noted(services.database)

    assert (await alice.get(f"/api/repo-obj/{second}/content")).raw == shared
    left = await run_as_owner(
        services.settings.database_url, "SELECT sum(size) FROM blobs WHERE org_id = $1", UUID(alice.org_id)
    )
    assert left[0][0] == len(shared) == await stored_bytes(alice)


async def test_without_days_deleting_is_for_good() -> None:
    async with fresh_application(trash_days=0) as house:
        person = await (await found_company(house)).join("member")
        note, stored = await note_of(person), await object_of(person, "a.txt")

        await person.delete(f"/api/notes/{note}")
        await person.delete(f"/api/repo-obj/{stored}")

        assert await trash_of(person) == []
        assert [(await restore(person, id)).status for id in (note, stored)] == [404, 404]
        assert await stored_bytes(person) == 0


async def test_of_many_who_restore_and_purge_at_once_one_wins(alice: Client, admin: Client) -> None:
    for turn in range(6):
        note = await note_of(alice, visibility="team")
        stored = await object_of(alice, f"k{turn}", visibility="team")
        await alice.delete(f"/api/notes/{note}")
        await admin.delete(f"/api/repo-obj/{stored}")

        for id, path in ((note, f"/api/notes/{note}"), (stored, f"/api/repo-obj/{stored}")):
            answers = await asyncio.gather(
                restore(alice, id),
                admin.delete(f"/api/trash/{id}"),
                restore(admin, id),
                alice.delete(f"/api/trash/{id}"),
            )

            assert sorted(answer.status for answer in answers) == [200, 404, 404, 404]
            won = next(index for index, answer in enumerate(answers) if answer.status == 200)
            assert (await alice.get(path)).status == (200 if won in (0, 2) else 404)
            assert id not in await ids_in_trash(alice)


async def test_what_is_due_is_restored_or_purged_and_never_half(company: Company, alice: Client) -> None:
    services = company.house.services
    for turn in range(6):
        note, stored = await note_of(alice), await object_of(alice, f"due{turn}", b"12345")
        await alice.put(f"/api/notes/{note}", {"body": "more"})
        await alice.delete(f"/api/notes/{note}")
        await alice.delete(f"/api/repo-obj/{stored}")
        for id in (note, stored):
            await grow_old(company, id, 31)

        _, *restored = await asyncio.gather(trash.purge_due(services), restore(alice, note), restore(alice, stored))

        there = [
            (await alice.get(path)).status
            for path in (f"/api/notes/{note}/versions/1", f"/api/repo-obj/{stored}/content")
        ]
        assert [answer.status for answer in restored] == there
        assert await trash_of(alice) == []
        assert await stored_bytes(alice) == (5 if there[1] == 200 else 0)
        await alice.delete(f"/api/repo-obj/{stored}")
        await alice.delete(f"/api/trash/{stored}")


async def test_of_many_who_delete_at_once_one_does(alice: Client, admin: Client) -> None:
    note = await note_of(alice, visibility="team")

    answers = await asyncio.gather(*((alice, admin)[turn % 2].delete(f"/api/notes/{note}") for turn in range(8)))

    assert sorted(answer.status for answer in answers) == [200] + [404] * 7
    assert len(await trash_of(alice)) == 1


async def test_a_key_that_is_written_while_it_is_restored_belongs_to_one(alice: Client) -> None:
    for turn in range(8):
        stored = await object_of(alice, f"k{turn}", b"old")
        await alice.delete(f"/api/repo-obj/{stored}")

        back, written = await asyncio.gather(restore(alice, stored), alice.put(f"/api/repo/k{turn}", b"new"))

        assert written.status in (200, 201)
        listed = (await alice.get("/api/repo", prefix=f"k{turn}"))["items"]
        assert len(listed) == 1
        if back.status == 200:
            # First restored, then written over: one object, both texts.
            assert (listed[0]["id"], listed[0]["version"]["number"]) == (stored, 2)
        else:
            assert (back.status, back.code) == (409, "repository.key_taken")
            assert listed[0]["id"] != stored
            assert stored in await ids_in_trash(alice)


async def test_a_write_to_what_is_deleted_at_that_moment_is_in_one_place(alice: Client, admin: Client) -> None:
    for turn in range(40):
        stored = await object_of(alice, f"w{turn}", b"old", visibility="team")

        gone, written = await asyncio.gather(
            admin.delete(f"/api/repo-obj/{stored}"), alice.put(f"/api/repo/w{turn}", b"new!")
        )

        assert (gone.status, written.status) in ((200, 200), (200, 201))
        live = (await alice.get("/api/repo", prefix=f"w{turn}"))["items"]
        kept = {one["id"] for one in live} | set(await ids_in_trash(alice))
        assert {stored, written["id"]} <= kept
        assert await stored_bytes(alice) == 7 * (turn + 1)


async def allow(operator: Client, limit: int) -> None:
    """Let the operator's team keep so many bytes."""
    answer = await operator.post("/api/quota", {"dimension": "storage.bytes", "limit": limit, "window": "total"})
    assert answer.status == 200, answer.raw


async def trashed_of(client: Client, key: str, size: int, visibility: str = "private") -> str:
    id = await object_of(client, key, b"x" * size, visibility)
    await client.delete(f"/api/repo-obj/{id}")
    return id


async def test_an_item_tells_its_size_and_an_object_its_key(alice: Client) -> None:
    note = await note_of(alice, body="þrír")
    stored = await object_of(alice, "ports/tides.txt", b"first")
    await object_of(alice, "ports/tides.txt", b"second!")
    document = await document_of(alice)
    key = (await alice.get(f"/api/documents/{document}"))["key"]
    for path in (f"notes/{note}", f"repo-obj/{stored}", f"documents/{document}"):
        await alice.delete(f"/api/{path}")

    found = await trash_of(alice)

    assert [(one["id"], one["size"], one["key"]) for one in found] == [
        (document, 4, key),
        (stored, 7, "ports/tides.txt"),
        (note, 6, None),
    ]


async def test_a_write_that_needs_space_takes_the_oldest_of_the_trash_and_no_more(
    alice: Client, bob: Client, operator: Client
) -> None:
    oldest, newer = await trashed_of(bob, "a", 30), await trashed_of(alice, "b", 30)
    empty = await trashed_of(alice, "nothing", 0)
    await object_of(alice, "c", b"x" * 30)
    await allow(operator, 100)

    await object_of(alice, "d", b"x" * 30)

    assert await ids_in_trash(bob) == []
    assert await ids_in_trash(alice) == [empty, newer]
    assert await stored_bytes(alice) == 90
    assert (await restore(bob, oldest)).status == 404
    assert (await restore(alice, newer)).status == 200


async def test_trash_that_would_not_make_the_space_stays(alice: Client, operator: Client) -> None:
    deleted = await trashed_of(alice, "a", 30)
    await object_of(alice, "b", b"x" * 60)
    await allow(operator, 100)

    refused = await alice.put("/api/repo/c", b"x" * 80)

    assert (refused.status, refused.code) == (429, "quotas.exceeded")
    assert await ids_in_trash(alice) == [deleted]
    assert await stored_bytes(alice) == 90


async def test_a_document_takes_space_from_the_trash_too(alice: Client, operator: Client) -> None:
    await trashed_of(alice, "a", 90)
    await allow(operator, 100)

    await document_of(alice, body="x" * 40)

    assert await ids_in_trash(alice) == []
    assert await stored_bytes(alice) == 40


async def test_the_trash_of_another_team_gives_nothing(company: Company, alice: Client, operator: Client) -> None:
    carol = await company.join("member", team=await company.add_team())
    deleted = await trashed_of(carol, "a", 60, "team")
    await object_of(alice, "b", b"x" * 90)
    await allow(operator, 100)

    refused = await alice.put("/api/repo/c", b"x" * 20)

    assert refused.status == 429
    assert await ids_in_trash(carol) == [deleted]


async def test_a_limit_on_a_day_takes_nothing_from_the_trash(alice: Client, operator: Client) -> None:
    deleted = await trashed_of(alice, "a", 60)
    await operator.post("/api/quota", {"dimension": "storage.bytes", "limit": 100, "window": "day"})

    refused = await alice.put("/api/repo/b", b"x" * 60)

    assert refused.status == 429
    assert await ids_in_trash(alice) == [deleted]


async def test_writes_at_the_same_moment_never_pass_the_limit(alice: Client, operator: Client) -> None:
    for number in range(4):
        await trashed_of(alice, f"old{number}", 25)
    await allow(operator, 100)

    answers = await asyncio.gather(*(alice.put(f"/api/repo/new{number}", b"x" * 25) for number in range(8)))

    assert sorted(answer.status for answer in answers) == [201] * 4 + [429] * 4
    assert await ids_in_trash(alice) == []
    assert await stored_bytes(alice) == 100
