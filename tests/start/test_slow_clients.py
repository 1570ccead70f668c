"""Clients that dribble are cut off after their deadline; everybody else is served meanwhile."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from tests.processes import Process, fresh_instance, holding, until_queued

DEADLINE = 1


@dataclass(frozen=True, slots=True)
class Impatient:
    """A server that waits one second for a head and one for a body."""

    url: str
    server: Process
    token: str


@pytest.fixture(scope="module")
async def impatient() -> AsyncIterator[Impatient]:
    async with fresh_instance(header_timeout=DEADLINE, body_timeout=DEADLINE) as instance:
        yield Impatient(instance.url, instance.server, instance.token)


async def dribble(port: int, start: bytes) -> tuple[float, bytes]:
    """Send a start, then a byte every 50 ms until the server hangs up; after how long, and what it said."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began, said = time.monotonic(), asyncio.create_task(reader.read())
    with contextlib.suppress(ConnectionError):
        writer.write(start)
        while not said.done():
            await asyncio.sleep(0.05)
            writer.write(b"x")
            await writer.drain()
    heard = b""
    with contextlib.suppress(ConnectionError):
        heard = await said
    writer.close()
    return time.monotonic() - began, heard


async def test_a_dribbled_head_is_cut_off_at_its_deadline(impatient: Impatient) -> None:
    took, said = await asyncio.wait_for(dribble(impatient.server.port, b"GET /health HTTP/1.1\r\nx-slow: "), 10)

    assert 0.9 * DEADLINE <= took < DEADLINE + 2
    assert said == b""


async def test_a_silent_connection_is_cut_off_at_the_same_deadline(impatient: Impatient) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", impatient.server.port)
    began = time.monotonic()

    said = await asyncio.wait_for(reader.read(), 10)

    writer.close()
    assert 0.9 * DEADLINE <= time.monotonic() - began < DEADLINE + 2
    assert said == b""


async def test_a_second_dribbled_head_on_one_connection_is_cut_off_too(impatient: Impatient) -> None:
    whole = b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n"

    took, said = await asyncio.wait_for(dribble(impatient.server.port, whole + b"GET /hea"), 10)

    assert 0.9 * DEADLINE <= took < DEADLINE + 2
    assert said.startswith(b"HTTP/1.1 200")


async def test_a_dribbled_body_is_refused_and_the_connection_closed(impatient: Impatient) -> None:
    head = f"POST /api/notes HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {impatient.token}\r\ncontent-length: 5000\r\n\r\n"

    took, said = await asyncio.wait_for(dribble(impatient.server.port, head.encode()), 10)

    assert said.startswith(b"HTTP/1.1 400")
    assert b'"request.too_slow"' in said
    assert 0.9 * DEADLINE <= took < 2 * DEADLINE + 2


async def test_others_are_served_while_hundreds_dribble(impatient: Impatient) -> None:
    head = b"POST /api/notes HTTP/1.1\r\nx-slow: "
    dribblers = [asyncio.create_task(dribble(impatient.server.port, head)) for _ in range(300)]

    async with impatient.server.client(impatient.token) as client:
        answers, slowest = [], 0.0
        while not all(dribbler.done() for dribbler in dribblers):
            began = time.monotonic()
            answers.append((await client.get("/api/notes")).status_code)
            slowest = max(slowest, time.monotonic() - began)
    cut = await asyncio.gather(*dribblers)

    assert len(answers) > 10
    assert set(answers) == {200}
    assert slowest < 1
    assert max(took for took, _ in cut) < DEADLINE + 3


async def test_waiting_for_the_server_is_not_being_slow(impatient: Impatient) -> None:
    async with impatient.server.client(impatient.token) as client:
        async with holding(impatient.url, "LOCK TABLE notes IN SHARE MODE"):
            post = asyncio.create_task(client.post("/api/notes", json={"title": "patience"}))
            await until_queued(impatient.url, 1)
            done, _ = await asyncio.wait({post}, timeout=DEADLINE + 0.5)

        assert not done
        assert (await post).status_code == 201


async def test_a_connection_may_rest_between_requests(impatient: Impatient) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", impatient.server.port)
    ask = b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n"
    writer.write(ask)
    first = await reader.readuntil(b"}")

    rested = asyncio.create_task(reader.readuntil(b"}"))
    done, _ = await asyncio.wait({rested}, timeout=DEADLINE + 0.5)
    writer.write(ask)
    second = await asyncio.wait_for(rested, 10)

    writer.close()
    assert not done
    assert first.startswith(b"HTTP/1.1 200")
    assert second.startswith(b"HTTP/1.1 200")
