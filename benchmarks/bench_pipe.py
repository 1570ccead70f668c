"""What carrying a thousand model streams costs beside a proxy that copies bytes and checks nothing, both taking turns in one run."""

import argparse
import asyncio
import contextlib
import statistics
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psutil
import uvloop

from benchmarks.generator import quantile
from benchmarks.processes import Cores
from tests.processes import free_port

GOAL_PROCESSOR = 2.0


@dataclass(frozen=True, slots=True)
class Carried:
    """One round through one app."""

    whole: int
    microseconds: float
    first: list[float]
    bytes_a_stream: float


async def measure(streams: int, pieces: int, rate: float, opened_over: float, rounds: int) -> dict[str, list[Carried]]:
    """The apps taking turns."""
    found: dict[str, list[Carried]] = {"proxy": [], "pipe": []}
    cores = Cores.of_this_machine()
    async with _process(cores.rest, "benchmarks.model_stand_in", model := free_port()):
        url = f"http://127.0.0.1:{model}"
        for number in range(rounds):
            for name in found if number % 2 else reversed(found):
                port = free_port()
                async with _process(cores.server, "benchmarks.pipes", name, port, url) as process:
                    await _carry(process, port, 20, 5, 5, 0.1)
                    found[name].append(await _carry(process, port, streams, pieces, rate, opened_over))
    return found


async def _carry(
    process: psutil.Process, port: int, streams: int, pieces: int, rate: float, opened_over: float
) -> Carried:
    before, resident = process.cpu_times(), process.memory_info().rss
    listening = []
    for _ in range(streams):
        listening.append(asyncio.create_task(_listen(port, pieces, rate)))
        await asyncio.sleep(opened_over / streams)
    heaviest = process.memory_info().rss
    heard = await asyncio.gather(*listening)
    after = process.cpu_times()
    spent = after.user + after.system - before.user - before.system
    count = sum(pieces_heard for _, pieces_heard in heard)
    whole = sum(pieces_heard == pieces for _, pieces_heard in heard)
    first = sorted(seconds for seconds, _ in heard)
    return Carried(whole, spent / max(count, 1) * 1e6, first, (heaviest - resident) / streams)


async def _listen(port: int, pieces: int, rate: float) -> tuple[float, int]:
    """Seconds to the first word, and how many words came."""
    started = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = b'{"prompt": "%d %g"}' % (pieces, rate)
    writer.write(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
    first, count = 0.0, 0
    while data := await reader.read(65536):
        words = data.count(b"word")
        first = first or (time.perf_counter() - started if words else 0.0)
        count += words
        if data.endswith(b"0\r\n\r\n"):
            break
    writer.close()
    return first, count


@asynccontextmanager
async def _process(core: int | None, module: str, *arguments: object) -> AsyncIterator[psutil.Process]:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, *map(str, arguments), stdout=asyncio.subprocess.DEVNULL
    )
    process = psutil.Process(child.pid)
    if core is not None:
        process.cpu_affinity([core])
    port = next(int(text) for text in map(str, arguments) if text.isdecimal())
    try:
        await _until_open(port)
        yield process
    finally:
        child.kill()
        await child.wait()


async def _until_open(port: int) -> None:
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return
            await asyncio.sleep(0.1)


def main() -> int:
    """Print the figures; fail when a stream is short or a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--pieces", type=int, default=300)
    parser.add_argument("--rate", type=float, default=5)
    parser.add_argument("--over", type=float, default=20, help="seconds in which the streams are opened")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    found = uvloop.run(measure(given.streams, given.pieces, given.rate, given.over, given.rounds))
    for name, rounds in found.items():
        for one in rounds:
            p50, p99 = quantile(one.first, 0.5), quantile(one.first, 0.99)
            figures = (
                f"{one.microseconds:.1f} µs an event, first word {p50 * 1000:.0f} ms p50 and {p99 * 1000:.0f} ms p99"
            )
            print(f"{name}: {one.whole} whole, {figures}, {one.bytes_a_stream / 1024:.0f} KiB a stream")
    typical = {name: statistics.median(one.microseconds for one in rounds) for name, rounds in found.items()}
    ratio = typical["pipe"] / typical["proxy"]
    print(f"processor time an event: {ratio:.2f} of the proxy's (at most {GOAL_PROCESSOR})")
    whole = all(one.whole == given.streams for rounds in found.values() for one in rounds)
    return 0 if whole and ratio <= GOAL_PROCESSOR else 1


if __name__ == "__main__":
    sys.exit(main())
