"""Findings about plans: they are settings, and what was set by hand stays."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from atrium.boot.requirements import problems_with
from atrium.kit.files.paths import shipped_path
from atrium.kit.postgres.migrate import migrate, read_migrations
from atrium.seams.setting_values import Plans
from atrium.seams.settings import BadSetting, Settings, read_settings
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Answer, Client
from tests.support.people import found_company
from tests.support.servers import fresh_application


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
