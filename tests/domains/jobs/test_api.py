"""Jobs over HTTP: queue, look, cancel."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from atrium.boot.assemble import Application
from tests.support.client import Client
from tests.support.people import Company

KIND = "x.example-tools.word-count"
WORDS = {"kind": KIND, "input": {"text": "three plain words"}}


async def test_a_queued_job_comes_back_with_what_it_waits_for(alice: Client) -> None:
    reply = await alice.post("/api/jobs", {**WORDS, "priority": 7})

    assert reply.status == 201
    assert (reply["state"], reply["waiting_reason"]) == ("queued", "no_worker")
    assert (reply["kind"], reply["priority"], reply["input"]) == (WORDS["kind"], 7, WORDS["input"])
    assert (reply["attempt"], reply["max_attempts"], reply["result"]) == (0, 3, None)
    assert (await alice.get(f"/api/jobs/{reply['id']}")).body == reply.body


async def test_e14_a_jobs_tag_changes_with_its_state(alice: Client) -> None:
    queued = await alice.post("/api/jobs", WORDS)
    at, known = f"/api/jobs/{queued['id']}", {"if-none-match": queued.headers["etag"]}

    same = await alice.get(at, headers=known)
    await alice.post(f"{at}/cancel")
    cancelled = await alice.get(at, headers=known)

    assert (same.status, cancelled.status, cancelled["state"]) == (304, 200, "cancelled")
    assert cancelled.headers["etag"] != queued.headers["etag"]


async def test_a_job_for_later_says_so(alice: Client) -> None:
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()

    reply = await alice.post("/api/jobs", {**WORDS, "run_at": later})

    assert (reply["state"], reply["waiting_reason"]) == ("queued", "scheduled")


@pytest.mark.parametrize(
    ("draft", "code"),
    [
        ({"kind": "nobody.knows"}, "jobs.unknown_kind"),
        ({"kind": WORDS["kind"], "input": {}}, "jobs.bad_input"),
        ({"kind": WORDS["kind"], "input": {"text": 7}}, "jobs.bad_input"),
        ({"kind": WORDS["kind"], "input": {"text": "", "more": 1}}, "jobs.bad_input"),
        ({**WORDS, "model": "llama"}, "jobs.bad_input"),
        ({**WORDS, "priority": 101}, "request.invalid"),
        ({**WORDS, "then": "what"}, "request.invalid"),
    ],
)
async def test_what_no_kind_takes_is_refused(alice: Client, draft: dict[str, object], code: str) -> None:
    reply = await alice.post("/api/jobs", draft)

    assert (reply.status, reply.code) == (400, code)


async def test_the_listing_is_the_teams_newest_first_and_pages(alice: Client, bob: Client, stranger: Client) -> None:
    ids = [(await person.post("/api/jobs", WORDS))["id"] for person in (alice, bob, alice)]
    await stranger.post("/api/jobs", WORDS)

    first = await bob.get("/api/jobs", limit=2)
    rest = await bob.get("/api/jobs", limit=2, cursor=first["next_cursor"])

    assert [job["id"] for job in first["items"] + rest["items"]] == ids[::-1]
    assert "input" not in first["items"][0]


async def test_another_teams_jobs_are_not_listed(company: Company, alice: Client) -> None:
    other = await company.join("owner", team=await company.add_team())
    await alice.post("/api/jobs", WORDS)

    assert (await other.get("/api/jobs"))["items"] == []


async def test_the_listing_is_filtered_by_state_and_kind(alice: Client) -> None:
    kept = (await alice.post("/api/jobs", WORDS))["id"]
    gone = (await alice.post("/api/jobs", WORDS))["id"]
    await alice.post(f"/api/jobs/{gone}/cancel")

    async def listed(**query: Any) -> list[str]:
        return [job["id"] for job in (await alice.get("/api/jobs", **query))["items"]]

    assert await listed(state="queued") == [kept]
    assert await listed(state="cancelled", kind=KIND) == [gone]
    assert await listed(kind="x.other") == []


async def test_what_a_job_is_about_is_for_its_owner_and_admins(alice: Client, bob: Client, admin: Client) -> None:
    id = (await alice.post("/api/jobs", WORDS))["id"]

    assert (await admin.get(f"/api/jobs/{id}"))["input"] == WORDS["input"]
    assert (await bob.get(f"/api/jobs/{id}"))["input"] is None


async def test_a_waiting_job_is_cancelled_once(alice: Client) -> None:
    id = (await alice.post("/api/jobs", WORDS))["id"]

    first, second = await alice.post(f"/api/jobs/{id}/cancel"), await alice.post(f"/api/jobs/{id}/cancel")

    assert (first.status, first["state"]) == (200, "cancelled")
    assert (second.status, second.code) == (409, "jobs.ended")


async def test_a_teammates_job_is_cancelled_by_an_admin_only(alice: Client, bob: Client, admin: Client) -> None:
    id = (await alice.post("/api/jobs", WORDS))["id"]

    refused, done = await bob.post(f"/api/jobs/{id}/cancel"), await admin.post(f"/api/jobs/{id}/cancel")

    assert (refused.status, done.status) == (403, 200)


async def test_absent_jobs_are_missing(alice: Client) -> None:
    assert (await alice.get(f"/api/jobs/{uuid4()}")).code == "jobs.missing"
    assert (await alice.post(f"/api/jobs/{uuid4()}/cancel")).code == "jobs.missing"


async def test_queuing_and_cancelling_leave_a_trace(alice: Client, admin: Client) -> None:
    id = (await alice.post("/api/jobs", WORDS))["id"]
    await alice.post(f"/api/jobs/{id}/cancel")

    events = [(event["kind"], event["subject"]) for event in (await admin.get("/api/audit"))["items"]]

    assert events[:2] == [("jobs.cancelled", id), ("jobs.queued", id)]


async def test_plugins_say_which_kinds_they_brought(alice: Client, house: Application) -> None:
    plugins = {one["id"]: one["job_kinds"] for one in (await alice.get("/api/plugins"))["items"]}

    assert plugins["example-tools"] == ["x.example-tools.word-count"]
    assert plugins["integrator-demo"] == ["x.integrator-demo.lane-report"]
