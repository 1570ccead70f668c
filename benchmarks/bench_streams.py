"""What a thousand idle event streams weigh on a serving process, and whether every source is closed once they are gone."""

import argparse
import asyncio
import contextlib
import json
import sys
from dataclasses import dataclass

from benchmarks.idle import COUNT, WATCH
from benchmarks.processes import Cores, Server, Starting
from benchmarks.seed import seed
from tests.postgres import fresh_database

GOAL_BYTES = 25 * 1024 * 1024
_AT_ONCE = 50
_PATIENCE_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Weight:
    """Resident memory of the process before and with the streams, and how many sources were open then and afterwards."""

    before: int
    after: int
    opened: int
    left: int


async def weigh(streams: int) -> Weight:
    """Open the streams on a real server, weigh it, and leave."""
    async with fresh_database() as url:
        token = (await seed(url, companies=1, notes=2))[0].token
        async with Starting("idle", url, ["-m", "benchmarks.idle"]).on(Cores.of_this_machine().server) as server:
            await _watch_briefly(server, token, _AT_ONCE)
            before = server.resident_bytes()
            async with contextlib.AsyncExitStack() as watching:
                for _ in range(0, streams, _AT_ONCE):
                    opened = await asyncio.gather(*(_open(server, token) for _ in range(_AT_ONCE)))
                    for writer in opened:
                        watching.callback(writer.close)
                after, count = server.resident_bytes(), await _count(server, token)
            return Weight(before, after, count, await _until_closed(server, token))


async def _watch_briefly(server: Server, token: str, streams: int) -> None:
    """What the first streams load and prepare stays, so it is not counted to theirs."""
    for writer in await asyncio.gather(*(_open(server, token) for _ in range(streams))):
        writer.close()
    await _until_closed(server, token)


async def _open(server: Server, token: str) -> asyncio.StreamWriter:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(_request(WATCH, token))
    head = await reader.readuntil(b"\r\n\r\n")
    if b"text/event-stream" not in head:
        raise RuntimeError(f"no stream: {head!r}")
    return writer


async def _until_closed(server: Server, token: str) -> int:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while await _count(server, token):
                await asyncio.sleep(0.05)
    return await _count(server, token)


async def _count(server: Server, token: str) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(_request(COUNT, token, "Connection: close\r\n"))
    body = (await reader.read()).partition(b"\r\n\r\n")[2]
    writer.close()
    return int(json.loads(body)["open"])


def _request(path: str, token: str, more: str = "") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n{more}\r\n".encode()


def main() -> int:
    """Weigh, print, and say by the exit code whether it stays within the goal and nothing was left open."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=1000)
    options = parser.parse_args()
    found = asyncio.run(weigh(options.streams))
    grown = found.after - found.before
    print(f"{found.opened} idle streams: {grown / 2**20:.1f} MiB in all, {grown / found.opened / 1024:.1f} KiB each")
    print(f"resident {found.before / 2**20:.1f} -> {found.after / 2**20:.1f} MiB, goal 25 MiB more at most")
    print(f"{found.left} sources open after everybody left")
    return 0 if grown < GOAL_BYTES and found.opened == options.streams and not found.left else 1


if __name__ == "__main__":
    sys.exit(main())
