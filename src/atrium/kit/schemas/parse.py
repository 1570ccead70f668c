"""JSON schemas that anybody may hand in, and a model's reply judged by one; a reply is taken or refused, never repaired."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import jsonschema_rs

from atrium.kit.schemas.cost import Scale, SchemaRefused, Weight, measure
from atrium.kit.schemas.validator import pointer

LARGEST, LONGEST_REPLY = 65_536, 1 << 20
# Comparisons, of some 25 ns each: the event loop is blocked no longer than that, whatever the schema and the reply are.
MOST_WORK = 2_000_000
# Of all tools of a turn together; of one schema a few thousand.
MOST_OF_TOOLS = 6_000
_AT_LEAST = 8
# Finding all faults takes so many times as long as finding the first.
_ALL = 1_000
_LARGEST_PATTERN = 1 << 18


class ReplyRefused(ValueError):
    """Not what was asked for; the message says in which way."""


@dataclass(frozen=True, slots=True)
class CompiledSchema:
    """A schema ready to judge, and what judging one value can cost."""

    validator: jsonschema_rs.Draft202012Validator
    weight: Weight

    def work(self, value: Any) -> int:
        """At most how many comparisons it takes to judge a value."""
        size = measure(value)
        return size.values * (_AT_LEAST + self.weight.beside) + size.text * self.weight.patterns // 4


def compile_schema(schema: Any) -> CompiledSchema:
    """A schema ready to judge; refused when it refers outside itself or could take long, however small the reply."""
    if not isinstance(schema, dict):
        raise SchemaRefused("a schema is a JSON object")
    text = json.dumps(schema)
    if len(text) > LARGEST:
        raise SchemaRefused(f"the schema has more than {LARGEST} bytes")
    return _compiled(text)


def weigh_tools(tools: list[dict[str, Any]]) -> None:
    """Refuse tools whose parameters would cost too much to fill in; nothing is compiled, because the model's side does that."""
    places = 0
    for tool in tools:
        function = tool.get("function")
        parameters = function.get("parameters") if isinstance(function, dict) else None
        if parameters is None:
            continue
        if not isinstance(parameters, dict):
            raise SchemaRefused("the parameters of a tool are a schema, a JSON object")
        places += Scale(parameters).weigh().places
        if places > MOST_OF_TOOLS:
            raise SchemaRefused(f"the tools' parameters amount to more than {MOST_OF_TOOLS} places")


@lru_cache(maxsize=16)
def _compiled(text: str) -> CompiledSchema:
    # Asked for when a turn is queued, when it begins and when its reply has come: compiled for the first.
    schema = json.loads(text)
    weight = Scale(schema).weigh()
    options = jsonschema_rs.RegexOptions(size_limit=_LARGEST_PATTERN)
    try:
        return CompiledSchema(
            jsonschema_rs.Draft202012Validator(schema, retriever=_never, pattern_options=options),
            weight,
        )
    except (jsonschema_rs.ValidationError, ValueError) as error:
        raise SchemaRefused(f"this is not a schema: {_first_line(error)}") from error


def judge_json(text: str, schema: CompiledSchema | None = None) -> Any:
    """The value a reply is; refused unless it is one JSON text, every key once, and what the schema allows.

    Reading a large one takes a while, so that it belongs into a thread; judging it does not, as far as it is not refused.
    """
    if len(text) > LONGEST_REPLY:
        raise ReplyRefused(f"it has more than {LONGEST_REPLY} characters")
    try:
        value = json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ReplyRefused(f"it is not JSON: {_first_line(error)}") from error
    if schema is not None:
        require_fitting(value, schema)
    return value


def require_fitting(value: Any, schema: CompiledSchema) -> None:
    """Refuse a value that is not what the schema allows."""
    if schema.work(value) > MOST_WORK:
        raise ReplyRefused("it is too large to be compared with this schema; ask for less at once")
    try:
        # The first fault is enough: finding them all takes a thousand times as long.
        schema.validator.validate(value)
    except jsonschema_rs.ValidationError as fault:
        place = pointer(tuple(fault.instance_path))
        at = f" at {place}" if place else ""
        raise ReplyRefused(f"it does not fit the schema{at}: {fault.message[:200]}") from fault


def faults_in(value: Any, schema: CompiledSchema, most: int) -> list[tuple[str, str]]:
    """Where a value is not what the schema allows, as JSON pointers with sentences: so many, or the first where finding more takes long.

    Nothing when it fits.
    """
    if schema.work(value) > MOST_WORK:
        return [("", "it is too large to be compared with this schema; ask for less at once")]
    found = schema.validator.iter_errors(value) if schema.work(value) * _ALL <= MOST_WORK else _first(schema, value)
    return [(pointer(tuple(fault.instance_path)), fault.message[:200]) for fault in islice(found, most)]


def _first(schema: CompiledSchema, value: Any) -> Iterator[jsonschema_rs.ValidationError]:
    try:
        schema.validator.validate(value)
    except jsonschema_rs.ValidationError as fault:
        yield fault


def _never(address: str) -> Any:
    raise ValueError(f"{address[:100]} is not fetched")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key appears twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:200]
