"""Clients that dribble are cut off after their deadline; everybody else is served meanwhile."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from tests.support.patience import PATIENCE
from tests.support.processes import Process, fresh_instance, holding, until_queued

DEADLINE = 2


@dataclass(frozen=True, slots=True)
class Impatient:
    """A server that waits two seconds for a head and two for a body."""

    url: str
    server: Process
    token: str


@pytest.fixture(scope="module")
async def impatient() -> AsyncIterator[Impatient]:
    async with fresh_instance(header_timeout=DEADLINE, body_timeout=DEADLINE) as instance:
        yield Impatient(instance.url, instance.server, instance.token)


async def dribble(port: int, start: bytes) -> tuple[float, bytes]:
    """Send a start, then a byte every 50 ms until the server hangs up; after how long, and what it said."""
    began = time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    said = asyncio.create_task(reader.read())
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
    took, said = await asyncio.wait_for(dribble(impatient.server.port, b"GET /health HTTP/1.1\r\nx-slow: "), PATIENCE)

    assert took >= 0.9 * DEADLINE
    assert said == b""


async def test_a_silent_connection_is_cut_off_at_the_same_deadline(impatient: Impatient) -> None:
    began = time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", impatient.server.port)

    said = await asyncio.wait_for(reader.read(), PATIENCE)

    writer.close()
    assert time.monotonic() - began >= 0.9 * DEADLINE
    assert said == b""


async def test_a_second_dribbled_head_on_one_connection_is_cut_off_too(impatient: Impatient) -> None:
    whole = b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n"

    took, said = await asyncio.wait_for(dribble(impatient.server.port, whole + b"GET /hea"), PATIENCE)

    assert took >= 0.9 * DEADLINE
    assert said.startswith(b"HTTP/1.1 200")


async def test_a_dribbled_body_is_refused_and_the_connection_closed(impatient: Impatient) -> None:
    head = f"POST /api/notes HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {impatient.token}\r\ncontent-length: 5000\r\n\r\n"

    took, said = await asyncio.wait_for(dribble(impatient.server.port, head.encode()), PATIENCE)

    assert said.startswith(b"HTTP/1.1 400")
    assert b'"request.too_slow"' in said
    assert took >= 0.9 * DEADLINE


async def test_others_are_served_while_many_dribble(impatient: Impatient) -> None:
    answers, _, _ = await served_beside(impatient, 100)

    assert answers
    assert set(answers) == {200}


@pytest.mark.proof
async def test_others_are_served_at_once_while_hundreds_dribble(impatient: Impatient) -> None:
    answers, slowest, cut = await served_beside(impatient, 300)

    assert len(answers) > 10
    assert set(answers) == {200}
    assert slowest < 1
    assert max(cut) < DEADLINE + 3


@pytest.mark.proof
async def test_a_deadline_is_kept_to_the_second(impatient: Impatient) -> None:
    port = impatient.server.port
    head = f"POST /api/notes HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {impatient.token}\r\ncontent-length: 5000\r\n\r\n"
    whole = b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n"

    assert (await dribble(port, b"GET /health HTTP/1.1\r\nx-slow: "))[0] < DEADLINE + 2
    assert (await dribble(port, whole + b"GET /hea"))[0] < DEADLINE + 2
    assert (await dribble(port, head.encode()))[0] < 2 * DEADLINE + 2


async def served_beside(impatient: Impatient, count: int) -> tuple[list[int], float, list[float]]:
    """What somebody is answered while so many dribble, the slowest of it, and when each of the others was cut off."""
    head = b"POST /api/notes HTTP/1.1\r\nx-slow: "
    dribblers = [asyncio.create_task(dribble(impatient.server.port, head)) for _ in range(count)]

    async with impatient.server.client(impatient.token) as client:
        answers, slowest = [], 0.0
        while not all(dribbler.done() for dribbler in dribblers):
            began = time.monotonic()
            answers.append((await client.get("/api/notes")).status_code)
            slowest = max(slowest, time.monotonic() - began)
    return answers, slowest, [took for took, _ in await asyncio.gather(*dribblers)]


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
    second = await asyncio.wait_for(rested, PATIENCE)

    writer.close()
    assert not done
    assert first.startswith(b"HTTP/1.1 200")
    assert second.startswith(b"HTTP/1.1 200")
