"""Turns between real processes: cut off anywhere and read on at another server, and a server that is killed while it answers."""

import asyncio
import json
import random
import re
import signal
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from benchmarks.model_stand_in import serve
from tests.postgres import fresh_database, run_as_owner
from tests.processes import Process, bootstrap, rounds, serving, start_server

STREAM = "/api/ai/chat/stream"
_EVENT = re.compile(rb"id: (?P<id>[^\n]+)\nevent: (?P<name>[^\n]+)\ndata: (?P<data>[^\n]+)\n\n")
# Interrupted within 15 s of the death, and what is noted is entered soon after.
SETTLED_SECONDS = 30


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
    end: dict[str, object] = field(default_factory=dict)
    begun: list[float] = field(default_factory=list)

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
        used, _ = await _usage(servers[0], token)
        assert tuple(books[0]) == (len(found) * 69, len(found))
        assert (used["ai.tokens.total"], used["ai.requests"]) == tuple(books[0])
        waits = sorted(wait for heard in found for wait in heard.begun[1:])
        print(
            f"{len(waits)} resumptions, p50 {waits[len(waits) // 2]:.3f} s, p99 {waits[int(len(waits) * 0.99)]:.3f} s"
        )


async def test_a_killed_server_loses_no_more_than_the_last_second(model: str, tmp_path: Path) -> None:
    """ATRIUM_FULL: 20 rounds of 200 streams."""
    async with fresh_database() as url, serving(url, 1, local_model_url=model) as [survivor]:
        token = await bootstrap(survivor)
        for _ in rounds(1, 20):
            victim = start_server(url, tmp_path, local_model_url=model)
            try:
                await victim.until_ready()
                await _kill_while_it_answers(url, victim, survivor, token, len(rounds(20, 200)))
            finally:
                victim.clean_up()


async def _kill_while_it_answers(url: str, victim: Process, survivor: Process, token: str, streams: int) -> None:
    before = len(await run_as_owner(url, "SELECT FROM turns"))
    heard = [Heard() for _ in range(streams)]
    body = {"prompt": "2000 10", "on_disconnect": "finish", "max_tokens": 3000}
    reading = [asyncio.ensure_future(one.read(victim, token, body)) for one in heard]
    async with asyncio.timeout(60):
        while not all(one.text.count("word") > 25 for one in heard):
            await asyncio.sleep(0.05)
    killed = time.monotonic()
    await victim.stop(signal.SIGKILL)
    await asyncio.gather(*reading, return_exceptions=True)
    async with asyncio.timeout(SETTLED_SECONDS):
        while await run_as_owner(url, "SELECT FROM turns WHERE state = 'running'"):
            await asyncio.sleep(0.2)
    assert time.monotonic() - killed < SETTLED_SECONDS
    for one in heard:
        kept = Heard()
        await kept.read(survivor, token, {"resume": one.turn})
        assert (kept.end["code"], kept.end["text"]) == ("ai.interrupted", kept.text)
        # Stored once a second; at ten words a second about ten more may have been heard.
        assert one.text.startswith(kept.text)
        assert one.text.count("word") - kept.text.count("word") <= 25
    used, reserved = await _usage(survivor, token)
    async with asyncio.timeout(SETTLED_SECONDS):
        while reserved:
            await asyncio.sleep(0.2)
            used, reserved = await _usage(survivor, token)
    paid = await run_as_owner(url, "SELECT sum((ending->'usage'->>'total_tokens')::int), count(*) FROM turns")
    assert paid[0]["count"] == before + streams
    assert (used["ai.tokens.total"], used["ai.requests"]) == (paid[0]["sum"], paid[0]["count"])


async def _usage(server: Process, token: str) -> tuple[dict[str, int], int]:
    """What the team has used, and how much is reserved."""
    async with server.client(token) as person:
        lines = [line for line in (await person.get("/api/usage")).json()["items"] if line["level"] == "team"]
    return {line["dimension"]: line["used"] for line in lines}, sum(line["reserved"] for line in lines)
