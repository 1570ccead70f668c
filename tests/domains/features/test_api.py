"""Feature flags over HTTP: on until a team turns them off, for that team alone."""

import pytest

from tests.support.client import Client
from tests.support.people import Company

ALL_ON = [{"name": name, "enabled": True} for name in ("agent", "chat", "translate", "workflows")]


async def test_every_flag_is_on_until_turned_off(alice: Client) -> None:
    assert (await alice.get("/api/features")).body == {"items": ALL_ON, "next_cursor": None}


async def test_a_flag_turned_off_shows_from_the_next_request_on(admin: Client, alice: Client) -> None:
    switched = await admin.post("/api/features/chat", {"enabled": False})

    assert (switched.status, switched.body) == (200, {"name": "chat", "enabled": False})
    assert [item["enabled"] for item in (await alice.get("/api/features"))["items"]] == [True, False, True, True]
    assert (await alice.get("/api/whoami"))["features"] == ["agent", "translate", "workflows"]


async def test_a_flag_turned_on_again_is_on(admin: Client) -> None:
    await admin.post("/api/features/chat", {"enabled": False})

    await admin.post("/api/features/chat", {"enabled": True})

    assert (await admin.get("/api/features"))["items"] == ALL_ON


async def test_another_team_keeps_its_own_flags(company: Company, admin: Client, stranger: Client) -> None:
    next_door = await company.join("viewer", team=await company.add_team())

    await admin.post("/api/features/chat", {"enabled": False})

    assert (await next_door.get("/api/features"))["items"] == ALL_ON
    assert (await stranger.get("/api/features"))["items"] == ALL_ON


async def test_an_unknown_flag_is_missing(admin: Client) -> None:
    answer = await admin.post("/api/features/telepathy", {"enabled": True})

    assert (answer.status, answer.code) == (404, "features.missing")


async def test_a_member_does_not_switch(alice: Client) -> None:
    answer = await alice.post("/api/features/chat", {"enabled": False})

    assert (answer.status, answer.code) == (403, "access.permission_missing")


@pytest.mark.parametrize("body", [{}, {"enabled": "no"}, {"enabled": 0}, {"enabled": None}, {"enabled": True, "x": 1}])
async def test_a_malformed_switch_is_refused(admin: Client, body: dict[str, object]) -> None:
    assert (await admin.post("/api/features/chat", body)).status == 400


async def test_switching_is_recorded(admin: Client) -> None:
    await admin.post("/api/features/chat", {"enabled": False})

    [event] = (await admin.get("/api/audit"))["items"]

    assert (event["kind"], event["subject"], event["facts"]) == ("features.switched", "chat", {"enabled": False})
