"""JSON from strangers, read so that every reader would understand the same: each key once, numbers that fit, no text that is not text."""

import json
import re
from typing import Any

import msgspec

DEEPEST = 64
_LARGEST_NUMBER = 1 << 63
# The escape itself, and not a backslash that is escaped and merely followed by the same letters.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


class NotStrict(ValueError):
    """Not JSON, or JSON that two readers may understand differently; the message says in which way."""


def read_strict(raw: bytes) -> Any:
    """The value; refused unless it is one JSON text in UTF-8, every key once, no deeper than `DEEPEST`, integers within 64 bits.

    Reading a megabyte takes some 50 ms, so that a large one belongs into a thread.
    """
    try:
        # Refuses lone surrogates, NaN and numbers out of range, and takes a repeated key's last value without a word.
        value = msgspec.json.decode(raw)
        json.loads(raw, object_pairs_hook=_distinct, parse_int=_bounded)
    except RecursionError as error:
        raise NotStrict(f"it is nested deeper than {DEEPEST} levels") from error
    except ValueError as error:
        raise NotStrict(str(error).partition("\n")[0][:200]) from error
    if raw.count(b"[") + raw.count(b"{") > DEEPEST:
        _require_shallow(value)
    return value


def has_nul(raw: bytes) -> bool:
    """Whether a text in this JSON has the character U+0000, which PostgreSQL cannot hold."""
    return b"\\u0000" in raw and _NUL.search(raw) is not None


def _distinct(pairs: list[tuple[str, Any]]) -> None:
    if len({key for key, _ in pairs}) < len(pairs):
        raise NotStrict("a key appears twice")


def _bounded(digits: str) -> None:
    if len(digits) > 20 or not -_LARGEST_NUMBER <= int(digits) < _LARGEST_NUMBER:
        raise NotStrict("an integer has more than 64 bits")


def _require_shallow(value: Any) -> None:
    level: list[Any] = [value]
    for _ in range(DEEPEST + 1):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return
    raise NotStrict(f"it is nested deeper than {DEEPEST} levels")


def _inside(value: Any) -> list[Any]:
    found = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [one for one in found if isinstance(one, dict | list)]
