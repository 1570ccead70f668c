"""Who answers for a trigger: whoever made or changed it last, as long as they are there and may run workflows themselves."""

from typing import Any
from uuid import UUID

import asyncpg
import pytest

from atrium.engine.workflows import definitions
from atrium.product.triggers import fire_rows
from tests.domains.triggers.flows import arm, done, outcomes, publish, upload
from tests.domains.triggers.test_firing import runs_of, sql
from tests.support.client import Client
from tests.support.people import Company


async def leave(admin: Client, person: Client) -> None:
    await done(admin.send("DELETE", f"/api/members/{person.user_id}", {"transfer_to": admin.user_id}))


async def demote(admin: Client, person: Client) -> None:
    await done(admin.patch(f"/api/members/{person.user_id}", {"role": "viewer"}))


async def test_a_trigger_fires_no_further_than_its_maker_may_run_workflows(company: Company, admin: Client) -> None:
    maker = await company.join("admin")
    trigger = await arm(maker, await publish(admin))
    await upload(admin, "a.txt")

    await demote(admin, maker)
    await upload(admin, "b.txt")

    assert await outcomes(admin, trigger) == ["maker_lost", "fired"]


async def test_whoever_changes_a_trigger_answers_for_it_from_then_on(company: Company, admin: Client) -> None:
    maker = await company.join("admin")
    trigger = await arm(maker, await publish(admin))
    await demote(admin, maker)

    changed = await admin.patch(f"/api/doc-triggers/{trigger['id']}", {"name": "Mine"})
    await upload(admin, "a.txt")

    assert (changed["created_by"], changed["maker_id"]) == (maker.user_id, admin.user_id)
    assert await outcomes(admin, trigger) == ["fired"]


@pytest.mark.parametrize(("end", "reason"), [(leave, "publisher_gone"), (demote, "publisher_lost")])
async def test_a_version_fires_while_its_publisher_may_run_workflows(
    company: Company, admin: Client, end: object, reason: str
) -> None:
    publisher = await company.join("admin")
    slug = await publish(publisher)
    trigger = await arm(admin, slug)

    await end(admin, publisher)  # type: ignore[operator]
    await upload(admin, "a.txt")
    await publish(admin, slug)
    await upload(admin, "b.txt")

    assert await outcomes(admin, trigger) == ["fired", reason]


async def test_a_maker_who_left_without_an_heir_for_the_trigger_stops_it(company: Company, admin: Client) -> None:
    maker = await company.join("admin")
    trigger = await arm(maker, await publish(admin))
    await leave(admin, maker)
    # As one that the last release left behind.
    await sql(company, "UPDATE doc_triggers SET maker_id = NULL WHERE id = $1", UUID(trigger["id"]))

    await upload(admin, "a.txt")

    assert await outcomes(admin, trigger) == ["maker_gone"]


async def test_a_trigger_without_a_maker_goes_on_as_its_writer_until_it_is_changed(
    company: Company, admin: Client
) -> None:
    trigger = await arm(admin, await publish(admin))
    id = UUID(trigger["id"])
    await sql(company, "UPDATE doc_triggers SET maker_id = NULL, created_by = NULL WHERE id = $1", id)

    await upload(admin, "a.txt")
    changed = await admin.patch(f"/api/doc-triggers/{id}", {"name": "Mine"})

    assert await outcomes(admin, trigger) == ["fired"]
    assert (changed["created_by"], changed["maker_id"]) == (None, admin.user_id)


async def test_a_shipped_version_has_no_publisher(company: Company, admin: Client) -> None:
    alice = await company.join("member")
    trigger = await arm(admin, "index-documents")

    await upload(alice, "a.txt")

    [row] = await sql(company, "SELECT bound_to FROM runs WHERE trigger_id = $1", UUID(trigger["id"]))
    assert row["bound_to"] == [UUID(admin.user_id)]


async def test_sending_elsewhere_is_allowed_by_who_manages_the_teams_settings(company: Company, admin: Client) -> None:
    slug, at = await publish(admin), "/api/doc-triggers"
    narrow = await company.join("admin", scope=["workflows:read", "workflows:write", "workflows:run"])

    refused = await narrow.post(at, {"workflow_slug": slug, "allow_egress": True})
    made = await done(narrow.post(at, {"workflow_slug": slug}))
    patched = await narrow.patch(f"{at}/{made['id']}", {"allow_egress": True})
    allowed = await admin.patch(f"{at}/{made['id']}", {"allow_egress": True})
    kept = await narrow.patch(f"{at}/{made['id']}", {"name": "x"})
    await publish(admin, slug)
    after = await admin.get(f"{at}/{made['id']}")

    assert [one.status for one in (refused, patched, allowed)] == [403, 403, 200]
    assert [one["allow_egress"] for one in (made, allowed, kept, after)] == [False, True, True, False]


