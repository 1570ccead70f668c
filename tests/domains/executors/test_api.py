"""Executors over HTTP: who may make one, who sees it, and what retiring means."""

import pytest

from atrium.boot.assemble import Application
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.people import Company, found_company


@pytest.fixture
async def owner(company: Company) -> Client:
    """Who runs the company."""
    return await company.join("owner", org_role="org_owner")


async def names(client: Client) -> list[str]:
    return [one["name"] for one in (await client.get("/api/executors"))["items"]]


async def test_a_pull_executors_token_is_shown_once_and_may_only_work(operator: Client, house: Application) -> None:
    made = await operator.post("/api/executors", {"name": f"gpu {operator.username}", "mode": "pull", "model": "llama"})

    worker = Client(house.app, made["worker_token"])
    assert made.status == 201
    assert made["worker_token"].startswith("atw_")
    assert (await worker.post("/api/workers/claim", {"kinds": ["x.integrator-demo.lane-report"]})).status in (200, 204)
    assert (await worker.get("/api/notes")).status == 403
    assert (await worker.post("/api/notes", {"title": "x"})).status == 403
    assert made["worker_token"] not in (await operator.get("/api/executors")).raw.decode()


async def test_a_companys_own_executor_is_nobody_elses(owner: Client, alice: Client, stranger: Client) -> None:
    made = await owner.post("/api/org/executors", {"name": "in the cellar", "mode": "pull"})

    assert (made.status, made["org_id"]) == (201, owner.org_id)
    assert "in the cellar" in await names(alice)
    assert "in the cellar" not in await names(stranger)


async def test_the_list_begins_with_this_server_and_says_who_was_seen(owner: Client, house: Application) -> None:
    made = await owner.post("/api/org/executors", {"name": "seen", "mode": "pull"})
    before = (await owner.get("/api/executors"))["items"]

    await Client(house.app, made["worker_token"]).post(
        "/api/workers/claim", {"kinds": ["x.integrator-demo.lane-report"]}
    )
    after = (await owner.get("/api/executors"))["items"]

    assert (before[0]["name"], before[0]["mode"], before[0]["healthy"]) == ("local", "local", True)
    assert [one["healthy"] for items in (before, after) for one in items if one["name"] == "seen"] == [False, True]


@pytest.mark.parametrize(
    ("draft", "code"),
    [
        ({"mode": "push"}, "executors.invalid"),
        ({"mode": "pull", "url": "https://example.com"}, "executors.invalid"),
        ({"mode": "pull", "key": "secret"}, "executors.invalid"),
        ({"mode": "push", "url": "file:///etc/passwd"}, "executors.invalid"),
        ({"mode": "push", "url": "http://127.0.0.1:11434"}, "executors.invalid"),
        ({"mode": "push", "url": "http://localhost/v1"}, "executors.invalid"),
        ({"mode": "push", "url": "http://2130706433/"}, "executors.invalid"),
        ({"mode": "push", "url": "http://0x7f000001/"}, "executors.invalid"),
        ({"mode": "push", "url": "http://[::ffff:10.0.0.1]/"}, "executors.invalid"),
        ({"mode": "push", "url": "http://169.254.169.254/latest/meta-data"}, "executors.invalid"),
        ({"mode": "push", "url": "http://user:pass@8.8.8.8/"}, "executors.invalid"),
        ({"mode": "local"}, "request.invalid"),
    ],
)
async def test_what_cannot_be_an_executor_is_refused(operator: Client, draft: dict[str, str], code: str) -> None:
    reply = await operator.post("/api/executors", {"name": "bad", **draft})

    assert (reply.status, reply.code) == (400, code)


async def test_a_push_executors_key_is_sealed(operator: Client, house: Application) -> None:
    made = await operator.post(
        "/api/executors",
        {"name": f"push {operator.username}", "mode": "push", "url": "https://8.8.8.8/v1", "key": "sk-very-secret"},
    )

    stored = await run_as_owner(
        house.services.settings.database_url, "SELECT key_sealed FROM executors WHERE id::text = $1", made["id"]
    )
    assert made.status == 201
    assert made["worker_token"] is None
    assert b"sk-very-secret" not in stored[0][0]
    assert b"sk-very-secret" not in made.raw


async def test_a_name_is_taken_until_its_executor_retires(operator: Client, owner: Client) -> None:
    first = await owner.post("/api/org/executors", {"name": "one", "mode": "pull"})
    second = await owner.post("/api/org/executors", {"name": "ONE", "mode": "pull"})
    await operator.delete(f"/api/executors/{first['id']}")
    third = await owner.post("/api/org/executors", {"name": "one", "mode": "pull"})

    assert (second.status, second.code, third.status) == (409, "executors.name_taken", 201)


async def test_a_company_has_so_many_executors_and_no_more(
    operator: Client, owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atrium.engine.executors.service.MOST_OF_COMPANY", 1)
    first = await owner.post("/api/org/executors", {"name": "one", "mode": "pull"})
    second = await owner.post("/api/org/executors", {"name": "two", "mode": "pull"})
    everybodys = await operator.post("/api/executors", {"name": f"all {operator.username}", "mode": "pull"})
    await owner.delete(f"/api/executors/{first['id']}")
    third = await owner.post("/api/org/executors", {"name": "two", "mode": "pull"})

    assert [one.status for one in (first, second, everybodys, third)] == [201, 409, 201, 201]
    assert second.code == "executors.too_many"


async def test_retiring_ends_the_token_and_returns_the_jobs(
    operator: Client, owner: Client, alice: Client, house: Application
) -> None:
    made = await owner.post("/api/org/executors", {"name": "retiring", "mode": "pull"})
    worker = Client(house.app, made["worker_token"])
    job = (await alice.post("/api/jobs", {"kind": "x.integrator-demo.lane-report", "input": {"lane": "AMS-LIS"}}))["id"]
    claimed = await worker.post("/api/workers/claim", {"kinds": ["x.integrator-demo.lane-report"]})

    retired = await operator.delete(f"/api/executors/{made['id']}")

    back = await alice.get(f"/api/jobs/{job}")
    assert (claimed["job"]["id"], retired.body) == (job, {"id": made["id"]})
    assert (back["state"], back["attempt"]) == ("queued", 0)
    assert (await worker.post("/api/workers/claim", {"kinds": ["x.integrator-demo.lane-report"]})).status == 401
    assert "retiring" not in await names(owner)
    assert (await operator.delete(f"/api/executors/{made['id']}")).code == "executors.missing"


async def test_a_role_names_an_executor_the_company_has(admin: Client, owner: Client, house: Application) -> None:
    await owner.post("/api/org/executors", {"name": "drafts", "mode": "pull"})
    other = await (await found_company(house)).join("admin")

    chosen = await admin.put("/api/model-roles", {"roles": {"utility": "drafts"}})
    refused = await other.put("/api/model-roles", {"roles": {"utility": "drafts"}})

    assert chosen.body == {"roles": {"utility": "drafts"}, "default": {"utility": "local"}}
    assert (await admin.get("/api/model-roles")).body == chosen.body
    assert (refused.status, refused.code) == (400, "executors.invalid")
    assert (await admin.put("/api/model-roles", {"roles": {"utility": None}}))["roles"] == {"utility": None}
    assert (await admin.put("/api/model-roles", {"roles": {"chef": "drafts"}})).status == 400
