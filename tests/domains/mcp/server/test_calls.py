"""A call: what comes back, what is refused in which words, and what is on record."""

import asyncio
import hashlib
import time
from dataclasses import replace
from statistics import median
from typing import Any

import msgspec
import pytest

from tests.domains.mcp.server import conftest
from tests.domains.mcp.server.speaking import (
    NEWEST_HANDSHAKE,
    REVISIONS,
    STATELESS,
    ask,
    call,
    error_of,
    headers_of,
    message,
)
from tests.support.client import Answer, Client
from tests.support.patience import PATIENCE
from tests.support.people import Company


async def calls_on_record(admin: Client) -> list[dict[str, Any]]:
    return [event for event in (await admin.get("/api/audit"))["items"] if event["kind"] == "tools.called"]


def digest(**arguments: object) -> str:
    return hashlib.sha256(msgspec.json.encode(arguments, order="sorted")).hexdigest()


def said(answer: Answer, *, is_error: bool = False) -> str:
    """The one text of a result."""
    assert answer.status == 200, answer.raw
    result = answer["result"]
    assert result["isError"] is is_error, answer.raw
    [content] = result["content"]
    assert content["type"] == "text"
    return str(content["text"])


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_call_acts_as_the_person_and_is_on_record_without_its_texts(
    alice: Client, admin: Client, revision: str
) -> None:
    made = await call(alice, "notes_create", revision, title="Berth 7", body="Closed on Monday", visibility="team")

    assert said(made).startswith("[text] Berth 7")
    assert made["result"]["structuredContent"]["title"] == "Berth 7"
    [note] = (await admin.get("/api/notes"))["items"]
    assert (note["title"], note["owner_id"]) == ("Berth 7", alice.user_id)
    [event] = await calls_on_record(admin)
    arguments = digest(title="Berth 7", body="Closed on Monday", visibility="team")
    assert event["facts"] == {"effect": "write", "arguments": arguments, "via": "mcp"}
    assert (event["subject"], event["actor_id"]) == ("notes_create", alice.user_id)
    assert "Berth" not in str(event)


async def test_a_call_that_reads_is_on_record_too(alice: Client, admin: Client) -> None:
    assert said(await call(alice, "t_repeat", text="hello")) == '{"said":"hello"}'

    [event] = await calls_on_record(admin)
    assert (event["subject"], event["facts"]) == (
        "t_repeat",
        {"effect": "read", "arguments": digest(text="hello"), "via": "mcp"},
    )


async def test_an_artifact_is_a_line_and_its_facts(alice: Client) -> None:
    drawn = await call(alice, "t_draw")

    assert said(drawn) == "[table] Fields · 3 fields · object 00000000-0000-0000-0000-000000000007"
    assert drawn["result"]["structuredContent"]["total"] == 3


async def test_a_long_result_is_told_shortened_and_once(alice: Client) -> None:
    short, long = await call(alice, "t_speak", length=15_000), await call(alice, "t_speak", length=100_000)

    assert len(short["result"]["structuredContent"]["text"]) == 15_000
    assert "structuredContent" not in long["result"]
    assert len(said(long)) < 17_000
    assert "characters left out" in said(long)


async def test_arguments_against_the_schema_are_an_error_that_a_model_can_read(alice: Client, admin: Client) -> None:
    for arguments in ({}, {"text": 7}, {"text": "x", "more": 1}):
        told = said(await call(alice, "t_repeat", **arguments), is_error=True)
        assert "does not fit the schema" in told
        assert "tools/list" in told
    assert await calls_on_record(admin) == []


async def test_a_tool_that_fails_leaves_its_record_and_nothing_else(alice: Client, admin: Client) -> None:
    answer = await call(alice, "t_fail")

    told = said(answer, is_error=True)
    assert answer.headers["x-request-id"] in told
    assert "secret" not in told
    assert (await admin.get("/api/notes"))["items"] == []
    [event] = await calls_on_record(admin)
    assert (event["subject"], event["facts"]["end"]) == ("t_fail", "tools.failed")


async def test_a_refusal_of_the_tool_says_what_to_do(alice: Client) -> None:
    assert said(await call(alice, "t_refuse"), is_error=True) == "not so often; try again in 7 seconds"
    late = said(await call(alice, "t_late"), is_error=True)
    assert late.endswith("whether it happened is not known, so look before you call it again")
    missing = said(await call(alice, "notes_read", id="0190f2f4-0000-7000-8000-000000000000"), is_error=True)
    assert "note" in missing


