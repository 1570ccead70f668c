"""A turn outlives its connection: resumed from any process, stopped from any process, settled once however it ends."""

import asyncio
import contextlib
import random
from typing import Any
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.engine.chat import chat_turn
from atrium.engine.turns import active_turn, chores, lost_turns, transcripts, upkeep
from atrium.kit.work.shares import Capacity
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import Company
from tests.support.reader import Reader
from tests.support.speaker import Speaker
from tests.support.spoken_house import reserved, used

ASK = {"prompt": "Tell me"}
LASTING = ASK | {"on_disconnect": "finish"}
WORDS = [f"wörd{number} 🌍" for number in range(40)]


async def state_of(house: Application, turn: str) -> str:
    rows = await run_as_owner(house.services.settings.database_url, "SELECT state FROM turns WHERE id = $1", UUID(turn))
    return str(rows[0]["state"])


async def until(house: Application, turn: str, state: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while await state_of(house, turn) != state:
            await asyncio.sleep(0.02)


async def test_a_reader_who_was_cut_off_goes_on_anywhere(alice: Client, elsewhere: Client, speaker: Speaker) -> None:
    """From every position, here and at another process, during the turn and after it: the texts join to what the model said."""
    reader = await Reader(alice, LASTING).open()
    line = await speaker.line()
    line.think("hm, ", "well")
    line.say(*WORDS[:20])
    await reader.heard("".join(WORDS[:20]))
    reader.leave()
    await asyncio.sleep(1.3)

    marks = random.Random(6).sample(reader.events, 6)
    readers = [
        await Reader(person, headers={"last-event-id": mark.id}).open()
        for mark in marks
        for person in (alice, elsewhere)
    ]
    whole = [await Reader(person, {"resume": reader.turn}).open() for person in (alice, elsewhere)]
    line.say(*WORDS[20:])
    line.finish(usage=(5, 42))
    for one in (*readers, *whole):
        assert (await one.ended()).name == "done"
    later = await Reader(elsewhere, headers={"last-event-id": marks[0].id}).open()
    await later.ended()

    said = [*(("thinking", word) for word in ("hm, ", "well")), *(("text", word) for word in WORDS)]
    everything = "".join(word for _, word in said)
    for mark, one in zip([mark for mark in marks for _ in "12"] + [marks[0]], [*readers, later], strict=True):
        assert one.thinking + one.text == everything[mark.position :]
        assert one.events[-1].data["text"] == "".join(WORDS)
    for one in whole:
        assert (one.events[0].name, one.thinking, one.text) == ("start", "hm, well", "".join(WORDS))
    assert (await used(alice))["ai.requests"] == 1
    assert speaker.lines.empty()


async def test_a_turn_stops_with_its_reader_unless_it_was_told_to_finish(
    spoken_house: Application, alice: Client, speaker: Speaker
) -> None:
    reader, lasting = await Reader(alice, ASK).open(), await Reader(alice, LASTING).open()
    lines = [await speaker.line() for _ in range(2)]
    for line in lines:
        line.say("one ", "two")
    for one in (reader, lasting):
        await one.heard("one two")
        one.leave()
    await asyncio.wait_for(lines[0].hung_up.wait(), PATIENCE)
    await until(spoken_house, reader.turn, "stopped")

    assert not lines[1].hung_up.is_set()
    lines[1].say(" three")
    lines[1].finish(usage=(3, 3))
    await until(spoken_house, lasting.turn, "finished")
    again = await Reader(alice, {"resume": lasting.turn}).open()
    assert (await again.ended()).data["text"] == "one two three"
    assert await reserved(alice) == 0


@pytest.mark.parametrize("where", ["here", "elsewhere"])
async def test_stopping_hangs_up_within_a_second_and_pays_what_was_said(
    alice: Client, elsewhere: Client, speaker: Speaker, where: str
) -> None:
    reader = await Reader(alice, LASTING).open()
    line = await speaker.line()
    line.say("one ", "two")
    await reader.heard("one two")
    person = alice if where == "here" else elsewhere

    stopping = asyncio.ensure_future(person.post("/api/ai/chat/stream", {"stop": reader.turn}))
    await asyncio.wait_for(line.hung_up.wait(), PATIENCE)
    stopped, last = await stopping, await reader.ended()
    again = await person.post("/api/ai/chat/stream", {"stop": reader.turn})

    assert (stopped.status, stopped["state"], stopped["text"]) == (200, "stopped", "one two")
    assert (last.name, last.data["finish"], last.data["text"]) == ("done", "stopped", "one two")
    assert again.body == stopped.body
    assert stopped["usage"] == last.data["usage"]
    spent = await used(alice)
    assert (spent["ai.requests"], spent["ai.tokens.total"]) == (1, stopped["usage"]["total_tokens"])
    assert stopped["usage"]["completion_tokens"] >= 2
    assert await reserved(alice) == 0


async def test_stopping_before_the_first_word_costs_nothing(alice: Client, speaker: Speaker) -> None:
    reader = await Reader(alice, LASTING).open()
    await speaker.line()
    stopped = await alice.post("/api/ai/chat/stream", {"stop": reader.turn})

    assert (stopped["state"], stopped["text"], stopped["usage"]["total_tokens"]) == ("stopped", "", 0)
    spent = await used(alice)
    assert (spent["ai.requests"], spent["ai.tokens.total"], await reserved(alice)) == (0, 0, 0)


async def test_what_a_model_tells_with_its_pieces_is_what_is_paid(alice: Client, speaker: Speaker) -> None:
    reader = await Reader(alice, LASTING).open()
    line = await speaker.line()
    line.say("a", timings={"prompt_n": 4, "cache_n": 7, "predicted_n": 1})
    line.say("b c d", timings={"prompt_n": 4, "cache_n": 7, "predicted_n": 29})
    await reader.heard("ab c d")
    stopped = await alice.post("/api/ai/chat/stream", {"stop": reader.turn})

    assert stopped["usage"] == {"prompt_tokens": 11, "completion_tokens": 29, "total_tokens": 40, "exact": True}


async def test_a_zero_that_is_reported_is_a_zero(alice: Client, speaker: Speaker) -> None:
    reader = await Reader(alice, LASTING).open()
    line = await speaker.line()
    line.say("free words")
    line.finish(usage=(0, 0))

    assert (await reader.ended()).data["usage"]["total_tokens"] == 0
    spent = await used(alice)
    assert (spent["ai.requests"], spent["ai.tokens.total"]) == (1, 0)


async def test_the_same_key_joins_the_turn_that_runs(alice: Client, elsewhere: Client, speaker: Speaker) -> None:
    before, headers = speaker.count, {"idempotency-key": "ask-once"}
    readers = [await Reader(person, LASTING, headers).open() for person in (alice, alice, elsewhere)]
    line = await speaker.line()
    other = await alice.post("/api/ai/chat/stream", LASTING | {"prompt": "Something else"}, headers=headers)
    line.say(*WORDS[:5])
    line.finish(usage=(3, 5))
    for reader in readers:
        await reader.ended()
    later = await Reader(elsewhere, LASTING, headers).open()
    await later.ended()

    assert {reader.turn for reader in (*readers, later)} == {readers[0].turn}
    assert {reader.text for reader in (*readers, later)} == {"".join(WORDS[:5])}
    assert (other.status, other.code, speaker.count) == (409, "idempotency.reused", before + 1)
    assert (await used(alice))["ai.requests"] == 1


async def test_a_key_gives_a_narrow_token_nothing_that_a_session_was_answered(
    company: Company, spoken_house: Application, speaker: Speaker
) -> None:
    person = await company.join("owner")
    made = await person.post("/api/tokens", {"name": "narrow", "scope": ["chat:use"]})
    narrow, headers = Client(spoken_house.app, made["token"]), {"idempotency-key": "wide"}
    reader = await Reader(person, LASTING, headers).open()
    line = await speaker.line()
    line.say("for the session")
    line.finish()
    await reader.ended()

    for path, body in (("/api/ai/chat/stream", LASTING), ("/api/ai/chat", ASK)):
        refused = await narrow.post(path, body, headers=headers)
        assert (refused.status, refused.code) == (409, "idempotency.reused")


async def test_two_who_come_with_one_key_at_once_ask_once(alice: Client, elsewhere: Client, speaker: Speaker) -> None:
    before, headers = speaker.count, {"idempotency-key": "race"}
    asking = [
        asyncio.ensure_future(person.post("/api/ai/chat", ASK, headers=headers)) for person in (alice, elsewhere) * 4
    ]
    line = await speaker.line()
    line.say("once")
    line.finish(usage=(3, 1))
    replies = await asyncio.gather(*asking)

    assert {reply.status for reply in replies} == {200}
    assert {reply["text"] for reply in replies} == {"once"}
    assert len({reply["id"] for reply in replies}) == 1
    assert speaker.count == before + 1
    assert (await used(alice))["ai.requests"] == 1
    assert await reserved(alice) == 0


async def test_a_reply_that_takes_long_is_waited_for(
    alice: Client, speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream that no client begins to read is given up; a chat has no stream, and is not."""
    monkeypatch.setattr(active_turn, "_BEGIN_SECONDS", 1.0)
    asking = asyncio.ensure_future(alice.post("/api/ai/chat", ASK))
    reader = await Reader(alice, ASK).open()
    lines = [await speaker.line() for _ in range(2)]
    await asyncio.sleep(1.5)
    for line in lines:
        line.say("late ", "but there")
        line.finish(usage=(3, 2))

    assert (await asking)["text"] == "late but there"
    assert (await reader.ended()).data["text"] == "late but there"


async def test_a_stream_that_is_never_read_is_given_up(
    alice: Client, speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(active_turn, "_BEGIN_SECONDS", 0.2)

    async def broken(message: dict[str, Any]) -> None:
        raise ConnectionResetError

    raw = b'{"prompt": "Well?"}'
    received: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    received.put_nowait({"type": "http.request", "body": raw, "more_body": False})
    scope = alice._scope("POST", "/api/ai/chat/stream", None, {"content-length": str(len(raw))})
    with contextlib.suppress(ConnectionResetError):
        await alice.app(scope, received.get, broken)
    line = await speaker.line()

    await asyncio.wait_for(line.hung_up.wait(), PATIENCE)


async def test_a_chat_without_a_key_stops_when_its_caller_leaves(alice: Client, speaker: Speaker) -> None:
    scope = alice._scope("POST", "/api/ai/chat", None, {"content-length": "19"})
    received: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    sent: list[dict[str, Any]] = []
    received.put_nowait({"type": "http.request", "body": b'{"prompt": "Well?"}', "more_body": False})

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    calling = asyncio.ensure_future(alice.app(scope, received.get, send))
    line = await speaker.line()
    line.say("words for nobody")
    await asyncio.sleep(0.1)
    received.put_nowait({"type": "http.disconnect"})
    await asyncio.wait_for(line.hung_up.wait(), PATIENCE)
    await asyncio.wait_for(calling, PATIENCE)

    assert not sent
    async with asyncio.timeout(PATIENCE):
        while (await used(alice))["ai.requests"] != 1:
            await asyncio.sleep(0.02)


async def test_a_slow_reader_is_cut_off_and_slows_nobody(
    alice: Client, speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcripts, "MOST_WAITING", 4096)
    reader, slow = await Reader(alice, LASTING).open(), Reader(alice, None)
    line = await speaker.line()
    line.say("begin ")
    await reader.heard("begin ")
    blocked = asyncio.Event()

    async def send(message: dict[str, Any]) -> None:
        await Reader._send(slow, message)
        if message["type"] == "http.response.body":
            await blocked.wait()

    slow._received.put_nowait({"type": "http.request", "body": b"", "more_body": False})
    scope = alice._scope("POST", "/api/ai/chat/stream", None, {"last-event-id": f"{reader.turn}.0"})
    slow.task = asyncio.ensure_future(alice.app(scope, slow._received.get, send))
    await slow.heard("begin ")
    for _ in range(40):
        line.say("x" * 400)
        await asyncio.sleep(0.01)
    line.finish(usage=(3, 41))
    last = await reader.ended()
    blocked.set()
    await asyncio.wait_for(slow.task, PATIENCE)
    resumed = await Reader(alice, headers={"last-event-id": f"{reader.turn}.{len(slow.text)}"}).open()
    await resumed.ended()

    assert last.name == "done"
    assert len(reader.text) == 16_006
    assert {event.name for event in slow.events} == {"delta"}
    assert slow.text + resumed.text == reader.text


async def test_a_stream_ends_with_its_credential_and_its_turn_with_it(
    company: Company, houses: list[Application], speaker: Speaker
) -> None:
    admin, person = await company.join("owner", org_role="org_owner"), await company.join("owner")
    token = await person.post("/api/tokens", {"name": "t", "scope": ["chat:use"]})
    narrow = Client(houses[0].app, token["token"], person.user_id)
    revoked, removed = await Reader(narrow, ASK).open(), await Reader(person, LASTING).open()
    lines = [await speaker.line() for _ in range(2)]
    for line in lines:
        line.say("hello")
    await revoked.heard("hello")
    assert (await person.delete(f"/api/tokens/{token['id']}")).status in (200, 204)
    await asyncio.wait_for(lines[0].hung_up.wait(), PATIENCE)
    left = await admin.delete(f"/api/members/{person.user_id}")
    assert left.status == 200, left.body
    await asyncio.wait_for(lines[1].hung_up.wait(), PATIENCE)

    assert revoked.task is not None
    assert removed.task is not None
    await asyncio.wait_for(asyncio.gather(revoked.task, removed.task), PATIENCE)


@pytest.mark.parametrize("ends", ["asked", "resumed", "agent"])
async def test_e17_a_stream_whose_credential_ends_says_so(
    company: Company, houses: list[Application], speaker: Speaker, ends: str
) -> None:
    person = await company.join("owner")
    token = await person.post("/api/tokens", {"name": "t", "scope": ["chat:use"]})
    narrow = Client(houses[0].app, token["token"], person.user_id)
    path = "/api/agent" if ends == "agent" else "/api/ai/chat/stream"
    reader = await Reader(narrow, LASTING | ({"stream": True} if ends == "agent" else {}), path=path).open()
    line = await speaker.line()
    line.say("hello")
    await reader.heard("hello")
    if ends == "resumed":
        reader = await Reader(narrow, {"resume": reader.turn}).open()
        await reader.heard("hello")

    await person.delete(f"/api/tokens/{token['id']}")

    last = await reader.ended()
    assert (last.name, last.data["code"], last.data["status"]) == ("error", "identity.credential_ended", 401)
    assert last.id == ""
    assert not line.hung_up.is_set()


async def test_turns_of_a_dead_process_are_paid_once_and_serve_what_was_stored(
    houses: list[Application], alice: Client, elsewhere: Client, speaker: Speaker
) -> None:
    url = houses[0].services.settings.database_url
    reader, silent = await Reader(alice, LASTING).open(), await Reader(alice, LASTING).open()
    lines = [await speaker.line() for _ in range(2)]
    lines[0].say(*WORDS[:4])
    await reader.heard("".join(WORDS[:4]))
    await upkeep.store_pieces(houses[0].services)
    # As if the process that asks had died a minute ago: nothing it says counts any more.
    dead = UUID(int=7)
    await run_as_owner(url, "UPDATE turns SET process_id = $1 WHERE state = 'running'", dead)
    await run_as_owner(url, "UPDATE turn_processes SET steady_since = now() - interval '1 minute'")
    following = await Reader(elsewhere, {"resume": reader.turn}).open()
    await asyncio.gather(*(lost_turns.settle_lost(house.services) for house in houses for _ in range(2)))
    last = await following.ended()

    assert (last.name, last.data["code"], last.data["text"]) == ("error", "ai.interrupted", "".join(WORDS[:4]))
    assert following.text == "".join(WORDS[:4])
    assert await state_of(houses[0], silent.turn) == "interrupted"
    spent = await used(alice)
    assert (spent["ai.requests"], spent["ai.tokens.total"]) == (1, last.data["usage"]["total_tokens"])
    # The process was not dead after all: what it says now is neither stored twice nor paid again.
    lines[0].finish(usage=(1000, 1000))
    lines[1].finish(usage=(1000, 1000))
    late = await reader.ended()
    await silent.ended()
    assert late.data["code"] == "ai.interrupted"
    assert (await used(alice))["ai.tokens.total"] == spent["ai.tokens.total"]
    assert await reserved(alice) == 0


async def test_a_process_that_is_seen_keeps_its_turns(
    houses: list[Application], alice: Client, speaker: Speaker
) -> None:
    url = houses[0].services.settings.database_url
    reader = await Reader(alice, LASTING).open()
    line = await speaker.line()
    # After a gap in PostgreSQL's own time everybody looks silent, and nobody is judged before having been steady.
    await run_as_owner(url, "UPDATE turn_processes SET seen_at = now() - interval '1 minute', steady_since = now()")
    assert await lost_turns.settle_lost(houses[1].services) == 0
    await upkeep.store_pieces(houses[0].services)
    await run_as_owner(url, "UPDATE turn_processes SET steady_since = now() - interval '1 minute'")
    assert await lost_turns.settle_lost(houses[1].services) == 0
    line.say("alive")
    line.finish()
    assert (await reader.ended()).name == "done"


async def test_a_settlement_that_fails_is_tried_until_it_lands(
    alice: Client, speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, failures = chat_turn.ChatTurn._settle_within, 3

    async def failing(self: Any, *arguments: Any) -> Any:
        nonlocal failures
        failures -= 1
        if failures >= 0:
            raise ConnectionResetError("PostgreSQL is gone")
        return await whole(self, *arguments)

    monkeypatch.setattr(chat_turn.ChatTurn, "_settle_within", failing)
    reader = await Reader(alice, LASTING).open()
    line = await speaker.line()
    line.say("kept")
    line.finish(usage=(4, 1))

    assert (await reader.ended()).data["text"] == "kept"
    assert failures == -1
    spent = await used(alice)
    assert (spent["ai.requests"], spent["ai.tokens.total"], await reserved(alice)) == (1, 5, 0)


async def test_a_stop_that_comes_while_the_end_is_counted_loses_nothing(
    alice: Client, speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting, counted = asyncio.Event(), active_turn.ModelCall.usage

    async def slowly(self: Any, *arguments: Any) -> Any:
        counting.set()
        await asyncio.sleep(0.3)
        return await counted(self, *arguments)

    monkeypatch.setattr(active_turn.ModelCall, "usage", slowly)
    reader = await Reader(alice, LASTING).open()
    line = await speaker.line()
    line.say("cut")
    await reader.heard("cut")
    line.die()
    await counting.wait()
    stopped = await alice.post("/api/ai/chat/stream", {"stop": reader.turn})

    assert (stopped["state"], stopped["text"]) == ("failed", "cut")
    assert (await reader.ended()).name == "error"
    assert await reserved(alice) == 0


async def test_a_defect_in_the_end_settles_the_turn_all_the_same(
    alice: Client, speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*arguments: Any) -> Any:
        raise RuntimeError("a defect")

    monkeypatch.setattr(chat_turn, "end_of_reply", broken)
    reader = await Reader(alice, LASTING).open()
    line = await speaker.line()
    line.say("said")
    line.finish(usage=(2, 1))

    assert (await reader.ended()).data["text"] == "said"
    assert await reserved(alice) == 0


async def test_one_more_stream_than_a_process_carries_is_told_so(
    houses: list[Application], alice: Client, speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = houses[0].services.turns
    monkeypatch.setattr(turns, "capacity", Capacity(0))
    refused = await alice.post("/api/ai/chat/stream", ASK)
    assert (refused.status, refused.code) == (503, "ai.busy")
    assert "retry-after" in refused.headers


async def test_readers_of_one_reply_are_bounded(alice: Client, elsewhere: Client, speaker: Speaker) -> None:
    reader = await Reader(alice, LASTING).open()
    line = await speaker.line()
    readers = [await Reader(alice, {"resume": reader.turn}).open() for _ in range(19)]
    foreign = await Reader(elsewhere, {"resume": reader.turn}).open()
    refused = await alice.post("/api/ai/chat/stream", {"resume": reader.turn})
    line.say("all of you")
    line.finish()
    for one in (reader, *readers, foreign):
        assert (await one.ended()).data["text"] == "all of you"
    assert (refused.status, refused.code) == (503, "ai.busy")
    assert len(elsewhere.app._services.turns.capacity) == 0


async def test_old_turns_are_forgotten_with_their_words(
    houses: list[Application], alice: Client, speaker: Speaker
) -> None:
    url = houses[0].services.settings.database_url
    reader = await Reader(alice, LASTING).open()
    line = await speaker.line()
    line.say("soon forgotten")
    line.finish()
    await reader.ended()
    await run_as_owner(url, "UPDATE turns SET ended_at = now() - interval '25 hours' WHERE id = $1", UUID(reader.turn))
    await chores.TURNS.run(houses[0].services)

    gone = await alice.post("/api/ai/chat/stream", {"resume": reader.turn})
    pieces = await run_as_owner(url, "SELECT FROM turn_pieces WHERE turn_id = $1", UUID(reader.turn))
    assert (gone.status, gone.code, pieces) == (404, "ai.turn_missing", [])
