"""A thousand generated schemas and the replies to them, judged a second time by a reader of schemas that is written here, word by word."""

import contextlib
import json
import math
import random
import re
import time
from typing import Any

import pytest

from atrium.kit.schemas.cost import Scale, SchemaRefused
from atrium.kit.schemas.parse import ReplyRefused, compile_schema, judge_json
from tests.support.machine import slowness
from tests.support.processes import rounds

NAMES = ("a", "b", "ü", "a/b", "~", "", "$ref", "__proto__", "type")
WORDS = ("", "a", "ab", "Größe", "🌍🌍", "a\nb", '"', "\\", "007", " ", "é", "e\u0301")
NUMBERS = (0, -0.0, 1, 1.0, -1, 2, 0.5, 1e3, 10**20, 3.3, 1e-7)
PATTERNS = ("^a", "b$", "^[a-z]*$", "^\\d{3}$", "ü")


def schema_of(some: random.Random, depth: int = 0) -> Any:
    """A schema that means something: of every keyword that replies are usually asked for with."""
    if depth > 3 or some.random() < 0.1:
        return some.choice([True, {}, {"type": "string"}, {"type": "integer"}, {"enum": [None, 1, "a", [1], {"a": 1}]}])
    kind = some.choice(["string", "number", "integer", "boolean", "null", "array", "object", "any", "const", "many"])
    make = {"string": _text, "number": _number, "integer": _number, "array": _array, "object": _object}.get(kind)
    if make is not None:
        return {"type": kind, **make(some, depth)}
    if kind == "any":
        return {
            some.choice(["anyOf", "oneOf", "allOf"]): [schema_of(some, depth + 1) for _ in range(some.randint(1, 3))]
        }
    if kind == "const":
        return some.choice([{"const": value_of(some, 2)}, {"enum": [value_of(some, 2) for _ in range(3)]}])
    if kind == "many":
        return {"type": some.sample(["string", "number", "null", "array"], 2), "not": schema_of(some, depth + 2)}
    return {"type": kind}


def _text(some: random.Random, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if some.random() < 0.4:
        found["minLength"] = some.randint(0, 3)
    if some.random() < 0.4:
        found["maxLength"] = some.randint(1, 5)
    if some.random() < 0.3:
        found["pattern"] = some.choice(PATTERNS)
    return found


def _number(some: random.Random, depth: int) -> dict[str, Any]:
    names = some.sample(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], some.randint(0, 2))
    found: dict[str, Any] = {name: some.choice([-1, 0, 1, 2, 0.5]) for name in names}
    if some.random() < 0.2:
        found["multipleOf"] = some.choice([1, 2, 0.5])
    return found


