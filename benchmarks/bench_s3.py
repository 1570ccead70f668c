"""The S3 wire beside SeaweedFS, and large objects beside a bare app that moves and hashes the same bytes; rounds alternate.

python -m benchmarks.bench_s3 [--rounds 5] [--seconds 3] [--only "GET 4 KiB"]

With `--processor` only Atrium is asked, and the processor time of its processes for each request is printed, which compares two
heads of the repository also on a machine that is busy with something else.
"""

import argparse
import asyncio
import itertools
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import obstore
import psutil
from obstore.store import S3Store

from tests.domains.repository.stores import ACCESS, BUCKET, running_cloud
from tests.postgres import fresh_database
from tests.support.processes import Process, bootstrap, serving

KIB, MIB = 1 << 10, 1 << 20
PROCESSES = 2
LISTED = 100


@dataclass(slots=True)
class Peer:
    """A server under measurement: a client for each of its processes, taken in turn."""

    name: str
    stores: Sequence[S3Store]
    _turn: "itertools.count[int]" = field(default_factory=itertools.count)

    def store(self) -> S3Store:
        return self.stores[next(self._turn) % len(self.stores)]


@dataclass(frozen=True, slots=True)
class Task:
    """One kind of request: how many at once, the ratio to reach, and the bytes each moves."""

    goal: float
    at_once: int
    size: int
    run: Callable[[S3Store, int], Awaitable[None]]


async def put(store: S3Store, size: int, number: int) -> None:
    # No two alike: a store that keeps equal bytes once would otherwise have less to do.
    body = number.to_bytes(8) + time.time_ns().to_bytes(8) + _body(size)[16:]
    await obstore.put_async(store, f"put-{size}/{number % 64}", body, use_multipart=False)


async def get(store: S3Store, size: int, number: int) -> None:
    found = await obstore.get_async(store, f"get-{size}/{number % 16}")
    async for _ in found.stream(min_chunk_size=4 * MIB):
        pass


async def list_page(store: S3Store, number: int) -> None:
    found = await obstore.list_with_delimiter_async(store, "listed/")
    assert len(found["objects"]) == LISTED


def _sized(
    verb: Callable[[S3Store, int, int], Awaitable[None]], size: int
) -> Callable[[S3Store, int], Awaitable[None]]:
    return lambda store, number: verb(store, size, number)


TASKS = {
    f"LIST {LISTED}": Task(1.5, 16, 0, list_page),
    "GET 4 KiB": Task(0.9, 16, 4 * KIB, _sized(get, 4 * KIB)),
    "PUT 4 KiB": Task(0.0, 16, 4 * KIB, _sized(put, 4 * KIB)),
    "PUT 1 MiB": Task(0.9, 8, MIB, _sized(put, MIB)),
    "GET 1 MiB": Task(0.0, 8, MIB, _sized(get, MIB)),
    "PUT 100 MiB": Task(1.0, 2, 100 * MIB, _sized(put, 100 * MIB)),
    "GET 100 MiB": Task(1.0, 2, 100 * MIB, _sized(get, 100 * MIB)),
}


