"""Schemas from anybody, and replies judged by them."""

from typing import Any

import pytest

from atrium.kit.schemas.cost import SchemaRefused
from atrium.kit.schemas.parse import ReplyRefused, compile_schema, judge_json

PERSON = compile_schema(
    {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"], "additionalProperties": False}
)
TREE = {"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}, "additionalProperties": False}


def bomb() -> dict[str, Any]:
    """Small, and doubled with each definition."""
    steps = {f"s{n}": {"allOf": [{"$ref": f"#/$defs/s{n - 1}"}] * 2} for n in range(1, 26)}
    return {"$defs": {"s0": {"type": "object"}, **steps}, "$ref": "#/$defs/s25"}


def nested(levels: int) -> dict[str, Any]:
    return {"properties": {"a": nested(levels - 1)}} if levels else {}


@pytest.mark.parametrize(
    "schema",
    [
        "text",
        {"type": "bogus"},
        {"$ref": "http://127.0.0.1/schema.json"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "#/nowhere"},
        {"$schema": "http://127.0.0.1/meta"},
        {"$schema": "https://json-schema.org.example.com/draft/2020-12/schema"},
        {"$ref": 7},
        {"$id": "http://example.com/", "$ref": "other"},
        {"properties": {"a": {"$dynamicRef": "#a"}}},
        {"pattern": "a" * 300},
        {"pattern": "(a{1000}){1000}"},
        {"description": "x" * 70_000},
        {"enum": ["x"] * 40_000},
        nested(20),
        bomb(),
    ],
)
def test_a_schema_that_is_none_or_costs_too_much_is_refused(schema: Any) -> None:
    with pytest.raises(SchemaRefused):
        compile_schema(schema)


@pytest.mark.parametrize("text", ['{"age": 7}', ' {"age": 7}\n'])
def test_what_fits_is_taken(text: str) -> None:
    assert judge_json(text, PERSON) == {"age": 7}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "seven",
        '```json\n{"age": 7}\n```',
        'Here you are: {"age": 7}',
        '{"age": 7',
        '{"age": 7, "age": 8}',
        '{"age": NaN}',
        '{"age": "7"}',
        '{"age": 7, "name": "x"}',
        "{}",
        "[" * 100_000,
    ],
)
def test_what_does_not_fit_is_refused_and_not_repaired(text: str) -> None:
    with pytest.raises(ReplyRefused):
        judge_json(text, PERSON)


def test_the_place_of_the_fault_is_named() -> None:
    with pytest.raises(ReplyRefused, match="at /left/right"):
        judge_json('{"left": {"right": 7}}', compile_schema(TREE))


def test_a_type_that_contains_itself_is_a_type() -> None:
    assert judge_json('{"left": {"left": {}}}', compile_schema(TREE)) == {"left": {"left": {}}}


def test_a_pattern_that_is_slow_elsewhere_is_not_slow_here() -> None:
    with pytest.raises(ReplyRefused):
        judge_json(f'"{"a" * 50_000}!"', compile_schema({"pattern": "^(a+)+$"}))


@pytest.mark.parametrize(
    "name", ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"]
)
def test_the_usual_dialects_may_be_named(name: str) -> None:
    assert judge_json("7", compile_schema({"$schema": name, "type": "integer"})) == 7
