"""Whether a claim stays flat and fair: 1k, 100k and 1M jobs over 10,000 teams, and one team flooding the queue.

python -m benchmarks.bench_claim [--teams 10000] [--claims 400] [--batch 10] [--small]
"""

import argparse
import asyncio
import json
import statistics
import time
from collections import Counter
from dataclasses import dataclass
from uuid import UUID

import asyncpg

from atrium.engine.jobs import queue_rows
from atrium.engine.jobs.model import Claim
from atrium.kit.ids import new_id
from atrium.kit.postgres.database import Database
from tests.postgres import fresh_database

POOL = "bench.plain"
SEED_TEAMS = """
WITH founded AS (
  INSERT INTO orgs (id, slug, name) SELECT gen_random_uuid(), 'bench-' || n, 'Bench' FROM generate_series(1, greatest($1 / 10, 1)) n
  RETURNING id
), manned AS (
  INSERT INTO teams (id, org_id, name) SELECT gen_random_uuid(), id, 'Team' FROM founded, generate_series(1, 10) RETURNING id, org_id
)
INSERT INTO users (id, org_id, team_id, username, role)
SELECT id, org_id, id, 'u-' || id, 'member' FROM manned
"""
SEED_JOBS = """
INSERT INTO jobs (id, org_id, team_id, user_id, kind, pool, state, max_attempts, lease, input)
SELECT gen_random_uuid(), t.org_id, t.team_id, t.team_id, 'bench.plain', 'bench.plain', 'queued', 3, '60 s', '{}'
  FROM (SELECT team_id, org_id, row_number() OVER (ORDER BY team_id) - 1 AS n FROM job_teams) t
  JOIN generate_series(0, $1 - 1) g ON g % $2 = t.n
"""
SEED_FLOOD = """
INSERT INTO jobs (id, org_id, team_id, user_id, kind, pool, state, max_attempts, lease, input)
SELECT gen_random_uuid(), t.org_id, t.team_id, t.team_id, 'bench.plain', 'bench.plain', 'queued', 3, '60 s', '{}'
  FROM (SELECT team_id, org_id FROM job_teams ORDER BY team_id LIMIT 1) t, generate_series(1, $1)
"""
# Everybody has been served before: a newcomer is one, not ten thousand at once.
LANES = """
INSERT INTO job_lanes (team_id, org_id, pool, ready, open, turn)
SELECT team_id, org_id, 'bench.plain', true, true, nextval('job_turns') FROM (SELECT DISTINCT team_id, org_id FROM jobs) t
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """One state of the queue and what a claim cost in it."""

    label: str
    p50: float
    p99: float
    buffers: int


class Bench:
    """A queue to fill and to claim from."""

    def __init__(self, url: str, database: Database, batch: int) -> None:
        self._url, self._database, self._batch = url, database, batch

    async def run(self, sql: str, *values: object) -> list[asyncpg.Record]:
        connection = await asyncpg.connect(self._url, timeout=60)
        try:
            return await connection.fetch(sql, *values, timeout=900)
        finally:
            await connection.close()

    async def fill(self, jobs: int, teams: int, flood: int = 0) -> None:
        await self.run("TRUNCATE jobs, job_lanes, job_wakes")
        await self.run("UPDATE job_teams SET running = 0 WHERE running > 0")
        await self.run("UPDATE job_teams SET cap = 8 WHERE cap <> 8")
        await self.run(SEED_JOBS, jobs, teams)
        if flood:
            await self.run(SEED_FLOOD, flood)
        await self.run(LANES)
        if flood:
            # At its cap, as it would be within a second.
            await self.run(
                "UPDATE job_teams SET cap = 0 WHERE team_id = (SELECT team_id FROM job_teams ORDER BY team_id LIMIT 1)"
            )
        for table in ("jobs", "job_lanes", "job_teams", "job_wakes"):
            await self.run(f"VACUUM ANALYZE {table}")
        # Writing a million new rows to the disk belongs to the filling, not to the claims after it.
        await self.run("CHECKPOINT")

    async def claim(self) -> list[Claim]:
        """As a server claims."""
        async with self._database.begin_system(repeatable=True) as db:
            return await queue_rows.claim(db, [POOL], new_id(), self._batch, None)

    async def settle(self, claims: list[Claim]) -> None:
        """Past the services, which are not what is measured; the caps stay out of the way."""
        await self.run(
            "UPDATE job_teams SET running = running - 1 WHERE team_id = ANY($1)", [c.team_id for c in claims]
        )
        await self.run("DELETE FROM jobs WHERE id = ANY($1)", [c.id for c in claims])

    async def measure(self, label: str, jobs: int, teams: int, flood: int, count: int) -> Figures:
        """So many claims, the first tenth after each filling left out; a small queue is filled again before it runs dry."""
        took: list[float] = []
        while len(took) < count:
            await self.fill(jobs, teams, flood)
            once = min(count, max(jobs // self._batch // 2, 20))
            took += (await self._timed(once))[once // 10 :]
        took = sorted(took)
        return Figures(label, statistics.median(took), took[int(len(took) * 0.99)], await self.buffers())

    async def _timed(self, count: int) -> list[float]:
        took: list[float] = []
        for _ in range(count):
            started = time.perf_counter()
            claims = await self.claim()
            took.append((time.perf_counter() - started) * 1000)
            if claims:
                await self.settle(claims)
        return took

    async def buffers(self) -> int:
        """Pages that one claim touches once its plans are made; on one connection, as a server's claims are."""
        connection = await asyncpg.connect(self._url)
        try:
            return statistics.median_low([await self._touched(connection) for _ in range(9)][6:])
        finally:
            await connection.close()

    async def _touched(self, connection: asyncpg.Connection) -> int:
        plan = await connection.fetchval(
            "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM claim_jobs($1, gen_random_uuid(), $2, NULL)",
            [POOL],
            self._batch,
        )
        top = json.loads(plan)[0]["Plan"]
        return int(top["Shared Hit Blocks"]) + int(top["Shared Read Blocks"])

    async def newcomer(self) -> int:
        """How many claims until a team that was never served starts."""
        [row] = await self.run("SELECT team_id, org_id FROM job_teams ORDER BY team_id DESC LIMIT 1")
        team: UUID = row["team_id"]
        await self.run("DELETE FROM jobs WHERE team_id = $1", team)
        await self.run("DELETE FROM job_lanes WHERE team_id = $1", team)
        for _ in range(50):
            await self.settle(await self.claim())
        await self.run(
            """
            WITH queued AS (
              INSERT INTO jobs (id, org_id, team_id, user_id, kind, pool, state, max_attempts, lease, input)
              VALUES (gen_random_uuid(), $2, $1, $1, 'bench.plain', 'bench.plain', 'queued', 3, '60 s', '{}'))
            INSERT INTO job_wakes (org_id, team_id, pool) VALUES ($2, $1, 'bench.plain')
            """,
            team,
            row["org_id"],
        )
        for number in range(1, 1000):
            claims = await self.claim()
            if team in {claim.team_id for claim in claims}:
                return number
            await self.settle(claims)
        return -1

    async def shares(self, rounds: int) -> tuple[int, int]:
        """Fewest and most jobs that any of twenty busy teams got, the flooding one among them."""
        counts: Counter[UUID] = Counter()
        for _ in range(rounds):
            claims = await self.claim()
            counts.update(claim.team_id for claim in claims)
            await self.settle(claims)
        return min(counts.values()), max(counts.values())


