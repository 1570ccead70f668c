"""The model of a server that has none."""

from typing import Any

import msgspec
import pytest

from atrium.engine.inference.simulated import SimulatedModel, smallest
from atrium.kit.ids import NIL
from atrium.kit.work.compute import ComputePool
from atrium.kit.work.threads import Threads
from atrium.seams.models import Message, ModelRefused, ModelReply, ResponseFormat, Turn, complete

MODEL = SimulatedModel(Threads(1), ComputePool(1), NIL)


async def said(text: str, **more: Any) -> ModelReply:
    return await complete(MODEL, Turn([Message("user", text)], **more))


async def test_the_same_turn_gives_the_same_reply_and_says_what_it_is() -> None:
    first, second = await said("good morning"), await said("good morning")

    assert first == second
    assert (first.text, first.finish) == ("[simulated] good morning", "stop")
    assert first.usage.prompt_tokens > 0 < first.usage.completion_tokens


async def test_parts_of_a_message_are_read() -> None:
    parts: list[dict[str, Any]] = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {}},
        {"type": "text", "text": "here"},
    ]

    assert (await complete(MODEL, Turn([Message("user", parts)]))).text == "[simulated] look here"


async def test_it_stops_at_the_limit() -> None:
    reply = await said("one two three", max_tokens=2)

    assert (reply.text, reply.finish) == ("[simulated] one ", "length")


async def test_a_tool_that_is_named_is_called() -> None:
    look = {
        "type": "function",
        "function": {"name": "look", "parameters": {"required": ["at"], "properties": {"at": {}}}},
    }

    called, plain = await said("please look there", tools=[look]), await said("please", tools=[look])

    assert [(call.name, msgspec.json.decode(call.arguments)) for call in called.calls] == [
        ("look", {"at": "please look there"})
    ]
    assert (called.finish, plain.finish) == ("tool_calls", "stop")


async def test_json_is_json() -> None:
    anything = await said("x", response_format=ResponseFormat("json_object"))
    shaped = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}}, "required": ["n"]}
    fitting = await said("x", response_format=ResponseFormat("json_schema", {"schema": shaped}))

    assert msgspec.json.decode(anything.text)["simulated"] is True
    assert msgspec.json.decode(fitting.text) == {"n": 3}


@pytest.mark.parametrize(
    ("schema", "least"),
    [
        ({"const": 7}, 7),
        ({"enum": ["b", "a"]}, "b"),
        ({"type": ["null", "string"]}, None),
        ({"type": "string", "minLength": 4, "maxLength": 4}, "x..."),
        ({"type": "array", "items": {"type": "boolean"}, "minItems": 2}, [False, False]),
        ({"anyOf": [{"type": "number"}, {"type": "string"}]}, 0),
        ({"allOf": [{"type": "string"}, {"maxLength": 0}]}, ""),
        ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"const": 1}}}, 1),
    ],
)
def test_the_least_that_a_schema_takes(schema: dict[str, Any], least: Any) -> None:
    assert smallest(schema, "x") == least


@pytest.mark.parametrize("schema", [{"$ref": "#"}, {"$ref": "#/nowhere"}])
def test_a_schema_that_leads_nowhere_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(ModelRefused):
        smallest(schema, "x")
