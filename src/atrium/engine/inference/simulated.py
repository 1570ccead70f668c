"""The model of a server that has none: the same turn gives the same reply, and every reply says that it is simulated."""

import asyncio
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.inference.estimates import SHORT, estimate_reply, length_of
from atrium.kit.schemas.cost import DEEPEST, MOST_TEXT, MOST_VALUES, SchemaRefused, measure, pointed_at, whole
from atrium.kit.work.compute import ComputePool
from atrium.kit.work.threads import Threads
from atrium.seams.models import Call, Done, Finish, ModelEvent, ModelRefused, TextPiece, Turn

LONGEST_ECHO = 400
_WORDS = re.compile(r"\S+\s*")
# So many words without a pause for the others.
_BREATH = 500


class SimulatedModel:
    """Repeats the question; honours a format, and calls a tool that the question names."""

    def __init__(self, threads: Threads, compute: ComputePool, org_id: UUID) -> None:
        self._threads, self._compute, self._org_id = threads, compute, org_id

    async def stream(self, turn: Turn) -> AsyncGenerator[list[ModelEvent], None]:
        """The reply, word by word."""
        # A schema may ask for thousands of values: made up beside the event loop, not on it; a long question in another process.
        length = length_of(turn)
        making = (
            self._threads.run(self._org_id, _events, turn)
            if length <= SHORT
            else self._compute.run(self._org_id, length, _events, turn)
        )
        for number, event in enumerate(await making):
            if number % _BREATH == _BREATH - 1:
                await asyncio.sleep(0)
            yield [event]


def _events(turn: Turn) -> list[ModelEvent]:
    question = _question(turn)
    called = _called(turn, question)
    if called is not None:
        made = smallest(called.get("parameters") or {}, question)
        # Arguments are an object, whatever a tool asks for.
        arguments = msgspec.json.encode(made if isinstance(made, dict) else {}).decode()
        call = Call("call_simulated", str(called["name"]), arguments)
        return [call, Done("tool_calls", estimate_reply(turn, arguments))]
    words = _WORDS.findall(_answer(turn, question))
    said = words[: turn.max_tokens]
    finish: Finish = "stop" if len(said) == len(words) else "length"
    return [*map(TextPiece, said), Done(finish, estimate_reply(turn, "".join(said)))]


def smallest(schema: Any, text: str) -> Any:
    """A little that a schema takes, always the same; texts in it are the given one, as far as it fits."""
    return _Making(schema, text).value_of(schema, 0)


def _answer(turn: Turn, question: str) -> str:
    wanted = turn.response_format
    if wanted is None or wanted.type == "text":
        return f"[simulated] {question[:LONGEST_ECHO]}"
    if wanted.type == "json_object":
        return msgspec.json.encode({"simulated": True, "echo": question[:LONGEST_ECHO]}).decode()
    return msgspec.json.encode(smallest((wanted.json_schema or {}).get("schema"), "simulated")).decode()


def _question(turn: Turn) -> str:
    content = turn.messages[-1].content
    if isinstance(content, list):
        return " ".join(str(part.get("text", "")) for part in content if part.get("type") == "text")
    return content or ""


def _called(turn: Turn, question: str) -> dict[str, Any] | None:
    if turn.messages[-1].role != "user":
        return None
    functions = [tool["function"] for tool in turn.tools if isinstance(tool.get("function"), dict)]
    return next((one for one in functions if one.get("name") and str(one["name"]) in question), None)


@dataclass(slots=True)
class _Making:
    """A value in the making, which ends when there is too much of it."""

    root: Any
    text: str
    values: int = MOST_VALUES
    letters: int = MOST_TEXT

    def value_of(self, schema: Any, depth: int) -> Any:
        if depth > DEEPEST:
            raise ModelRefused("the schema refers to itself without an end")
        if not isinstance(schema, dict):
            return self._kept(self.text[:LONGEST_ECHO])
        for inner in self._instead(schema):
            return self.value_of(inner, depth + 1)
        for fixed in ("const", "default"):
            if fixed in schema:
                return self._kept(schema[fixed])
        return self._kept(schema["enum"][0]) if schema.get("enum") else self._of_type(schema, depth)

    def _kept(self, value: Any) -> Any:
        size = measure(value)
        self.values -= size.values
        self.letters -= size.text
        if self.values < 0 or self.letters < 0:
            raise ModelRefused(
                f"the simulated model says at most {MOST_VALUES} values and {MOST_TEXT} letters; this schema wants more"
            )
        return value

    def _instead(self, schema: dict[str, Any]) -> list[Any]:
        """What stands for this schema, when it only points at others."""
        if "$ref" in schema:
            return [self._pointed_at(str(schema["$ref"]))]
        if schema.get("allOf"):
            merged: dict[str, Any] = {}
            for part in schema["allOf"]:
                merged |= part if isinstance(part, dict) else {}
            return [merged]
        return list((schema.get("oneOf") or schema.get("anyOf") or [])[:1])

    def _pointed_at(self, reference: str) -> Any:
        try:
            return pointed_at(self.root, reference)
        except SchemaRefused as error:
            raise ModelRefused(str(error)) from error

    def _of_type(self, schema: dict[str, Any], depth: int) -> Any:
        named = schema.get("type") or ("object" if "properties" in schema else "string")
        match named[0] if isinstance(named, list) else named:
            case "object":
                self._kept({})
                inner = schema.get("properties") or {}
                return {
                    str(name): self.value_of(inner.get(str(name)), depth + 1) for name in schema.get("required") or []
                }
            case "array":
                self._kept([])
                count = min(whole(schema.get("minItems")), MOST_VALUES)
                return [self.value_of(schema.get("items"), depth + 1) for _ in range(count)]
            case "integer" | "number":
                return self._kept(schema.get("minimum", 0))
            case "boolean":
                return self._kept(False)
            case "null":
                return self._kept(None)
            case _:
                least = min(whole(schema.get("minLength")), MOST_TEXT + 1)
                longest = min(whole(schema.get("maxLength", LONGEST_ECHO)), LONGEST_ECHO)
                return self._kept(self.text[:LONGEST_ECHO].ljust(least, ".")[: max(longest, least)])
