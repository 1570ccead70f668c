"""A small load generator for machines without wrk: keep-alive connections, one request at a time on each."""

import argparse
import asyncio
import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import httptools
import uvloop

# Words that every note of `benchmarks/seed.py` has.
SEARCH = "/api/search?q=plan+week"
DRAFT = json.dumps(
    {
        "title": "A note from the benchmark",
        "body": "What we said, who does it, and by when. " * 10,
        "visibility": "team",
    }
).encode()


class Connection(asyncio.Protocol):
    """Sends the next request when the reply to the last one is complete; a line cut by the server is a failure."""

    def __init__(self, requests: Iterator[bytes], latencies: list[float], failures: list[int]) -> None:
        self._requests, self._latencies, self._failures = requests, latencies, failures
        self._closing = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports write like asyncio's and inherit from none of them.
        self._transport = cast(asyncio.WriteTransport, transport)
        self._send()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._closing:
            self._failures.append(0)

    def _send(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._sent = time.perf_counter()
        self._transport.write(next(self._requests))

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_message_complete(self) -> None:
        self._latencies.append(time.perf_counter() - self._sent)
        if self._parser.get_status_code() >= 400:
            self._failures.append(self._parser.get_status_code())
        self._send()

    def close(self) -> None:
        self._closing = True
        self._transport.abort()


def prepare(kind: str, token: str, note: str) -> bytes:
    """The bytes of one request."""
    lines = {"create": "POST /api/notes", "list": "GET /api/notes", "search": f"GET {SEARCH}"}
    line = lines.get(kind, f"GET /api/notes/{note}")
    length = f"Content-Length: {len(DRAFT)}\r\n" if kind == "create" else ""
    head = f"{line} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n{length}\r\n"
    return head.encode() + (DRAFT if kind == "create" else b"")


async def drive(port: int, requests: Iterator[bytes], connections: int, seconds: float) -> dict[str, float]:
    """Keep every connection busy for the time given; what came of it."""
    loop = asyncio.get_running_loop()
    latencies: list[float] = []
    failures: list[int] = []
    started = time.perf_counter()
    opened = [
        (await loop.create_connection(lambda: Connection(requests, latencies, failures), "127.0.0.1", port))[1]
        for _ in range(connections)
    ]
    await asyncio.sleep(seconds)
    passed = time.perf_counter() - started
    for connection in opened:
        connection.close()
    latencies.sort()
    return {
        "requests": len(latencies),
        "seconds": passed,
        "p50_ms": quantile(latencies, 0.50) * 1000,
        "p99_ms": quantile(latencies, 0.99) * 1000,
        "failed": len(failures),
    }


def quantile(ordered: list[float], share: float) -> float:
    return ordered[int(len(ordered) * share)] if ordered else 0.0


def main() -> None:
    """One run; prints one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("kind", choices=["read", "list", "search", "create"])
    parser.add_argument("targets", type=Path)
    options = parser.parse_args()
    prepared = [prepare(options.kind, *line.split()) for line in options.targets.read_text().splitlines()]
    start = time.time_ns() % len(prepared)
    requests = itertools.cycle(prepared[start:] + prepared[:start])
    print(json.dumps(uvloop.run(drive(options.port, requests, options.connections, options.seconds))))


if __name__ == "__main__":
    main()
