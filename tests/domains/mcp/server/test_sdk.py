"""The official SDK's client, in both of its eras, against a server process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPDeprecationWarning

from tests.support.processes import Instance, Process, fresh_instance

STATELESS, HANDSHAKE = "2026-07-28", "2025-11-25"
# How the client connects, and the revision that the two then speak.
MODES = {"auto": STATELESS, STATELESS: STATELESS, "legacy": HANDSHAKE}


@pytest.fixture(scope="module")
async def instance() -> AsyncIterator[Instance]:
    async with fresh_instance() as found:
        yield found


async def token_of(instance: Instance, *scope: str) -> str:
    answer = await instance.operator.post("/api/tokens", json={"name": "assistant", "scope": list(scope)})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["token"])


@asynccontextmanager
async def connected(server: Process, token: str, mode: str, replies: list[httpx2.Response]) -> AsyncIterator[Client]:
    """A client; every reply that the server gives it is kept."""

    async def keep(reply: httpx2.Response) -> None:
        replies.append(reply)

    async with httpx2.AsyncClient(
        headers={"authorization": f"Bearer {token}"}, event_hooks={"response": [keep]}, trust_env=False
    ) as http:
        transport = streamable_http_client(f"{server.address}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


def text_of(result: Any) -> str:
    [content] = result.content
    return str(content.text)


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_lists_and_calls_in_either_era(instance: Instance, mode: str) -> None:
    token = await token_of(instance, "notes:read", "notes:write")
    replies: list[httpx2.Response] = []

    async with connected(instance.server, token, mode, replies) as client:
        spoken = client.protocol_version
        listed = await client.list_tools()
        made = await client.call_tool("notes_create", {"title": f"Made in {mode}", "body": "Kept."})
        found = await client.call_tool("notes_list", {"q": f"Made in {mode}"})

    assert spoken == MODES[mode]
    tools = {tool.name: tool for tool in listed.tools}
    assert {"notes_create", "notes_list", "notes_read"} <= tools.keys()
    assert "files_list" not in tools
    assert tools["notes_read"].annotations is not None
    assert tools["notes_read"].annotations.read_only_hint is True
    assert made.is_error is False
    assert made.structured_content is not None
    assert made.structured_content["title"] == f"Made in {mode}"
    assert f"Made in {mode}" in text_of(found)
    # JSON and no session; a client that asks for a stream of its own is told that there is none.
    assert {reply.status_code for reply in replies if reply.request.method == "POST"} <= {200, 202}
    assert {reply.status_code for reply in replies if reply.request.method != "POST"} <= {405}
    assert not any("mcp-session-id" in reply.headers for reply in replies)
    assert not any("event-stream" in reply.headers.get("content-type", "") for reply in replies)


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_hears_what_went_wrong(instance: Instance, mode: str) -> None:
    async with connected(instance.server, await token_of(instance, "notes:read"), mode, []) as client:
        bad = await client.call_tool("notes_read", {})
        refusals = []
        for name in ("notes_create", "no_such_tool"):
            with pytest.raises(MCPError) as refused:
                await client.call_tool(name, {"title": "x", "body": "x"})
            refusals.append((refused.value.error.code, refused.value.error.message))

    assert bad.is_error is True
    assert "schema" in text_of(bad)
    assert refusals[0] == refusals[1]
    assert refusals[0][0] == -32602


async def test_the_older_handshake_is_pinged(instance: Instance) -> None:
    async with connected(instance.server, await token_of(instance, "notes:read"), "legacy", []) as client:
        with pytest.warns(MCPDeprecationWarning, match="ping"):
            await client.send_ping()
        server, instructions = client.server_info, client.instructions

    assert server is not None
    assert (server.name, bool(instructions)) == ("atrium", True)


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_without_a_credential_gets_nowhere(instance: Instance, mode: str) -> None:
    replies: list[httpx2.Response] = []

    with pytest.raises((MCPError, ExceptionGroup)):
        async with connected(instance.server, "not-a-token", mode, replies) as client:
            await client.list_tools()

    assert {reply.status_code for reply in replies} == {401}
    assert {reply.headers["www-authenticate"] for reply in replies} == {"Bearer"}
