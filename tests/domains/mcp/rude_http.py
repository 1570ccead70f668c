"""A server over HTTP that is well-behaved until a tool is called; then it answers with whatever bytes it is told to."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

# In everything that a broken answer says: no word of it may reach a caller.
FORGED = "forged"
STATELESS, HANDSHAKE = "2026-07-28", "2025-11-25"
_TOOL = {"name": "echo", "description": "Echo.", "inputSchema": {"type": "object"}}


@dataclass(frozen=True, slots=True)
class Broken:
    """One broken answer: what is sent, whether its last piece is sent until the line breaks, and whether the line is held."""

    about: str
    pieces: tuple[bytes, ...]
    endless: bool = False
    held: bool = False


@dataclass(slots=True)
class RudeServer:
    """The server; `next` is its answer to the calls from now on, None for a good one."""

    revision: str
    next: Broken | None = None
    url: str = ""
    calls: int = 0
    # How often a client asked for the rest of a stream.
    resumed: int = 0
    _lines: set["asyncio.Task[None]"] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, until either side is done with it."""
        task = asyncio.current_task()
        assert task is not None
        self._lines.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while await self._answer(reader, writer):
                    pass
        finally:
            self._lines.discard(task)
            writer.close()

    async def stop(self) -> None:
        """Let go of every line."""
        for line in list(self._lines):
            line.cancel()
        await asyncio.gather(*self._lines, return_exceptions=True)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        method, body = await _request(reader)
        if method != "POST":
            # It ends at once, and asks to be resumed again.
            self.resumed += 1
            await _send(writer, RESUMED, None)
            return False
        asked = json.loads(body)
        if asked.get("method") == "tools/call":
            self.calls += 1
            if self.next is not None:
                await _send(writer, self.next, asked["id"])
                return False
        is_request = "id" in asked and "method" in asked
        writer.write(http(json.dumps(self._reply(asked)).encode()) if is_request else http(b"", "202 Accepted"))
        await writer.drain()
        return True

    def _reply(self, asked: dict[str, Any]) -> dict[str, Any]:
        told = {"capabilities": {"tools": {}}, "serverInfo": {"name": "rude", "version": "1"}}
        first = "server/discover" if self.revision == STATELESS else "initialize"
        results: dict[str, dict[str, Any]] = {
            first: told | {"protocolVersion": self.revision, "supportedVersions": [self.revision]},
            "tools/list": {"tools": [_TOOL]},
            "tools/call": {"content": [{"type": "text", "text": json.dumps(asked.get("params", {}).get("arguments"))}]},
        }
        if asked["method"] not in results:
            return {"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no such method"}}
        result = results[asked["method"]] | {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        return {"jsonrpc": "2.0", "id": asked["id"], "result": result}


@asynccontextmanager
async def rude_server(revision: str) -> AsyncIterator[RudeServer]:
    """The server on a port of its own."""
    found = RudeServer(revision)
    listening = await asyncio.start_server(found.serve, "127.0.0.1", 0)
    found.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/mcp"
    try:
        yield found
    finally:
        listening.close()
        await found.stop()


async def _request(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    lengths = [line.partition(":")[2] for line in head.splitlines() if line.lower().startswith("content-length:")]
    return head.split(" ", 1)[0], await reader.readexactly(int(lengths[0]) if lengths else 0)


async def _send(writer: asyncio.StreamWriter, broken: Broken, id: Any) -> None:
    """The pieces, which say `ID` where the call's own id belongs; it takes as much space."""
    named = [piece.replace(b'"ID"', json.dumps(id).rjust(4).encode()) for piece in broken.pieces]
    for piece in named:
        writer.write(piece)
    await writer.drain()
    while broken.endless:
        writer.write(named[-1])
        await writer.drain()
        await asyncio.sleep(0.001)
    if broken.held:
        await asyncio.sleep(3600)


def http(
    body: bytes, status: str = "200 OK", kind: str = "application/json", length: int | None = None, **headers: str
) -> bytes:
    """A whole answer; `length` where it lies about it."""
    lines = [f"HTTP/1.1 {status}", f"content-type: {kind}"] if kind else [f"HTTP/1.1 {status}"]
    lines += [f"content-length: {len(body) if length is None else length}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


WHOLE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": "ID",
    "result": {"content": [{"type": "text", "text": FORGED}], "isError": False, "resultType": "complete"},
}
_GOOD = json.dumps(WHOLE).encode()
_WRONG: tuple[Any, ...] = (None, 7, True, FORGED, [FORGED], {FORGED: FORGED}, 1e300, [[]], "")
# Where a value of another type is no answer any more, with what may stand there nevertheless.
_PLACES: dict[tuple[str | int, ...], tuple[Any, ...]] = {
    ("jsonrpc",): (),
    ("id",): (),
    ("result",): (),
    ("result", "content"): ([],),
    ("result", "content", 0): (),
    ("result", "content", 0, "type"): (),
    ("result", "content", 0, "text"): (FORGED, ""),
}


def _with(path: tuple[str | int, ...], value: Any) -> bytes:
    copy = json.loads(_GOOD)
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return json.dumps(copy).encode()


def _event(data: bytes, *more: bytes) -> bytes:
    return b"".join(line + b"\n" for line in (*more, b"data: " + data)) + b"\n"


_SSE = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
_CHUNKED = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
_FORGED = FORGED.encode()
_NOTE = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"forged"}}'

