"""A company's requests from a process of its own, so that sending them delays nobody who measures.

`python -m tests.domains.edge.hostile_ways` reads an Order as a line of JSON and says that it is ready; each further line is a number of
requests that it may send, -1 for as many as it can. At the end of its input it stops and prints what it has sent, and the statuses.
"""

import asyncio
import contextlib
import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import msgspec

from tests.domains.mcp.server.speaking import STATELESS, headers_of, message

AT_ONCE = 16
_CHUNK = 1 << 20


class Order(msgspec.Struct):
    """Where to send what, as whom; `facts` are what the way needs to know."""

    port: int
    token: str
    way: str
    facts: dict[str, Any] = {}


class Sent(msgspec.Struct):
    """How many requests were answered, and how."""

    count: int
    statuses: dict[int, int]


class Request(msgspec.Struct, frozen=True):
    """One request without its frame."""

    method: str
    path: str
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()

    def encoded(self, token: str) -> bytes:
        lines = "".join(f"{name}: {value}\r\n" for name, value in self.headers)
        credential = f"authorization: Bearer {token}\r\n" if token else ""
        length = f"content-length: {len(self.body)}\r\n" if self.method != "GET" else ""
        head = f"{self.method} {self.path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{credential}{length}{lines}\r\n"
        return head.encode() + self.body


Way = Callable[[dict[str, Any]], Iterator[Request]]
WAYS: dict[str, Way] = {}


def way(make: Way) -> Way:
    WAYS[make.__name__] = make
    return make


def _json(value: Any) -> bytes:
    return msgspec.json.encode(value)


@way
def harmless(facts: dict[str, Any]) -> Iterator[Request]:
    """A note is read."""
    return itertools.repeat(Request("GET", f"/api/notes/{facts['note']}"))


@way
def searches(facts: dict[str, Any]) -> Iterator[Request]:
    """A word of fifty texts of sixty thousand characters."""
    return itertools.cycle(
        [Request("GET", f"/api/search?limit=50&q={quote(q)}") for q in ("anchor", "anchr", "語 anchor")]
    )


@way
def translations(facts: dict[str, Any]) -> Iterator[Request]:
    """Two hundred thousand brackets."""
    asked = {"text": "[" * 200_000, "target": "de", "format": "markdown"}
    return itertools.repeat(Request("POST", "/api/translate", _json(asked)))


@way
def runs(facts: dict[str, Any]) -> Iterator[Request]:
    """Maps over many items with thousands of values each."""
    return itertools.cycle(Request("POST", f"/api/workflows/{slug}/run", b"{}") for slug in facts["workflows"])


@way
def streams(facts: dict[str, Any]) -> Iterator[Request]:
    """A question of a megabyte, and its answer piece by piece."""
    asked = {"prompt": "word " * 200_000, "max_tokens": 4_000}
    return itertools.repeat(Request("POST", "/api/ai/chat/stream", _json(asked)))


@way
def uploads(facts: dict[str, Any]) -> Iterator[Request]:
    """Sixteen megabytes, again and again."""
    body = bytes(range(256)) * (16 << 12)
    return (Request("PUT", f"/api/repo/upload-{number % 64}", body) for number in itertools.count())


@way
def exports(facts: dict[str, Any]) -> Iterator[Request]:
    """An archive of all files."""
    return itertools.repeat(Request("GET", "/api/repo-zip?prefix=large/"))


@way
def sign_ins(facts: dict[str, Any]) -> Iterator[Request]:
    """A person of the company signs in with the right password, again and again."""
    body = _json({"username": facts["username"], "password": facts["password"]})
    forwarded = (("x-forwarded-for", "203.0.113.7"),)
    return itertools.repeat(Request("POST", "/api/login", body, forwarded))


@way
def polls(facts: dict[str, Any]) -> Iterator[Request]:
    """Workers that ask for a job without waiting for one, and lists of jobs."""
    claim = Request("POST", "/api/workers/claim", _json({"kinds": ["ai.turn"], "max_wait": 0}), _as(facts["worker"]))
    return itertools.cycle([claim, claim, Request("GET", "/api/jobs?limit=200")])


@way
def tool_calls(facts: dict[str, Any]) -> Iterator[Request]:
    """Tools that look for a word and count those of a long text, through /mcp."""
    asked = [("search", {"q": "anchor"}), ("word_count", {"text": "word " * 150_000}), ("notes_list", {})]
    found = []
    for name, arguments in asked:
        said = message("tools/call", {"name": name, "arguments": arguments})
        sent = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        headers = tuple({**sent, **headers_of(said, STATELESS)}.items())
        found.append(Request("POST", "/mcp", _json(said), headers))
    return itertools.cycle(found)


@way
def deep_pages(facts: dict[str, Any]) -> Iterator[Request]:
    """The last pages of thousands of notes, and of those that contain a word."""
    deep = [Request("GET", f"/api/notes?limit=200&cursor={cursor}") for cursor in facts["cursors"]]
    return itertools.cycle([*deep, Request("GET", "/api/notes?limit=200&q=anchor")])


def _as(token: str) -> tuple[tuple[str, str], ...]:
    """Another credential than the order's."""
    return (("authorization", f"Bearer {token}"),)


class Sender:
    """Sends the requests of an order, so many at once."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._requests = WAYS[order.way](order.facts)
        self._permits, self._unlimited = asyncio.Semaphore(0), asyncio.Event()
        self.statuses: Counter[int] = Counter()

    async def run(self) -> None:
        """Until it is cancelled."""
        await asyncio.gather(*(self._send() for _ in range(AT_ONCE)))

    def permit(self, count: int) -> None:
        """Let it send so many more; -1 lets it send all it can."""
        for _ in range(AT_ONCE if count < 0 else count):
            self._permits.release()
        if count < 0:
            self._unlimited.set()

    async def _send(self) -> None:
        while True:
            await self._permits.acquire()
            request = next(self._requests)
            own = any(name == "authorization" for name, _ in request.headers)
            raw = request.encoded("" if own else self._order.token)
            self.statuses[await self._exchange(raw)] += 1
            if self._unlimited.is_set():
                self._permits.release()

    async def _exchange(self, raw: bytes) -> int:
        head = b""
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", self._order.port)
            try:
                writer.write(raw)
                head = await reader.read(_CHUNK)
                while await reader.read(_CHUNK):
                    pass
            finally:
                writer.close()
        return int(head[9:12]) if head.startswith(b"HTTP/1.1 ") else 0


async def main() -> None:
    """Send what an order says."""
    lines = asyncio.StreamReader(limit=1 << 24)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    sender = Sender(msgspec.json.decode(await lines.readline(), type=Order))
    sending = asyncio.ensure_future(sender.run())
    print("ready", flush=True)
    async for line in lines:
        sender.permit(int(line))
    sending.cancel()
    await asyncio.wait([sending])
    print(msgspec.json.encode(Sent(sender.statuses.total(), dict(sender.statuses))).decode(), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
