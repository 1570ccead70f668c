"""Rows in the text of PostgreSQL's COPY: apart into fields, sealed values opened and sealed again, and back."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from atrium.admin.moving.model import Table
from atrium.kit.crypto.keys import Keyring

NULL = b"\\N"
_ESCAPED = re.compile(rb"\\(.)", re.DOTALL)
_MEANING = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_NEEDS = re.compile(rb"[\\\b\f\n\r\t\v]")
_SPELLING = {meaning: b"\\" + letter for letter, meaning in _MEANING.items()} | {b"\\": b"\\\\"}
Change = Callable[[list[bytes]], list[bytes]]


class Splitter:
    """Pieces of any length in, whole lines out; what is left over at the end is no line."""

    def __init__(self) -> None:
        self.rest = b""

    def lines(self, piece: bytes) -> Iterator[bytes]:
        """The lines that end in this piece."""
        *whole, self.rest = (self.rest + piece).split(b"\n")
        yield from whole


def text_of(field: bytes) -> str:
    """What a field says."""
    return _ESCAPED.sub(lambda found: _MEANING.get(found[1], found[1]), field).decode()


def field_of(text: str) -> bytes:
    """A text as a field."""
    return _NEEDS.sub(lambda found: _SPELLING[found[0]], text.encode())


def bytes_of(field: bytes) -> bytes:
    """The bytes that a field of bytea stands for."""
    return bytes.fromhex(text_of(field).removeprefix("\\x"))


def make_resealer(table: Table, sealed: dict[tuple[str, str], Any], old: Keyring, new: Keyring) -> Change | None:
    """Seals a row's secrets under another ring; None when the table has none."""
    places = [
        (table.columns.index(column), binding) for (name, column), binding in sealed.items() if name == table.name
    ]
    if not places:
        return None

    def change(fields: list[bytes]) -> list[bytes]:
        row = {name: text_of(field) for name, field in zip(table.columns, fields, strict=True) if field != NULL}
        for place, binding in places:
            if fields[place] != NULL:
                bound = binding(row)
                again = new.seal(old.open(bytes_of(fields[place]), bound), bound)
                fields[place] = b"\\\\x" + again.hex().encode()
        return fields

    return change


def change_line(line: bytes, change: Change | None) -> bytes:
    """A line after a change of its fields."""
    return line if change is None else b"\t".join(change(line.split(b"\t")))


def sort_tables(tables: list[Table]) -> list[Table]:
    """Each after those it refers to."""
    names, placed, found = {table.name for table in tables}, set[str](), list[Table]()
    while len(found) < len(tables):
        ready = [one for one in tables if one.name not in placed and not (set(one.parents) & names) - placed]
        if not ready:
            raise ValueError("tables refer to each other in a circle")
        found += ready
        placed |= {one.name for one in ready}
    return found
