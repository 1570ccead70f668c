"""What functions and types look like from outside."""

import inspect
from collections.abc import Callable
from typing import Any, get_origin, get_type_hints

import msgspec


def is_async_of(function: Callable[..., Any], count: int) -> bool:
    """Whether it is a coroutine function of so many parameters."""
    return inspect.iscoroutinefunction(function) and len(inspect.signature(function).parameters) == count


def returns(function: Callable[..., Any], kind: type) -> bool:
    """Whether it says that it returns this."""
    try:
        hint = get_type_hints(function).get("return")
    except (NameError, TypeError):
        return False
    return hint is kind or get_origin(hint) is kind


def is_struct(kind: Any) -> bool:
    """Whether it is a msgspec struct's type."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)
