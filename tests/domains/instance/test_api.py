"""The instance over HTTP: health, readiness, configuration, status and metrics."""

from collections.abc import AsyncIterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from atrium import __version__
from atrium.boot.assemble import Application
from atrium.kit.postgres.migrate import read_migrations
from atrium.routes import ROUTES
from tests.support.client import Answer, Client
from tests.support.people import Company, found_company
from tests.support.servers import fresh_application, open_application, settings_for
from tests.support.signing_in import PASSWORD, with_token

REQUESTS = "http_server_request_duration_seconds"
FIRST_RUN = {"http_request_method": "POST", "http_route": "/api/bootstrap", "http_response_status_code": "201"}
FIRST = {"username": "root", "password": PASSWORD, "org": "First", "team": "Core"}


@pytest.fixture(scope="module")
async def counted() -> AsyncIterator[tuple[Answer, Client]]:
    """The configuration of a new instance, and its operator after the first run: nobody else is there to be counted."""
    async with fresh_application(default_locale="is") as house:
        before = await Client(house.app).get("/api/config")
        yield before, Client(house.app, (await Client(house.app).post("/api/bootstrap", FIRST))["token"])


@pytest.fixture
def root(counted: tuple[Answer, Client]) -> Client:
    return counted[1]


@pytest.fixture
async def own_house(database_url: str) -> AsyncIterator[Application]:
    """A house of one's own, to break."""
    async with open_application(settings_for(database_url)) as house:
        yield house


async def count_of(client: Client, family: str, **labels: str) -> float:
    """What a counter stands at, read as JSON."""
    samples = (await client.get("/api/metrics", headers={"accept": "application/json"}))[family]
    return sum(
        float(sample["value"])
        for sample in samples
        if sample["name"] in (f"{family}_total", f"{family}_count") and labels.items() <= sample["labels"].items()
    )


@pytest.mark.parametrize("multitenant", [True, False])
async def test_health_says_two_things_and_no_more(database_url: str, multitenant: bool) -> None:
    async with open_application(settings_for(database_url, multitenant=multitenant)) as house:
        answer = await Client(house.app).get("/health")

    assert (answer.status, answer.body) == (200, {"ok": True, "multitenant": multitenant})


def test_the_configuration_is_what_anybody_may_know(counted: tuple[Answer, Client]) -> None:
    before, _ = counted

    assert before.body == {
        "home": "console",
        "multitenant": True,
        "needs_bootstrap": True,
        "localization": {
            "default_locale": "is",
            "locales": ["en", "es", "is", "nl"],
            "switching": True,
            "serve_machine": False,
        },
    }


async def test_a_serving_process_is_ready(nobody: Client) -> None:
    assert (await nobody.get("/ready")).body == {"ready": True}


async def test_a_stopping_process_is_not_ready_but_alive(own_house: Application) -> None:
    nobody = Client(own_house.app)

    own_house.services.state.draining = True

    refused = await nobody.get("/ready")
    assert (refused.status, refused.code, refused.headers["retry-after"]) == (503, "instance.not_ready", "1")
    assert (await nobody.get("/health")).status == 200


async def test_without_its_database_a_process_is_alive_and_says_try_again(own_house: Application) -> None:
    member = await (await found_company(own_house)).join()
    await own_house.services.database.close()

    ready, answer = await member.get("/ready"), await member.get("/api/whoami")

    assert (ready.status, ready.code) == (503, "instance.not_ready")
    assert (answer.status, answer.code, answer.headers["retry-after"]) == (503, "instance.unavailable", "1")
    assert (await member.get("/health")).status == 200


async def test_the_status_says_what_runs_and_how_secrets_are_kept(root: Client) -> None:
    status = await root.get("/api/admin/status")

    assert set(status.body) == {
        "version", "kdf", "tls", "multitenant", "secrets_at_rest", "schema_version", "counts", "plans", "failed_plugins",
        "backup",
    }  # fmt: skip
    assert (status["version"], status["tls"], status["multitenant"]) == (__version__, False, True)
    assert (status["kdf"], status["secrets_at_rest"]) == ("argon2id m=46MiB t=1 p=1", "AES-256-GCM")
    assert status["schema_version"] == len(read_migrations())
    assert status["failed_plugins"] == {}


async def test_the_status_counts_everything_on_the_instance(root: Client) -> None:
    before = (await root.get("/api/admin/status"))["counts"]
    await root.post("/api/notes", {"title": "one"})
    await root.post("/api/members", {"username": "ann", "role": "viewer"})
    await root.post("/api/tokens", {"name": "machine"})

    after = (await root.get("/api/admin/status"))["counts"]

    assert {name: after[name] - before[name] for name in after} == {
        "users": 1, "teams": 0, "orgs": 0, "notes": 1, "tokens": 1, "audit_events": 3, "tenants": 0,
    }  # fmt: skip
    assert (after["orgs"], after["tenants"], after["teams"]) == (1, 1, 1)


