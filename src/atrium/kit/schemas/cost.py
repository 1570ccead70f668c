"""What a schema could cost, found out before anybody pays: comparisons for one value, and the least reply that fits."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

DEEPEST, HEAVIEST, LONGEST_PATTERN, MOST_PATTERNS = 32, 3_000, 256, 100
MOST_VALUES, MOST_TEXT = 10_000, 100_000
_DATA = frozenset({"enum", "const", "default", "examples"})
# Each makes what a reference means depend on more than the place it names.
_ELSEWHERE = frozenset(
    {"$dynamicRef", "$recursiveRef", "$dynamicAnchor", "$recursiveAnchor", "$id", "$anchor", "$vocabulary"}
)
# What stands under these is compared with a value that something else is compared with as well.
_BESIDE = frozenset(
    {
        "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "patternProperties", "propertyNames",
        "contains", "unevaluatedProperties", "unevaluatedItems",
    }
)  # fmt: skip
# What stands directly under these are names that people choose, each with a schema of its own: no keyword among them.
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})
_DIALECT = re.compile(r"https?://json-schema\.org/(draft/20(19-09|20-12)|draft-0[467])?/?schema#?")
_SHAPES: dict[str, type | tuple[type, ...]] = {
    "allOf": list, "anyOf": list, "oneOf": list, "enum": list, "required": list, "prefixItems": list,
    "properties": dict, "patternProperties": dict, "$defs": dict, "items": (dict, bool), "not": (dict, bool),
    "minItems": (int, float), "minLength": (int, float), "maxLength": (int, float), "minProperties": (int, float),
    "type": (str, list),
}  # fmt: skip
# Comparing objects and arrays with one another costs so much more than comparing a value with a keyword.
_STRUCTURED = 40
_ENDLESS = 10**12


class SchemaRefused(ValueError):
    """Not a schema, or one that would cost too much to ask."""


class Weight(NamedTuple):
    """All places of a schema with references followed, those that one value may meet at once, and its patterns."""

    places: int
    beside: int = 0
    patterns: int = 0

    def plus(self, other: "Weight") -> "Weight":
        """Both together."""
        return Weight(self.places + other.places, self.beside + other.beside, self.patterns + other.patterns)


_ONE = Weight(1)
# Every other word of a schema weighs what stands under it.
_SPECIAL = _ELSEWHERE | _DATA | _BESIDE | _NAMED | _SHAPES.keys() | {"$ref", "$schema", "uniqueItems", "pattern"}


class Least(NamedTuple):
    """The least that a reply has: values, and characters in its texts."""

    values: int
    text: int = 0


class Scale:
    """Weighs one schema; whatever is too much is refused with a sentence that says what."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._weights: dict[str, Weight] = {}
        self._least: dict[str, Least] = {}
        self._open: set[str] = set()

    def weigh(self) -> Weight:
        """How heavy it is; refused when it is too heavy, or when no reply of a sane size could fit."""
        weight = self._weigh(self._schema, 0)
        least = self._least_of(self._schema, 0)
        if least.values > MOST_VALUES or least.text > MOST_TEXT:
            raise SchemaRefused(
                f"a reply that fits this schema has at least {least.values} values and {least.text} characters of text;"
                f" {MOST_VALUES} and {MOST_TEXT} are the most"
                if least.values < _ENDLESS
                else "no reply fits this schema: it needs itself without an end"
            )
        return weight

    def _weigh(self, node: Any, depth: int) -> Weight:
        if depth > DEEPEST:
            raise SchemaRefused(f"the schema is nested deeper than {DEEPEST}")
        if isinstance(node, list):
            return self._sum(self._weigh(one, depth + 1) for one in node)
        if not isinstance(node, dict):
            return _ONE
        return self._sum(self._weigh_keyword(node, name, value, depth) for name, value in node.items())

    def _sum(self, weights: Iterable[Weight]) -> Weight:
        places, beside, patterns = 1, 0, 0
        for weight in weights:
            places += weight[0]
            beside += weight[1]
            patterns += weight[2]
            if places > HEAVIEST:
                raise SchemaRefused(f"the schema amounts to more than {HEAVIEST} places")
            if patterns > MOST_PATTERNS:
                raise SchemaRefused(f"the schema amounts to more than {MOST_PATTERNS} patterns")
        return Weight(places, beside, patterns)

    def _weigh_keyword(self, node: dict[str, Any], name: str, value: Any, depth: int) -> Weight:
        if name not in _SPECIAL:
            return self._weigh(value, depth + 1)
        if name in _ELSEWHERE:
            raise SchemaRefused(f"{name} is not taken here")
        if name == "$schema" and isinstance(value, str) and not _DIALECT.fullmatch(value):
            # The model's side might fetch what a dialect it does not know is defined by.
            raise SchemaRefused("$schema names a version of JSON Schema at json-schema.org, or is left out")
        shape = _SHAPES.get(name)
        if shape is not None and not isinstance(value, shape):
            raise SchemaRefused(f"{name} is not what a schema has there")
        if name in _DATA:
            return _weigh_data(value) if name in ("enum", "const") else Weight(1)
        if name == "$ref":
            weight = self._weigh_reference(value, depth)
            return weight if node.keys() <= {"$ref", "$defs", "title", "description"} else _all_beside(weight)
        if name == "uniqueItems":
            return Weight(1, 2 * _STRUCTURED)
        weight = self._weigh_named(value, depth + 1) if name in _NAMED else self._weigh(value, depth + 1)
        if name in ("pattern", "patternProperties"):
            weight = self._weigh_patterns(name, value).plus(weight)
        return _all_beside(weight) if name in _BESIDE else weight

    def _weigh_named(self, value: Any, depth: int) -> Weight:
        if not isinstance(value, dict) or depth > DEEPEST:
            return self._weigh(value, depth)
        return self._sum(self._weigh(one, depth + 1) for one in value.values())

    def _weigh_patterns(self, name: str, value: Any) -> Weight:
        patterns = [value] if name == "pattern" else value
        if any(isinstance(one, str) and len(one) > LONGEST_PATTERN for one in patterns):
            raise SchemaRefused(f"a pattern of the schema has more than {LONGEST_PATTERN} characters")
        return Weight(0, 0, len(patterns))

    def _weigh_reference(self, reference: Any, depth: int) -> Weight:
        if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
            raise SchemaRefused("a $ref points to somewhere inside the schema")
        if reference in self._open:  # a type that contains itself; each turn takes a piece of the reply
            return Weight(1)
        if reference not in self._weights:
            self._open.add(reference)
            self._weights[reference] = self._weigh(pointed_at(self._schema, reference), depth + 1)
            self._open.discard(reference)
        return self._weights[reference]

    def _least_of(self, node: Any, depth: int) -> Least:
        if not isinstance(node, dict) or depth > 2 * DEEPEST:
            return Least(1)
        if "$ref" in node:
            return self._least_reference(node["$ref"], depth)
        if "const" in node or "enum" in node:
            return Least(1)
        found = [self._least_of_type(node, depth)]
        found += [self._least_of(one, depth + 1) for one in node.get("allOf") or ()]
        for name in ("anyOf", "oneOf"):
            if node.get(name):
                found.append(min(self._least_of(one, depth + 1) for one in node[name]))
        return max(found)

    def _least_reference(self, reference: str, depth: int) -> Least:
        if reference in self._open:
            return Least(_ENDLESS)
        if reference not in self._least:
            self._open.add(reference)
            self._least[reference] = self._least_of(pointed_at(self._schema, reference), depth + 1)
            self._open.discard(reference)
        return self._least[reference]

    def _least_of_type(self, node: dict[str, Any], depth: int) -> Least:
        match node.get("type"):
            case "string":
                return Least(1, whole(node.get("minLength")))
            case "array":
                each, count = self._least_of(node.get("items"), depth + 1), whole(node.get("minItems"))
                return Least(1 + count * each.values, count * each.text)
            case "object":
                inner, required = node.get("properties") or {}, node.get("required") or []
                each_of = [self._least_of(inner.get(str(name)), depth + 1) for name in required]
                more = max(whole(node.get("minProperties")) - len(required), 0)
                return Least(1 + more + sum(one.values for one in each_of), sum(one.text for one in each_of))
            case _:
                return Least(1)


