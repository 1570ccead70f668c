"""POST /api/ai/chat and its stream over HTTP: what is told, what it costs, what is refused."""

import asyncio
import base64
import re
from collections.abc import Iterator
from typing import Any

import pytest

from atrium.boot.assemble import Application
from atrium.engine.chat import message_parts
from atrium.engine.extraction import service as extraction
from atrium.engine.extraction.text_process import Extracted
from atrium.kit.postgres.notify import wait_for
from tests.support.client import Answer, Client
from tests.support.patience import PATIENCE
from tests.support.people import Company, found_company
from tests.support.reader import Reader
from tests.support.speaker import Speaker
from tests.support.spoken_house import reserved, used

ASK = {"prompt": "Who?"}
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 40
SCHEMA = {
    "type": "object",
    "properties": {"age": {"type": "integer"}},
    "required": ["age"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "age", "schema": SCHEMA}}


async def answered(person: Client, speaker: Speaker, *words: str, **more: Any) -> Answer:
    """A whole turn in which the model says this."""
    asking = asyncio.ensure_future(person.post("/api/ai/chat", ASK | more))
    line = await speaker.line()
    line.say(*words)
    line.finish(usage=(7, len(words)))
    return await asking


async def test_a_chat_answers_with_the_reply_and_what_it_cost(alice: Client, speaker: Speaker) -> None:
    asking = asyncio.ensure_future(
        alice.post("/api/ai/chat", ASK | {"messages": [{"role": "system", "content": "Short."}]})
    )
    line = await speaker.line()
    line.think("hm")
    line.say("Ada ", "Lovelace")
    line.finish(usage=(7, 3))
    reply = await asking

    assert reply.status == 200, reply.body
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10, "exact": True}
    told = {name: reply[name] for name in ("text", "thinking", "finish", "usage", "executor", "simulated")}
    assert told == {
        "text": "Ada Lovelace", "thinking": "hm", "finish": "stop", "usage": usage, "executor": "local", "simulated": False,
    }  # fmt: skip
    assert [message["role"] for message in line.asked["messages"]] == ["system", "user"]
    spent = await used(alice)
    assert (spent["ai.requests"], spent["ai.tokens.total"], await reserved(alice)) == (1, 10, 0)


async def test_a_stream_begins_before_the_model_answers_and_ends_once(alice: Client, speaker: Speaker) -> None:
    reader = await Reader(alice, ASK).open()
    line = await speaker.line()
    await reader._until(lambda: len(reader.events) == 1)
    start = reader.events[0]
    line.think("let me see")
    line.say("Grüße\n🌍", " you")
    line.finish(usage=(5, 4))
    last = await reader.ended()

    assert (start.name, start.position) == ("start", 0)
    assert set(start.data) == {"id", "executor", "model", "simulated"}
    assert (reader.text, reader.thinking) == ("Grüße\n🌍 you", "let me see")
    assert [event.name for event in reader.events].count("done") == 1
    assert last.name == "done"
    assert last.data["text"] == "Grüße\n🌍 you"
    assert last.data["usage"]["total_tokens"] == 9
    positions = [event.position for event in reader.events]
    assert positions == sorted(set(positions))


async def test_a_format_is_judged_and_never_repaired(alice: Client, speaker: Speaker) -> None:
    right = await answered(alice, speaker, '{"age"', ": 36}", response_format=FORMAT)
    wrong = await answered(alice, speaker, '```json\n{"age": 36}\n```', response_format=FORMAT)

    assert (right.status, right["parsed"]) == (200, {"age": 36})
    assert (wrong.status, wrong.code) == (502, "ai.format_refused")
    assert wrong["text"].startswith("```")
    assert wrong["usage"]["total_tokens"] == 8
    assert wrong["errors"][0]["message"]

    reader = await Reader(alice, ASK | {"response_format": FORMAT}).open()
    line = await speaker.line()
    line.say('{"age": "old"}')
    line.finish(usage=(7, 1))
    last = await reader.ended()
    assert last.name == "done"
    assert "parsed" not in last.data
    assert last.data["schema_error"]["message"]


async def test_a_model_that_refuses_or_dies_is_502_with_what_it_said(alice: Client, speaker: Speaker) -> None:
    speaker.refusal = 400
    try:
        refused = await alice.post("/api/ai/chat", ASK)
    finally:
        speaker.refusal = None
    asking = asyncio.ensure_future(alice.post("/api/ai/chat", ASK))
    line = await speaker.line()
    line.say("half an ans")
    await asyncio.sleep(0.2)
    line.die()
    broken = await asking

    assert (refused.status, refused.code) == (502, "models.refused")
    assert (broken.status, broken.code, broken["text"]) == (502, "models.unavailable", "half an ans")
    assert broken["usage"]["exact"] is False
    assert broken["usage"]["completion_tokens"] >= 1
    spent = await used(alice)
    # The refused one said nothing and costs nothing, not even a request.
    assert spent["ai.requests"] == 1
    assert spent["ai.tokens.total"] == broken["usage"]["total_tokens"]


