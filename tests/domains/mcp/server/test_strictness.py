"""Malformed messages: each gets a well-formed refusal with the right code, in time, and none is a defect of ours."""

import json
import os
import random
from collections.abc import Callable
from typing import Any

import pytest

from atrium.kit.web.strict_json import NotStrict, read_strict
from tests.domains.mcp.server.speaking import META, NEWEST_HANDSHAKE, STATELESS, envelope, error_of, headers_of, message
from tests.support.client import Answer, Client

PARSE, INVALID, NO_METHOD, PARAMS, MISMATCH, UNSUPPORTED = -32700, -32600, -32601, -32602, -32020, -32022
ROUNDS = 3_000 if os.environ.get("ATRIUM_FULL") else 300
CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t_repeat","arguments":{"text":%s}}}'


async def send(client: Client, raw: bytes | str, **headers: str) -> Answer:
    body = raw if isinstance(raw, bytes) else raw.encode("utf-8", "surrogatepass")
    return await client.post("/mcp", body, headers={name.replace("_", "-"): value for name, value in headers.items()})


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" ",
        b"{",
        b"{}}",
        b'{"a":1,}',
        b"\xff\xfe{}",
        b'\xef\xbb\xbf{"jsonrpc":"2.0"}',
        b"nul",
        CALL % "NaN",
        CALL % "Infinity",
        CALL % "-Infinity",
        CALL % "1e999",
        CALL % ("9" * 30),
        CALL % ("9" * 5_000),
        CALL % '"\\ud800"',
        CALL % '"\\udc00\\ud800"',
        CALL % '"\x00"',
        CALL % '"\ud800"',
        CALL % "'x'",
        CALL % '"x" /* y */',
        CALL % ("[" * 65 + "]" * 65),
        CALL % ("[" * 100_000),
        CALL % ('{"a":' * 3_000 + "1" + "}" * 3_000),
        '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
        CALL % '{"a":1,"\\u0061":2}',
    ],
)
async def test_what_is_not_one_strict_json_text_is_a_parse_error(alice: Client, raw: bytes | str) -> None:
    answer = await send(alice, raw)

    assert error_of(answer) == (400, PARSE)
    assert answer["id"] is None


@pytest.mark.parametrize(
    ("body", "id"),
    [
        ([], None),
        ([message("ping", None, NEWEST_HANDSHAKE)], None),
        ("ping", None),
        (7, None),
        (None, None),
        ({}, None),
        ({"id": 1, "method": "ping"}, 1),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, 1),
        ({"jsonrpc": 2.0, "id": 1, "method": "ping"}, 1),
        ({"jsonrpc": "2.0", "id": 1}, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": 7}, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": None}, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": "m" * 129}, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": None}, 1),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": [1], "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": {}, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": "x" * 257, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": 1 << 60, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, 1),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}, 1),
        ({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "t_repeat"}}, None),
    ],
)
async def test_what_is_no_message_is_an_invalid_request(alice: Client, body: Any, id: Any) -> None:
    answer = await send(alice, json.dumps(body))

    assert error_of(answer) == (400, INVALID)
    assert answer["id"] == id


@pytest.mark.parametrize("id", [0, -1, 1 << 53, "", "x" * 256, "é\u2028", "1"])
async def test_an_id_comes_back_as_it_was(alice: Client, id: Any) -> None:
    answer = await send(alice, json.dumps(message("ping", None, NEWEST_HANDSHAKE, id)))

    assert answer.body == {"jsonrpc": "2.0", "id": id, "result": {}}


async def test_a_text_with_a_zero_character_reaches_no_tool(alice: Client) -> None:
    answer = await send(alice, CALL % '"a\\u0000b"')
    spelled = await send(alice, CALL % '"a\\\\u0000b"')

    assert error_of(answer) == (200, PARAMS)
    assert spelled["result"]["structuredContent"] == {"said": "a\\u0000b"}


async def test_a_large_message_is_read_and_one_beyond_the_limit_is_not(alice: Client) -> None:
    large = await send(alice, CALL % json.dumps("x" * 900_000))
    beyond = await send(alice, CALL % json.dumps("x" * 1_100_000))

    assert large["result"]["isError"] is False
    assert (beyond.status, beyond.code) == (413, "request.too_large")


Change = Callable[[dict[str, Any], dict[str, str]], None]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda body, sent: sent.pop("mcp-protocol-version"), MISMATCH),
        (lambda body, sent: sent.update({"mcp-protocol-version": NEWEST_HANDSHAKE}), MISMATCH),
        (lambda body, sent: sent.update({"mcp-protocol-version": "2999-01-01"}), MISMATCH),
        (lambda body, sent: sent.pop("mcp-method"), MISMATCH),
        (lambda body, sent: sent.update({"mcp-method": "tools/list"}), MISMATCH),
        (lambda body, sent: sent.pop("mcp-name"), MISMATCH),
        (lambda body, sent: sent.update({"mcp-name": "notes_create"}), MISMATCH),
        (lambda body, sent: sent.update({"mcp-name": "=?base64?not base64?="}), MISMATCH),
        (lambda body, sent: sent.update({"mcp-name": "=?base64?dF9yZXBlYXR=?="}), MISMATCH),
        (lambda body, sent: body["params"].pop("_meta"), PARAMS),
        (lambda body, sent: body["params"].update(_meta=[]), PARAMS),
        (lambda body, sent: body["params"]["_meta"].pop(f"{META}clientCapabilities"), PARAMS),
        (lambda body, sent: body["params"]["_meta"].update({f"{META}clientCapabilities": 1}), PARAMS),
        (lambda body, sent: body["params"]["_meta"].update({f"{META}protocolVersion": 7}), MISMATCH),
    ],
)
async def test_a_message_that_intermediaries_would_take_for_another_is_refused(
    alice: Client, change: Change, code: int
) -> None:
    body = message("tools/call", {"name": "t_repeat", "arguments": {"text": "x"}})
    sent = headers_of(body, STATELESS)
    assert (await alice.post("/mcp", body, headers=sent))["result"]["isError"] is False

    change(body, sent)

    assert error_of(await alice.post("/mcp", body, headers=sent)) == (400, code)