WELL_FORMED = Broken("not broken at all", (http(_GOOD),))
RESUMED = Broken("to be resumed at once", (_SSE + _event(_NOTE, b"id: forged", b"retry: 0"),))

# The first are those that the short form of the test tries.
FIXED: tuple[Broken, ...] = (
    Broken("no JSON", (http(b"forged, no JSON"),)),
    Broken("empty", (http(b""),)),
    Broken("half", (http(_GOOD[:-20]),)),
    Broken("another call's id", (http(_with(("id",), 99_999)),)),
    Broken("an id that is none", (http(_with(("id",), {FORGED: 1})),)),
    Broken("a result of another type", (http(_with(("result",), [FORGED])),)),
    Broken("a content of another type", (http(_with(("result", "content"), FORGED)),)),
    Broken("a block of an unknown type", (http(_with(("result", "content", 0, "type"), FORGED)),)),
    Broken("huge", (http(b'"' + b"forged " * (800 << 10) + b'"'),)),
    Broken("huge without a length", (_CHUNKED, b"10000\r\n" + b"x" * 65536 + b"\r\n"), endless=True),
    Broken("closed at once", ()),
    Broken("closed in the head", (b"HTTP/1.1 200 OK\r\ncontent-ty",)),
    Broken("closed in the body", (http(_GOOD, length=len(_GOOD) + 10),)),
    Broken("closed in a chunk", (_CHUNKED + b"ff\r\nforged",)),
    Broken("a chunk of no size", (_CHUNKED + b"forged\r\nforged\r\n0\r\n\r\n",)),
    Broken("HTML", (http(b"<h1>forged</h1>", kind="text/html"),)),
    Broken("a forged content type", (http(_GOOD, kind="forged/forged"),)),
    Broken("no content type", (http(_GOOD, kind=""),)),
    Broken("status 500", (http(b"forged", "500 forged"),)),
    Broken("status 500 with a result", (http(_GOOD, "500 forged"),)),
    Broken("status 202", (http(_GOOD, "202 Accepted"),)),
    Broken("a redirect elsewhere", (http(b"", "307 forged", location="http://forged.example/forged"),)),
    Broken("an endless head", (b"HTTP/1.1 200 OK\r\n", b"x-forged: " + b"forged" * 100 + b"\r\n"), endless=True),
    Broken("no HTTP", (b"forged forged forged\r\n\r\n",)),
    Broken("compressed and not", (http(_GOOD, content_encoding="gzip"),)),
    Broken("no answer", (), held=True),
    Broken("events without JSON", (_SSE + _event(b"forged"),)),
    Broken("events that end without an answer", (_SSE + _event(_NOTE),)),
    Broken("events that never end", (_SSE, b": forged\n\n"), endless=True),
    Broken("a huge event", (_SSE, b"data: ", b"forged " * 10_000), endless=True),
    Broken("an event that is held", (_SSE + b"data: forged",), held=True),
    Broken("notifications for ever", (_SSE, _event(_NOTE)), endless=True),
    Broken("interim answers for ever", (b"HTTP/1.1 100 Continue\r\n\r\n",), endless=True),
    RESUMED,
    Broken("to be resumed in a year", (_SSE + _event(_NOTE, b"id: forged", b"retry: 31536000000"),)),
    Broken("a retry that is too large", (_SSE + _event(_NOTE, b"id: forged", b"retry: " + b"9" * 400),)),
    Broken("a question of its own", (_SSE + _event(b'{"jsonrpc":"2.0","id":1,"method":"roots/list"}'),)),
    Broken("an unknown kind of event", (_SSE + _event(_GOOD, b"event: forged"),)),
    Broken("a head without an end", (b"HTTP/1.1 200 OK\r\nx-forged: ", b"forged" * 1000), endless=True),
    Broken("a status that is none", (http(_GOOD, "999 forged"),)),
    Broken("a status that is no number", (http(_GOOD, "forged"),)),
    Broken("two lengths", (http(_GOOD, Content_Length="3"),)),
    Broken("a length below zero", (http(_GOOD, length=-5),)),
    Broken("a body that is not UTF-8", (http(_GOOD.replace(_FORGED, b"\xff\xfe\x80")),)),
    Broken("surrogates", (http(b'{"jsonrpc":"2.0","id":"ID","result":"\\ud800"}'),)),
    Broken("deep", (http(b"[" * 200_000),)),
    Broken("a question instead of a result", (http(_with(("result",), {"resultType": "input_required", "inputRequests": {}})),)),
    Broken("a batch", (http(b"[" + _GOOD + b"]"),)),
    Broken("two messages", (http(_GOOD + _GOOD),)),
    Broken("an error of another type", (http(b'{"jsonrpc":"2.0","id":"ID","error":"forged"}'),)),
    Broken("an error without a code", (http(b'{"jsonrpc":"2.0","id":"ID","error":{"message":"forged"}}'),)),
    Broken("a redirect to itself", (http(b"", "307 forged", location="/mcp"),)),
    Broken("a redirect to nowhere", (http(b"", "302 forged", location="http://[forged"),)),
    Broken("a cookie and no answer", (http(b"", set_cookie="forged=forged"),)),
    Broken("another protocol", (http(b"", "101 Switching Protocols", upgrade="forged"),)),
)  # fmt: skip


