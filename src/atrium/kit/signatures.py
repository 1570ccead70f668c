"""What functions and types look like from outside."""

import inspect
from collections.abc import Callable
from typing import Any

import msgspec


def is_async_of(function: Callable[..., Any], count: int) -> bool:
    """Whether it is a coroutine function of so many parameters."""
    return inspect.iscoroutinefunction(function) and len(inspect.signature(function).parameters) == count


def is_struct(kind: Any) -> bool:
    """Whether it is a msgspec struct's type."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)
