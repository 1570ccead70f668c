"""Lines that a guest may write: each is read or refused, whatever is in it."""

import json
import os
import random

from atrium.admin.sandbox.model import GuestBroke
from atrium.admin.sandbox.process import read_line

LINES = 200_000 if os.environ.get("ATRIUM_FULL") else 10_000
WHOLE = (
    {"jsonrpc": "2.0", "id": "x", "result": {"a": [1, 2.5, None, True, "ä"]}},
    {"jsonrpc": "2.0", "id": 7, "method": "notes.read", "params": {"call": "c", "id": "n"}},
    {"jsonrpc": "2.0", "id": "x", "error": {"code": -1, "message": "no"}},
    {"jsonrpc": "2.0", "method": "cancel", "params": {}},
)
PIECES = (
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"1e999",
    b"-0",
    b"\\ud800",
    b"\xff",
    b"\x00",
    b"[" * 3000,
    b"9" * 400,
    b'"id":',
)


def _mutated(chance: random.Random) -> bytes:
    raw = bytearray(json.dumps(chance.choice(WHOLE)).encode())
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(raw) + 1)
        match chance.randrange(3):
            case 0:
                raw[place:place] = chance.choice(PIECES)
            case 1:
                del raw[place : place + chance.randint(1, 8)]
            case _:
                raw[place : place + 1] = bytes([chance.randrange(256)])
    return bytes(raw)


def test_every_line_is_read_or_refused() -> None:
    chance = random.Random(20_260_731)
    read = refused = 0
    for _ in range(LINES):
        try:
            line = read_line(_mutated(chance))
        except GuestBroke:
            refused += 1
            continue
        read += 1
        assert line.jsonrpc == "2.0"
        assert isinstance(line.params, dict)
        assert line.method is None or isinstance(line.method, str)
        assert line.id is None or isinstance(line.id, str | int)
    assert read > LINES // 100
    assert refused > LINES // 2


def test_whole_lines_are_read() -> None:
    for message in WHOLE:
        assert read_line(json.dumps(message).encode()).id == message.get("id")