async def test_a_word_that_is_taken_back_counts_for_runs_under_way(company: Company, admin: Client) -> None:
    trigger = await arm(admin, await publish(admin), allow_egress=True)
    await upload(admin, "a.txt")
    id = UUID(trigger["id"])

    await done(admin.patch(f"/api/doc-triggers/{id}", {"allow_egress": False}))

    assert [row["egress"] for row in await sql(company, "SELECT egress FROM runs WHERE trigger_id = $1", id)] == [False]


async def test_a_word_that_is_taken_back_while_a_version_fires_counts(
    company: Company, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger, found = await arm(admin, await publish(admin), allow_egress=True), definitions.find

    async def find(*args: Any, **more: Any) -> Any:
        # The trigger was read before, and its run is not written yet.
        monkeypatch.undo()
        await done(admin.patch(f"/api/doc-triggers/{trigger['id']}", {"allow_egress": False}))
        return await found(*args, **more)

    monkeypatch.setattr(definitions, "find", find)
    await upload(admin, "a.txt")

    assert [row["egress"] for row in await runs_of(company, trigger)] == [False]


async def test_taking_back_the_word_waits_for_a_version_that_fires(
    company: Company, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger, insert_fires = await arm(admin, await publish(admin), allow_egress=True), fire_rows.insert_fires
    refused: list[bool] = []

    async def insert(*args: Any) -> int:
        # The run is written, and its transaction has not ended: whoever takes the word back would not see it.
        try:
            held = "SELECT FROM doc_triggers WHERE id = $1 FOR NO KEY UPDATE NOWAIT"
            await sql(company, held, UUID(trigger["id"]))
            refused.append(False)
        except asyncpg.LockNotAvailableError:
            refused.append(True)
        return await insert_fires(*args)

    monkeypatch.setattr(fire_rows, "insert_fires", insert)
    await upload(admin, "a.txt")

    assert refused == [True]


@pytest.mark.parametrize("change", [{"workflow_slug": "index-documents"}, {"input": {"word": "another"}}])
async def test_a_word_for_sending_does_not_count_for_another_workflow_or_input(
    company: Company, admin: Client, change: dict[str, Any]
) -> None:
    slug, at = await publish(admin, inputs={"word": {"type": "string", "optional": True}}), "/api/doc-triggers"
    narrow = await company.join("admin", scope=["workflows:read", "workflows:write", "workflows:run"])
    trigger = await arm(admin, slug, allow_egress=True)

    kept = await narrow.patch(f"{at}/{trigger['id']}", {"name": "x", "workflow_slug": slug, "input": {}})
    refused = await narrow.patch(f"{at}/{trigger['id']}", change | {"allow_egress": True})
    dropped = await narrow.patch(f"{at}/{trigger['id']}", change)
    [row] = await sql(company, "SELECT egress_digest FROM doc_triggers WHERE id = $1", UUID(trigger["id"]))
    again = await admin.patch(f"{at}/{trigger['id']}", {"workflow_slug": slug, "input": {}, "allow_egress": True})

    assert (kept["allow_egress"], refused.status, dropped["allow_egress"]) == (True, 403, False)
    assert (row["egress_digest"], again["allow_egress"]) == (None, True)


async def test_a_maker_of_triggers_is_removed_with_an_heir_for_them(company: Company, admin: Client) -> None:
    maker = await company.join("admin")
    trigger, member = await arm(maker, await publish(admin)), f"/api/members/{maker.user_id}"

    refused = await admin.send("DELETE", member)
    removed = await admin.send("DELETE", member, {"transfer_to": admin.user_id})

    assert (refused.status, refused["errors"][0]["path"], removed.status) == (400, "transfer_to", 200)
    assert (await admin.get(f"/api/doc-triggers/{trigger['id']}"))["maker_id"] == admin.user_id


async def test_a_run_shows_its_input_to_who_can_read_the_file_that_fired_it(company: Company, admin: Client) -> None:
    mia, named = await company.join("member"), {"name": {"type": "string"}}
    trigger = await arm(admin, await publish(admin, inputs=named), input={"name": {"$": "object.key"}})
    await upload(mia, "private-name.txt", visibility="private")
    await upload(mia, "open-name.txt", visibility="team")
    private, of_team = [f"/api/runs/{run['id']}" for run in await runs_of(company, trigger)]

    hidden, shown = await admin.get(private), await admin.get(of_team)

    assert (hidden["redacted"], hidden["input"]) == (True, None)
    assert (shown["redacted"], shown["input"]) == (False, {"name": "open-name.txt"})
    assert (await mia.get(private))["input"] == {"name": "private-name.txt"}


async def test_a_rehearsal_asks_what_the_publisher_may_do(company: Company, admin: Client) -> None:
    publisher = await company.join("admin")
    slug = await publish(publisher)
    await upload(admin, "a.txt")
    rehearsed = "/api/doc-triggers?dry_run=1"

    before = await done(admin.post(rehearsed, {"workflow_slug": slug}))
    await demote(admin, publisher)
    after = await done(admin.post(rehearsed, {"workflow_slug": slug}))

    assert (before["would_fire"], after["would_fire"]) == (1, 0)
    assert [item["reason"] for item in after["items"]] == ["publisher_lost"]
