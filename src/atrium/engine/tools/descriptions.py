"""What another server or a guest says of its tool, as a person reads it before turning it on: a model reads the same, and no more."""

from collections.abc import Mapping
from typing import Any

from atrium.kit.schemas.cost import SchemaRefused
from atrium.kit.text.plain import inert, visible_text

# Words of a schema that decide nothing.
_EXPLANATIONS = frozenset({"description", "title", "$comment"})


def readable(text: str) -> str:
    """The words without characters that people do not see, and without marks of a model's chat format."""
    return inert(visible_text(text))


def readable_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with its explanations readable; refused where its names and values, which arguments are compared with, are not."""
    try:
        found = _explained(schema)
        if _is_readable(found):
            return found
    except RecursionError as error:
        raise SchemaRefused("it is nested too deeply") from error
    raise SchemaRefused("a name or a value in it has characters that are not shown, or marks of a model's chat format")


def _explained(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _explained_part(name, part) for name, part in schema.items()}


def _explained_part(name: str, part: Any) -> Any:
    match part:
        case str():
            return readable(part) if name in _EXPLANATIONS else part
        case Mapping():
            return _explained(part)
        case list() | tuple():
            return [_explained_part("", value) for value in part]
    return part


def _is_readable(part: Any) -> bool:
    match part:
        case str():
            return part == readable(part)
        case Mapping():
            return all(_is_readable(name) and _is_readable(value) for name, value in part.items())
        case list() | tuple():
            return all(_is_readable(value) for value in part)
    return True