async def main() -> None:
    options = _options()
    scale = 100 if options.small else 1
    million, teams = 1_000_000 // scale, options.teams // scale
    async with fresh_database() as url:
        database = Database(url, pool_size=2)
        await database.open()
        bench = Bench(url, database, options.batch)
        await bench.run(SEED_TEAMS, teams)
        rows = []
        for label, jobs, flood in (
            ("1k", million // 1000, 0), ("100k", million // 10, 0), ("1M", million, 0),
            ("1M, 900k of one team at its cap", million // 10, million * 9 // 10),
        ):  # fmt: skip
            rows.append(await bench.measure(label, max(jobs, options.batch * 2), teams, flood, options.claims))
            print(
                f"{rows[-1].label:34} p50 {rows[-1].p50:6.2f} ms  p99 {rows[-1].p99:6.2f} ms  {rows[-1].buffers} buffers",
                flush=True,
            )
        print(f"p50 {_spread([row.p50 for row in rows])}, p99 {_spread([row.p99 for row in rows])}")
        await bench.run("UPDATE job_teams SET cap = 8 WHERE cap = 0")
        print(f"a newcomer beside the flood starts at claim {await bench.newcomer()}")
        await bench.fill(20 * 400, 20, flood=million // 20)
        await bench.run("UPDATE job_teams SET cap = 1000")
        print(f"of 20 teams, one of them flooding, fewest and most jobs after 40 rounds: {await bench.shares(40)}")
        await database.close()


def _spread(figures: list[float]) -> str:
    return f"largest / smallest {max(figures) / min(figures):.2f}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--teams", type=int, default=10_000)
    parser.add_argument("--claims", type=int, default=400)
    parser.add_argument("--batch", type=int, default=10)
    parser.add_argument("--small", action="store_true", help="a hundredth of everything")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
