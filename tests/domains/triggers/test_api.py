"""Triggers over HTTP: made, listed, changed, rehearsed, deleted, and what each reader sees of their history."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from atrium.product.triggers import fire_rows, service
from tests.domains.triggers.flows import arm, done, history, outcomes, publish, upload
from tests.domains.triggers.test_firing import sql
from tests.support.client import Client
from tests.support.people import Company

TRIGGERS = "/api/doc-triggers"


def at(trigger: Any) -> str:
    return f"{TRIGGERS}/{trigger['id']}"


async def test_a_trigger_is_made_read_and_listed(admin: Client, alice: Client) -> None:
    slug = await publish(admin)
    body = {
        "workflow_slug": slug,
        "name": "  Scans ",
        "match_prefix": "scans/",
        "match_types": ["Image/PNG", "image/png", "application/*"],
        "fire_on_derived": True,
    }

    made = await admin.post(TRIGGERS, body)

    read, listed = await alice.get(at(made)), await alice.get(TRIGGERS)
    assert made.status == 201
    assert made.body | {"id": "", "created_at": ""} == {
        "id": "",
        "name": "Scans",
        "workflow_slug": slug,
        "match_prefix": "scans/",
        "match_types": ["image/png", "application/*"],
        "input": {},
        "fire_on_derived": True,
        "enabled": True,
        "created_by": admin.user_id,
        "maker_id": admin.user_id,
        "egress_digest": None,
        "allow_egress": False,
        "created_at": "",
        "last_fire": None,
        "fired_24h": 0,
        "skipped_24h": 0,
    }
    assert read.body == made.body | {"fires": {"items": [], "next_cursor": None}}
    assert (listed["items"], listed["next_cursor"]) == ([made.body], None)


async def test_the_listing_tells_what_models_may_still_cost(company: Company, admin: Client) -> None:
    await sql(
        company, "INSERT INTO quota_limits VALUES ($1, $2, 'ai.requests', 'day', 7)", company.org.id, company.team.id
    )

    budget = (await admin.get(TRIGGERS))["budget"]

    lines = {
        (one["level"], one["dimension"], one["window"]): (one["limit"], one["used"], one["remaining"]) for one in budget
    }
    assert lines == {
        ("team", "ai.requests", "day"): (7, 0, 7),
        ("team", "ai.tokens.total", "month"): (None, 0, None),
        ("org", "ai.requests", "month"): (None, 0, None),
        ("org", "ai.tokens.total", "month"): (None, 0, None),
    }
    assert all(one["resets_at"] for one in budget)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"input": {"other": 1}}, "/input/other"),
        ({"input": {"text": 5}}, "/input/text"),
        ({"input": {"text": {"$": "object.secret"}}}, "/input/text"),
        ({"input": {"text": {"$": "object.key", "default": "x"}}}, "/input/text"),
        ({"input": {"text": {"$": 1}}}, "/input/text"),
        ({"input": {"text": {"$": "input.text"}}}, "/input/text"),
        ({"input": {"text": "x", "list": [1, {"$": "nothing"}]}}, "/input/list/1"),
        ({"input": {"text": "x", "list": [{"a/b~": {"$": "nothing"}}]}}, "/input/list/0/a~1b~0"),
        ({"input": {}}, "/input/text"),
        ({"input": {"$": "object.key"}}, "/input/$"),
        ({"input": {"text": "x" * 70_000}}, "/input"),
        (
            {"input": {"text": "x", "list": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}},
            None,
        ),
    ],
)
async def test_what_the_workflow_would_not_take_is_refused_when_saved(
    admin: Client, change: dict[str, Any], path: str | None
) -> None:
    slug = await publish(admin, inputs={"text": {"type": "string"}, "list": {"type": "array", "optional": True}})
    kept = await arm(admin, slug, input={"text": {"$": "object.key"}})

    answers = [
        await admin.post(TRIGGERS, {"workflow_slug": slug} | change),
        await admin.post(f"{TRIGGERS}?dry_run=1", {"workflow_slug": slug} | change),
        await admin.patch(at(kept), change),
    ]

    for answer in answers:
        assert (answer.status, answer.code) == (400, "triggers.bad_input")
        assert path is None or path in [one["path"] for one in answer["errors"]]
    assert (await admin.get(at(kept)))["input"] == {"text": {"$": "object.key"}}


@pytest.mark.parametrize(
    "change",
    [
        {"match_types": ["*/*"]},
        {"match_types": ["image"]},
        {"match_types": ["image/png; a=b"]},
        {"match_types": ["image/png\n"]},
        {"match_types": ["image/*"] * 101},
        {"match_prefix": "x" * 1025},
        {"match_prefix": "é" * 600},
        {"match_prefix": "\0"},
        {"name": "x" * 121},
        {"workflow_slug": "No Slug"},
        {"workflow_slug": "absent"},
        {"enabled": "yes"},
        {"unknown": 1},
    ],
)
async def test_what_no_trigger_can_be_is_refused(admin: Client, change: dict[str, Any]) -> None:
    slug = await publish(admin)
    kept = await arm(admin, slug)

    answers = await admin.post(TRIGGERS, {"workflow_slug": slug} | change), await admin.patch(at(kept), change)

    assert [answer.status for answer in answers] == [400, 400]
    assert change.get("workflow_slug") != "absent" or answers[0].code == answers[1].code == "triggers.unknown_workflow"


async def test_a_change_leaves_what_it_does_not_name(admin: Client) -> None:
    slug = await publish(admin)
    trigger = await arm(admin, slug, name="One", match_prefix="in/", match_types=["text/*"])

    changed = await admin.patch(at(trigger), {"name": "Two"})

    assert changed.body == trigger | {"name": "Two"}


async def test_a_lost_update_is_refused(admin: Client) -> None:
    trigger = await arm(admin, await publish(admin))
    read = await admin.get(at(trigger))
    await upload(admin, "a.txt")
    tag = {"if-match": read.headers["etag"]}

    first = await admin.patch(at(trigger), {"name": "first"}, headers=tag)
    second = await admin.patch(at(trigger), {"name": "second"}, headers=tag)
    deleted = await admin.delete(at(trigger), headers=tag)
    again = await admin.patch(at(trigger), {"name": "third"}, headers={"if-match": second.headers["etag"]})

    assert [one.status for one in (first, second, deleted, again)] == [200, 412, 412, 200]
    assert second.headers["etag"] == first.headers["etag"]
    assert (await admin.patch(at(trigger), {"name": "x"}, headers={"if-match": '"a", W/"b"'})).status == 412
    assert (await admin.patch(at(trigger), {"name": "x"}, headers={"if-match": "*"})).status == 200


async def test_a_reader_with_an_old_history_gets_the_new_one(admin: Client) -> None:
    trigger = await arm(admin, await publish(admin))
    tag = {"if-none-match": (await admin.get(at(trigger))).headers["etag"]}
    unchanged = await admin.get(at(trigger), headers=tag)
    await upload(admin, "a.txt")

    changed = await admin.get(at(trigger), headers=tag)

    assert (unchanged.status, changed.status, len(changed["fires"]["items"])) == (304, 200, 1)


async def test_a_trigger_whose_workflow_changed_can_still_be_switched_off(admin: Client) -> None:
    slug = await publish(admin)
    trigger = await arm(admin, slug)
    await publish(admin, slug, {"more": {"type": "string"}})

    off = await admin.patch(at(trigger), {"enabled": False})
    on = await admin.patch(at(trigger), {"enabled": True})

    assert (off.status, off["enabled"], on.status, on.code) == (200, False, 400, "triggers.bad_input")


async def test_deleting_takes_the_history_and_leaves_the_runs(company: Company, admin: Client) -> None:
    trigger = await arm(admin, await publish(admin))
    await upload(admin, "a.txt")

    deleted = await admin.delete(at(trigger))

    id = UUID(trigger["id"])
    left = [
        len(await sql(company, f"SELECT FROM {table} WHERE trigger_id = $1", id))
        for table in ("trigger_fires", "trigger_matches", "runs")
    ]
    assert (deleted.body, left) == ({"id": trigger["id"]}, [0, 0, 1])
    assert (await admin.get(at(trigger))).status == 404
    await upload(admin, "b.txt")


# As of a trigger that has fired for a long time.
LONG = """
    INSERT INTO trigger_fires (trigger_id, id, org_id, object_id, version_id, number, user_id, reason)
    SELECT $1, gen_random_uuid(), $2, gen_random_uuid(), gen_random_uuid(), 1, $3, 'derived' FROM generate_series(1, $4)