async def test_a_turn_past_its_limit_is_hung_up_on_and_pays_no_more_than_was_reserved(
    alice: Client, speaker: Speaker
) -> None:
    asking = asyncio.ensure_future(alice.post("/api/ai/chat", ASK | {"max_tokens": 3}))
    line = await speaker.line()
    line.say(*"abcdef")
    reply = await asking
    await asyncio.wait_for(line.hung_up.wait(), PATIENCE)

    assert (reply["finish"], reply["usage"]["exact"]) == ("length", False)
    assert 3 <= reply["usage"]["completion_tokens"] <= 3 + 20


async def test_a_quota_refuses_before_the_model_is_asked(company: Company, alice: Client, speaker: Speaker) -> None:
    operator = await company.join("owner", operator=True)
    limited = {"dimension": "ai.tokens.total", "limit": 500, "window": "day"}
    assert (await operator.post("/api/quota", limited)).status == 200
    before = speaker.count

    refused = await alice.post("/api/ai/chat", ASK)
    streamed = await Reader(alice, ASK).open()
    smaller = await answered(alice, speaker, "ok", max_tokens=50)

    assert (refused.status, streamed.status, smaller.status) == (429, 429, 200)
    assert refused["remaining"] == 500
    assert speaker.count == before + 1


@pytest.mark.parametrize(
    ("part", "code"),
    [
        ({"type": "image_url", "image_url": {"url": "http://169.254.169.254/latest"}}, "ai.remote_part"),
        ({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}, "ai.remote_part"),
        ({"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}, "ai.remote_part"),
        ({"type": "image_url", "image_url": {"url": "data:text/html;base64,PGI+"}}, "ai.bad_part"),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,PGI+"}}, "ai.bad_part"),
        ({"type": "image_url", "image_url": {"url": "//example.com/a.png"}}, "ai.remote_part"),
        ({"type": "audio", "url": "x"}, "request.invalid"),
        ({"type": "text", "text": "x", "url": "http://example.com"}, "request.invalid"),
    ],
)  # fmt: skip
async def test_no_part_names_an_address_that_somebody_would_fetch(
    alice: Client, speaker: Speaker, part: dict[str, Any], code: str
) -> None:
    before = speaker.count
    refused = await alice.post("/api/ai/chat", {"prompt": [part]})
    assert (refused.status, refused.code, speaker.count) == (400, code, before)


async def test_pictures_and_files_go_along_with_the_callers_rights(
    company: Company, alice: Client, speaker: Speaker
) -> None:
    bob = await company.join()
    picture = (await alice.put("/api/repo/p.png", PNG, headers={"content-type": "image/png"}))["id"]
    url = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    parts = [
        {"type": "text", "text": "See"},
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "file", "object_id": picture},
    ]

    hidden = await bob.post("/api/ai/chat", {"prompt": parts})
    asking = asyncio.ensure_future(alice.post("/api/ai/chat", {"prompt": parts}))
    line = await speaker.line()
    line.say("a picture")
    line.finish()

    assert (await asking).status == 200
    assert (hidden.status, hidden.code) == (404, "repository.missing")
    sent = line.asked["messages"][-1]["content"]
    assert sent[1] == sent[2] == {"type": "image_url", "image_url": {"url": url}}


@pytest.mark.parametrize("named", [1, "1", None], ids=["a number", "a number in words", "an id"])
async def test_e21_a_version_of_a_file_is_named_by_number_or_id(
    alice: Client, speaker: Speaker, named: int | str | None
) -> None:
    first = await alice.put("/api/repo/two.png", PNG + b"first", headers={"content-type": "image/png"})
    await alice.put("/api/repo/two.png", PNG + b"second", headers={"content-type": "image/png"})

    part = {"type": "file", "object_id": first["id"], "version": named or first["version"]["id"]}
    asking = asyncio.ensure_future(alice.post("/api/ai/chat", {"prompt": [part]}))
    line = await speaker.line()
    line.say("a picture")
    line.finish()

    assert (await asking).status == 200
    [sent] = line.asked["messages"][-1]["content"]
    assert base64.b64decode(sent["image_url"]["url"].partition(",")[2]) == PNG + b"first"


@pytest.fixture
def read_at_last(monkeypatch: pytest.MonkeyPatch) -> Iterator[asyncio.Event]:
    """Documents are read as soon as this is set."""
    told = asyncio.Event()

    async def extract(*_: Any) -> Extracted:
        await told.wait()
        return Extracted("Forty reefers.", truncated=False)

    monkeypatch.setattr(extraction, "extract", extract)
    yield told
    told.set()


async def _reefers(person: Client) -> dict[str, Any]:
    """A part that names a document, which was just uploaded."""
    made = await person.put("/api/repo/reefers.pdf", b"%PDF-1.7", headers={"content-type": "application/pdf"})
    return {"type": "file", "object_id": made["id"]}


async def test_e21_a_turn_waits_for_the_text_of_its_file(
    alice: Client, speaker: Speaker, read_at_last: asyncio.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = asyncio.Event()

    async def waited_for(event: asyncio.Event, seconds: float) -> bool:
        waits.set()
        return await wait_for(event, seconds)

    monkeypatch.setattr(message_parts, "wait_for", waited_for)
    # Longer than anything here is waited for: what ends it is the word that the text is there.
    monkeypatch.setattr(message_parts, "PATIENCE", 10 * PATIENCE)

    asking = asyncio.ensure_future(alice.post("/api/ai/chat", {"prompt": [await _reefers(alice)]}))
    await asyncio.wait_for(waits.wait(), PATIENCE)
    read_at_last.set()
    line = await speaker.line()
    line.say("Forty.")
    line.finish()

    assert ((await asking).status, (await asking)["text"]) == (200, "Forty.")
    assert "Forty reefers." in line.asked["messages"][-1]["content"][0]["text"]


@pytest.mark.parametrize("path", ["/api/ai/chat", "/api/ai/chat/stream", "/api/agent"])
async def test_e21_a_text_that_is_not_read_in_time_is_told_before_the_model_is_asked(
    alice: Client, speaker: Speaker, read_at_last: asyncio.Event, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(message_parts, "PATIENCE", 0.0)
    before = speaker.count

    refused = await alice.post(path, {"prompt": [await _reefers(alice)]})

    assert (refused.status, refused.code, refused["retry_after"]) == (409, "ai.text_pending", 2)
    assert (speaker.count, await reserved(alice)) == (before, 0)


async def test_naming_another_machine_needs_the_instance(company: Company, alice: Client, speaker: Speaker) -> None:
    same = await answered(alice, speaker, "ok", executor="local")
    other = await alice.post("/api/ai/chat", ASK | {"executor": "gpu"})

    assert same.status == 200
    assert other.status in (403, 404)


async def test_the_model_of_chats_is_told(alice: Client) -> None:
    found = await alice.get("/api/ai/model")
    assert (found["executor"], found["mode"], found["simulated"]) == ("local", "local", False)


async def test_a_conversation_keeps_question_and_answer(alice: Client, speaker: Speaker, company: Company) -> None:
    first = await answered(alice, speaker, "Ada", conversation="new")
    id = first["conversation"]
    asking = asyncio.ensure_future(alice.post("/api/ai/chat", {"prompt": "And then?", "conversation": id}))
    line = await speaker.line()
    busy = await alice.post("/api/ai/chat", {"prompt": "Now!", "conversation": id})
    line.say("Babbage")
    line.finish()
    second = await asking
    stored = (await alice.get(f"/api/repo-obj/{id}/content")).body
    shown = await alice.get(f"/api/repo-obj/{id}")
    bob = await company.join()
    foreign = await bob.post("/api/ai/chat", {"prompt": "Hi", "conversation": id})

    assert second.status == 200
    assert (busy.status, busy.code) == (409, "ai.conversation_busy")
    assert [message["content"] for message in line.asked["messages"]] == ["Who?", "Ada", "And then?"]
    assert [(message["role"], message["content"]) for message in stored["messages"]] == [
        ("user", "Who?"), ("assistant", "Ada"), ("user", "And then?"), ("assistant", "Babbage"),
    ]  # fmt: skip
    assert (shown["visibility"], shown["content_type"]) == ("private", "application/vnd.atrium.chat+json")
    assert re.fullmatch(r"chats/[0-9a-f-]{36}\.json", shown["key"])
    assert foreign.status == 404


async def test_a_conversation_goes_on_without_a_file_that_is_gone(alice: Client, speaker: Speaker) -> None:
    picture = (await alice.put("/api/repo/q.png", PNG, headers={"content-type": "image/png"}))["id"]
    parts = [{"type": "text", "text": "See"}, {"type": "file", "object_id": picture}]
    first = await answered(alice, speaker, "A berth", prompt=parts, conversation="new")
    assert (await alice.delete(f"/api/repo-obj/{picture}")).status == 200
    asking = asyncio.ensure_future(
        alice.post("/api/ai/chat", {"prompt": "And?", "conversation": first["conversation"]})
    )
    line = await speaker.line()
    line.say("Another")
    line.finish()

    assert (await asking).status == 200
    assert "cannot be read" in line.asked["messages"][0]["content"][1]["text"]
    gone = await alice.post("/api/ai/chat", {"prompt": parts})
    assert (gone.status, gone.code) == (404, "repository.missing")


async def test_a_conversation_that_is_gone_keeps_nobody_from_being_answered(alice: Client, speaker: Speaker) -> None:
    first = await answered(alice, speaker, "Ada", conversation="new")
    asking = asyncio.ensure_future(
        alice.post("/api/ai/chat", {"prompt": "And?", "conversation": first["conversation"]})
    )
    line = await speaker.line()
    assert (await alice.delete(f"/api/repo-obj/{first['conversation']}")).status == 200
    line.say("Babbage")
    line.finish()

    reply = await asking
    assert (reply.status, reply["text"], await reserved(alice)) == (200, "Babbage", 0)


async def test_a_turn_belongs_to_whom_asked(company: Company, alice: Client, houses: list[Application]) -> None:
    colleague, admin = await company.join(), await company.join("owner", org_role="org_owner", operator=True)
    stranger = await (await found_company(houses[0])).join("owner", org_role="org_owner")
    reader = await Reader(alice, ASK | {"on_disconnect": "finish"}).open()
    try:
        for other in (colleague, admin, stranger):
            at_home = [other, Client(houses[1].app, other.token)]
            for person in at_home:
                for body in ({"resume": reader.turn}, {"stop": reader.turn}):
                    refused = await person.post("/api/ai/chat/stream", body)
                    assert (refused.status, refused.code) == (404, "ai.turn_missing")
                tried = await person.post("/api/ai/chat/stream", headers={"last-event-id": f"{reader.turn}.0"})
                assert (tried.status, tried.code) == (404, "ai.turn_missing")
    finally:
        await alice.post("/api/ai/chat/stream", {"stop": reader.turn})


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ({}, {}),
        ({"prompt": "a", "stop": "0197a0b0-0000-7000-8000-000000000000"}, {}),
        ({"resume": "0197a0b0-0000-7000-8000-000000000000", "stop": "0197a0b0-0000-7000-8000-000000000000"}, {}),
        ({"prompt": "a", "max_tokens": 0}, {}),
        ({"prompt": []}, {}),
        ({"prompt": "a", "conversation": "old"}, {}),
        ({"prompt": "a"}, {"idempotency-key": "x" * 300}),
    ],
)
async def test_what_is_not_a_request_is_refused(alice: Client, body: Any, headers: dict[str, str]) -> None:
    refused = await alice.post("/api/ai/chat/stream", body, headers=headers)
    assert (refused.status, refused.code) == (400, "request.invalid")


@pytest.mark.parametrize(
    "id", ["1", "x.1", "0197a0b0-0000-7000-8000-000000000000", "0197a0b0-0000-7000-8000-000000000000.x"]
)
async def test_a_last_event_that_is_none_is_missing(alice: Client, id: str) -> None:
    refused = await alice.post("/api/ai/chat/stream", headers={"last-event-id": id})
    assert (refused.status, refused.code) == (404, "ai.turn_missing")


async def test_an_answer_under_way_is_found_from_its_conversation_by_its_owner_alone(
    alice: Client, elsewhere: Client, company: Company, speaker: Speaker
) -> None:
    reader = await Reader(alice, {"prompt": "Count slowly", "conversation": "new"}).open()
    line = await speaker.line()
    while line.asked["messages"][-1]["content"] != "Count slowly":
        # A question of an earlier test, left without an answer.
        line = await speaker.line()
    id = reader.events[0].data["conversation"]
    bob = await company.join()

    during = await elsewhere.get(f"/api/ai/model?conversation={id}")
    theirs = await bob.get(f"/api/ai/model?conversation={id}")
    line.finish()
    await reader.ended()
    after = await elsewhere.get(f"/api/ai/model?conversation={id}")

    assert during["turn"] == {"id": reader.turn, "state": "running", "agent": False, "question": None}
    assert (theirs["turn"], after["turn"]) == (None, None)
