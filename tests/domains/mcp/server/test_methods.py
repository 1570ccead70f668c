"""What each method says, in each of the revisions."""

from typing import Any

import pytest

from atrium.boot.assemble import Application
from atrium.product.mcp import server_tools
from tests.domains.mcp.server.speaking import (
    META,
    NEWEST_HANDSHAKE,
    OLDEST_HANDSHAKE,
    REVISIONS,
    STATELESS,
    ask,
    error_of,
    names,
)
from tests.support.client import Client
from tests.support.people import Company
from tests.support.servers import open_application, settings_for

HELLO = {"capabilities": {}, "clientInfo": {"name": "a test", "version": "1"}}


@pytest.mark.parametrize(
    ("wanted", "agreed"),
    [
        (NEWEST_HANDSHAKE, NEWEST_HANDSHAKE),
        (OLDEST_HANDSHAKE, OLDEST_HANDSHAKE),
        ("2024-11-05", NEWEST_HANDSHAKE),
        (STATELESS, NEWEST_HANDSHAKE),
        ("2999-01-01", NEWEST_HANDSHAKE),
    ],
)
async def test_a_handshake_agrees_on_a_revision_and_opens_no_session(alice: Client, wanted: str, agreed: str) -> None:
    answer = await ask(alice, "initialize", {"protocolVersion": wanted, **HELLO}, NEWEST_HANDSHAKE)

    result = answer["result"]
    assert (answer.status, result["protocolVersion"], result["capabilities"]) == (200, agreed, {"tools": {}})
    assert result["serverInfo"]["name"] == "atrium"
    assert "mcp-session-id" not in answer.headers
    assert answer.headers["content-type"] == "application/json"


async def test_discovery_tells_the_revisions_and_what_there_is(alice: Client) -> None:
    answer = await ask(alice, "server/discover")

    result = answer["result"]
    assert result["supportedVersions"] == list(REVISIONS)
    assert (result["capabilities"], result["resultType"], result["cacheScope"]) == (
        {"tools": {}},
        "complete",
        "private",
    )
    assert result["_meta"][f"{META}serverInfo"]["name"] == "atrium"
    assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_tools_are_those_that_the_token_may_call(company: Company, revision: str) -> None:
    admin, member = await company.join("admin"), await company.join("member")
    scoped = await company.join("admin", scope=["notes:read"])

    assert "t_admin" in await names(admin, revision)
    assert "t_admin" not in await names(member, revision)
    listed = await names(scoped, revision)
    assert {"notes_list", "notes_read", "t_repeat"} <= set(listed)
    assert not {"notes_create", "files_list", "t_admin"} & set(listed)
    assert listed == sorted(listed)


async def test_a_tool_that_the_team_has_off_is_not_listed(alice: Client, admin: Client) -> None:
    await admin.post("/api/tools/notes_list", {"enabled": False})

    assert "notes_list" not in await names(alice)
    assert "notes_read" in await names(alice)


async def test_a_tools_effect_becomes_hints_and_its_schema_an_object(admin: Client) -> None:
    tools = {one["name"]: one for one in (await ask(admin, "tools/list"))["result"]["tools"]}

    hints = {name: tools[name]["annotations"] for name in ("notes_read", "notes_create", "t_wait")}
    assert hints == {
        "notes_read": {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False},
        "notes_create": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False},
        "t_wait": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
    }
    assert all(tool["inputSchema"]["type"] == "object" and tool["description"] for tool in tools.values())
    # An argument that clients would repeat in a header is read from the message alone; what is only named alike stays.
    headed = tools["t_headed"]["inputSchema"]["properties"]
    assert headed["text"] == {"type": "string", "default": {"x-mcp-header": "data"}}
    assert headed["x-mcp-header"] == {"type": "string"}
    assert "t_text_alone" not in tools


async def test_a_long_list_comes_in_pages_and_a_cursor_is_good_for_its_team_alone(
    alice: Client, stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = await names(alice)
    monkeypatch.setattr(server_tools, "LISTED", 3)

    found: list[str] = []
    cursors: list[str | None] = [None]
    while cursors[-1] is not None or not found:
        page = (await ask(alice, "tools/list", {"cursor": cursors[-1]} if cursors[-1] else {}))["result"]
        found += [tool["name"] for tool in page["tools"]]
        assert len(page["tools"]) <= 3
        cursors.append(page.get("nextCursor"))

    assert found == whole
    assert len(cursors) == 1 + -(-len(whole) // 3)
    foreign = await ask(alice, "tools/list", {"cursor": "bm90IG91cnM"})
    assert error_of(foreign) == (400, -32602)
    assert error_of(await ask(stranger, "tools/list", {"cursor": cursors[1]})) == (400, -32602)


async def test_a_ping_is_answered_where_the_revision_has_it(alice: Client) -> None:
    assert (await ask(alice, "ping", None, NEWEST_HANDSHAKE))["result"] == {}
    assert error_of(await ask(alice, "ping")) == (404, -32601)


@pytest.mark.parametrize(
    "method", ["resources/list", "prompts/list", "initialize", "logging/setLevel", "tools/LIST", ""]
)
async def test_a_method_that_is_not_there_is_said_to_be_missing(alice: Client, method: str) -> None:
    assert error_of(await ask(alice, method)) == (404, -32601)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_notification_is_acknowledged_and_does_nothing(alice: Client, revision: str) -> None:
    body: dict[str, Any] = {"jsonrpc": "2.0", "method": "notifications/initialized"}

    answer = await alice.post("/mcp", body, headers={"mcp-protocol-version": revision})

    assert (answer.status, answer.raw) == (202, b"")


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"])
async def test_there_is_post_and_nothing_else(alice: Client, method: str) -> None:
    answer = await alice.send(method, "/mcp")

    assert (answer.status, answer.headers["allow"]) == (405, "POST")


async def test_it_can_be_turned_off(speaking: Application) -> None:
    url = speaking.services.settings.database_url

    async with open_application(settings_for(url, mcp=False)) as silent:
        answers = [await Client(silent.app).send(method, "/mcp") for method in ("POST", "GET")]

    assert [(answer.status, answer.code) for answer in answers] == [(404, "request.no_route")] * 2
