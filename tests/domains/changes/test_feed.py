"""The change feed over HTTP: who is told what, and how a reader goes on."""

import asyncio
import os

import pytest

from atrium.product.changes import chores, hub
from tests.domains.changes.feeds import Feed, hearing, hub_of, settled, settled_place
from tests.postgres import run_as_owner
from tests.support import announcements
from tests.support.client import Client
from tests.support.people import Company, found_company, uuid_of

RECONNECTIONS = 1000 if os.environ.get("ATRIUM_FULL") else 100


async def test_a_colleague_hears_of_a_saved_note(company: Company) -> None:
    alice, bob = await company.join(), await company.join()

    async with hearing(bob) as feed:
        note = await alice.post("/api/notes", {"title": "Plan", "visibility": "team"})
        await alice.put(f"/api/notes/{note['id']}", {"body": "x"})
        await feed.until(lambda: len(feed.changes) == 2)

    first = feed.events[1].data
    assert feed.events[0].name == "hello"
    assert feed.events[0].data["user_id"] == bob.user_id
    assert feed.changes == [("note", note["id"], "created"), ("note", note["id"], "changed")]
    assert first["by"] == alice.user_id
    assert first["version"] == 1
    assert set(first) == {"kind", "id", "action", "version", "by", "at"}


async def test_a_withdrawn_share_is_gone_and_then_silent(company: Company) -> None:
    alice, bob = await company.join(), await company.join(team=await company.add_team())
    note = (await alice.post("/api/notes", {"title": "x"}))["id"]

    async with hearing(bob) as feed:
        await alice.post(f"/api/notes/{note}/share", {"user_id": bob.user_id, "permission": "notes:read"})
        await alice.put(f"/api/notes/{note}", {"body": "1"})
        await alice.post(f"/api/notes/{note}/share", {"user_id": bob.user_id, "permission": None})
        await alice.put(f"/api/notes/{note}", {"body": "2"})
        await settled(company.house, company.org.id)

    assert [action for _, _, action in feed.changes] == ["shared", "changed", "gone"]


async def test_a_reader_goes_on_after_the_last_event_it_heard(company: Company) -> None:
    alice = await company.join()
    async with hearing(alice) as feed:
        await alice.post("/api/notes", {"title": "one"})
        await feed.until(lambda: len(feed.changes) == 1)
    for title in ("two", "three"):
        await alice.post("/api/notes", {"title": title})

    async with hearing(alice, last_event_id=feed.events[-1].id) as again:
        await again.until(lambda: len(again.changes) == 2)
        await alice.post("/api/notes", {"title": "four"})
        await again.until(lambda: len(again.changes) == 3)

    assert len({id for _, id, _ in feed.changes + again.changes}) == 4
    assert [one.name for one in again.events] == ["hello", "change", "change", "change"]


async def test_an_id_that_is_not_ours_resets(company: Company) -> None:
    alice, stranger = await company.join(), await (await found_company(company.house)).join()
    async with hearing(stranger) as other:
        foreign = other.events[0].id

    for forged in (foreign, "-1", "0", "9" * 200, "18446744073709551616", "Zm9yZ2Vk", "%00", other.events[0].id[:-1]):
        async with hearing(alice, last_event_id=forged) as feed:
            await feed.until(lambda feed=feed: len(feed.events) == 2)
        assert [one.name for one in feed.events] == ["hello", "reset"], forged


