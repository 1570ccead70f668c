"""Whether listings stay quick as a company grows, also for somebody who may see only a few of its objects.

python -m benchmarks.bench_listing [--full] [--objects 1000000] [--rounds 60]
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import asyncpg

from atrium.boot.assemble import Application
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for

SMALL, LARGE, FULL = 10_000, 1_000_000, 10_000_000
BATCH = 500_000
MOST = 20.0
# Nine of ten are the team's, one is private; a thousand files to a folder, a hundred folders to a shelf. Ids grow, as real ones do.
ID = "('018f0000-{kind}-7000-8' || lpad(to_hex({count}), 3, '0') || '-' || lpad(to_hex({n}), 12, '0'))::uuid"
OBJECT, VERSION = ID.format(kind="0001", count="$1::int", n="n"), ID.format(kind="0002", count="$1::int", n="n")
OBJECTS = f"""
INSERT INTO objects (id, org_id, team_id, owner_id, key, visibility, version_id, size, updated_at)
SELECT {OBJECT}, $2, $3, $4, format('shelf-%s/folder-%s/file-%s.pdf', n / 100000, n / 1000, n),
       CASE WHEN n % 10 = 0 THEN 'private' ELSE 'team' END, {VERSION},
       n * 7919 % 1000003, now() - n * 7919 % 1000003 * interval '1 second' FROM generate_series($5::int, $6::int) n
"""
VERSIONS = f"""
INSERT INTO object_versions (id, org_id, object_id, number, sha256, size, etag, content_type, filename, created_by)
SELECT {VERSION}, $2, {OBJECT}, 1, decode(repeat('00', 32), 'hex'), 4096, 'e', 'application/pdf', 'file.pdf', $3
  FROM generate_series($4::int, $5::int) n
"""
GRANTS = f"""
INSERT INTO object_grants (org_id, object_id, principal_type, principal_id, capability, granted_by, owner_id, key)
SELECT org_id, id, 'user', $3, 'view', owner_id, owner_id, key FROM objects
 WHERE org_id = $2 AND id = ANY (SELECT {ID.format(kind="0001", count="$1::int", n="n * $4::int")} FROM generate_series(1, 20) n)
"""


class Stage:
    """One company with its objects and the people who look at them."""

    def __init__(self, company: Company, people: dict[str, Client], count: int) -> None:
        self.company, self.people, self.count = company, people, count


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(url, timeout=60)
    try:
        # Generated rows refer to each other by construction; checking each would take longer than making them.
        await connection.execute("SET session_replication_role = replica; SET synchronous_commit = off")
        yield connection
    finally:
        await connection.close()


async def staged(house: Application, url: str, count: int) -> Stage:
    """A company with so many objects of one owner, a teammate, and somebody of another team who was given twenty."""
    company = await found_company(house)
    owner, mate = await company.join("member"), await company.join("member")
    few = await company.join("viewer", team=await company.add_team())
    reader = await company.join("viewer", org_role="org_reader")
    mark, org_id = len(str(count)), company.org.id
    async with connected(url) as connection:
        await connection.execute("INSERT INTO blobs (org_id, sha256, size) VALUES ($1, $2, 4096)", org_id, bytes(32))
        for start in range(0, count, BATCH):
            stop = min(count, start + BATCH) - 1
            values = (mark, org_id, company.team.id, owner.user_id, start, stop)
            await connection.execute(OBJECTS, *values, timeout=3600)
            await connection.execute(VERSIONS, mark, org_id, owner.user_id, start, stop, timeout=3600)
        await connection.execute(GRANTS, mark, org_id, few.user_id, max(1, count // 25))
    return Stage(company, {"owner": owner, "mate": mate, "few": few, "reader": reader}, count)


CASES: dict[str, Callable[[Stage], tuple[str, dict[str, object]]]] = {
    "owner, first page": lambda stage: ("owner", {}),
    "owner, a folder": lambda stage: ("owner", {"prefix": _middle(stage)}),
    "teammate, a folder": lambda stage: ("mate", {"prefix": _middle(stage)}),
    "teammate, 200 of a folder": lambda stage: ("mate", {"prefix": _middle(stage), "limit": 200}),
    "teammate, folders of the top": lambda stage: ("mate", {"delimiter": "/"}),
    "teammate, folders of a shelf": lambda stage: ("mate", {"prefix": "shelf-0/", "delimiter": "/"}),
    "granted 20, everything": lambda stage: ("few", {}),
    "granted 20, shared": lambda stage: ("few", {"shared": 1}),
    "granted 20, an empty folder": lambda stage: ("few", {"prefix": "shelf-0/folder-1/"}),
    "granted 20, folders": lambda stage: ("few", {"delimiter": "/"}),
    "teammate, newest of everything": lambda stage: ("mate", {"order": "updated"}),
    "teammate, largest of everything": lambda stage: ("mate", {"order": "size"}),
    "granted 20, newest": lambda stage: ("few", {"order": "updated"}),
    "teammate, a folder by size": lambda stage: ("mate", {"prefix": _middle(stage), "order": "size", "delimiter": "/"}),
    "teammate, a folder backwards": lambda stage: ("mate", {"prefix": _middle(stage), "dir": "desc", "delimiter": "/"}),
    "teammate, a word in a folder": lambda stage: ("mate", {"prefix": _middle(stage), "q": "7.P", "delimiter": "/"}),
    "company role, newest": lambda stage: ("reader", {"scope": "org", "order": "updated"}),
    "company role, whole company": lambda stage: ("reader", {"scope": "org", "prefix": _middle(stage)}),
}


def _middle(stage: Stage) -> str:
    folder = stage.count // 2000
    return f"shelf-{folder // 100}/folder-{folder}/"


async def measured(stage: Stage, case: str, rounds: int) -> list[float]:
    person, query = CASES[case](stage)
    took = []
    for _ in range(rounds):
        started = time.perf_counter()
        answer = await stage.people[person].get("/api/repo", headers=None, **query)
        took.append((time.perf_counter() - started) * 1000)
        assert answer.status == 200, answer.raw
    return took


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help=f"{FULL:,} objects")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--objects", type=int, default=LARGE)
    options = parser.parse_args()
    large = FULL if options.full else options.objects
    with TemporaryDirectory() as folder:
        async with fresh_database() as url, open_application(settings_for(url, data_dir=Path(folder))) as house:
            started = time.perf_counter()
            stages = [await staged(house, url, SMALL), await staged(house, url, large)]
            connection = await asyncpg.connect(url)
            for table in ("objects", "object_versions", "object_grants"):
                await connection.execute(f"VACUUM ANALYZE {table}", timeout=3600)
            await connection.close()
            print(f"{large:,} objects made in {time.perf_counter() - started:.0f} s")
            print(f"{'listing':32}{SMALL:>12,} p50{large:>14,} p50{'p95':>8}")
            slow = 0
            for case in CASES:
                small, big = [await measured(stage, case, options.rounds) for stage in stages]
                median = statistics.median(big)
                slow += median > MOST
                print(
                    f"{case:32}{statistics.median(small):>13.2f} ms{median:>15.2f} ms{sorted(big)[int(len(big) * 0.95)]:>8.2f}"
                )
            print(f"{slow} of {len(CASES)} above {MOST:g} ms")


if __name__ == "__main__":
    asyncio.run(main())