@pytest.mark.parametrize("path", ["/api/admin/status", "/api/metrics"])
async def test_only_an_operator_looks_at_the_instance(company: Company, operator: Client, path: str) -> None:
    owner = await company.join("owner", org_role="org_owner")
    token = (await operator.post("/api/tokens", {"name": "narrow", "scope": ["settings:manage"]}))["token"]

    assert (await operator.get(path)).status == 200
    assert (await owner.get(path)).status == 403
    assert (await with_token(operator, token).get(path)).status == 403


async def test_metrics_are_what_prometheus_reads(root: Client) -> None:
    answer = await root.get("/api/metrics")

    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = {family.name: family for family in text_string_to_metric_families(answer.raw.decode())}
    [first_run] = [
        sample.value
        for sample in families["http_server_request_duration_seconds"].samples
        if sample.name == "http_server_request_duration_seconds_count" and sample.labels == FIRST_RUN
    ]
    assert first_run == 1
    assert {"atrium_jobs_queued", "atrium_refused_logins", "atrium_audit_events_sealed"} <= set(families)


async def test_metrics_are_json_when_asked_for(root: Client) -> None:
    answer = await root.get("/api/metrics", headers={"accept": "application/json"})

    assert answer.headers["content-type"] == "application/json"
    assert {
        "name": "http_server_request_duration_seconds_count",
        "labels": FIRST_RUN,
        "value": 1.0,
    } in answer["http_server_request_duration_seconds"]


async def test_every_answer_is_counted_by_row_and_status(root: Client) -> None:
    row = {"http_request_method": "GET", "http_route": "/health", "http_response_status_code": "200"}
    before = await count_of(root, REQUESTS, **row)

    await root.get("/health")
    await root.send("HEAD", "/health")

    assert await count_of(root, REQUESTS, **row) == before + 2


async def test_refused_sign_ins_are_counted_by_reason(root: Client) -> None:
    before = await count_of(root, "atrium_refused_logins", reason="credentials")

    await root.post("/api/login", {"username": "nobody", "password": "wrong"})

    assert await count_of(root, "atrium_refused_logins", reason="credentials") == before + 1


async def test_nobody_invents_series_by_asking_for_odd_addresses(root: Client) -> None:
    for n in range(5):
        await root.get(f"/nowhere/{n}")
        await root.send(f"METHOD{n}", "/health")

    samples = (await root.get("/api/metrics", headers={"accept": "application/json"}))[REQUESTS]

    assert {sample["labels"]["http_route"] for sample in samples} <= {route.path for route in ROUTES} | {"none"}
    assert {sample["labels"]["http_request_method"] for sample in samples} <= {"GET", "POST", "none"}


async def test_the_metrics_say_how_many_requests_are_being_answered(operator: Client) -> None:
    metrics = (await operator.get("/api/metrics", headers={"accept": "application/json"})).body

    assert metrics["http_server_active_requests"][0]["value"] == 1


async def test_prometheus_reads_the_metrics_with_a_token_that_opens_nothing_else() -> None:
    token = "a token for prometheus that is long enough"
    async with fresh_application(metrics_token=token) as house:
        scraper = Client(house.app, token=token)

        assert (await scraper.get("/api/metrics")).status == 200
        assert (await scraper.get("/api/admin/status")).status == 401
        assert (await scraper.get("/api/notes")).status == 401
        assert (await Client(house.app, token=token + "x").get("/api/metrics")).status == 401
        assert (await Client(house.app).get("/api/metrics")).status == 401


async def test_metrics_say_what_waits_in_the_instance(operator: Client) -> None:
    before = (await operator.get("/api/metrics", headers={"accept": "application/json"})).body
    job = await operator.post("/api/jobs", {"kind": "x.integrator-demo.lane-report", "input": {"lane": "AMS-LIS"}})

    after = (await operator.get("/api/metrics", headers={"accept": "application/json"})).body

    await operator.post(f"/api/jobs/{job['id']}/cancel")
    assert after["atrium_jobs_queued"][0]["value"] == before["atrium_jobs_queued"][0]["value"] + 1
    assert after["atrium_jobs_oldest_seconds"][0]["value"] > 0
    states = {sample["labels"]["state"] for sample in after["atrium_database_connections"]}
    assert states == {"used", "idle", "wanted"}
