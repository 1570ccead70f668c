"""Turns between real processes: cut off anywhere and read on at another server."""

import asyncio
import json
import random
import re
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from benchmarks.model_stand_in import serve
from tests.postgres import fresh_database, run_as_owner
from tests.support.patience import PATIENCE
from tests.support.processes import Process, bootstrap, rounds, serving

STREAM = "/api/ai/chat/stream"
_EVENT = re.compile(rb"id: (?P<id>[^\n]+)\nevent: (?P<name>[^\n]+)\ndata: (?P<data>[^\n]+)\n\n")


@pytest.fixture(scope="module")
async def model() -> AsyncIterator[str]:
    """A server that talks: the prompt `300 5` gets 300 words at 5 a second."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


@dataclass(slots=True)
class Heard:
    """What a client has heard of one turn, over as many connections as it took."""

    raw: bytes = b""
    text: str = ""
    last: str = ""
    end: dict[str, Any] = field(default_factory=dict)
    begun: list[float] = field(default_factory=list)
    reading: "asyncio.Future[None] | None" = None

    async def read(self, server: Process, token: str, body: object, most: int | None = None) -> None:
        """Follow until the end, or until so many bytes have come; then the line is cut, in the middle of whatever it is."""
        started = time.perf_counter()
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        raw = b"" if body is None else json.dumps(body).encode()
        head = f"POST {STREAM} HTTP/1.0\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-length: {len(raw)}\r\n"
        head += f"last-event-id: {self.last}\r\n" if body is None else ""
        writer.write(head.encode() + b"\r\n" + raw)
        try:
            status = await reader.readuntil(b"\r\n\r\n")
            assert status.startswith(b"HTTP/1.1 200"), status
            self.begun.append(time.perf_counter() - started)
            rest, count = b"", 0
            while piece := await reader.read(min(65536, max(1, (most or 65536) - count))):
                count += len(piece)
                rest = self._take(rest + piece)
                if most is not None and count >= most:
                    break
        finally:
            writer.transport.abort()

    def _take(self, raw: bytes) -> bytes:
        used = 0
        for event in _EVENT.finditer(raw):
            used = event.end()
            data = json.loads(event["data"])
            self.last = event["id"].decode()
            if event["name"] == b"delta":
                self.text += data["text"]
            elif event["name"] in (b"done", b"error"):
                self.end = data
        # A comment that keeps the line awake is no event.
        return raw[used:].removeprefix(b": ping\n\n")

    async def ended(self, seconds: float = PATIENCE) -> None:
        """Wait for the end of what is being read."""
        assert self.reading is not None
        await asyncio.wait_for(self.reading, seconds)

    @property
    def turn(self) -> str:
        return self.last.rpartition(".")[0]


async def test_a_stream_that_is_cut_anywhere_goes_on_at_another_process(model: str) -> None:
    """ATRIUM_FULL: 500 streams."""
    async with fresh_database() as url, serving(url, 2, local_model_url=model) as servers:
        token = await bootstrap(servers[0])
        moments = random.Random(7)

        async def follow(number: int) -> Heard:
            heard, body = Heard(), {"prompt": "60 20", "on_disconnect": "finish"}
            await heard.read(servers[number % 2], token, body, 400 + moments.randrange(900))
            for cut in range(3):
                most = None if cut == 2 else 1 + moments.randrange(1500)
                await heard.read(servers[(number + cut + 1) % 2], token, None, most)
                if heard.end:
                    break
            return heard

        async def opened(number: int) -> Heard:
            await asyncio.sleep(number / 50)
            return await follow(number)

        found = await asyncio.gather(*(opened(number) for number in rounds(20, 500)))
        assert [heard for heard in found if heard.end.get("text") != heard.text or heard.text.count("word") != 60] == []
        books = await run_as_owner(url, "SELECT sum((ending->'usage'->>'total_tokens')::int), count(*) FROM turns")
        used, _ = await usage(servers[0], token)
        assert tuple(books[0]) == (len(found) * 69, len(found))
        assert (used["ai.tokens.total"], used["ai.requests"]) == tuple(books[0])
        waits = sorted(wait for heard in found for wait in heard.begun[1:])
        print(
            f"{len(waits)} resumptions, p50 {waits[len(waits) // 2]:.3f} s, p99 {waits[int(len(waits) * 0.99)]:.3f} s"
        )


async def usage(server: Process, token: str) -> tuple[dict[str, int], int]:
    """What the team has used, and how much is reserved."""
    async with server.client(token) as person:
        lines = [line for line in (await person.get("/api/usage")).json()["items"] if line["level"] == "team"]
    return {line["dimension"]: line["used"] for line in lines}, sum(line["reserved"] for line in lines)