def _body(size: int, _made: dict[int, bytes] = {}) -> bytes:  # noqa: B006  one buffer a size for the whole run
    return _made.setdefault(size, bytes(range(256)) * (size // 256))


async def prepare(peer: Peer) -> None:
    """What is read and listed later."""
    store = peer.stores[0]
    for size in {task.size for name, task in TASKS.items() if name.startswith("GET")}:
        for number in range(16 if size < 100 * MIB else 2):
            await obstore.put_async(store, f"get-{size}/{number}", _body(size), use_multipart=False)
        if size >= 100 * MIB:
            for number in range(2, 16):
                await obstore.copy_async(store, f"get-{size}/{number % 2}", f"get-{size}/{number}")
    for number in range(LISTED):
        await obstore.put_async(store, f"listed/{number:04}", b"x", use_multipart=False)


async def rate(peer: Peer, task: Task, seconds: float) -> float:
    """Requests a second; every request that began is waited for and counted."""
    numbers, done = itertools.count(), 0
    began = time.perf_counter()

    async def work() -> None:
        nonlocal done
        while time.perf_counter() < began + seconds:
            await task.run(peer.store(), next(numbers))
            done += 1

    await asyncio.gather(*(work() for _ in range(task.at_once)))
    return done / (time.perf_counter() - began)


async def compare(ours: Peer, theirs: Peer, name: str, task: Task, rounds: int, seconds: float) -> bool:
    """Print the median of the rounds' ratios; whether the goal is met."""
    found: dict[str, list[float]] = {ours.name: [], theirs.name: []}
    for number in range(rounds):
        for peer in (ours, theirs) if number % 2 else (theirs, ours):
            found[peer.name].append(await rate(peer, task, seconds))
    ratio = statistics.median(a / b for a, b in zip(*found.values(), strict=True))
    per_second = [statistics.median(values) for values in found.values()]
    unit = "/s" if task.size < MIB else " MiB/s"
    shown = [value * (task.size / MIB if task.size >= MIB else 1) for value in per_second]
    verdict = "" if not task.goal else f"goal {task.goal}, {'met' if ratio >= task.goal else 'MISSED'}"
    print(f"{name:12} {ratio:5.2f}  {shown[0]:8.0f}{unit} against {shown[1]:8.0f}{unit}  {verdict}", flush=True)
    return bool(ratio >= task.goal)


async def processor_time(ours: Peer, pids: Sequence[int], task: Task, rounds: int, seconds: float) -> list[float]:
    """Milliseconds of processor time that our processes take for a request, round by round."""
    found, processes = [], [psutil.Process(pid) for pid in pids]
    for _ in range(rounds):
        before, began = sum(_spent(process) for process in processes), time.perf_counter()
        done = await rate(ours, task, seconds) * (time.perf_counter() - began)
        found.append((sum(_spent(process) for process in processes) - before) / max(done, 1) * 1000)
    return found


def _spent(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


async def atrium_stores(servers: Sequence[Process]) -> list[S3Store]:
    """A client for each process, all with one key."""
    async with servers[0].client(await bootstrap(servers[0])) as person:
        key = (await person.post("/api/s3/credentials", json={"name": "bench"})).json()
    path = key["endpoint"].removeprefix(servers[0].address)
    return [
        _store(f"{server.address}{path}", key["bucket"], key["region"], key["access_key_id"], key["secret_access_key"])
        for server in servers
    ]


def _store(endpoint: str, bucket: str, region: str, key_id: str, secret: str) -> S3Store:
    return S3Store(
        bucket,
        endpoint=endpoint,
        region=region,
        access_key_id=key_id,
        secret_access_key=secret,
        virtual_hosted_style_request=False,
        client_options={"allow_http": True, "timeout": "120s"},
    )


async def measure_processor(only: list[str], rounds: int, seconds: float) -> bool:
    """Every task on Atrium alone."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="atrium-s3-")))
        url = await stack.enter_async_context(fresh_database())
        servers = await stack.enter_async_context(serving(url, PROCESSES, data_dir=folder / "data"))
        ours = Peer("atrium", await atrium_stores(servers))
        await prepare(ours)
        for name, task in TASKS.items():
            if not only or name in only:
                await rate(ours, task, 0.5)
                taken = await processor_time(ours, [one.popen.pid for one in servers], task, rounds, seconds)
                print(f"{name:12} {statistics.median(taken):8.3f} ms of processor time a request", flush=True)
    return True


async def measure(only: list[str], rounds: int, seconds: float) -> bool:
    """Every task on both; whether every goal was met."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="atrium-s3-")))
        (folder / "weed").mkdir()
        cloud = stack.enter_context(running_cloud(folder / "weed"))
        url = await stack.enter_async_context(fresh_database())
        servers = await stack.enter_async_context(serving(url, PROCESSES, data_dir=folder / "data"))
        ours = Peer("atrium", await atrium_stores(servers))
        theirs = Peer("seaweedfs", [_store(cloud.endpoint, BUCKET, "us-east-1", *ACCESS)])
        for peer in (ours, theirs):
            await prepare(peer)
        met = []
        for name, task in TASKS.items():
            if not only or name in only:
                await asyncio.gather(*(rate(peer, task, 0.5) for peer in (ours, theirs)))
                met.append(await compare(ours, theirs, name, task, rounds, seconds))
    return all(met)


def main() -> int:
    """Measure and print; 0 when every goal was met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--only", action="append", choices=list(TASKS), default=[])
    parser.add_argument("--processor", action="store_true")
    options = parser.parse_args()
    measuring = measure_processor if options.processor else measure
    return 0 if asyncio.run(measuring(options.only, options.rounds, options.seconds)) else 1


if __name__ == "__main__":
    sys.exit(main())