def _mutations() -> Iterator[Broken]:
    """Without an end: cut off, of other types, or of other statuses; none of them is an answer any more."""
    chance = random.Random(7)
    for path, allowed in _PLACES.items():
        for value in _WRONG:
            if value not in allowed:
                body = _with(path, value)
                yield Broken(f"{path} is {value!r}", (http(body),))
                # In a stream, the request that it answers says which call is meant.
                if path != ("id",):
                    yield Broken(f"{path} is {value!r}, as an event", (_SSE + _event(body),))
    while True:
        at = chance.randrange(len(_GOOD))
        status = f"{chance.choice([*range(400, 430), *range(500, 512)])} forged"
        yield Broken(f"cut at {at}", (http(_GOOD[:at]),))
        yield Broken(f"cut at {at}, as an event", (_SSE + _event(_GOOD[:at]),))
        yield Broken(f"closed at {at}", (http(_GOOD)[:-at] if at else b"",))
        yield Broken(f"{status}, cut at {at}", (http(_GOOD[:at], status),))


def broken_answers(count: int) -> list[Broken]:
    """That many different ones."""
    found, more = list(FIXED[:count]), _mutations()
    seen = {one.pieces for one in found}
    while len(found) < count:
        one = next(more)
        if one.pieces not in seen:
            seen.add(one.pieces)
            found.append(one)
    return found