def pointed_at(schema: Any, reference: str) -> Any:
    """The place in a schema that a reference names."""
    found = schema
    for step in reference.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        elif isinstance(found, dict) and name in found:
            found = found[name]
        else:
            raise SchemaRefused(f"{reference[:100]} points nowhere")
    return found


def measure(value: Any) -> Least:
    """How many values there are in a value, and how many characters in its texts and names; counts no further than need be."""
    values, text, rest = 0, 0, [value]
    while rest and values <= 10 * MOST_VALUES:
        one = rest.pop()
        values += 1
        if isinstance(one, dict):
            text += sum(map(len, one))
            rest += one.values()
        elif isinstance(one, list):
            rest += one
        elif isinstance(one, str):
            text += len(one)
    return Least(values, text)


def _weigh_data(value: Any) -> Weight:
    entries = value if isinstance(value, list) else [value]
    structured = [measure(one).values for one in entries if isinstance(one, dict | list)]
    return Weight(1 + len(entries) // 100 + sum(structured), sum(structured) + _STRUCTURED * len(structured))


def _all_beside(weight: Weight) -> Weight:
    return Weight(weight.places, weight.places + weight.beside, weight.patterns)


def whole(number: Any) -> int:
    """A bound as a schema gives it, as a number to count with."""
    return int(min(max(number or 0, 0), _ENDLESS))
