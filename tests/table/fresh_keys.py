"""Hooks of the program that reads the document: no key is used for two requests, or most would meet only that."""

import itertools
from typing import Any

import schemathesis

KEY = "Idempotency-Key"
_used: set[str] = set()
_numbers = itertools.count(1)


@schemathesis.hook
def before_call(context: schemathesis.HookContext, case: schemathesis.Case[Any], kwargs: dict[str, Any]) -> None:
    """Let a key through once and give the next right request one of its own; wrong requests stay as they are."""
    key = case.headers.get(KEY)
    if key is None or case.meta is None or case.meta.generation.mode.is_negative:
        return
    if key in _used:
        case.headers[KEY] = f"fresh-{next(_numbers)}"
    _used.add(key)
