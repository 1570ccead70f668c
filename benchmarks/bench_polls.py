"""What idle workers that wait over HTTP cost, and how soon one of them has a job that was just queued."""

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import httpx
import msgspec
import psutil

from atrium.engine.jobs import store
from atrium.engine.jobs.model import NewJob
from atrium.kit.ids import new_id
from atrium.kit.postgres.database import Database
from atrium.seams.context import ANONYMOUS
from benchmarks.pollers import KIND
from tests.postgres import fresh_database, run_as_owner
from tests.support.processes import ROOT, Process, bootstrap, serving

GOAL_CPU, GOAL_CONNECTIONS, GOAL_P99 = 5.0, 12, 0.1
_BACKENDS = """
    SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor time of the server and of its PostgreSQL backends in percent of one core, and how many backends there were."""

    server: float
    backends: float
    connections: int


@dataclass(frozen=True, slots=True)
class Found:
    """One run: the cost of waiting, and the seconds from commit to delivery, sorted."""

    idle: Cost
    waits: list[float]

    def wait(self, share: float) -> float:
        return self.waits[min(len(self.waits) - 1, int(len(self.waits) * share))]


async def measure(workers: int, seconds: float, jobs: int) -> Found:
    """Let so many workers wait for so long, then queue jobs one at a time."""
    async with fresh_database() as url, serving(url) as (server,):
        operator = await bootstrap(server)
        tokens = await _executors(server, operator, workers)
        async with _polling(server, tokens) as lines:
            idle = await _idle(url, server, seconds)
            return Found(idle, sorted(await _deliver(url, lines, jobs)))


async def _executors(server: Process, operator: str, count: int) -> list[str]:
    async with server.client(operator) as client:
        return [await _executor(client, f"worker {number}") for number in range(count)]


async def _executor(client: httpx.AsyncClient, name: str) -> str:
    answer = await client.post("/api/executors", json={"name": name, "mode": "pull"})
    answer.raise_for_status()
    return str(answer.json()["worker_token"])


@asynccontextmanager
async def _polling(server: Process, tokens: list[str]) -> AsyncIterator[asyncio.StreamReader]:
    """The pollers' output, once all of them wait."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.pollers", "--port", str(server.port),
        cwd=ROOT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write("\n".join(tokens).encode())
        process.stdin.close()
        async with asyncio.timeout(60):
            await process.stdout.readuntil(b"waiting\n")
        yield process.stdout
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _idle(url: str, server: Process, seconds: float) -> Cost:
    spent, started = await _spent(url, server), time.monotonic()
    connections = 0
    while (passed := time.monotonic() - started) < seconds:
        await asyncio.sleep(min(1.0, seconds - passed))
        connections = max(connections, len(await run_as_owner(url, _BACKENDS)))
    after, passed = await _spent(url, server), time.monotonic() - started
    backends = sum(after[pid] - spent.get(pid, 0) for pid in after if pid != server.popen.pid)
    return Cost(
        100 * (after[server.popen.pid] - spent[server.popen.pid]) / passed, 100 * backends / passed, connections
    )


async def _spent(url: str, server: Process) -> dict[int, float]:
    """Processor seconds so far, by process."""
    pids = [server.popen.pid, *(row[0] for row in await run_as_owner(url, _BACKENDS))]
    times = {pid: psutil.Process(pid).cpu_times() for pid in pids if psutil.pid_exists(pid)}
    return {pid: found.user + found.system for pid, found in times.items()}


async def _deliver(url: str, lines: asyncio.StreamReader, count: int) -> list[float]:
    """Seconds from the commit that queues a job until a worker has it."""
    [(org_id, team_id, user_id)] = await run_as_owner(
        url, "SELECT org_id, team_id, id FROM users WHERE username = 'ada'"
    )
    owner = msgspec.structs.replace(ANONYMOUS, org_id=org_id, team_id=team_id, user_id=user_id)
    database, waits = Database(url, pool_size=1), []
    await database.open()
    try:
        for _ in range(count):
            id = new_id()
            async with database.begin(org_id) as db:
                await store.insert_jobs(db, owner, [_draft(id)])
            committed = time.monotonic()
            async with asyncio.timeout(30):
                given, moment = (await lines.readline()).split()
            if given.decode() != str(id):
                raise RuntimeError(f"{given!r} came instead of {id}")
            waits.append(float(moment) - committed)
            await asyncio.sleep(0.02)
    finally:
        await database.close()
    return waits


def _draft(id: UUID) -> NewJob:
    return NewJob(
        id=id, kind=KIND, model=None, pool=KIND, priority=0, max_attempts=3, lease=timedelta(seconds=60), run_at=None,
        input={"lane": "north"}, listed=True,
    )  # fmt: skip


def main() -> int:
    """Measure, print, and say by the exit code whether the goals are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=300)
    options = parser.parse_args()
    found = asyncio.run(measure(options.workers, options.seconds, options.jobs))
    idle, cpu = found.idle, found.idle.server + found.idle.backends
    print(f"{options.workers} workers waiting for {options.seconds:g} s: {cpu:.1f} % of a core in all")
    print(f"  server {idle.server:.1f} %, its {idle.connections} PostgreSQL connections {idle.backends:.1f} %")
    print(
        f"{options.jobs} jobs, from commit to delivery: p50 {found.wait(0.5) * 1000:.1f} ms,"
        f" p99 {found.wait(0.99) * 1000:.1f} ms, mean {statistics.mean(found.waits) * 1000:.1f} ms"
    )
    met = cpu < GOAL_CPU and idle.connections <= GOAL_CONNECTIONS and found.wait(0.99) < GOAL_P99
    print(
        "goals met" if met else f"goals missed: {GOAL_CPU} %, {GOAL_CONNECTIONS} connections, p99 {GOAL_P99 * 1000} ms"
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
