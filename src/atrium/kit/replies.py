"""JSON schemas that anybody may hand in, and a model's reply judged by one; a reply is taken or refused, never repaired."""

import json
from typing import Any

import jsonschema_rs

LARGEST, DEEPEST, HEAVIEST, LONGEST_PATTERN = 65_536, 32, 10_000, 256
_LARGEST_PATTERN = 1 << 20
_DATA = frozenset({"enum", "const", "default", "examples"})
# Each makes what a reference means depend on more than the place it names.
_ELSEWHERE = frozenset(
    {"$dynamicRef", "$recursiveRef", "$dynamicAnchor", "$recursiveAnchor", "$id", "$anchor", "$vocabulary"}
)


class SchemaRefused(ValueError):
    """Not a schema, or one that would cost too much to ask."""


class ReplyRefused(ValueError):
    """Not what was asked for; the message says in which way."""


Schema = jsonschema_rs.Draft202012Validator


def compile_schema(schema: Any) -> Schema:
    """A schema ready to judge; refused when it refers outside itself or could take long, however small the reply."""
    if not isinstance(schema, dict):
        raise SchemaRefused("a schema is a JSON object")
    if len(json.dumps(schema)) > LARGEST:
        raise SchemaRefused(f"the schema has more than {LARGEST} bytes")
    _Scale(schema).weigh(schema, 0)
    try:
        return Schema(schema, retriever=_never, pattern_options=jsonschema_rs.RegexOptions(size_limit=_LARGEST_PATTERN))
    except (jsonschema_rs.ValidationError, ValueError) as error:
        raise SchemaRefused(f"this is not a schema: {_first_line(error)}") from error


def judge_json(text: str, schema: Schema | None = None) -> Any:
    """The value a reply is; refused unless it is one JSON text, every key once, and what the schema allows."""
    try:
        value = json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ReplyRefused(f"it is not JSON: {_first_line(error)}") from error
    for fault in schema.iter_errors(value) if schema else ():
        place = "/".join(map(str, fault.instance_path))
        raise ReplyRefused(f"it does not fit the schema at /{place}: {fault.message[:200]}")
    return value


class _Scale:
    """How many places of a schema one value could be compared with, all references followed."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._weights: dict[str, int] = {}
        self._open: set[str] = set()

    def weigh(self, node: Any, depth: int) -> int:
        if depth > DEEPEST:
            raise SchemaRefused(f"the schema is nested deeper than {DEEPEST}")
        if isinstance(node, list):
            return self._sum(self.weigh(one, depth + 1) for one in node)
        if not isinstance(node, dict):
            return 1
        return self._sum(self._weigh_keyword(name, value, depth) for name, value in node.items() if name not in _DATA)

    def _sum(self, weights: Any) -> int:
        total = 1
        for weight in weights:
            total += weight
            if total > HEAVIEST:
                raise SchemaRefused(f"the schema amounts to more than {HEAVIEST} places")
        return total

    def _weigh_keyword(self, name: str, value: Any, depth: int) -> int:
        if name in _ELSEWHERE:
            raise SchemaRefused(f"{name} is not taken here")
        if name == "$ref":
            return self._weigh_reference(value, depth)
        if name == "pattern" and isinstance(value, str) and len(value) > LONGEST_PATTERN:
            raise SchemaRefused(f"a pattern has more than {LONGEST_PATTERN} characters")
        return self.weigh(value, depth + 1)

    def _weigh_reference(self, reference: Any, depth: int) -> int:
        if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
            raise SchemaRefused("a $ref points to somewhere inside the schema")
        if reference in self._open:  # a type that contains itself; each turn takes a piece of the reply
            return 1
        if reference not in self._weights:
            self._open.add(reference)
            self._weights[reference] = self.weigh(self._target(reference), depth + 1)
            self._open.discard(reference)
        return self._weights[reference]

    def _target(self, reference: str) -> Any:
        found: Any = self._schema
        for step in reference.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, list) and name.isdecimal() and int(name) < len(found):
                found = found[int(name)]
            elif isinstance(found, dict) and name in found:
                found = found[name]
            else:
                raise SchemaRefused(f"{reference[:100]} points nowhere")
        return found


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
