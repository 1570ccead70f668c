"""What moving bytes costs beside a bare ASGI app that moves and hashes the same ones; rounds alternate in one run.

python -m benchmarks.bench_transfer [--megabytes 1024] [--rounds 5]
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psutil

from tests.postgres import fresh_database
from tests.support.processes import bootstrap, free_port, serving

MEBI = 1 << 20
FLOOR = 0.8


@contextmanager
def bare_server(folder: Path) -> Iterator[str]:
    """The bare app under the same server and event loop."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "uvicorn", "benchmarks.bare_transfer:app", "--port", str(port), "--loop", "uvloop", "--http", "httptools",
         "--no-access-log", "--log-level", "warning"],
        env=os.environ | {"BARE_FOLDER": str(folder)},
    )  # fmt: skip
    try:
        address = f"http://127.0.0.1:{port}"
        while True:
            try:
                httpx.get(address, trust_env=False)
                break
            except httpx.ConnectError:
                time.sleep(0.05)
            except httpx.TransportError:
                break
        yield address
    finally:
        process.terminate()
        process.wait()


def curl(*arguments: str) -> float:
    """Seconds of one transfer by curl, which costs less than any client of ours would."""
    started = time.perf_counter()
    subprocess.run(["curl", "-sSf", "-o", "/dev/null", *arguments], check=True)
    return time.perf_counter() - started


def report(name: str, size: int, ours: list[float], bare: list[float]) -> float:
    """Megabytes a second of both, by their medians."""
    mine, least = (size / MEBI / statistics.median(one) for one in (ours, bare))
    print(f"{name:4} {mine:8.0f} MiB/s   bare {least:8.0f} MiB/s   ratio {mine / least:.2f}", flush=True)
    return mine / least


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--many", type=int, default=50, help="concurrent uploads and downloads of a tenth of the size")
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "source"
        with source.open("wb") as file:
            for _ in range(options.megabytes):
                file.write(os.urandom(MEBI))
        async with fresh_database() as url, serving(url, data_dir=folder / "data") as (server,):
            token = ["-H", f"Authorization: Bearer {await bootstrap(server)}"]
            with bare_server(folder) as bare:
                await asyncio.to_thread(compare, server.address, bare, token, source, options.rounds)
            await asyncio.to_thread(crowd, server.address, server.popen.pid, token, source, options.many)


def compare(address: str, bare: str, token: list[str], source: Path, rounds: int) -> None:
    times: dict[str, list[float]] = {"put": [], "bare put": [], "get": [], "bare get": []}
    for number in range(rounds):
        # The same bytes would be found in the store already: a byte in front makes them new.
        with source.open("r+b") as file:
            file.write(os.urandom(16))
        place = ["-T", str(source), "-H", "Expect:"]
        times["put"].append(curl(*place, *token, f"{address}/api/repo/big-{number}"))
        times["bare put"].append(curl(*place, f"{bare}/x"))
        listed = httpx.get(
            f"{address}/api/repo", headers={"authorization": token[1].split(": ")[1]}, trust_env=False
        ).json()
        id = listed["items"][-1]["id"]
        times["get"].append(curl(*token, f"{address}/api/repo-obj/{id}/content"))
        times["bare get"].append(curl(f"{bare}/x"))
    size = source.stat().st_size
    ratios = [report(name.upper(), size, times[name], times[f"bare {name}"]) for name in ("put", "get")]
    print("reached" if min(ratios) >= FLOOR else f"below {FLOOR}")


def crowd(address: str, pid: int, token: list[str], source: Path, many: int) -> None:
    """How much memory many transfers at once take."""
    part = source.with_name("part")
    with source.open("rb") as whole, part.open("wb") as file:
        file.write(whole.read(source.stat().st_size // 10))
    process = psutil.Process(pid)
    before = process.memory_info().rss
    running = [
        subprocess.Popen(["curl", "-sSf", "-o", "/dev/null", "-T", str(part), *token, f"{address}/api/repo/crowd-{n}"])
        for n in range(many)
    ]
    most = before
    while any(one.poll() is None for one in running):
        most = max(most, process.memory_info().rss)
        time.sleep(0.05)
    failed = sum(one.returncode != 0 for one in running)
    print(
        f"{many} uploads of {part.stat().st_size / MEBI:.0f} MiB at once: memory grew by {(most - before) / MEBI:.0f} MiB, {failed} failed"
    )


if __name__ == "__main__":
    asyncio.run(main())