"""


async def test_a_long_history_is_deleted_in_parts(
    company: Company, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger, other = await arm(admin, await publish(admin)), await arm(admin, await publish(admin))
    parts: list[int] = []

    async def counted(db: Any, trigger_id: UUID, most: int) -> int:
        parts.append(await delete_fires(db, trigger_id, most))
        return parts[-1]

    delete_fires = fire_rows.delete_fires
    monkeypatch.setattr(fire_rows, "delete_fires", counted)
    for one in (trigger, other):
        await sql(company, LONG, UUID(one["id"]), company.org.id, UUID(admin.user_id), 5_300)

    deleted = await admin.delete(at(trigger))

    left = await sql(
        company, "SELECT trigger_id, count(*) FROM trigger_fires WHERE org_id = $1 GROUP BY 1", company.org.id
    )
    assert deleted.body == {"id": trigger["id"]}
    assert [tuple(row) for row in left] == [(UUID(other["id"]), 5_300)]
    assert (max(parts), sum(parts)) == (1000, 5_300)
    assert (await admin.get(at(trigger))).status == 404


async def test_deleting_that_is_cut_short_leaves_a_trigger_that_fires_no_more_and_is_ended_by_asking_again(
    company: Company, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger = await arm(admin, await publish(admin))
    await sql(company, LONG, UUID(trigger["id"]), company.org.id, UUID(admin.user_id), 2_500)

    async def breaks(db: Any, trigger_id: UUID, most: int) -> int:
        raise RuntimeError("the process ends here")

    with monkeypatch.context() as broken:
        broken.setattr(fire_rows, "delete_fires", breaks)
        assert (await admin.delete(at(trigger))).status == 500
    between = await admin.get(at(trigger))
    await upload(admin, "late.txt")
    runs = await sql(company, "SELECT FROM runs WHERE trigger_id = $1", UUID(trigger["id"]))
    two = await asyncio.gather(admin.delete(at(trigger)), admin.delete(at(trigger)))

    assert (between.status, between["enabled"], runs) == (200, False, [])
    assert {one.status for one in two} <= {200, 404}
    assert 200 in {one.status for one in two}
    assert (await admin.get(at(trigger))).status == 404


async def test_several_who_delete_a_long_history_at_once_wait_for_each_other(company: Company, admin: Client) -> None:
    trigger = await arm(admin, await publish(admin))
    await sql(company, LONG, UUID(trigger["id"]), company.org.id, UUID(admin.user_id), 6_500)

    answers = await asyncio.gather(*(admin.delete(at(trigger)) for _ in range(6)))

    assert {one.status for one in answers} <= {200, 404}
    assert 200 in {one.status for one in answers}


async def test_a_long_history_stays_where_the_trigger_is_not_the_one_that_was_read(
    company: Company, admin: Client, alice: Client
) -> None:
    trigger = await arm(admin, await publish(admin))
    await sql(company, LONG, UUID(trigger["id"]), company.org.id, UUID(admin.user_id), 1_500)

    refused = [await admin.delete(at(trigger), headers={"if-match": '"00000000"'}), await alice.delete(at(trigger))]

    fires = await sql(company, "SELECT FROM trigger_fires WHERE trigger_id = $1", UUID(trigger["id"]))
    assert [one.status for one in refused] == [412, 403]
    assert len(fires) == 1_500
    assert (await admin.get(at(trigger)))["enabled"] is True


async def test_changes_are_on_record(admin: Client) -> None:
    trigger = await arm(admin, await publish(admin))
    await done(admin.patch(at(trigger), {"enabled": False}))
    await done(admin.delete(at(trigger)))

    events = [one for one in (await admin.get("/api/audit"))["items"] if one["subject"] == trigger["id"]]

    assert [one["kind"] for one in events] == ["triggers.deleted", "triggers.changed", "triggers.created"]
    assert events[1]["facts"] == {"fields": ["enabled"]}


async def test_the_history_is_paged_newest_first(admin: Client) -> None:
    trigger = await arm(admin, await publish(admin))
    for n in range(5):
        await upload(admin, f"{n}.txt")

    pages, cursor = [], None
    while True:
        found = (await admin.get(at(trigger), limit=2, **({"cursor": cursor} if cursor else {})))["fires"]
        pages.append([fire["key"] for fire in found["items"]])
        if (cursor := found["next_cursor"]) is None:
            break

    assert pages == [["4.txt", "3.txt"], ["2.txt", "1.txt"], ["0.txt"]]
    assert (await admin.get(at(trigger), cursor="bogus")).status == 400


async def test_triggers_are_paged_newest_first(admin: Client) -> None:
    slug = await publish(admin)
    made = [(await arm(admin, slug))["id"] for _ in range(3)]

    first = await admin.get(TRIGGERS, limit=2)
    second = await admin.get(TRIGGERS, limit=2, cursor=first["next_cursor"])

    assert [one["id"] for one in first["items"] + second["items"]] == made[::-1]
    assert second["next_cursor"] is None


async def test_objects_that_the_reader_cannot_read_have_neither_id_nor_key(
    company: Company, admin: Client, alice: Client
) -> None:
    trigger = await arm(admin, await publish(admin))
    private, shown = await upload(alice, "private.txt"), await upload(alice, "team.txt", visibility="team")
    blind = await company.join("admin", scope=["workflows:read"])

    seen = {
        name: [(fire["object_id"], fire["key"]) for fire in await history(reader, trigger)]
        for name, reader in (("owner", alice), ("admin", admin), ("blind", blind))
    }
    last = [(await reader.get(TRIGGERS))["items"][0]["last_fire"]["key"] for reader in (alice, blind)]

    both = [(shown["id"], "team.txt"), (private["id"], "private.txt")]
    assert seen == {"owner": both, "admin": [both[0], (None, None)], "blind": [(None, None)] * 2}
    assert last == ["team.txt", None]


async def test_an_object_in_the_trash_is_no_longer_named(admin: Client) -> None:
    trigger = await arm(admin, await publish(admin))
    written = await upload(admin, "a.txt")
    await done(admin.delete(f"/api/repo-obj/{written['id']}"))

    [fire] = await history(admin, trigger)

    assert (fire["object_id"], fire["key"], fire["outcome"]) == (None, None, "fired")


async def test_counts_are_of_a_day_and_end_at_a_thousand(company: Company, admin: Client) -> None:
    trigger = await arm(admin, await publish(admin))
    await sql(
        company,
        """
        INSERT INTO trigger_fires (trigger_id, id, org_id, object_id, version_id, number, user_id, run_id, reason, at)
        SELECT $1, gen_random_uuid(), $2, gen_random_uuid(), gen_random_uuid(), 1, $3, CASE WHEN n % 2 = 0 THEN gen_random_uuid() END,
               CASE WHEN n % 2 = 1 THEN 'loop' END, now() - CASE WHEN n > 2400 THEN interval '25 hours' ELSE interval '1 hour' END
          FROM generate_series(1, 2410) n WHERE n % 2 = 0 OR n > 2390
        """,
        UUID(trigger["id"]), company.org.id, UUID(admin.user_id),
    )  # fmt: skip

    [shown] = (await admin.get(TRIGGERS))["items"]

    assert (shown["fired_24h"], shown["skipped_24h"]) == (1000, 5)


async def test_a_team_has_so_many_triggers_and_no_more(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    slug = await publish(admin)
    monkeypatch.setattr(service, "MOST_TRIGGERS", 1)
    await arm(admin, slug)

    refused = await admin.post(TRIGGERS, {"workflow_slug": slug})

    assert (refused.status, refused.code) == (409, "triggers.full")


async def test_a_rehearsal_tells_what_would_happen_and_stores_nothing(
    company: Company, admin: Client, alice: Client
) -> None:
    slug = await publish(admin, inputs={"object_id": {"type": "string"}, "key": {"type": "string", "optional": True}})
    old, new = await upload(admin, "in/a.txt"), await upload(admin, "in/a.txt", b"2")
    other = await upload(admin, "in/b.png", type="image/png")
    await upload(admin, "out/c.txt")
    await upload(alice, "in/private.txt")
    body = {"workflow_slug": slug, "match_prefix": "in/", "input": {"key": {"$": "object.key"}}}

    found = await admin.post(f"{TRIGGERS}?dry_run=1", body)
    narrowed = await admin.post(f"{TRIGGERS}?dry_run=1&object={other['id']}", body | {"match_types": ["text/*"]})
    off = await admin.post(f"{TRIGGERS}?dry_run=1&object={other['id']}", body | {"enabled": False})
    hidden = await admin.post(f"{TRIGGERS}?dry_run=1&object={UUID(int=7)}", body)

    assert (found.status, found["checked"], found["would_fire"]) == (200, 4, 3)
    assert [one["version"]["id"] for one in found["items"]] == [one["version"]["id"] for one in (other, new, old)]
    assert found["items"][1] == {
        "object_id": new["id"],
        "key": "in/a.txt",
        "version": {"id": new["version"]["id"], "number": 2},
        "would": True,
        "reason": None,
        "input": {"object_id": new["id"], "key": "in/a.txt"},
    }
    assert narrowed.body == {"checked": 1, "would_fire": 0, "items": []}
    assert [(one["would"], one["reason"], one["input"]) for one in off["items"]] == [(False, "disabled", None)]
    assert (hidden.status, hidden.code) == (404, "repository.missing")
    assert (await admin.get(TRIGGERS))["items"] == []
    assert await sql(company, "SELECT FROM runs WHERE team_id = $1", company.team.id) == []


async def test_a_change_is_rehearsed_and_not_stored(admin: Client) -> None:
    trigger = await arm(admin, await publish(admin), match_prefix="in/")
    await upload(admin, "out/a.txt")

    found = await admin.patch(f"{at(trigger)}?dry_run=1", {"match_prefix": "out/"})
    stale = await admin.patch(f"{at(trigger)}?dry_run=1", {"name": "x"}, headers={"if-match": '"old"'})

    assert (found["would_fire"], stale.status) == (1, 412)
    assert (await admin.get(at(trigger)))["match_prefix"] == "in/"


async def test_a_rehearsal_ends_at_a_hundred_versions(admin: Client) -> None:
    slug = await publish(admin)
    for n in range(101):
        await upload(admin, "a.txt", str(n).encode())

    found = await admin.post(f"{TRIGGERS}?dry_run=1", {"workflow_slug": slug})

    assert (found["checked"], found["would_fire"], len(found["items"])) == (100, 100, 100)


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
async def test_a_trigger_of_another_team_is_missing(
    company: Company, admin: Client, stranger: Client, method: str
) -> None:
    other = await company.join("owner", team=await company.add_team())
    trigger = await arm(admin, await publish(admin))

    answers = [await who.send(method, at(trigger), {} if method == "PATCH" else None) for who in (other, stranger)]

    assert [(answer.status, answer.code) for answer in answers] == [(404, "triggers.missing")] * 2


async def test_members_read_triggers_and_change_none(admin: Client, alice: Client) -> None:
    slug = await publish(admin)
    trigger = await arm(admin, slug)

    answers = [
        await alice.get(TRIGGERS),
        await alice.get(at(trigger)),
        await alice.post(TRIGGERS, {"workflow_slug": slug}),
        await alice.post(f"{TRIGGERS}?dry_run=1", {"workflow_slug": slug}),
        await alice.patch(at(trigger), {"name": "x"}),
        await alice.delete(at(trigger)),
    ]
    await done(admin.post("/api/features/workflows", {"enabled": False}))

    assert [answer.status for answer in answers] == [200, 200, 403, 403, 403, 403]
    assert (await admin.get(TRIGGERS)).code == "features.off"
    assert await outcomes_after_upload(admin, trigger) == ["feature_off"]


async def outcomes_after_upload(admin: Client, trigger: Any) -> list[str]:
    await upload(admin, "a.txt")
    await done(admin.post("/api/features/workflows", {"enabled": True}))
    return await outcomes(admin, trigger)


@pytest.mark.parametrize(
    "field", ["workflow_slug", "name", "match_prefix", "match_types", "input", "fire_on_derived", "enabled"]
)
async def test_e20_a_field_that_is_null_is_refused_and_changes_nothing(admin: Client, field: str) -> None:
    trigger = await arm(admin, await publish(admin), match_prefix="in/")

    refused = await admin.patch(at(trigger), {field: None})

    assert (refused.status, refused["errors"][0]["path"]) == (400, field)
    assert (await admin.get(at(trigger)))["match_prefix"] == "in/"
