"""Where a value does not hold to a JSON schema, fault by fault and only as far as is asked for.

For schemas of our own: it knows the keywords that they use and refuses any other. A library lists faults all at once,
which takes seconds when a stranger's document has a hundred thousand of them.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sized
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

Path = tuple[str | int, ...]
_LONGEST_POINTER = 2000
Schema = Mapping[str, Any] | bool
# They say nothing of a value, or are read together with `if`.
_SILENT = frozenset({"$schema", "$id", "$defs", "title", "description", "then", "else"})


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, and the keys and indexes that lead there."""

    path: Path
    message: str


def pointer(path: Path) -> str:
    """A path as a JSON pointer; the whole document is the empty text. One too long to be shown becomes that of what it is in."""
    text = ""
    for part in path:
        longer = f"{text}/{str(part).replace('~', '~0').replace('/', '~1')}"
        if len(longer) > _LONGEST_POINTER:
            break
        text = longer
    return text


def locate_fault(pointer: str, message: str) -> str:
    """A fault as people read it; that of the whole document names no place."""
    return f"{pointer}: {message}" if pointer else message


class Shape:
    """A schema, ready to find faults."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._root = schema

    def faults(self, value: Any) -> Iterator[Fault]:
        """Every fault, outermost first; to stop asking ends the search."""
        return self._find(value, self._root, ())

    def holds(self, value: Any, schema: Schema) -> bool:
        """Whether a value holds to one of the schemas inside this one."""
        return not self._differs(value, schema)

    def _find(self, value: Any, schema: Schema, path: Path) -> Iterator[Fault]:
        if schema is True:
            return
        if schema is False:
            yield Fault(path, "must not be there")
            return
        for keyword, rule in schema.items():
            if keyword == "$ref":
                yield from self._find(value, self._root["$defs"][rule.removeprefix("#/$defs/")], path)
            elif keyword == "allOf":
                for one in rule:
                    yield from self._find(value, one, path)
            elif keyword == "if":
                yield from self._find(value, schema.get("else" if self._differs(value, rule) else "then", True), path)
            elif keyword == "not":
                if not self._differs(value, rule):
                    yield Fault(path, f"{_shown(str(value))} is reserved")
            elif keyword in _WITHIN:
                yield from _WITHIN[keyword](self, value, schema, path)
            elif keyword not in _SILENT and (message := _PLAIN[keyword](value, rule)):
                yield Fault(path, message)

    def _differs(self, value: Any, schema: Schema) -> bool:
        return next(self._find(value, schema, ()), None) is not None

    def _items(self, value: Any, schema: Mapping[str, Any], path: Path) -> Iterator[Fault]:
        if isinstance(value, list):
            for index, item in enumerate(value):
                yield from self._find(item, schema["items"], (*path, index))

    def _properties(self, value: Any, schema: Mapping[str, Any], path: Path) -> Iterator[Fault]:
        if isinstance(value, dict):
            for name, rule in schema["properties"].items():
                if name in value:
                    yield from self._find(value[name], rule, (*path, name))

    def _others(self, value: Any, schema: Mapping[str, Any], path: Path) -> Iterator[Fault]:
        if not isinstance(value, dict):
            return
        rule, known = schema["additionalProperties"], schema.get("properties", {})
        if rule is not False:
            for name in value:
                if name not in known:
                    yield from self._find(value[name], rule, (*path, name))
        elif unknown := [name for name in value if name not in known]:
            yield Fault(path, f"unknown: {_some(unknown)}; known are {', '.join(known)}")

    def _names(self, value: Any, schema: Mapping[str, Any], path: Path) -> Iterator[Fault]:
        if isinstance(value, dict):
            wrong = (name for name in value if self._differs(name, schema["propertyNames"]))
            if (name := next(wrong, None)) is not None:
                yield Fault(path, f"{_shown(name)} cannot be a name here")

    def _form(self, value: Any, schema: Mapping[str, Any], path: Path) -> Iterator[Fault]:
        if isinstance(value, str) and not _compiled(schema["pattern"]).search(value):
            yield Fault(path, f"{_shown(value)} is not {schema.get('description', 'of the form ' + schema['pattern'])}")


_WITHIN: dict[str, Callable[[Shape, Any, Mapping[str, Any], Path], Iterator[Fault]]] = {
    "items": Shape._items,
    "properties": Shape._properties,
    "additionalProperties": Shape._others,
    "propertyNames": Shape._names,
    "pattern": Shape._form,
}


def _is_type(value: Any, name: str) -> bool:
    if name == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if name == "integer":
        return _is_type(value, "number") and (isinstance(value, int) or value.is_integer())
    return isinstance(value, _TYPES[name])


_TYPES: dict[str, type] = {"string": str, "boolean": bool, "null": type(None), "array": list, "object": dict}


def _type(value: Any, rule: str | list[str]) -> str | None:
    names = [rule] if isinstance(rule, str) else rule
    return None if any(_is_type(value, name) for name in names) else f"must be of type {' or '.join(names)}"


def _const(value: Any, rule: Any) -> str | None:
    return None if _same(value, rule) else f"must be {rule}"


def _enum(value: Any, rule: list[Any]) -> str | None:
    return None if any(_same(value, one) for one in rule) else f"must be one of {', '.join(map(str, rule))}"


def _same(value: Any, other: Any) -> bool:
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    # JSON Schema's $ is the end of the text; Python's also stands before a last line break.
    return re.compile(pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern)


def _required(value: Any, rule: list[str]) -> str | None:
    missing = [name for name in rule if name not in value] if isinstance(value, dict) else []
    return f"needs {', '.join(missing)}" if missing else None


def _at_least(kind: type[Sized], noun: str) -> Callable[[Any, int], str | None]:
    def check(value: Any, rule: int) -> str | None:
        return f"must have at least {_counted(rule, noun)}" if isinstance(value, kind) and len(value) < rule else None

    return check


def _at_most(kind: type[Sized], noun: str) -> Callable[[Any, int], str | None]:
    def check(value: Any, rule: int) -> str | None:
        return f"must have at most {_counted(rule, noun)}" if isinstance(value, kind) and len(value) > rule else None

    return check


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _minimum(value: Any, rule: int) -> str | None:
    return f"must be at least {rule}" if _is_type(value, "number") and value < rule else None


def _maximum(value: Any, rule: int) -> str | None:
    return f"must be at most {rule}" if _is_type(value, "number") and value > rule else None


_PLAIN: dict[str, Callable[[Any, Any], str | None]] = {
    "type": _type,
    "const": _const,
    "enum": _enum,
    "required": _required,
    "minLength": _at_least(str, "character"),
    "maxLength": _at_most(str, "character"),
    "minItems": _at_least(list, "item"),
    "maxItems": _at_most(list, "item"),
    "minProperties": _at_least(dict, "field"),
    "maxProperties": _at_most(dict, "field"),
    "minimum": _minimum,
    "maximum": _maximum,
}


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:79] + "…")


def _some(names: list[str]) -> str:
    return ", ".join(map(_shown, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
