"""The model of a server that has none: the same turn gives the same reply, and every reply says that it is simulated."""

import re
from collections.abc import AsyncGenerator
from typing import Any

import msgspec

from atrium.engine.executors.estimating import estimate_reply
from atrium.seams.models import Call, Done, Event, Finish, ModelRefused, Text, Turn

LONGEST_ECHO = 400
DEEPEST = 32
_WORDS = re.compile(r"\S+\s*")


class SimulatedModel:
    """Repeats the question; honours a format, and calls a tool that the question names."""

    async def stream(self, turn: Turn) -> AsyncGenerator[Event, None]:
        """The reply, word by word."""
        question = _question(turn)
        called = _called(turn, question)
        if called is not None:
            arguments = msgspec.json.encode(smallest(called.get("parameters") or {}, question)).decode()
            yield Call("call_simulated", str(called["name"]), arguments)
            yield Done("tool_calls", estimate_reply(turn, arguments))
            return
        words = _WORDS.findall(_answer(turn, question))
        said = words[: turn.max_tokens]
        for word in said:
            yield Text(word)
        finish: Finish = "stop" if len(said) == len(words) else "length"
        yield Done(finish, estimate_reply(turn, "".join(said)))


def smallest(schema: Any, text: str) -> Any:
    """The least that a schema takes, always the same; texts in it are the given one, as far as it fits."""
    return _smallest(schema, text, schema, 0)


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
    functions = [tool.get("function") or {} for tool in turn.tools]
    return next((one for one in functions if one.get("name") and str(one["name"]) in question), None)


def _smallest(schema: Any, text: str, root: Any, depth: int) -> Any:
    if depth > DEEPEST:
        raise ModelRefused("the schema refers to itself without an end")
    if not isinstance(schema, dict):
        return text[:LONGEST_ECHO]
    for inner in _instead(schema, root):
        return _smallest(inner, text, root, depth + 1)
    for fixed in ("const", "default"):
        if fixed in schema:
            return schema[fixed]
    return schema["enum"][0] if schema.get("enum") else _of_type(schema, text, root, depth)


def _instead(schema: dict[str, Any], root: Any) -> list[Any]:
    """What stands for this schema, when it only points at others."""
    if "$ref" in schema:
        return [_pointed_at(root, str(schema["$ref"]))]
    if schema.get("allOf"):
        merged: dict[str, Any] = {}
        for part in schema["allOf"]:
            merged |= part
        return [merged]
    return list((schema.get("oneOf") or schema.get("anyOf") or [])[:1])


def _pointed_at(root: Any, reference: str) -> Any:
    found = root
    for step in reference.removeprefix("#").split("/")[1:]:
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    if found is None:
        raise ModelRefused(f"the schema refers to {reference[:100]}, which is not in it")
    return found


def _of_type(schema: dict[str, Any], text: str, root: Any, depth: int) -> Any:
    named = schema.get("type") or ("object" if "properties" in schema else "string")
    match named[0] if isinstance(named, list) else named:
        case "object":
            inner = schema.get("properties") or {}
            return {
                name: _smallest(inner.get(name, {}), text, root, depth + 1) for name in schema.get("required") or []
            }
        case "array":
            return [
                _smallest(schema.get("items"), text, root, depth + 1)
                for _ in range(min(schema.get("minItems", 0), 100))
            ]
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return False
        case "null":
            return None
        case _:
            longest = min(schema.get("maxLength", LONGEST_ECHO), LONGEST_ECHO)
            return text.ljust(min(schema.get("minLength", 0), 10_000), ".")[: max(longest, schema.get("minLength", 0))]
