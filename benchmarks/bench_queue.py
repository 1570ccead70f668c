"""What a job costs, side by side in one run: ours, bare SKIP LOCKED without any rule, and the other queues on PostgreSQL.

python -m benchmarks.bench_queue [--python /path/to/venv/bin/python] [--jobs 20000] [--rounds 3] [queue ...]

The other queues are no dependency of ours; `--python` is an interpreter that has procrastinate, pgqueuer and dbos installed.
Each queue has a database of its own, one worker process and jobs that do nothing; the queues take turns within a round.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from tests.postgres import fresh_database

WORKERS = Path(__file__).with_name("queue_workers.py")
OURS = ("bare", "atrium")
ALL = (*OURS, "pgqueuer", "procrastinate", "dbos")
# The slow ones get fewer jobs; a figure per job does not change by it.
SHARE = {"procrastinate": 0.1, "dbos": 0.05, "pgqueuer": 0.5}
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Figures:
    """One drain: jobs a second, and milliseconds of processor per job in the worker and in PostgreSQL."""

    rate: float
    worker: float
    server: float


async def drain(queue: str, python: str, jobs: int) -> Figures:
    jobs = int(jobs * SHARE.get(queue, 1))
    async with fresh_database(migrated=False) as url:
        worker = subprocess.Popen(
            [sys.executable if queue in OURS else python, str(WORKERS), queue, url, str(jobs)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (WORKERS.parents[1], WORKERS.parents[1] / "src")))},
        )  # fmt: skip
        try:
            await _line(worker)
            backends = _Backends(url)
            before = await backends.seconds()
            worker.stdin.write("\n")
            worker.stdin.flush()
            done = asyncio.create_task(_line(worker))
            while not done.done():
                await backends.seconds()
                await asyncio.sleep(0.2)
            found = done.result()
            server = await backends.seconds() - before
        finally:
            worker.kill()
            worker.wait()
    return Figures(jobs / found["seconds"], found["cpu"] / jobs * 1000, server / jobs * 1000)


class _Backends:
    """Processor time of the PostgreSQL processes that serve one database, also of those that have ended."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._seen: dict[int, float] = {}

    async def seconds(self) -> float:
        connection = await asyncpg.connect(self._url)
        try:
            pids = await connection.fetch(
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        finally:
            await connection.close()
        for row in pids:
            try:
                fields = Path(f"/proc/{row['pid']}/stat").read_text().rpartition(")")[2].split()
            except FileNotFoundError:
                continue
            self._seen[row["pid"]] = (int(fields[11]) + int(fields[12])) / TICKS
        return sum(self._seen.values())


async def _line(worker: subprocess.Popen[str]) -> dict[str, float]:
    text = await asyncio.get_running_loop().run_in_executor(None, worker.stdout.readline)
    while text and not text.startswith("{"):
        text = await asyncio.get_running_loop().run_in_executor(None, worker.stdout.readline)
    if not text:
        raise SystemExit(f"{worker.args[2]} ended early")
    return json.loads(text)


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("queues", nargs="*", default=list(ALL))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    figures: dict[str, list[Figures]] = defaultdict(list)
    for number in range(options.rounds):
        for queue in options.queues:
            found = await drain(queue, options.python, options.jobs)
            figures[queue].append(found)
            print(
                f"round {number + 1} {queue:14} {found.rate:8.0f} jobs/s  {found.worker:.3f} + {found.server:.3f} ms/job",
                flush=True,
            )
    print(f"\n{'queue':14} {'jobs/s':>8} {'worker ms':>10} {'server ms':>10} {'total ms':>9}")
    for queue, many in figures.items():
        rate, worker, server = (
            statistics.median(getattr(one, name) for one in many) for name in ("rate", "worker", "server")
        )
        print(f"{queue:14} {rate:8.0f} {worker:10.3f} {server:10.3f} {worker + server:9.3f}")
    if {"bare", "atrium"} <= figures.keys():
        ratios = [ours.rate / bare.rate for ours, bare in zip(figures["atrium"], figures["bare"], strict=True)]
        print(f"ours / bare: {statistics.median(ratios):.2f} of its jobs a second")


if __name__ == "__main__":
    asyncio.run(main())