def _array(some: random.Random, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if some.random() < 0.3:
        found["prefixItems"] = [schema_of(some, depth + 1) for _ in range(some.randint(1, 2))]
    if some.random() < 0.7:
        found["items"] = schema_of(some, depth + 1)
    if some.random() < 0.3:
        found["minItems"] = some.randint(0, 2)
    if some.random() < 0.3:
        found["maxItems"] = some.randint(1, 3)
    if some.random() < 0.2:
        found["uniqueItems"] = True
    return found


def _object(some: random.Random, depth: int) -> dict[str, Any]:
    # A property with the name of a keyword that is not taken would be refused; that is strict, and not wrong.
    names = some.sample([name for name in NAMES if name != "$ref"], some.randint(0, 3))
    found: dict[str, Any] = {"properties": {name: schema_of(some, depth + 1) for name in names if name != "type"}}
    found["required"] = some.sample(names, some.randint(0, len(names)))
    if some.random() < 0.6:
        found["additionalProperties"] = some.choice([False, {"type": "integer"}])
    if some.random() < 0.2:
        found["maxProperties"] = some.randint(1, 3)
    return found


def value_of(some: random.Random, depth: int = 0) -> Any:
    match some.choice(["text", "number", "word", "array", "object"] if depth < 3 else ["text", "number", "word"]):
        case "text":
            return some.choice(WORDS)
        case "number":
            return some.choice(NUMBERS)
        case "word":
            return some.choice([None, True, False])
        case "array":
            return [value_of(some, depth + 1) for _ in range(some.randint(0, 3))]
        case _:
            return {some.choice(NAMES): value_of(some, depth + 1) for _ in range(some.randint(0, 3))}


def fitting(some: random.Random, schema: Any, depth: int = 0) -> Any:
    """A value that is likely to fit: without it nearly every reply would be a wrong one."""
    if not isinstance(schema, dict) or depth > 6:
        return value_of(some, 3)
    for name in ("anyOf", "oneOf", "allOf"):
        if name in schema:
            return fitting(some, some.choice(schema[name]), depth + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return some.choice(schema["enum"])
    kind = schema.get("type")
    match some.choice(kind) if isinstance(kind, list) else kind:
        case "string":
            return some.choice([*WORDS, "007", "abc"])
        case "number" | "integer":
            return some.choice(NUMBERS)
        case "boolean":
            return some.random() < 0.5
        case "array":
            before = [fitting(some, one, depth + 1) for one in schema.get("prefixItems", [])]
            count = some.randint(schema.get("minItems", 0), 3)
            return [*before, *(fitting(some, schema.get("items"), depth + 1) for _ in range(count))]
        case "object":
            inner = schema["properties"]
            names = {*schema["required"], *some.sample(sorted(inner), some.randint(0, len(inner)))}
            return {name: fitting(some, inner.get(name), depth + 1) for name in sorted(names)}
        case "null":
            return None
    return value_of(some, 2)


def fits(schema: Any, value: Any) -> bool:
    """The specification of JSON Schema for these keywords, as plainly as it can be said."""
    if isinstance(schema, bool):
        return schema
    if "type" in schema:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(_is(kind, value) for kind in kinds):
            return False
    if "const" in schema and not same(schema["const"], value):
        return False
    if "enum" in schema and not any(same(one, value) for one in schema["enum"]):
        return False
    if not all(fits(one, value) for one in schema.get("allOf", [])):
        return False
    if "anyOf" in schema and not any(fits(one, value) for one in schema["anyOf"]):
        return False
    if "oneOf" in schema and sum(fits(one, value) for one in schema["oneOf"]) != 1:
        return False
    if "not" in schema and fits(schema["not"], value):
        return False
    if isinstance(value, str):
        return _text_fits(schema, value)
    if isinstance(value, list):
        return _array_fits(schema, value)
    if isinstance(value, dict):
        return _object_fits(schema, value)
    return isinstance(value, bool) or value is None or _number_fits(schema, value)


def _is(kind: str, value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return {
        "string": isinstance(value, str),
        "number": number,
        "integer": number and float(value).is_integer(),
        "boolean": isinstance(value, bool),
        "null": value is None,
        "array": isinstance(value, list),
        "object": isinstance(value, dict),
    }[kind]


def same(one: Any, other: Any) -> bool:
    """Equal as JSON is: 1 is 1.0, and true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return bool(one == other)


def _text_fits(schema: dict[str, Any], value: str) -> bool:
    return (
        schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", math.inf)
        and re.search(schema.get("pattern", "").replace("$", r"\Z"), value) is not None
    )


def _number_fits(schema: dict[str, Any], value: float) -> bool:
    return (
        schema.get("minimum", -math.inf) <= value <= schema.get("maximum", math.inf)
        and schema.get("exclusiveMinimum", -math.inf) < value < schema.get("exclusiveMaximum", math.inf)
        and ("multipleOf" not in schema or (value / schema["multipleOf"]).is_integer())
    )


def _array_fits(schema: dict[str, Any], value: list[Any]) -> bool:
    before = schema.get("prefixItems", [])
    return (
        schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", math.inf)
        and all(fits(one, item) for one, item in zip(before, value, strict=False))
        and all(fits(schema.get("items", True), item) for item in value[len(before) :])
        and not (
            schema.get("uniqueItems")
            and any(same(one, other) for place, one in enumerate(value) for other in value[:place])
        )
    )


def _object_fits(schema: dict[str, Any], value: dict[str, Any]) -> bool:
    inner, more = schema.get("properties", {}), schema.get("additionalProperties", True)
    return (
        len(value) <= schema.get("maxProperties", math.inf)
        and all(name in value for name in schema.get("required", []))
        and all(fits(inner.get(name, more), item) for name, item in value.items())
    )


def test_a_reply_is_taken_exactly_when_it_fits_and_is_never_repaired() -> None:
    """ATRIUM_FULL: 20,000 schemas."""
    some, taken, refused, wrong = random.Random(2026), 0, 0, list[tuple[Any, Any]]()
    for _ in rounds(1_000, 20_000):
        schema = schema_of(some)
        if not isinstance(schema, dict):
            schema = {"allOf": [schema]}
        compiled = compile_schema(schema)
        for value in (*(fitting(some, schema) for _ in range(6)), value_of(some), value_of(some)):
            text = json.dumps(value, ensure_ascii=some.random() < 0.5, indent=some.choice([None, 1]))
            try:
                parsed = judge_json(text, compiled)
                taken += 1
                right = fits(schema, value) and json.dumps(parsed) == json.dumps(value)
            except ReplyRefused:
                refused += 1
                right = not fits(schema, value)
            if not right:
                wrong.append((schema, value))
            for spoilt in (f"```json\n{text}\n```", f"{text} .", text[:-1] if text[-1] in '}]"' else f"{text},"):
                with pytest.raises(ReplyRefused):
                    judge_json(spoilt, compiled)
    print(f"{taken} taken, {refused} refused")
    assert wrong[:5] == []
    assert min(taken, refused) > 1_000


HOSTILE: dict[str, Any] = {
    "deep": json.loads('{"allOf": [' * 40 + "{}" + "]}" * 40),
    "wide": {"type": "object", "properties": {f"p{number}": {"type": "string"} for number in range(900)}},
    "names": {"enum": [f"name {number}" for number in range(2_000)]},
    "itself": {"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"type": "array", "items": {"$ref": "#"}}}},
    "patterns": {"type": "object", "patternProperties": {f"^(a+)+{number}$": {} for number in range(90)}},
    "choices": {"anyOf": [{"type": "object", "required": [f"p{number}"]} for number in range(400)]},
    "unique": {"type": "array", "uniqueItems": True, "items": {"type": "array", "uniqueItems": True}},
    "doubled": {
        "$defs": {"s0": {"type": "object"}, **{f"s{n}": {"allOf": [{"$ref": f"#/$defs/s{n - 1}"}] * 2} for n in range(1, 26)}},
        "$ref": "#/$defs/s25",
    },
    "crossed": {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
    "counted": {"type": "string", "pattern": "((a{100}){100}){100}"},
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_schema_is_weighed_or_refused_and_always_alike(name: str) -> None:
    assert screened(HOSTILE[name]) == screened(HOSTILE[name])


def screened(schema: Any) -> str:
    """What a schema weighs, or why it is refused."""
    try:
        return repr(Scale(schema).weigh())
    except SchemaRefused as refused:
        return str(refused)


@pytest.mark.proof
@pytest.mark.parametrize("name", HOSTILE)
def test_a_schema_is_screened_in_five_milliseconds(name: str) -> None:
    """Also one that is refused; in the thread's own time, the least of several tries, because other processes run on this machine."""
    least = math.inf
    for _ in range(7):
        begun = time.thread_time()
        with contextlib.suppress(SchemaRefused):
            Scale(HOSTILE[name]).weigh()
        least = min(least, time.thread_time() - begun)
    print(f"{name}: {1000 * least:.2f} ms")
    assert least < 0.005 * slowness()
