"""The port against llama.cpp's own server, with a real tokenizer, template, grammar and tool parser behind it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from atrium.engine.inference.estimates import Estimator
from atrium.engine.inference.wire import Machine, OpenAIWire
from atrium.kit.ids import NIL
from atrium.kit.web.outbound import Client, Outbound
from atrium.kit.work.compute import ComputePool
from atrium.seams.models import (
    Done,
    Message,
    ModelRefused,
    ModelUnavailable,
    ResponseFormat,
    TextPiece,
    ThinkingPiece,
    Turn,
    complete,
)
from tests.support.llama import KEY, NAME, Llama, llama_serving
from tests.support.patience import PATIENCE

ESTIMATOR = Estimator(ComputePool(1), NIL)

HELLO = [Message("user", "Hello")]
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 8}, "known": {"type": "boolean"}},
    "required": ["name", "known"],
    "additionalProperties": False,
}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LONG = {"type": "array", "items": {"type": "boolean"}, "minItems": 600, "maxItems": 700}


def tool(**text: int) -> dict[str, Any]:
    """One tool, whose only argument is a text of such a length."""
    parameters = {
        "type": "object",
        "properties": {"text": {"type": "string", **text}},
        "required": ["text"],
        "additionalProperties": False,
    }
    return {
        "type": "function",
        "function": {"name": "word_count", "description": "Count words.", "parameters": parameters},
    }


COUNT = tool(maxLength=10)


def schema(schema: dict[str, Any]) -> ResponseFormat:
    return ResponseFormat("json_schema", {"name": "reply", "strict": True, "schema": schema})


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    outbound = Outbound()
    yield outbound.anywhere
    outbound.close()


@pytest.fixture
def port(llama: Llama, client: Client) -> OpenAIWire:
    return OpenAIWire(client, Machine("tiny", llama.url, KEY, NAME), ESTIMATOR)


async def test_a_turn_comes_back_with_what_it_cost(port: OpenAIWire) -> None:
    reply = await complete(port, Turn(HELLO, max_tokens=12))

    assert reply.finish in ("stop", "length")
    assert reply.usage.prompt_tokens > 5
    assert 0 < reply.usage.completion_tokens <= 12


async def test_an_answer_arrives_in_pieces_and_ends_once(port: OpenAIWire) -> None:
    turn = Turn(HELLO, max_tokens=400, response_format=schema(PERSON))
    events = [event async for arrived in port.stream(turn) for event in arrived]

    pieces = [event.text for event in events if isinstance(event, TextPiece)]
    assert len(pieces) > 5
    assert [type(event) for event in events].index(Done) == len(events) - 1
    assert set(msgspec.json.decode("".join(pieces))) == {"name", "known"}


async def test_too_few_tokens_say_so(port: OpenAIWire) -> None:
    assert (await complete(port, Turn(HELLO, max_tokens=4, response_format=schema(PERSON)))).finish == "length"


async def test_a_tool_is_called_and_its_result_answered(port: OpenAIWire) -> None:
    asked = await complete(port, Turn(HELLO, max_tokens=2000, tools=[COUNT]))
    [call] = asked.calls
    said = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    shown = [*HELLO, Message("assistant", tool_calls=[said]), Message("tool", "2", tool_call_id=call.id)]

    answered = await complete(port, Turn(shown, max_tokens=300, tools=[COUNT]))

    assert (asked.finish, call.name, set(msgspec.json.decode(call.arguments))) == ("tool_calls", "word_count", {"text"})
    assert (answered.finish, answered.text, answered.calls) == ("stop", "Tool result received.", [])


async def test_a_call_that_was_cut_off_is_refused_and_costs_what_it_cost(port: OpenAIWire) -> None:
    with pytest.raises(ModelRefused, match="cut off") as refused:
        await complete(port, Turn(HELLO, max_tokens=300, tools=[tool(minLength=400)]))

    assert refused.value.usage.completion_tokens == 300


async def test_thoughts_are_apart_from_the_answer(port: OpenAIWire) -> None:
    turn = Turn([Message("user", "Hi /think now")], max_tokens=40)
    events = [event async for arrived in port.stream(turn) for event in arrived]

    assert "".join(event.text for event in events if isinstance(event, ThinkingPiece)) == "mulling"
    assert "mulling" not in "".join(event.text for event in events if isinstance(event, TextPiece))


async def test_a_wrong_key_is_refused_without_being_repeated(llama: Llama, client: Client) -> None:
    with pytest.raises(ModelRefused, match="401") as refused:
        await complete(
            OpenAIWire(client, Machine("tiny", llama.url, "sk-wrong-and-secret", NAME), ESTIMATOR), Turn(HELLO)
        )

    assert "sk-wrong-and-secret" not in str(refused.value)


async def test_more_than_the_context_holds_is_refused(port: OpenAIWire) -> None:
    with pytest.raises(ModelRefused, match="context"):
        await complete(port, Turn([Message("user", "word " * 9000)]))


async def test_a_picture_that_the_model_cannot_see_is_refused(port: OpenAIWire) -> None:
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    seen = Message("user", [{"type": "text", "text": "What is this?"}, picture])

    with pytest.raises(ModelRefused, match="image input is not supported"):
        await complete(port, Turn([seen], max_tokens=10))


async def test_hanging_up_stops_the_model(port: OpenAIWire, llama: Llama) -> None:
    turn = Turn(HELLO, max_tokens=3500, response_format=schema(LONG))
    async with aclosing(port.stream(turn)) as events:
        await anext(events)
        assert llama.busy()

    async with asyncio.timeout(PATIENCE):
        while await asyncio.to_thread(llama.busy):
            await asyncio.sleep(0.02)


async def test_a_server_that_dies_midway_is_not_asked_again(tiny_model: Path, client: Client) -> None:
    with llama_serving(tiny_model) as mortal:
        port = OpenAIWire(client, Machine("mortal", mortal.url, KEY, NAME), ESTIMATOR)
        turn = Turn(HELLO, max_tokens=3500, response_format=schema(LONG))
        events = port.stream(turn)
        await anext(events)
        mortal.stop()
        with pytest.raises(ModelUnavailable, match="broke off") as failed:
            [event async for event in events]

        with pytest.raises(ModelUnavailable, match="cannot be reached"):
            await complete(port, turn)

    assert failed.value.usage.completion_tokens > 0
