"""MCP messages as a client sends them, in each of the revisions."""

from typing import Any

from tests.support.client import Answer, Client

STATELESS, NEWEST_HANDSHAKE, OLDEST_HANDSHAKE = "2026-07-28", "2025-11-25", "2025-06-18"
REVISIONS = (STATELESS, NEWEST_HANDSHAKE, OLDEST_HANDSHAKE)
META = "io.modelcontextprotocol/"


def envelope(revision: str) -> dict[str, Any]:
    return {
        f"{META}protocolVersion": revision,
        f"{META}clientInfo": {"name": "a test", "version": "1"},
        f"{META}clientCapabilities": {},
    }


def message(
    method: str, params: dict[str, Any] | None = None, revision: str = STATELESS, id: Any = 1
) -> dict[str, Any]:
    """A request; of the stateless revision with its envelope."""
    given = dict(params or {})
    if revision == STATELESS:
        given["_meta"] = envelope(revision)
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": given}


def headers_of(body: dict[str, Any], revision: str) -> dict[str, str]:
    """What intermediaries read; `initialize` comes before a revision is agreed on."""
    if body["method"] == "initialize" and revision != STATELESS:
        return {}
    found = {"mcp-protocol-version": revision}
    if revision == STATELESS:
        found["mcp-method"] = body["method"]
        if isinstance(name := body["params"].get("name"), str):
            found["mcp-name"] = name
    return found


async def ask(
    client: Client, method: str, params: dict[str, Any] | None = None, revision: str = STATELESS, **headers: str
) -> Answer:
    body = message(method, params, revision)
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    return await client.post("/mcp", body, headers=headers_of(body, revision) | more)


async def call(client: Client, tool: str, /, revision: str = STATELESS, **arguments: object) -> Answer:
    return await ask(client, "tools/call", {"name": tool, "arguments": arguments}, revision)


async def names(client: Client, revision: str = STATELESS) -> list[str]:
    """The tools that are listed."""
    return [tool["name"] for tool in (await ask(client, "tools/list", None, revision))["result"]["tools"]]


def error_of(answer: Answer) -> tuple[int, int]:
    """The status and the code of a refusal, which is a well-formed one."""
    body = answer.body
    assert body.keys() == {"jsonrpc", "id", "error"}, answer.raw
    assert body["jsonrpc"] == "2.0"
    assert {"code", "message"} <= body["error"].keys() <= {"code", "message", "data"}
    assert answer.headers["content-type"] == "application/json"
    return answer.status, body["error"]["code"]