async def test_anothers_note_is_as_missing_as_one_that_never_was(alice: Client, bob: Client, stranger: Client) -> None:
    private = (await bob.post("/api/notes", {"title": "Bob's", "visibility": "private"}))["id"]
    foreign = (await stranger.post("/api/notes", {"title": "Far", "visibility": "team"}))["id"]

    absent = said(await call(alice, "notes_read", id="0190f2f4-0000-7000-8000-000000000000"), is_error=True)

    for id in (private, foreign):
        assert said(await call(alice, "notes_read", id=id), is_error=True) == absent


@pytest.mark.parametrize("revision", REVISIONS)
async def test_no_answer_tells_a_tool_that_is_not_there_from_one_that_is_not_allowed(
    company: Company, admin: Client, revision: str
) -> None:
    scoped = await company.join("admin", scope=["chat:use"])
    await admin.post("/api/tools/t_draw", {"enabled": False})

    answers = [
        await call(scoped, "no_such_tool", revision),
        await call(scoped, "notes_create", revision, title="x", body="x"),
        await call(scoped, "notes_create", revision, nonsense=1),
        await call(scoped, "t_admin", revision),
        await call(admin, "t_draw", revision),
        await call(admin, "no_such_tool", revision),
    ]

    assert len({answer.raw for answer in answers}) == 1
    assert {error_of(answer) for answer in answers} == {(400 if revision == STATELESS else 200, -32602)}
    assert await calls_on_record(admin) == []


@pytest.mark.proof
async def test_a_tool_that_is_not_there_takes_as_long_as_one_that_is_not_allowed(company: Company) -> None:
    scoped = await company.join("admin", scope=["chat:use"])
    taken: dict[str, list[float]] = {"no_such_tool": [], "notes_create": []}

    for _ in range(60):
        for name, seconds in taken.items():
            began = time.perf_counter()
            await call(scoped, name)
            seconds.append(time.perf_counter() - began)

    absent, forbidden = (median(seconds) for seconds in taken.values())
    assert 0.6 < absent / forbidden < 1.7, (absent, forbidden)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"name": 7},
        {"name": None},
        {"name": "t_repeat", "arguments": []},
        {"name": "t_repeat", "arguments": "x"},
    ],
)
async def test_a_call_without_a_name_or_with_other_arguments_is_refused(alice: Client, params: dict[str, Any]) -> None:
    assert error_of(await ask(alice, "tools/call", params)) == (400, -32602)
    assert error_of(await ask(alice, "tools/call", params, NEWEST_HANDSHAKE)) == (200, -32602)


async def test_a_client_that_hangs_up_takes_its_call_back(alice: Client) -> None:
    conftest.BEGUN.clear()
    conftest.ENDED.clear()
    body = message("tools/call", {"name": "t_wait"})
    leaves = asyncio.Event()

    request = asyncio.create_task(_leaving(alice, body, leaves))
    await asyncio.wait_for(conftest.BEGUN.wait(), PATIENCE)
    leaves.set()

    assert await asyncio.wait_for(request, PATIENCE) == 0
    assert conftest.ENDED == ["cancelled"]


async def test_g14_a_call_whose_token_is_revoked_meanwhile_is_told_so(alice: Client, admin: Client) -> None:
    conftest.BEGUN.clear()
    conftest.ENDED.clear()
    token = await admin.post("/api/tokens", {"name": "a machine"})
    machine = replace(admin, token=token["token"])

    request = asyncio.create_task(call(machine, "t_wait"))
    await asyncio.wait_for(conftest.BEGUN.wait(), PATIENCE)
    await admin.delete(f"/api/tokens/{token['id']}")

    answer = await asyncio.wait_for(request, PATIENCE)
    assert (answer.status, answer.code) == (401, "identity.unauthenticated")
    assert conftest.ENDED == ["cancelled"]


async def _leaving(client: Client, body: dict[str, Any], leaves: asyncio.Event) -> int:
    """A request whose client disconnects once told to; the status of the reply, 0 for none."""
    raw = msgspec.json.encode(body)
    scope = client._scope("POST", "/mcp", None, {**headers_of(body, STATELESS), "content-length": str(len(raw))})
    status, sent = 0, False

    async def receive() -> dict[str, Any]:
        nonlocal sent
        if not sent:
            sent = True
            return {"type": "http.request", "body": raw, "more_body": False}
        await leaves.wait()
        return {"type": "http.disconnect"}

    async def send(told: dict[str, Any]) -> None:
        nonlocal status
        status = told.get("status", status)

    await client.app(scope, receive, send)
    return status


async def test_the_same_key_makes_a_call_once(alice: Client) -> None:
    body = message("tools/call", {"name": "notes_create", "arguments": {"title": "Once", "body": ""}})
    sent = headers_of(body, STATELESS) | {"idempotency-key": "one"}

    first, second = [await alice.post("/mcp", body, headers=sent) for _ in range(2)]

    assert first.raw == second.raw
    assert len((await alice.get("/api/notes"))["items"]) == 1
