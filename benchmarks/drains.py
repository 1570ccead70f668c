"""One worker process of each engine, side by side: how much it gets done in a second, and what that costs in it and in PostgreSQL."""

import asyncio
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from tests.postgres import fresh_database

OURS = ("bare", "atrium")
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Figures:
    """One drain: things done in a second, and milliseconds of processor for each in the worker and in PostgreSQL."""

    rate: float
    worker: float
    server: float


@dataclass(frozen=True, slots=True)
class Workers:
    """A program that is one worker (`benchmarks.worker`), and the interpreter for engines that are no dependency of ours."""

    program: Path
    python: str

    async def drain(self, name: str, count: int, parts: int = 1, env: Mapping[str, str] | None = None) -> Figures:
        """Let one worker go through so many things of so many parts each; the figures are of a part."""
        async with fresh_database(migrated=False) as url:
            worker = subprocess.Popen(
                [sys.executable if name in OURS else self.python, str(self.program), name, url, str(count)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                env=os.environ | {"PYTHONPATH": self._path()} | dict(env or {}),
            )  # fmt: skip
            try:
                found, spent = await _measured(worker, url)
            finally:
                worker.kill()
                worker.wait()
        done = count * parts
        return Figures(done / found["seconds"], found["cpu"] / done * 1000, spent / done * 1000)

    def _path(self) -> str:
        root = self.program.parents[1]
        return os.pathsep.join(map(str, (root, root / "src")))


async def _measured(worker: subprocess.Popen[str], url: str) -> tuple[dict[str, float], float]:
    """What the worker says of its drain, and the processor seconds of PostgreSQL meanwhile."""
    await _line(worker)
    backends = _Backends(url)
    before = await backends.seconds()
    assert worker.stdin is not None
    worker.stdin.write("\n")
    worker.stdin.flush()
    done = asyncio.create_task(_line(worker))
    while not done.done():
        await backends.seconds()
        await asyncio.sleep(0.2)
    return done.result(), await backends.seconds() - before


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
    assert worker.stdout is not None
    text = await asyncio.get_running_loop().run_in_executor(None, worker.stdout.readline)
    while text and not text.startswith("{"):
        text = await asyncio.get_running_loop().run_in_executor(None, worker.stdout.readline)
    if not text:
        raise SystemExit("the worker ended early")
    found: dict[str, float] = json.loads(text)
    return found


def told(number: int, name: str, found: Figures, unit: str) -> None:
    """Print one round of one engine."""
    cost = f"{found.worker:.3f} + {found.server:.3f} ms/{unit}"
    print(f"round {number + 1} {name:14} {found.rate:8.0f} {unit}s/s  {cost}", flush=True)


def summed_up(figures: Mapping[str, Sequence[Figures]], unit: str) -> None:
    """Print the medians of all rounds; round by round our rate beside bare PostgreSQL's, our processor time beside that of others."""
    print(f"\n{'engine':14} {unit + 's/s':>8} {'worker ms':>10} {'server ms':>10} {'total ms':>9}")
    for name, many in figures.items():
        rate, worker, server = (
            statistics.median(getattr(one, what) for one in many) for what in ("rate", "worker", "server")
        )
        print(f"{name:14} {rate:8.0f} {worker:10.3f} {server:10.3f} {worker + server:9.3f}")
    if set(OURS) <= figures.keys():
        ratios = [ours.rate / bare.rate for ours, bare in zip(figures["atrium"], figures["bare"], strict=True)]
        print(f"ours / bare: {statistics.median(ratios):.2f} of its {unit}s a second")
    for name in [one for one in figures if one not in OURS] if "atrium" in figures else ():
        pairs = zip(figures["atrium"], figures[name], strict=True)
        spent = [(ours.worker + ours.server) / (theirs.worker + theirs.server) for ours, theirs in pairs]
        print(f"ours / {name}: {statistics.median(spent):.2f} of its processor time a {unit}")