async def test_a_name_wrapped_in_base64_is_the_name(alice: Client) -> None:
    body = message("tools/call", {"name": "t_repeat", "arguments": {"text": "x"}})
    sent = headers_of(body, STATELESS) | {"mcp-name": "=?base64?dF9yZXBlYXQ=?="}

    assert (await alice.post("/mcp", body, headers=sent))["result"]["isError"] is False


@pytest.mark.parametrize("revision", ["2025-03-26", "2024-11-05", "2999-01-01", "", "x" * 1000])
async def test_a_revision_that_is_not_spoken_is_refused_with_those_that_are(alice: Client, revision: str) -> None:
    plain = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    whole = message("tools/list")
    whole["params"]["_meta"] = envelope(revision)

    answers = [
        await alice.post("/mcp", plain, headers={"mcp-protocol-version": revision}),
        await alice.post("/mcp", whole, headers={"mcp-protocol-version": revision, "mcp-method": "tools/list"}),
    ]

    for answer in answers:
        assert error_of(answer) == (400, UNSUPPORTED)
        assert answer["error"]["data"]["supported"][0] == STATELESS


async def test_a_routing_header_that_comes_twice_is_refused(alice: Client) -> None:
    body = message("tools/list")
    scope_headers = headers_of(body, STATELESS)
    client = Twice(alice.app, alice.token)

    assert error_of(await client.post("/mcp", body, headers=scope_headers)) == (400, MISMATCH)


class Twice(Client):
    """Sends the method's header a second time."""

    def _scope(self, *given: Any) -> dict[str, Any]:
        scope = Client._scope(self, *given)
        scope["headers"].append((b"mcp-method", b"tools/call"))
        return scope


def mutated(seed: random.Random) -> bytes:
    """A message with something wrong in it, mostly: a member lost or of another type, bytes swapped, cut or doubled."""
    method = seed.choice(
        ["tools/call", "tools/list", "initialize", "ping", "server/discover", "notifications/x", "nope"]
    )
    body: Any = message(
        method, {"name": "t_repeat", "arguments": {"text": "x"}}, seed.choice([STATELESS, NEWEST_HANDSHAKE])
    )
    for _ in range(seed.randrange(3)):
        where = seed.choice(
            [body, body.get("params"), (body.get("params") or {}) if isinstance(body.get("params"), dict) else body]
        )
        if isinstance(where, dict) and where:
            key = seed.choice(sorted(where))
            if seed.random() < 0.4:
                where.pop(key)
            else:
                where[key] = seed.choice(ODD)
    raw = bytearray(json.dumps(body).encode())
    for _ in range(seed.choice([0, 0, 1, 3])):
        at = seed.randrange(len(raw) + 1)
        raw[at : at + seed.randrange(4)] = seed.choice(PIECES)
    return bytes(raw)


ODD: list[Any] = [
    None, True, 0, -1, 1.5, 1 << 62, "", "x", "\u2028", "../..", "t_repeat", [], [1], {}, {"a": {}}, "notes_create", 10**18, "é" * 300,
]  # fmt: skip
PIECES = [
    b"", b"{", b"}", b"[", b"]", b'"', b"\\", b",", b":", b"\x00", b"\xff", b"\\u0000", b"\\ud800", b"NaN", b"1e999", b'"id":1,', b"9" * 40,
]  # fmt: skip


async def test_hundreds_of_malformed_messages_end_in_hundreds_of_proper_refusals(alice: Client) -> None:
    seed = random.Random(20260728)
    seen: dict[int, int] = {}

    for _ in range(ROUNDS):
        raw = mutated(seed)
        sent = {"mcp_protocol_version": seed.choice([STATELESS, NEWEST_HANDSHAKE])} if seed.random() < 0.7 else {}
        if seed.random() < 0.5:
            sent |= {"mcp_method": "tools/call", "mcp_name": "t_repeat"}
        answer = await send(alice, raw, **sent)
        code = _judged(raw, answer)
        seen[code] = seen.get(code, 0) + 1

    assert seen.keys() >= {0, PARSE, INVALID, NO_METHOD, PARAMS, MISMATCH}


def _judged(raw: bytes, answer: Answer) -> int:
    """The code of a refusal, 0 for an answer; a parse error exactly where there is nothing to parse."""
    assert answer.status in (200, 202, 400, 404), (raw, answer.raw)
    if answer.status == 202:
        assert answer.raw == b""
        return 0
    try:
        read_strict(raw)
        strict = True
    except NotStrict:
        strict = False
    if "result" in answer.body:
        assert strict, raw
        assert answer["id"] == json.loads(raw)["id"]
        return 0
    _, code = error_of(answer)
    assert (code == PARSE) is not strict, (raw, answer.raw)
    return code
