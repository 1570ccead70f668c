"""P9: where a limit comes from, who may change it, whom somebody asks whom it refuses, and that lifting it works at once."""

from typing import Any

import pytest

from atrium.boot.assemble import Application
from tests.support.client import Client
from tests.support.people import Company, found_company

NOBODY_NAMED = [{"name": None, "role": "operator"}]


async def line(client: Client, level: str, dimension: str = "ai.requests") -> dict[str, Any]:
    items = (await client.get("/api/usage"))["items"]
    (found,) = [one for one in items if (one["level"], one["dimension"]) == (level, dimension)]
    return dict(found)


async def limit(operator: Client, most: int | None, dimension: str = "ai.requests", window: str = "day") -> None:
    await operator.post("/api/quota", {"dimension": dimension, "limit": most, "window": window})


async def name_of(client: Client) -> str:
    return str((await client.get("/api/whoami"))["user"]["display_name"])


async def test_p9_a_line_says_who_set_its_limit_and_who_may_change_it(operator: Client, alice: Client) -> None:
    before = await line(alice, "team")
    await limit(operator, 5)

    seen, own = await line(alice, "team"), await line(operator, "team")

    assert (before["source"], before["set_by"], before["set_at"], before["limit_window"]) == ("none", None, None, None)
    assert (seen["source"], seen["limit_window"], seen["may_change"]) == ("limit", "day", False)
    assert seen["set_by"] == {"id": operator.user_id, "name": await name_of(operator)}
    assert seen["set_at"].endswith("Z")
    assert own["may_change"] is True


async def test_p9_a_plans_caps_and_the_servers_defaults_are_told_apart(house: Application) -> None:
    company = await found_company(house)
    operator, member = await company.join("owner", operator=True), await company.join()
    await operator.patch(f"/api/orgs/{company.org.slug}", {"plan": "free"})

    planned, usual = await line(member, "org"), await line(member, "team", "jobs.concurrency")

    assert (planned["source"], planned["set_by"], planned["limit"]) == ("plan", None, 200)
    assert planned["set_at"]
    assert (usual["source"], usual["limit"], usual["limit_window"]) == ("default", 8, None)


async def test_p9_what_runs_at_once_says_what_its_limit_was_set_for(operator: Client, alice: Client) -> None:
    await limit(operator, 3, "jobs.concurrency", "total")
    await limit(operator, 2, "jobs.concurrency", "hour")

    both = await line(alice, "team", "jobs.concurrency")
    await limit(operator, None, "jobs.concurrency", "hour")
    one = await line(alice, "team", "jobs.concurrency")
    await limit(operator, None, "jobs.concurrency", "total")
    none = await line(alice, "team", "jobs.concurrency")

    assert [(each["limit"], each["limit_window"]) for each in (both, one, none)] == [
        (2, "hour"),
        (3, "total"),
        (8, None),
    ]


async def test_p9_who_set_a_limit_is_told_to_those_who_may_list_people(company: Company, operator: Client) -> None:
    await limit(operator, 5)
    other = await company.add_team()
    elsewhere, reader = await company.join(team=other), await company.join(team=other, org_role="org_reader")
    narrow = await company.join(scope=["notes:read"])
    wide = await company.join("admin", scope=["members:manage"])
    await operator.post(
        f"/api/orgs/{company.org.slug}/quota", {"dimension": "ai.requests", "limit": 9, "window": "day"}
    )

    setters = [(await line(who, "org"))["set_by"] for who in (elsewhere, reader, narrow, wide)]

    assert [setter is not None for setter in setters] == [False, True, False, True]


async def test_p9_a_refusal_says_whom_to_ask(company: Company, operator: Client, alice: Client) -> None:
    await limit(operator, 0)
    narrow = await company.join(scope=["chat:use"])

    asked = await alice.post("/api/ai/echo", {"prompt": "one"})
    unnamed = await narrow.post("/api/ai/echo", {"prompt": "one"})

    assert (asked.status, asked["code"]) == (429, "quotas.exceeded")
    assert {"name": await name_of(operator), "role": "operator"} in asked["ask"]
    assert len(asked["ask"]) <= 3
    assert unnamed["ask"] == NOBODY_NAMED


async def test_p9_a_team_without_an_operator_is_sent_to_one_without_a_name(house: Application) -> None:
    company = await found_company(house)
    operator = await company.join("owner", operator=True)
    other = await company.add_team()
    member, reader = await company.join(team=other), await company.join(team=other, org_role="org_reader")
    await operator.post(
        f"/api/orgs/{company.org.slug}/quota", {"dimension": "ai.requests", "limit": 0, "window": "day"}
    )

    strangers = await member.post("/api/ai/echo", {"prompt": "one"})
    known = await reader.post("/api/ai/echo", {"prompt": "one"})

    assert (strangers["level"], strangers["ask"]) == ("org", NOBODY_NAMED)
    assert known["ask"] == [{"name": await name_of(operator), "role": "operator"}]


@pytest.mark.parametrize("path", ["/api/ai/echo", "/api/ai/chat", "/api/translate", "/api/repo/p9/file.txt"])
async def test_p9_a_lifted_limit_refuses_nothing_from_then_on(path: str, house: Application) -> None:
    company = await found_company(house)
    operator, member = await company.join("owner", operator=True), await company.join()
    for dimension, window in (("ai.requests", "day"), ("storage.bytes", "total")):
        await limit(operator, 0, dimension, window)

    refused = await ask(member, path)
    for dimension, window in (("ai.requests", "day"), ("storage.bytes", "total")):
        await limit(operator, None, dimension, window)
    done = await ask(member, path)

    assert (refused.status, refused["code"]) == (429, "quotas.exceeded"), refused.body
    assert refused["ask"] == [{"name": await name_of(operator), "role": "operator"}]
    assert done.status < 300, done.body


async def ask(client: Client, path: str) -> Any:
    if path.startswith("/api/repo/"):
        return await client.put(path, b"twelve bytes")
    bodies: dict[str, Any] = {
        "/api/ai/echo": {"prompt": "one"},
        "/api/ai/chat": {"prompt": "one"},
        "/api/translate": {"text": "one", "target": "es"},
    }
    return await client.post(path, bodies[path])
