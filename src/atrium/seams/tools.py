"""A tool: a verb that models, workflows and plugins may call by name."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

ParameterType = Literal["string", "integer", "number", "boolean", "array", "object"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One argument of a tool; required unless marked optional."""

    name: str
    type: ParameterType
    description: str = ""
    optional: bool = False
    choices: tuple[str, ...] = ()
    items: "ParameterType | tuple[Parameter, ...] | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A declaration and its handler; the handler takes (database transaction, principal, parsed arguments)."""

    name: str
    description: str
    permission: str
    run: Callable[..., Awaitable[Any]]
    parameters: tuple[Parameter, ...] = ()
    source: str = "core"


def schema_of(parameters: tuple[Parameter, ...]) -> dict[str, Any]:
    """The JSON schema shown to a model."""
    return {
        "type": "object",
        "properties": {parameter.name: _schema_of_one(parameter) for parameter in parameters},
        "required": [parameter.name for parameter in parameters if not parameter.optional],
        "additionalProperties": False,
    }


def _schema_of_one(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": parameter.type}
    if parameter.description:
        schema["description"] = parameter.description
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    if isinstance(parameter.items, tuple):
        schema["items"] = schema_of(parameter.items)
    elif parameter.items is not None:
        schema["items"] = {"type": parameter.items}
    return schema
