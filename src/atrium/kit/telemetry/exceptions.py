"""What may be logged about an exception: its kind, its place and the database's own names, never its message.

A message quotes what was being worked on: a value that is no number, a row that breaks a constraint, a file's name. Logs
are read by people who may not read any of that."""

import os
import traceback
from collections.abc import Iterator

from atrium.kit.errors import AppError

_CHAIN = 8
_FIELDS = ("sqlstate", "schema_name", "table_name", "column_name", "constraint_name")


def describe(error: BaseException) -> str:
    """One line: the class, a refusal's code, the system's error, or the database's state and the names it gives."""
    name = type(error).__qualname__
    facts = [f"{field}={value}" for field in _FIELDS if isinstance(value := getattr(error, field, None), str)]
    if isinstance(error, AppError):
        facts.insert(0, error.code)
    if isinstance(error, OSError) and error.errno is not None:
        facts.append(os.strerror(error.errno))
    return f"{name}: {', '.join(facts)}" if facts else name


def traceback_of(error: BaseException) -> str:
    """The frames of an exception and of what caused it, each with its line of our code."""
    return "\n".join(
        "".join(traceback.format_tb(one.__traceback__)) + describe(one) for one in reversed([*_causes(error)])
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception, those of a group, and what they came from; bounded, because a chain may be a circle."""
    waiting, seen = [error], set[int]()
    while waiting and len(seen) < _CHAIN:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        cause = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
        inner = one.exceptions if isinstance(one, BaseExceptionGroup) else ()
        waiting += [*inner, *([cause] if cause is not None else [])]
