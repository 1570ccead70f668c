"""Findings about hosted mode, plans, and an instance of one company."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atrium.boot.assemble import Application
from atrium.boot.requirements import problems_with
from atrium.seams.settings import Settings
from tests.domains.identity.test_ended_credentials import Upload
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.servers import fresh_application

pytestmark = pytest.mark.finding

TOKEN = "a token of the host, long enough to be one"
PULL = {"name": "cellar", "mode": "pull"}


@pytest.fixture
async def hosted() -> AsyncIterator[Application]:
    async with fresh_application(hosted=True, provision_token=TOKEN) as house:
        yield house


@pytest.fixture
async def owner(hosted: Application) -> Client:
    """Who took the tenant over."""
    link = (await Client(hosted.app, TOKEN).post("/api/provision", {"username": "ada", "org": "Acme"}))[
        "activation_token"
    ]
    session = await Client(hosted.app).post("/api/activate", {"token": link, "password": "a long phrase"})
    return Client(hosted.app, session["token"])


async def test_the_owner_of_a_hosted_tenant_looks_after_their_own_instance(owner: Client) -> None:
    answers = [
        await owner.put("/api/branding", {"title": "Ours"}),
        await owner.put("/api/i18n", {"default_locale": "is", "switching": True}),
        await owner.post("/api/executors", PULL),
        await owner.get("/api/admin/status"),
    ]

    assert [answer.status for answer in answers] == [200, 200, 201, 200]
    held = (await owner.get("/api/whoami"))["permissions"]
    assert {"instance:manage", "localization:manage"} <= set(held)


async def test_companies_limits_and_metrics_of_a_hosted_instance_stay_with_its_host(owner: Client) -> None:
    limit = {"dimension": "ai.requests", "limit": 10**6, "window": "day"}

    answers = [
        await owner.post("/api/quota", limit),
        await owner.get("/api/metrics"),
        await owner.get("/api/orgs"),
        await owner.post("/api/orgs", {"name": "Another", "owner": {"username": "eve"}}),
        await owner.post("/api/orgs/acme/quota", limit),
        await owner.post("/api/admin/seed-tenants"),
    ]

    assert [answer.status for answer in answers] == [403] * 6
    assert [answer.code for answer in answers[:2]] == ["access.permission_missing"] * 2


async def test_machines_of_a_hosted_tenant_are_checked_like_a_companys(hosted: Application, owner: Client) -> None:
    made = await owner.post("/api/executors", PULL)
    org_id = (await owner.get("/api/whoami"))["org"]["id"]
    other = await found_company(hosted)

    private = await owner.post("/api/executors", {"name": "inside", "mode": "push", "url": "http://10.0.0.7/v1"})
    foreign = await owner.post("/api/executors", {**PULL, "org_id": str(other.org.id)})

    assert made["org_id"] == org_id
    assert (private.status, private.code) == (400, "executors.invalid")
    assert (foreign.status, foreign.code) == (404, "tenancy.org_missing")
    assert (await owner.delete(f"/api/executors/{made['id']}")).status == 200


async def test_nobody_but_the_owner_of_the_tenant_holds_it(hosted: Application, owner: Client) -> None:
    boss = await owner.post("/api/org/members", {"username": "bob", "role": "owner", "org_role": "org_admin"})
    admin = Client(hosted.app, boss["token"])
    narrow = Client(
        hosted.app, (await owner.post("/api/tokens", {"name": "x", "scope": ["org:read", "org:manage"]}))["token"]
    )

    refused = [await person.put("/api/branding", {"title": "Mine"}) for person in (admin, narrow)]
    made = await narrow.post("/api/org/members", {"username": "eve", "role": "viewer", "org_role": "org_owner"})

    assert [answer.status for answer in refused] == [403, 403]
    assert (made.status, made.code) == (403, "identity.scope_too_wide")


async def test_a_suspended_tenant_is_suspended_for_its_owner_too(hosted: Application, owner: Client) -> None:
    await Client(hosted.app, TOKEN).post("/api/instance/suspend")

    answer = await owner.put("/api/branding", {"title": "Ours"})

    assert (answer.status, answer.code) == (402, "hosting.suspended")


async def test_a_write_under_way_is_told_of_the_tenants_suspension_like_any_other(
    hosted: Application, owner: Client
) -> None:
    upload = Upload(owner, "/api/repo/late.txt")
    await upload.under_way()

    await Client(hosted.app, TOKEN).post("/api/instance/suspend")
    answer = await upload.finish()

    assert (answer.status, answer.code) == (402, "hosting.suspended")


async def test_a_company_trusts_no_hosts_of_the_operators(tmp_path: Path) -> None:
    async with fresh_application(data_dir=tmp_path, executor_hosts="10.0.0.7") as house:
        company = await found_company(house)
        owner = await company.join("owner", org_role="org_owner")
        operator = await company.join("owner", org_role="org_owner", operator=True)
        draft = {"name": "inside", "mode": "push", "url": "http://10.0.0.7:22/v1"}

        refused = await owner.post("/api/org/executors", draft)
        made = await operator.post("/api/executors", draft)

    assert (refused.status, refused.code, made.status) == (400, "executors.invalid", 201)


async def test_f14_guessing_the_provisioning_token_is_slowed_down() -> None:
    async with fresh_application(hosted=True, provision_token=TOKEN, rate_public_writes=5) as house:
        wrong = [await Client(house.app, f"guess {n}").post("/api/provision", {}) for n in range(8)]

    assert [answer.status for answer in (wrong[0], wrong[-1])] == [401, 429]
    assert int(wrong[-1].headers["retry-after"]) >= 1


@pytest.mark.parametrize(("token", "fits"), [("x" * 31, False), ("x" * 32, True)])
def test_f14_a_short_provisioning_token_stops_the_start(tmp_path: Path, token: str, fits: bool) -> None:
    settings = Settings(hosted=True, provision_token=token, secret_key="k" * 32, data_dir=tmp_path)

    assert any("SERVICE_PROVISION_TOKEN" in problem for problem in problems_with(settings)) is not fits


@pytest.fixture
async def single(tmp_path: Path) -> AsyncIterator[Company]:
    async with fresh_application(data_dir=tmp_path, multitenant=False) as house:
        yield await found_company(house)


async def test_an_instance_of_one_company_founds_no_other(single: Company) -> None:
    operator = await single.join("owner", org_role="org_owner", operator=True)

    answers = [
        await operator.post("/api/orgs", {"name": "Another", "owner": {"username": "eve"}}),
        await operator.post("/api/admin/seed-tenants"),
    ]

    assert [(answer.status, answer.code) for answer in answers] == [(409, "tenancy.single")] * 2
    assert len((await operator.get("/api/orgs"))["items"]) == 1