async def test_ids_of_another_generation_or_of_yesterday_reset(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, keys = await company.join(), company.house.services.keys
    async with hearing(alice) as feed:
        first = feed.events[0].id

    monkeypatch.setattr(keys, "generation", keys.generation + 1)
    async with hearing(alice, last_event_id=first) as later:
        await later.until(lambda: len(later.events) == 2)
    monkeypatch.undo()
    monkeypatch.setattr("atrium.product.changes.model.RESUMED_SECONDS", -1)
    async with hearing(alice, last_event_id=first) as old:
        await old.until(lambda: len(old.events) == 2)

    assert later.events[1].name == old.events[1].name == "reset"


async def test_a_narrow_token_hears_only_what_it_may_read(company: Company) -> None:
    notes, files = await company.join(scope=["notes:read"]), await company.join(scope=["files:read"])
    neither, alice = await company.join(scope=["chat:use"]), await company.join()

    async with hearing(notes) as a, hearing(files) as b, hearing(neither) as c, hearing(alice, "?kinds=document") as d:
        await alice.post("/api/notes", {"title": "n", "visibility": "team"})
        await alice.put("/api/repo/a.bin?visibility=team", b"\0")
        await alice.post("/api/documents", {"title": "d", "body": "x", "visibility": "team"})
        await settled(company.house, company.org.id)

    assert [[kind for kind, _, _ in one.changes] for one in (a, b, c, d)] == [
        ["note"], ["object", "document"], [], ["document"]
    ]  # fmt: skip


async def test_the_whole_company_is_heard_by_its_roles_alone(company: Company) -> None:
    alice, member = await company.join(), await company.join(team=await company.add_team())
    reader = await company.join(org_role="org_reader", team=await company.add_team("Third"))
    refused = await member.get("/api/changes", scope="org")

    async with hearing(reader, "?scope=org") as wide, hearing(reader) as own:
        await alice.post("/api/notes", {"title": "hidden"})
        note = (await alice.post("/api/notes", {"title": "seen", "visibility": "team"}))["id"]
        await settled(company.house, company.org.id)

    assert refused.status == 403
    assert refused.code == "changes.org_scope"
    assert wide.changes == [("note", note, "created")]
    assert own.changes == []


async def test_a_page_shows_what_can_still_be_read(company: Company) -> None:
    alice, bob = await company.join(), await company.join()
    async with hearing(bob):
        kept = (await alice.post("/api/notes", {"title": "Kept", "visibility": "team"}))["id"]
        gone = (await alice.post("/api/notes", {"title": "Gone", "visibility": "team"}))["id"]
        await alice.delete(f"/api/notes/{gone}")
        # Transactions of other tests hold back what a page shows as well.
        await settled(company.house, company.org.id)
    page = await bob.get("/api/changes", limit=1)
    items = list(page["items"])
    while page["next_cursor"]:
        page = await bob.get("/api/changes", limit=1, cursor=page["next_cursor"])
        items += page["items"]

    assert [(one["id"], one["title"], one["action"]) for one in items] == [(kept, "Kept", "created")]
    assert items[0]["actor"]["id"] == alice.user_id
    assert items[0]["actor"]["name"]


async def test_a_credential_has_five_streams_and_no_more(company: Company) -> None:
    alice = await company.join()
    feeds = await asyncio.gather(*(Feed(alice).open() for _ in range(12)))

    heads = [await alice.send("HEAD", "/api/changes", headers={"accept": "text/event-stream"}) for _ in range(9)]
    for feed in feeds:
        if feed.status == 200:
            await feed.close()
    async with hearing(alice) as again:
        assert again.status == 200

    assert sorted(feed.status for feed in feeds) == [200] * 5 + [429] * 7
    assert {head.status for head in heads} == {429}


async def test_a_listener_that_does_not_keep_up_is_reset(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    alice, bob = await company.join(), await company.join()
    monkeypatch.setattr(hub, "MOST_WAITING", 20)

    async with hearing(bob) as slow:
        slow.stalled = asyncio.Event()
        (listener,) = hub_of(company.house)._companies[company.org.id].listeners[company.org.id]
        most = 0
        for _ in range(60):
            await alice.post("/api/notes", {"title": "x", "visibility": "team"})
            most = max(most, len(listener._frames))
        await settled_place(company.house, company.org.id)
        slow.stalled.set()
        slow.stalled = None
        await slow.until(lambda: any(one.name == "reset" for one in slow.events))

    assert most <= 20
    assert len(slow.changes) < 60


async def test_a_changed_role_or_an_ended_credential_ends_the_stream(company: Company) -> None:
    admin, bob, carol = await company.join("admin"), await company.join(), await company.join()

    async with hearing(bob) as demoted, hearing(carol) as out:
        changed = await admin.patch(f"/api/members/{bob.user_id}", {"role": "viewer"})
        await carol.post("/api/logout")
        await company.house.services.started["changes"]._judge()
        await demoted.until(lambda: demoted.events[-1].name == "bye")
        await out.until(lambda: out.events[-1].name == "bye")

    assert changed.status == 200
    assert demoted.events[-1].data == {"reason": "permissions"}
    assert out.events[-1].data == {"reason": "signed_out"}


async def test_a_change_that_was_numbered_first_and_committed_last_is_told(company: Company) -> None:
    alice, bob = await company.join(), await company.join()
    house, metric = company.house, company.house.services.metrics.changes_lag

    async with hearing(bob) as feed:
        async with house.services.database.begin(company.org.id) as db:
            slow = await db.value(
                """
                INSERT INTO notes (id, org_id, team_id, owner_id, title, body, visibility)
                VALUES (gen_random_uuid(), :org_id, :team_id, :user_id, 'slow', '', 'team') RETURNING id
                """,
                org_id=company.org.id,
                team_id=company.team.id,
                user_id=uuid_of(alice),
            )
            announcements.excuse(house.services.settings.database_url, "note", slow)
            fast = (await alice.post("/api/notes", {"title": "fast", "visibility": "team"}))["id"]
            await asyncio.sleep(0.2)
            held = list(feed.changes)
            lag = metric._value.get()
        await feed.until(lambda: len(feed.changes) == 2)

    assert held == []
    assert lag > 0
    assert [id for _, id, _ in feed.changes] == [str(slow), fast]


async def test_nothing_is_told_of_what_was_rolled_back(company: Company) -> None:
    alice, told = await company.join(), []
    database = company.house.services.database

    async def fail() -> None:
        async with database.begin(company.org.id) as db:
            db.after_commit(lambda: told.append("rolled back"))
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        await fail()
    async with database.begin(company.org.id) as db:
        db.after_commit(lambda: told.append("committed"))
        assert told == []

    assert told == ["committed"]
    assert (await alice.get("/api/changes"))["items"] == []


async def test_one_read_serves_every_listener_of_a_company(company: Company) -> None:
    alice, people = await company.join(), [await company.join() for _ in range(30)]
    feeds = [await Feed(person).open() for person in people]
    await settled(company.house, company.org.id)
    before = hub_of(company.house).count_reads(company.org.id)

    await alice.post("/api/notes", {"title": "x", "visibility": "team"})
    for feed in feeds:
        await feed.until(lambda feed=feed: len(feed.changes) == 1)
    reads = hub_of(company.house).count_reads(company.org.id) - before
    for feed in feeds:
        await feed.close()

    # One, or some more where other transactions of this PostgreSQL were open at that moment; never one for each.
    assert reads < len(people)


async def test_a_lost_notification_is_made_good_by_the_next_look(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = await company.join(), await company.join()
    process = hub_of(company.house)

    async with hearing(bob) as feed:
        monkeypatch.setattr(process, "committed", lambda org_id: None)
        await alice.post("/api/notes", {"title": "x", "visibility": "team"})
        await process._poll()
        await feed.until(lambda: len(feed.changes) == 1)


async def test_what_is_older_than_a_month_is_forgotten(company: Company) -> None:
    alice, url = await company.join(), company.house.services.settings.database_url
    await alice.post("/api/notes", {"title": "old"})
    await run_as_owner(url, "UPDATE change_rows SET at = now() - interval '31 days' WHERE org_id = $1", company.org.id)
    await alice.post("/api/notes", {"title": "new"})

    await chores.ROWS.run(company.house.services)

    left = await run_as_owner(url, "SELECT kind FROM change_rows WHERE org_id = $1", company.org.id)
    assert len(left) == 1


async def test_a_thousand_reconnections_leave_nothing_behind(company: Company) -> None:
    alice, counted = await company.join(), hub_of(company.house)
    last = ""
    for _ in range(RECONNECTIONS):
        async with hearing(alice, **({"last_event_id": last} if last else {})) as feed:
            last = feed.events[-1].id

    assert (counted.open, counted._per_credential.total()) == (0, 0)
    assert company.org.id not in counted._companies


async def test_a_worker_an_access_key_and_a_stranger_hear_nothing(company: Company) -> None:
    worker = await company.employ()
    signed = Client(company.house.app)
    accept = {"accept": "text/event-stream"}

    refused = [
        await worker.get("/api/changes", headers=accept),
        await signed.get("/api/changes", headers=accept),
        await signed.get("/api/changes", headers=accept | {"authorization": "AWS4-HMAC-SHA256 Credential=x"}),
        await signed.get(
            "/api/changes", headers=accept | {"cookie": "__Host-atrium=forged", "sec-fetch-site": "cross-site"}
        ),
    ]

    assert [one.status for one in refused] == [403, 401, 400, 401]
