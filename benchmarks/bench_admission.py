"""What admission costs: whether it stays flat as companies grow, and how much one busy company can take.

python -m benchmarks.bench_admission [--companies 10000] [--seconds 5]
"""

import argparse
import asyncio
import random
import statistics
import time
from collections.abc import Sequence
from uuid import UUID

from atrium.boot.assemble import Application
from atrium.ground.quotas import service as quotas
from atrium.kit.errors import Exhausted
from atrium.seams.context import Operation, Principal
from tests.postgres import fresh_database, run_as_owner
from tests.support.servers import open_application, settings_for

TEAMS = 10
SPEND = {"ai.requests": 1, "ai.tokens.total": 100, "ai.concurrency": 1}
USED = {"ai.requests": 1, "ai.tokens.total": 60}
SEED = """
WITH founded AS (
  INSERT INTO orgs (id, slug, name) SELECT gen_random_uuid(), 'bench-' || $2 || '-' || n, 'Bench' FROM generate_series(1, $1) n RETURNING id
), manned AS (
  INSERT INTO teams (id, org_id, name) SELECT gen_random_uuid(), id, 'Team' FROM founded, generate_series(1, 10) RETURNING id, org_id
), scopes AS (SELECT org_id, id AS scope_id FROM manned UNION ALL SELECT id, id FROM founded), limited AS (
  INSERT INTO quota_limits (org_id, scope_id, dimension, per, most)
  SELECT org_id, scope_id, dimension, per, 1000000000
    FROM scopes, unnest(ARRAY['ai.requests', 'ai.tokens.total', 'ai.concurrency']) dimension, unnest(ARRAY['day', 'month']) per
), metered AS (
  INSERT INTO quota_usage (org_id, scope_id, dimension, counted_at)
  SELECT org_id, scope_id, dimension, now() FROM scopes, unnest(ARRAY['ai.requests', 'ai.tokens.total', 'ai.concurrency']) dimension
)
SELECT org_id, id FROM manned
"""


async def seeded(url: str, companies: int, label: str) -> list[tuple[UUID, UUID]]:
    """Companies with ten teams each, limits and meters on all of them; the (company, team) pairs."""
    pairs = [(row["org_id"], row["id"]) for row in await run_as_owner(url, SEED, companies, label)]
    for table in ("orgs", "teams", "quota_limits", "quota_usage", "quota_holds"):
        await run_as_owner(url, f"VACUUM ANALYZE {table}")
    return pairs


def acting(house: Application, org_id: UUID, team_id: UUID) -> Operation:
    who = Principal(
        user_id=team_id, team_id=team_id, org_id=org_id, username="bench", role="member", permissions=frozenset()
    )
    return Operation(who=who, services=house.services)


async def admissions(house: Application, pairs: Sequence[tuple[UUID, UUID]], seconds: float) -> list[float]:
    """Milliseconds of each admission, one client going through random teams."""
    took = []
    until = time.perf_counter() + seconds
    while (started := time.perf_counter()) < until:
        op = acting(house, *random.choice(pairs))
        admission = await quotas.admit(op, SPEND)
        took.append((time.perf_counter() - started) * 1000)
        await quotas.settle(op, admission, USED)
    return took


async def flat(url: str, companies: int, seconds: float) -> float:
    """The ratio of medians, many companies to ten; alternating rounds in one run, on one database."""
    async with open_application(settings_for(url)) as house:
        few, many = await seeded(url, 10, "few"), await seeded(url, companies, "many")
        await admissions(house, many, 1)
        rounds = [
            (await admissions(house, few, seconds / 5), await admissions(house, many, seconds / 5)) for _ in range(5)
        ]
    small = statistics.median(took for one, _ in rounds for took in one)
    large = statistics.median(took for _, one in rounds for took in one)
    print(f"p50 of one admission: {small:.2f} ms at 10 companies, {large:.2f} ms at {companies} ({large / small:.2f})")
    return large / small


async def hot(url: str, clients: int, seconds: float, processes: int) -> float:
    """Admissions a second of one company, each settled, by so many clients in so many server processes."""
    pairs = await seeded(url, 1, f"hot{clients}x{processes}")
    counts = await asyncio.gather(
        *(asyncio.create_task(_flood(url, pairs, clients // processes, seconds)) for _ in range(processes))
    )
    rate = sum(counts) / seconds
    print(f"one company, {clients} clients over {processes} pools: {rate:.0f} admissions/s, each settled")
    return rate


async def _flood(url: str, pairs: Sequence[tuple[UUID, UUID]], clients: int, seconds: float) -> int:
    async with open_application(settings_for(url)) as house:
        until = time.perf_counter() + seconds
        return sum(
            await asyncio.gather(*(_client(acting(house, *random.choice(pairs)), until) for _ in range(clients)))
        )


async def _client(op: Operation, until: float) -> int:
    done = 0
    while time.perf_counter() < until:
        try:
            admission = await quotas.admit(op, SPEND)
        except Exhausted:
            continue
        await quotas.settle(op, admission, USED)
        done += 1
    return done


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--companies", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    async with fresh_database() as url:
        await flat(url, options.companies, options.seconds * 2)
        for clients, processes in ((1, 1), (10, 1), (50, 1), (50, 2)):
            await hot(url, clients, options.seconds, processes)


if __name__ == "__main__":
    asyncio.run(main())
