"""Findings about workers, executors and jobs."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from atrium.boot.assemble import Application
from tests.domains.jobs.kinds import WITH_PROBES
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Answer, Client
from tests.support.patience import PATIENCE
from tests.support.people import Company, found_company
from tests.support.processes import Process, bootstrap, serving
from tests.support.scripted import Answer as Answered
from tests.support.scripted import chunk, events, scripted
from tests.support.servers import open_application, settings_for

pytestmark = pytest.mark.finding

KIND = "x.integrator-demo.lane-report"
REPORT = {"lane": "north", "shipments": 1, "on_time": 1.0}


async def claim(worker: Client) -> Answer:
    return await worker.post("/api/workers/claim", {"kinds": [KIND]})


async def queue(person: Client) -> str:
    return str((await person.post("/api/jobs", {"kind": KIND, "input": {"lane": "north"}}))["id"])


@pytest.fixture
async def owner(company: Company) -> Client:
    """Who runs the company."""
    return await company.join("owner", org_role="org_owner")


async def test_f2_no_person_claims_a_job_not_even_an_operator(operator: Client, owner: Client, alice: Client) -> None:
    await queue(alice)

    answers = [await claim(person) for person in (operator, owner, alice)]

    assert [(answer.status, answer["permission"]) for answer in answers] == [(403, "jobs:execute")] * 3
    assert "jobs:execute" not in (await operator.get("/api/whoami"))["permissions"]
    asked = await operator.post("/api/tokens", {"name": "a worker", "scope": ["jobs:execute"]})
    assert (asked.status, asked.code) == (403, "identity.scope_too_wide")


@pytest.mark.parametrize("bound", [True, False])
async def test_f3_a_worker_reaches_nothing_that_people_reach(company: Company, alice: Client, bound: bool) -> None:
    worker = await company.employ(bound=bound)
    shared = await alice.put("/api/repo/shared.txt?visibility=team", b"the team's own")
    await alice.post(
        f"/api/repo-obj/{shared['id']}/share",
        {"principal_type": "org", "principal_id": alice.org_id, "capability": "edit"},
    )

    answers = [
        await worker.get("/api/whoami"),
        await worker.get("/api/members"),
        await worker.get("/api/jobs"),
        await worker.get("/api/usage"),
        await worker.get("/api/executors"),
        await worker.get(f"/api/repo-obj/{shared['id']}/content"),
        await worker.put("/api/repo/shared.txt", b"overwritten"),
        await worker.post("/api/s3/credentials", {"name": "kept"}),
        await worker.post("/api/profile", {"display_name": "Somebody"}),
        await worker.post("/api/password", {"new_password": "a phrase of the worker's"}),
    ]

    assert {(answer.status, answer.code) for answer in answers} == {(403, "access.permission_missing")}
    assert (await worker.get("/s3/files")).status == 403
    assert (await worker.get("/s3/files/shared.txt")).status == 403


async def test_f3_a_worker_is_no_person_to_anybody(
    company: Company, house: Application, alice: Client, owner: Client
) -> None:
    operator = await company.join("owner", org_role="org_owner", operator=True)
    before = (await operator.get("/api/admin/status"))["counts"]
    people = await owner.get("/api/members", scope="org")
    targets = await alice.get("/api/share-targets")

    made = await owner.post("/api/org/executors", {"name": "in the cellar", "mode": "pull"})

    assert made.status == 201
    assert (await operator.get("/api/admin/status"))["counts"]["users"] == before["users"]
    assert (await owner.get("/api/members", scope="org")).body == people.body
    assert (await alice.get("/api/share-targets")).body == targets.body
    note = await alice.post("/api/notes", {"title": "mine"})
    stored = await alice.put("/api/repo/mine.txt", b"mine")
    grant = {"principal_type": "user", "principal_id": made["id"], "capability": "view"}
    shared = [
        await alice.post(f"/api/notes/{note['id']}/share", {"user_id": made["id"], "permission": "notes:read"}),
        await alice.post(f"/api/repo-obj/{stored['id']}/share", grant),
        await owner.patch(f"/api/org/members/{made['id']}", {"org_role": "org_admin"}),
    ]
    assert [answer.status for answer in shared] == [400, 400, 404]


async def test_f3_suspending_the_operators_company_does_not_stop_everybodys_workers(
    house: Application, alice: Client
) -> None:
    host = await found_company(house)
    operator = await host.join("owner", org_role="org_owner", operator=True)
    made = await operator.post("/api/executors", {"name": f"all {operator.username}", "mode": "pull"})
    worker = Client(house.app, made["worker_token"])
    await host.suspend()
    id = await queue(alice)

    claimed = await claim(worker)
    while claimed["job"]["id"] != id:  # other tests leave jobs behind, and this worker serves everybody
        claimed = await claim(worker)
    body = {"claim_token": claimed["claim_token"], "result": REPORT}
    done = await worker.post(f"/api/workers/jobs/{id}/complete", body)

    assert done.body == {"id": id, "state": "succeeded"}


async def test_f3_suspending_a_company_stops_its_own_workers(company: Company, alice: Client) -> None:
    worker = await company.employ()
    id = await queue(alice)
    claimed = await claim(worker)
    await company.suspend()

    body = {"claim_token": claimed["claim_token"], "result": REPORT}
    answers = [await claim(worker), await worker.post(f"/api/workers/jobs/{id}/complete", body)]

    assert [(answer.status, answer.code) for answer in answers] == [(402, "tenancy.suspended")] * 2


async def test_f3_a_worker_of_one_company_has_no_word_about_anothers_jobs(
    company: Company, house: Application, alice: Client
) -> None:
    ours, theirs = await company.employ(), await (await found_company(house)).employ()
    id = await queue(alice)
    nothing = await claim(theirs)
    claimed = await claim(ours)

    token = {"claim_token": claimed["claim_token"]}
    answers = [
        await theirs.post(f"/api/workers/jobs/{id}/heartbeat", token),
        await theirs.post(f"/api/workers/jobs/{id}/complete", {**token, "result": REPORT}),
        await theirs.post(f"/api/workers/jobs/{id}/fail", {**token, "error": "mine now"}),
    ]

    assert nothing.status == 204
    assert [(answer.status, answer.code) for answer in answers] == [(404, "jobs.missing")] * 3


@dataclass(frozen=True, slots=True)
class Pair:
    """Two processes on one database, the operator at the first, and a worker that both know."""

    url: str
    servers: list[Process]
    operator: httpx.AsyncClient
    executor: str
    workers: list[httpx.AsyncClient]

    async def until(self, sql: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while not await run_as_owner(self.url, sql):
                await asyncio.sleep(0.02)


@pytest.fixture
async def pair() -> AsyncIterator[Pair]:
    async with (
        fresh_database() as url,
        serving(url, 2) as servers,
        servers[0].client(await bootstrap(servers[0])) as operator,
    ):
        made = (await operator.post("/api/executors", json={"name": "a", "mode": "pull"})).json()
        async with (
            servers[0].client(made["worker_token"]) as here,
            servers[1].client(made["worker_token"]) as there,
        ):
            yield Pair(url, servers, operator, made["id"], [here, there])


async def test_f3_retiring_ends_token_jobs_and_waiting_polls_in_every_process(pair: Pair) -> None:
    held = (await pair.operator.post("/api/jobs", json={"kind": KIND, "input": {"lane": "held"}})).json()["id"]
    # Another process may be looking at the same lane in this moment.
    claimed = (await pair.workers[1].post("/api/workers/claim", json={"kinds": [KIND], "max_wait": 30})).json()
    polls = [
        asyncio.create_task(worker.post("/api/workers/claim", json={"kinds": [KIND], "max_wait": 30}))
        for worker in pair.workers
    ]
    await pair.until("SELECT FROM job_workers WHERE seen_at > now() - interval '1 minute' AND 'x' <> ALL (pools)")

    retired = await pair.operator.delete(f"/api/executors/{pair.executor}")
    async with asyncio.timeout(PATIENCE):
        ended = await asyncio.gather(*polls)

    assert retired.status_code == 200
    assert [answer.status_code for answer in ended] == [401, 401]
    # What was on its way to a waiting poll is handed back at once, too.
    await pair.until("SELECT FROM jobs WHERE state = 'queued' AND attempt = 0")
    word = {"claim_token": claimed["claim_token"], "result": REPORT}
    late = [await worker.post(f"/api/workers/jobs/{held}/complete", json=word) for worker in pair.workers]
    again = [await worker.post("/api/workers/claim", json={"kinds": [KIND]}) for worker in pair.workers]
    assert {answer.status_code for answer in (*late, *again)} == {401}


async def test_d4_operators_see_every_executor_with_its_company(
    operator: Client, alice: Client, house: Application, stranger: Client
) -> None:
    made = await stranger.post("/api/org/executors", {"name": f"theirs {stranger.username}", "mode": "pull"})
    company = (await stranger.get("/api/org"))["name"]

    def found(listing: Answer) -> list[Any]:
        return [(one["org_id"], one["company"]) for one in listing["items"] if one["id"] == made["id"]]

    assert found(await operator.get("/api/executors")) == [(stranger.org_id, company)]
    assert found(await stranger.get("/api/executors")) == [(stranger.org_id, company)]
    assert found(await alice.get("/api/executors")) == []


async def test_d4_an_operators_team_chooses_only_what_serves_its_company(operator: Client, stranger: Client) -> None:
    name = f"theirs {stranger.username}"
    await stranger.post("/api/org/executors", {"name": name, "mode": "pull"})

    chosen = await operator.put("/api/model-roles", {"roles": {"utility": name}})

    assert (chosen.status, chosen.code) == (400, "executors.invalid")


@pytest.mark.parametrize("org_role", ["org_owner", "org_admin"])
async def test_d4_a_company_retires_its_own_executor(company: Company, house: Application, org_role: str) -> None:
    boss = await company.join("member", org_role=org_role)
    made = await boss.post("/api/org/executors", {"name": f"old {org_role}", "mode": "pull"})

    retired = await boss.delete(f"/api/executors/{made['id']}")

    assert (retired.status, retired.body) == (200, {"id": made["id"]})
    assert (await claim(Client(house.app, made["worker_token"]))).status == 401


async def test_d4_nobody_else_retires_it(
    company: Company, operator: Client, owner: Client, stranger: Client, admin: Client
) -> None:
    made = await owner.post("/api/org/executors", {"name": "ours", "mode": "pull"})
    everybodys = await operator.post("/api/executors", {"name": f"all {operator.username}", "mode": "pull"})
    reader = await company.join("owner", org_role="org_reader")
    narrow = await company.join("owner", org_role="org_owner", scope=["notes:read"])

    refused = [await person.delete(f"/api/executors/{made['id']}") for person in (admin, reader, narrow)]
    missing = [
        await stranger.delete(f"/api/executors/{made['id']}"),
        await owner.delete(f"/api/executors/{everybodys['id']}"),
    ]

    assert [(answer.status, answer.code) for answer in refused] == [(403, "access.permission_missing")] * 3
    assert [(answer.status, answer.code) for answer in missing] == [(404, "executors.missing")] * 2


async def test_d9_executors_come_and_go_and_leave_no_account_behind(owner: Client, house: Application) -> None:
    url = house.services.settings.database_url
    before = await run_as_owner(url, "SELECT id FROM users WHERE org_id::text = $1", owner.org_id)

    for round in range(3):
        made = await owner.post("/api/org/executors", {"name": f"number {round}", "mode": "pull"})
        await owner.delete(f"/api/executors/{made['id']}")

    assert await run_as_owner(url, "SELECT id FROM users WHERE org_id::text = $1", owner.org_id) == before
    assert (await owner.get("/api/members", scope="org")).raw.count(b"worker") == 0


async def until_ended(person: Client, id: str) -> Answer:
    async with asyncio.timeout(PATIENCE):
        while (job := await person.get(f"/api/jobs/{id}"))["state"] in ("queued", "running"):
            await asyncio.sleep(0.02)
    return job


async def test_d5_a_running_turn_that_nobody_wants_is_not_stopped_and_finishes(tmp_path: Path) -> None:
    said = Answered(events(chunk("still here", "stop")), waits=True)
    async with fresh_database() as url, scripted(said) as model:
        settings = settings_for(url, data_dir=tmp_path, embed_worker=True, local_model_url=model.url)
        async with open_application(settings, domains=WITH_PROBES) as house:
            person = await (await found_company(house)).join("member")
            turn = {"kind": "ai.turn", "input": {"messages": [{"role": "user", "content": "Hello"}]}}
            id = (await person.post("/api/jobs", turn))["id"]
            async with asyncio.timeout(PATIENCE):
                while not model.asked:
                    await asyncio.sleep(0.02)

            told = await person.post(f"/api/jobs/{id}/cancel")
            # A job that ends when it hears of its cancellation shows that the turn has heard of its own.
            other = (await person.post("/api/jobs", {"kind": "probe.listens"}))["id"]
            while (await person.get(f"/api/jobs/{other}"))["state"] == "queued":
                await asyncio.sleep(0.02)
            await person.post(f"/api/jobs/{other}/cancel")
            await until_ended(person, other)
            model.go.set()
            job = await until_ended(person, id)

    assert (told["state"], told["cancel_requested"]) == ("running", True)
    assert (job["state"], job["result"]["text"], job["cancel_requested"]) == ("succeeded", "still here", True)


async def test_d7_usage_says_what_runs_and_what_may(company: Company, alice: Client, owner: Client) -> None:
    worker = await company.employ()
    for _ in range(3):
        await queue(alice)
        await claim(worker)

    def lines(answer: Answer) -> list[tuple[Any, ...]]:
        found = [one for one in answer["items"] if one["dimension"] == "jobs.concurrency"]
        return [
            tuple(one[key] for key in ("level", "used", "limit", "remaining", "window", "resets_at")) for one in found
        ]

    assert lines(await alice.get("/api/usage")) == [("team", 3, 8, 5, None, None), ("org", 3, None, None, None, None)]


async def test_e6_a_team_whose_executor_is_retired_uses_the_default_at_once(
    owner: Client, admin: Client, alice: Client
) -> None:
    made = await owner.post("/api/org/executors", {"name": "drafts", "mode": "pull"})
    await admin.put("/api/model-roles", {"roles": {"utility": "drafts"}})
    before = await admin.get("/api/model-roles")

    await owner.delete(f"/api/executors/{made['id']}")

    after = await admin.get("/api/model-roles")
    assert (before["roles"], after["roles"], after["default"]) == (
        {"utility": "drafts"},
        {"utility": None},
        {"utility": "local"},
    )
    assert after.headers["etag"] != before.headers["etag"]
    translated = await alice.post("/api/translate", {"text": "Good morning", "target": "es"})
    assert translated.status == 200, translated.raw


async def test_e6_a_default_that_is_out_of_service_leaves_this_server(tmp_path: Path) -> None:
    async with fresh_database() as url, open_application(settings_for(url, utility_executor="gone")) as house:
        person = await (await found_company(house)).join("member")

        roles = await person.get("/api/model-roles")

        assert roles.body == {"roles": {"utility": None}, "default": {"utility": "local"}}
        assert (await person.post("/api/translate", {"text": "Good morning", "target": "es"})).status == 200
