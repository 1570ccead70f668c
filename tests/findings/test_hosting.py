"""Findings about hosted mode, plans, and an instance of one company."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from atrium.boot.assemble import Application
from atrium.boot.requirements import problems_with
from atrium.kit.files.paths import shipped_path
from atrium.kit.postgres.migrate import migrate, read_migrations
from atrium.seams.setting_values import Plans
from atrium.seams.settings import BadSetting, Settings, read_settings
from tests.client import Answer, Client
from tests.findings.test_sessions import Upload
from tests.people import Company, found_company
from tests.postgres import fresh_database, run_as_owner
from tests.servers import fresh_application

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


async def test_d14_demo_companies_are_found_again_whatever_others_are_called(tmp_path: Path) -> None:
    async with fresh_application(data_dir=tmp_path) as house:
        for name in ("The demo-bakery of others", "aaa demo-shipping"):
            company = await found_company(house, name)
        operator = await company.join("owner", org_role="org_owner", operator=True)

        first, second = [await operator.post("/api/admin/seed-tenants") for _ in range(2)]

    assert first.status in (200, 201)
    assert (second.status, second.body) == (first.status, first.body)


async def found(operator: Client, name: str, plan: str) -> Answer:
    return await operator.post("/api/orgs", {"name": name, "plan": plan, "owner": {"username": f"{name}-owner"}})


async def test_d17_plans_are_settings(tmp_path: Path) -> None:
    plans = Plans('{"tiny": {"ai.requests/day": 3}, "team": {}}')
    async with fresh_application(data_dir=tmp_path, plans=plans) as house:
        operator = await (await found_company(house)).join("owner", org_role="org_owner", operator=True)

        made = await found(operator, "one", "tiny")
        unknown = await found(operator, "two", "business")
        page = await operator.get(f"/api/orgs/{made['org']['slug']}")
        known = (await operator.get("/api/admin/status"))["plans"]

    assert page["quotas"] == [{"dimension": "ai.requests", "limit": 3, "window": "day", "level": "org"}]
    assert (unknown.status, unknown.code) == (400, "companies.unknown_plan")
    assert "tiny" in unknown["detail"]
    assert known == ["unlimited", "tiny", "team"]


async def test_d17_a_changed_plan_keeps_what_was_set_by_hand_and_names_it(operator: Client) -> None:
    slug = (await found(operator, f"c-{operator.username}", "free"))["org"]["slug"]
    at = f"/api/orgs/{slug}"
    await operator.post(f"{at}/quota", {"dimension": "ai.requests", "limit": 777, "window": "day"})
    await operator.post(f"{at}/quota", {"dimension": "ai.requests", "limit": 9, "window": "minute"})

    changed = await operator.patch(at, {"plan": "business"})
    cleared = await operator.patch(at, {"plan": "unlimited"})
    renamed = await operator.patch(at, {"name": "Renamed"})

    def limits(answer: Answer, key: str = "quotas") -> dict[tuple[str, str], int]:
        return {(one["dimension"], one["window"]): one["limit"] for one in answer[key]}

    by_hand = {("ai.requests", "day"): 777, ("ai.requests", "minute"): 9}
    assert limits(changed, "kept_limits") == by_hand
    assert limits(changed)["ai.requests", "day"] == 777
    assert limits(changed)["ai.tokens.total", "month"] == 200_000_000
    assert (limits(cleared), limits(cleared, "kept_limits")) == (by_hand, by_hand)
    assert renamed["kept_limits"] == []


@pytest.mark.parametrize(
    "text", ["[]", "free", '{"free": {"ai.requests": 1}}', '{"free": {"ai.requests/day": -1}}', '{"Free!": {}}', "{"]
)
def test_d17_plans_that_cannot_be_read_stop_the_start(text: str) -> None:
    with pytest.raises(BadSetting, match="SERVICE_PLANS"):
        read_settings({"SERVICE_PLANS": text})


def test_d17_a_cap_that_nobody_knows_stops_the_start(tmp_path: Path) -> None:
    settings = Settings(plans=Plans('{"free": {"ai.wishes/day": 3}}'), secret_key="k" * 32, data_dir=tmp_path)

    assert ["ai.wishes/day" in problem for problem in problems_with(settings) if "SERVICE_PLANS" in problem] == [True]


async def test_d17_limits_of_an_older_plan_are_known_as_the_plans(tmp_path: Path) -> None:
    folder = shutil.copytree(shipped_path("migrations"), tmp_path / "migrations")
    names = [migration.name for migration in read_migrations()]
    for name in names[names.index(next(name for name in names if name.endswith("_plan_limits"))) :]:
        (folder / f"{name}.sql").unlink()
    async with fresh_database(migrated=False) as url:
        await migrate(url, folder)
        [(org,)] = await run_as_owner(
            url,
            "INSERT INTO orgs (id, slug, name, plan) VALUES (gen_random_uuid(), 'acme', 'Acme', 'free') RETURNING id",
        )
        rows: list[tuple[Any, ...]] = [
            ("ai.requests", "day", 200),
            ("ai.tokens.total", "month", 5),
            ("ai.requests", "hour", 7),
        ]
        for dimension, per, most in rows:
            await run_as_owner(url, "INSERT INTO quota_limits VALUES ($1, $1, $2, $3, $4)", org, dimension, per, most)

        await migrate(url)

        found = await run_as_owner(url, "SELECT dimension, per FROM quota_limits WHERE by_plan")
    assert [tuple(row) for row in found] == [("ai.requests", "day")]
