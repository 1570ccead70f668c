"""What forgetting finished jobs costs, and whether claims notice it.

python -m benchmarks.bench_retention [--finished 1000000] [--queued 100000]

Nine of ten finished jobs are older than they are kept. They leave in the server's own batches while jobs are claimed beside it.
"""

import argparse
import asyncio
import statistics
import time
from datetime import timedelta

from atrium.engine.jobs import queue_rows
from atrium.engine.jobs.reaper import AT_ONCE
from atrium.kit.postgres.database import Database
from benchmarks.bench_claim import SEED_TEAMS, Bench
from tests.postgres import fresh_database

TEAMS, BATCH, KEPT = 1_000, AT_ONCE * 4, timedelta(days=30)
SEED_FINISHED = """
INSERT INTO jobs (id, org_id, team_id, user_id, kind, pool, state, attempt, max_attempts, lease, input, result, finished_at)
SELECT gen_random_uuid(), t.org_id, t.team_id, t.team_id, 'bench.plain', 'bench.plain', 'succeeded', 1, 3, '60 s', '{}', '{}',
       now() - interval '31 days' * (1 - (g % 10 = 0)::int) - interval '1 minute' * (g % 1000)
  FROM (SELECT team_id, org_id, row_number() OVER (ORDER BY team_id) - 1 AS n FROM job_teams) t
  JOIN generate_series(0, $1 - 1) g ON g % $2 = t.n
"""


async def forget(database: Database) -> list[float]:
    """Milliseconds of each batch, until nothing is old."""
    took: list[float] = []
    gone = BATCH
    while gone == BATCH:
        started = time.perf_counter()
        async with database.begin_system() as db:
            gone = await queue_rows.forget_finished(db, KEPT, BATCH)
        took.append((time.perf_counter() - started) * 1000)
    return took


async def claim_until(bench: Bench, done: asyncio.Event) -> list[float]:
    """Milliseconds of each claim, until told."""
    took: list[float] = []
    while not done.is_set():
        started = time.perf_counter()
        claims = await bench.claim()
        took.append((time.perf_counter() - started) * 1000)
        await bench.settle(claims)
    return took


async def claims_for(bench: Bench, seconds: float) -> list[float]:
    done = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, done.set)
    return await claim_until(bench, done)


async def measure(finished: int, queued: int) -> None:
    async with fresh_database() as url:
        database = Database(url, pool_size=3)
        await database.open()
        bench = Bench(url, database, 10)
        await bench.run(SEED_TEAMS, TEAMS)
        await bench.fill(queued, TEAMS)
        await bench.run(SEED_FINISHED, finished, TEAMS)
        await bench.run("VACUUM ANALYZE jobs")
        await bench.run("CHECKPOINT")
        alone = await claims_for(bench, 10)
        done, started = asyncio.Event(), time.perf_counter()
        claiming = asyncio.create_task(claim_until(bench, done))
        batches = await forget(database)
        seconds = time.perf_counter() - started
        done.set()
        beside = await claiming
        [(left,)] = await bench.run("SELECT count(*) FROM jobs WHERE finished_at IS NOT NULL")
        await database.close()
    told = sorted(batches)
    print(f"{finished - left:,} of {finished:,} finished jobs forgotten in {seconds:.1f} s")
    print(f"a batch of {BATCH:,}: p50 {statistics.median(told):.0f} ms, longest {told[-1]:.0f} ms")
    print(f"a claim: p50 {statistics.median(alone):.2f} ms alone, {statistics.median(beside):.2f} ms beside it")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--finished", type=int, default=1_000_000)
    parser.add_argument("--queued", type=int, default=100_000)
    options = parser.parse_args()
    asyncio.run(measure(options.finished, options.queued))


if __name__ == "__main__":
    main()
