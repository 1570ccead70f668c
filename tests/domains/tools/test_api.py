"""Tools over HTTP: what is registered, and which a team has switched off."""

from typing import Any

import pytest

from tests.support.client import Client
from tests.support.people import Company


async def word_count_seen_by(client: Client) -> dict[str, Any]:
    [tool] = [item for item in (await client.get("/api/tools"))["items"] if item["name"] == "word_count"]
    return dict(tool)


async def test_a_tool_shows_its_schema_permission_source_and_state(alice: Client) -> None:
    assert await word_count_seen_by(alice) == {
        "name": "word_count",
        "description": "Count the words, characters and lines of a text.",
        "parameters": {
            "type": "object",
            "properties": {"text": {"type": "string", "description": "The text to count."}},
            "required": ["text"],
            "additionalProperties": False,
        },
        "permission": "chat:use",
        "source": "plugin:example-tools",
        "effect": "read",
        "untrusted": False,
        "enabled": True,
        "digest": None,
        "changed": False,
        "pinned": None,
        "switched_by": None,
        "switched_at": None,
    }


async def test_tools_are_listed_by_name(alice: Client) -> None:
    names = [item["name"] for item in (await alice.get("/api/tools"))["items"]]

    assert names == sorted(names)


async def test_a_tool_switched_off_is_off_for_the_whole_team(admin: Client, alice: Client) -> None:
    switched = await admin.post("/api/tools/word_count", {"enabled": False})

    assert (switched.status, switched["enabled"]) == (200, False)
    assert await word_count_seen_by(alice) == switched.body


async def test_a_tool_switched_on_again_is_on(admin: Client) -> None:
    await admin.post("/api/tools/word_count", {"enabled": False})

    await admin.post("/api/tools/word_count", {"enabled": True})

    assert (await word_count_seen_by(admin))["enabled"] is True


async def test_another_team_keeps_its_own_tools(company: Company, admin: Client, stranger: Client) -> None:
    next_door = await company.join("viewer", team=await company.add_team())

    await admin.post("/api/tools/word_count", {"enabled": False})

    assert (await word_count_seen_by(next_door))["enabled"] is True
    assert (await word_count_seen_by(stranger))["enabled"] is True


async def test_an_unknown_tool_is_missing(admin: Client) -> None:
    answer = await admin.post("/api/tools/teleport", {"enabled": True})

    assert (answer.status, answer.code) == (404, "tools.missing")


async def test_a_member_does_not_switch(alice: Client) -> None:
    assert (await alice.post("/api/tools/word_count", {"enabled": False})).status == 403


@pytest.mark.parametrize("body", [{}, {"enabled": "no"}, {"enabled": True, "team": "other"}])
async def test_a_malformed_switch_is_refused(admin: Client, body: dict[str, object]) -> None:
    assert (await admin.post("/api/tools/word_count", body)).status == 400


async def test_switching_is_recorded(admin: Client) -> None:
    await admin.post("/api/tools/word_count", {"enabled": False})

    [event] = (await admin.get("/api/audit"))["items"]

    assert (event["kind"], event["subject"], event["facts"]) == ("tools.switched", "word_count", {"enabled": False})
