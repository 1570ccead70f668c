"""The load generator for machines without wrk, against a small server that counts for itself."""

import asyncio
import itertools
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

from benchmarks.generator import drive, prepare
from tests.support.processes import ROOT

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
REFUSED = b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n"


@dataclass(slots=True)
class Counting:
    """A server that answers with the given replies in turn and remembers what it was asked."""

    replies: Iterator[bytes]
    asked: list[bytes] = field(default_factory=list)
    answered: list[bytes] = field(default_factory=list)
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.asked.append(head + await reader.readexactly(_length(head)))
                reply = next(self.replies)
                if not reply:
                    break
                self.answered.append(reply)
                writer.write(reply)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def _length(head: bytes) -> int:
    _, _, after = head.partition(b"Content-Length: ")
    return int(after.partition(b"\r\n")[0] or 0)


@asynccontextmanager
async def counting(*replies: bytes) -> AsyncIterator[Counting]:
    found = Counting(itertools.cycle(replies))
    server = await asyncio.start_server(found.serve, "127.0.0.1", 0)
    found.port = server.sockets[0].getsockname()[1]
    async with server:
        yield found


async def _driven(*replies: bytes, kind: str = "read", connections: int = 4) -> tuple[dict[str, float], Counting]:
    async with counting(*replies) as server:
        requests = itertools.cycle([prepare(kind, "token", "note")])
        return await drive(server.port, requests, connections, seconds=0.3), server


def test_on_the_loop_it_runs_on_every_answer_is_counted_once() -> None:
    outcome, server = uvloop.run(_driven(OK))

    # What was answered at the last moment may not have been read any more: one on each connection.
    assert 0 <= len(server.answered) - outcome["requests"] <= 4
    assert outcome["requests"] > 0
    assert outcome["failed"] == 0
    assert 0 < outcome["p50_ms"] <= outcome["p99_ms"] < outcome["seconds"] * 1000


def test_refusals_are_counted_as_failures() -> None:
    outcome, server = uvloop.run(_driven(OK, OK, REFUSED, connections=1))

    assert abs(outcome["failed"] - server.answered.count(REFUSED)) <= 1
    assert abs(outcome["failed"] * 3 - outcome["requests"]) <= 3


def test_a_line_that_the_server_cuts_is_a_failure() -> None:
    outcome, _ = uvloop.run(_driven(b"", connections=3))

    assert outcome == outcome | {"requests": 0, "failed": 3, "p50_ms": 0.0, "p99_ms": 0.0}


def test_a_note_is_sent_whole() -> None:
    _, server = uvloop.run(_driven(OK, kind="create"))

    line, _, rest = server.asked[0].partition(b"\r\n")
    assert line == b"POST /api/notes HTTP/1.1"
    assert json.loads(rest.partition(b"\r\n\r\n")[2])["visibility"] == "team"


async def test_the_command_prints_one_line_of_figures(tmp_path: Path) -> None:
    targets = tmp_path / "targets"
    targets.write_text("token note\n")

    async with counting(OK) as server:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "benchmarks.generator", "--port", str(server.port), "--seconds", "1", "list", str(targets),
            cwd=ROOT, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        printed, _ = await process.communicate()

    figures = json.loads(printed)
    assert (process.returncode, figures["failed"]) == (0, 0)
    assert figures["requests"] > 0
    assert server.asked[0].startswith(b"GET /api/notes HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer token\r\n")
