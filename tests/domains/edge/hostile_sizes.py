"""Every field of every row, filled to its limit with shapes that parsers dislike: made from the table and the bodies' own types."""

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from msgspec import inspect

from atrium.edge.endpoint import Endpoint
from atrium.seams.routes import RawBody
from tests.table.specimens import Ask

Path = tuple[str | int, ...]
# Where a type names no limit of its own: what a body holds beside it, and what a request's head does.
LONGEST, LONGEST_QUERY, MOST_ITEMS, DEEPEST = 200_000, 6_000, 5_000, 400

TEXTS: dict[str, Callable[[int], str]] = {
    "brackets": lambda n: "[" * n,
    "nesting": lambda n: "[" * (n // 2) + "]" * (n // 2),
    "one long word": lambda n: "a" * n,
    "many words": lambda n: "".join(f"w{number:x} " for number in range(n // 5))[:n],
    "combining marks": lambda n: ("e" + "\u0301" * 30) * (n // 31),
    "alternations": lambda n: "(a|a)*" * (n // 6),
    "tags and braces": lambda n: "<a {b" * (n // 5),
    "without spaces": lambda n: "語" * n,
}
VALUES: dict[str, Callable[[int], Any]] = {
    "deep": lambda n: _deep(),
    "wide": lambda n: {f"k{number}": "[" for number in range(min(n, MOST_ITEMS))},
    "defaults": lambda n: [{"$": "input.absent", "default": "x"}] * min(n, MOST_ITEMS),
    "long": lambda n: "[" * LONGEST,
}


def _deep() -> Any:
    value: Any = "x"
    for number in range(DEEPEST):
        value = [value] if number % 2 else {"$": value}
    return value


@dataclass(frozen=True, slots=True)
class Case:
    """One field of a row in one shape."""

    row: str
    field: str
    shape: str
    change: Callable[[Ask], Ask]


def cases_of(endpoint: Endpoint) -> Iterator[Case]:
    """Every field of a row, in every shape."""
    row = f"{endpoint.route.method} {endpoint.route.path}"
    for name in endpoint.query:
        for shape, make in TEXTS.items():
            yield Case(row, f"?{name}", shape, _in_query(name, make(LONGEST_QUERY)))
    if endpoint.body is None or endpoint.body is RawBody or not endpoint.reads_json:
        return
    for path, kind, limit in _fields(inspect.type_info(endpoint.body), ()):
        for shape, make in (TEXTS if kind == "text" else VALUES).items():
            most = min(limit or LONGEST, LONGEST if kind == "text" else MOST_ITEMS)
            yield Case(row, "/".join(map(str, path)) or "/", shape, _in_body(path, make(most)))


def _in_query(name: str, value: str) -> Callable[[Ask], Ask]:
    return lambda ask: replace(ask, query={**ask.query, name: value})


def _in_body(path: Path, value: Any) -> Callable[[Ask], Ask]:
    def changed(ask: Ask) -> Ask:
        body = {"": copy.deepcopy(ask.body)}
        _put(body, ("", *path), value)
        return replace(ask, body=body[""])

    return changed


def _put(inside: Any, path: Path, value: Any) -> None:
    *way, last = path
    for step, following in zip(way, path[1:], strict=True):
        found = inside[step] if _has(inside, step) else None
        if not isinstance(found, list if isinstance(following, int) else dict):
            found = [] if isinstance(following, int) else {}
            _set(inside, step, found)
        inside = found
    _set(inside, last, value)


def _has(inside: Any, step: str | int) -> bool:
    return step in inside if isinstance(inside, Mapping) else isinstance(step, int) and step < len(inside)


def _set(inside: Any, step: Any, value: Any) -> None:
    if isinstance(inside, list) and step >= len(inside):
        inside.append(value)
    else:
        inside[step] = value


def _fields(type: inspect.Type, path: Path) -> Iterator[tuple[Path, str, int | None]]:
    """Texts, and values of any shape, with the limit that the type names."""
    if len(path) > 6:
        return
    for one in _alternatives(type):
        match one:
            case inspect.StrType():
                yield path, "text", one.max_length
            case inspect.StructType():
                for field in one.fields:
                    yield from _fields(field.type, (*path, field.encode_name))
            case inspect.ListType():
                yield path, "value", one.max_length
                yield from _fields(one.item_type, (*path, 0))
            case inspect.DictType():
                yield path, "value", one.max_length
                yield from _fields(one.value_type, (*path, "key"))
            case inspect.AnyType() | inspect.RawType():
                yield path, "value", None
            case inspect.NoneType():
                pass
            case _:
                # A number, a name out of a list, an id: no text belongs there, and one is sent.
                yield path, "text", None


def _alternatives(type: inspect.Type) -> Iterator[inspect.Type]:
    if isinstance(type, inspect.Metadata):
        yield from _alternatives(type.type)
    elif isinstance(type, inspect.UnionType):
        for one in type.types:
            yield from _alternatives(one)
    else:
        yield type


def size_of(ask: Ask) -> int:
    """How many bytes a request's body has."""
    return len(msgspec.json.encode(ask.body))
