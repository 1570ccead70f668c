"""The allowed values of a field, for a refusal that names them."""

import re
from enum import Enum
from typing import Any

import msgspec
from msgspec import inspect

_STEP = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<item>[^\]]*)\]")
REFUSED = "Invalid enum value"


def explain_choice(message: str, kind: Any, path: str = "$") -> str:
    """The message, followed by what the field at this path takes when it is one of a closed set."""
    if not message.startswith(REFUSED):
        return message
    allowed = _values(_at(inspect.type_info(kind), path))
    return f"{message}; it takes {', '.join(allowed)}" if allowed else message


def _at(found: inspect.Type | None, path: str) -> inspect.Type | None:
    for step in _STEP.finditer(path.removeprefix("$")):
        found = _step(found, step["name"])
    return found


def _step(found: inspect.Type | None, name: str | None) -> inspect.Type | None:
    """One step down: into a field, or into the values of a list or a dict."""
    for one in _options(found):
        if isinstance(one, inspect.StructType) and name is not None:
            return next((field.type for field in one.fields if field.encode_name == name), None)
        if isinstance(one, inspect.ListType | inspect.SetType | inspect.VarTupleType):
            return one.item_type
        if isinstance(one, inspect.DictType):
            return one.value_type
    return None


def _options(found: inspect.Type | None) -> list[inspect.Type]:
    if isinstance(found, inspect.Metadata):
        return _options(found.type)
    if isinstance(found, inspect.UnionType):
        return [option for one in found.types for option in _options(one)]
    return [found] if found is not None else []


def _values(found: inspect.Type | None) -> list[str]:
    values: list[str] = []
    for one in _options(found):
        if isinstance(one, inspect.LiteralType):
            values += map(str, one.values)
        elif isinstance(one, inspect.EnumType):
            values += [_shown(member) for member in one.cls]
        elif isinstance(one, inspect.NoneType):
            values.append("null")
    return values


def _shown(member: Enum) -> str:
    return str(msgspec.to_builtins(member))
