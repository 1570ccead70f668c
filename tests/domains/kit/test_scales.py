"""What schemas weigh, and how many tokens texts are."""

from typing import Any

import pytest

from atrium.kit.schemas.cost import Scale, SchemaRefused, measure
from atrium.kit.text.estimates import estimate_tokens


@pytest.mark.parametrize(
    ("schema", "beside"),
    [
        ({"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(100)}}, 0),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}, 0),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, 5),
        ({"type": "array", "uniqueItems": True}, 80),
    ],
)
def test_one_value_meets_what_stands_beside_one_another(schema: dict[str, Any], beside: int) -> None:
    assert Scale(schema).weigh().beside == beside


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}, "minItems": 9_999},
        {"type": "string", "minLength": 100_000},
        {"anyOf": [{"type": "array", "minItems": 10**9}, {"type": "null"}]},
        {"type": ["array", "null"], "minItems": 10**9},
        {
            "type": "object",
            "properties": {"type": {"type": "string"}, "enum": {"type": "integer"}, "$id": {"type": "string"}},
        },
        {
            "$defs": {"minItems": {"type": "object", "properties": {"properties": {"type": "array"}}}},
            "$ref": "#/$defs/minItems",
        },
        {"patternProperties": {"pattern": {"type": "string"}}, "dependentSchemas": {"required": {"minProperties": 1}}},
        {"type": "object", "required": ["left"], "properties": {"left": {"anyOf": [{"type": "null"}, {"$ref": "#"}]}}},
    ],
)
def test_a_schema_that_something_small_fits_is_taken(schema: dict[str, Any]) -> None:
    Scale(schema).weigh()


@pytest.mark.parametrize("name", ["type", "anyOf", "not", "enum", "uniqueItems", "$ref", "pattern", "items", "plain"])
def test_a_property_weighs_the_same_whatever_its_name(name: str) -> None:
    def weight(name: str) -> tuple[int, int, int]:
        inner = {"anyOf": [{"type": "string", "pattern": "a"}, {"enum": [[1], [2]]}]}
        return Scale({"type": "object", "properties": {name: inner, "other": {"$ref": "#"}}}).weigh()

    assert weight(name) == weight("ordinary")


@pytest.mark.parametrize("name", ["type", "items", "anyOf"])
def test_what_stands_under_a_property_counts_whatever_its_name(name: str) -> None:
    many = {"anyOf": [{"type": "string", "pattern": f"p{n}"} for n in range(101)]}

    with pytest.raises(SchemaRefused, match="patterns"):
        Scale({"properties": {name: many}}).weigh()


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}, "minItems": 10_000},
        {"type": "string", "minLength": 100_001},
        {"allOf": [{"type": "array", "minItems": 10**9}, {"type": "array"}]},
        {"anyOf": [{"type": "array", "minItems": 10**9}, {"type": "object", "minProperties": 10**9}]},
        {"properties": ["a"]},
        {"properties": {"type": {"type": {"type": "string"}}}},
        {"properties": {"deep": {"$id": "http://elsewhere.example/"}}},
        {
            "properties": {"type": {"allOf": [{"type": "string", "minLength": 100_001}]}},
            "type": "object",
            "required": ["type"],
        },
        {"anyOf": {"a": 1}},
        {"minItems": "many"},
    ],
)
def test_a_schema_that_nothing_small_fits_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaRefused):
        Scale(schema).weigh()


def test_a_value_is_measured_by_what_is_in_it() -> None:
    assert measure({"ab": [1, "cde", None]}) == (5, 5)
    assert measure([[]] * 1_000_000).values < 200_000


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a word", 2),
        ("Extraordinary", 3),
        ("2026", 4),
        ("HTTPServer", 5),
        ("one\n\n    two", 3),
        ("æøå", 3),
        ("x" * 200_000, 44_445),
        ("1" * 200_000, 200_000),
    ],
)
def test_tokens_are_estimated_by_what_a_text_is_made_of(text: str, tokens: int) -> None:
    assert abs(estimate_tokens(text) - tokens) <= 4 * (len(text) > 65_536)
