"""Moving a large folder through HTTP while others look at it: how long it takes, and that they see it whole, here or there.

python -m tests.postgres python -m benchmarks.bench_moving [--objects 10000] [--words 100] [--rounds 4]
"""

import argparse
import asyncio
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

import asyncpg

from atrium.boot.assemble import Application
from atrium.product.search import chores, index_check
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.people import found_company
from tests.support.servers import open_application, settings_for

MOST = 3.0
_SEED = (
    "CREATE TEMP TABLE seeded AS SELECT n, gen_random_uuid() AS id, gen_random_uuid() AS version_id FROM generate_series(1, $1::int) AS n",
    """
    INSERT INTO objects (id, org_id, team_id, owner_id, key, visibility, version_id, size)
    SELECT id, $1, $2, $3, 'old/' || n % 100 || '/' || n || '.txt', 'team', version_id, 1 FROM seeded
    """,
    """
    INSERT INTO object_versions (id, org_id, object_id, number, sha256, size, etag, content_type, filename, created_by)
    SELECT version_id, $1, id, 1, sha256('a'), 1, 'e', 'text/plain', n || '.txt', $2 FROM seeded
    """,
    """
    INSERT INTO object_texts (version_id, org_id, object_id, state, text)
    SELECT version_id, $1, id, 'done', (SELECT string_agg('word' || (n * w) % 20011, ' ') FROM generate_series(1, $2::int) w) FROM seeded
    """,
    """
    INSERT INTO object_grants (org_id, object_id, principal_type, principal_id, capability, granted_by, owner_id, key)
    SELECT o.org_id, o.id, 'org', o.org_id, 'view', $1, $1, o.key FROM objects o JOIN seeded USING (id) WHERE n % 10 = 0
    """,
    "ANALYZE",
)


async def seed(url: str, owner: Client, objects: int, words: int) -> None:
    """A folder of small files that have been read, one in ten shared with the company."""
    org, team, person = UUID(owner.org_id), UUID(owner.team_id), UUID(owner.user_id)
    values: list[tuple[object, ...]] = [(objects,), (org, team, person), (org, person), (org, words), (person,), ()]
    connection = await asyncpg.connect(url)
    await connection.execute("INSERT INTO blobs (org_id, sha256, size) VALUES ($1, sha256('a'), 1)", org)
    for statement, given in zip(_SEED, values, strict=True):
        await connection.execute(statement, *given)
    await connection.close()


async def look(reader: Client, seen: set[tuple[str, ...]], done: asyncio.Event) -> None:
    """Which folders there are at the top, again and again."""
    while not done.is_set():
        seen.add(tuple((await reader.get("/api/repo", delimiter="/"))["prefixes"]))


async def move(house: Application, owner: Client, rounds: int) -> list[float]:
    """Seconds of moving the folder there and back; words that wait are read in between."""
    seconds = []
    for n in range(rounds):
        there, back = ("old/", "new/") if n % 2 == 0 else ("new/", "old/")
        began = time.perf_counter()
        answer = await owner.post("/api/repo-batch", {"op": "move", "from": there, "to": back})
        seconds.append(time.perf_counter() - began)
        assert answer.status == 200, answer.raw
        while await chores.read_moved(house.services):
            pass
    return seconds


async def measure(objects: int, words: int, rounds: int) -> tuple[list[float], set[tuple[str, ...]]]:
    """What a move takes, and what others saw of the folder meanwhile."""
    with TemporaryDirectory(prefix="atrium-moving-") as folder:
        async with fresh_database() as url, open_application(settings_for(url, data_dir=Path(folder))) as house:
            company = await found_company(house)
            owner, reader = await company.join("owner"), await company.join("member")
            await seed(url, owner, objects, words)
            await index_check.rebuild(house.services.database, house.services.compute, company.org.id)
            seen: set[tuple[str, ...]] = set()
            done = asyncio.Event()
            looking = asyncio.create_task(look(reader, seen, done))
            seconds = await move(house, owner, rounds)
            done.set()
            await looking
            return seconds, seen


def main() -> int:
    """Print how long each move took; fail above three seconds, or when anyone saw half of the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, usual in (("objects", 10_000), ("words", 100), ("rounds", 4)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    chosen = parser.parse_args()
    seconds, seen = asyncio.run(measure(chosen.objects, chosen.words, chosen.rounds))
    print(f"{chosen.objects} objects of {chosen.words} words: " + ", ".join(f"{one:.2f} s" for one in seconds))
    print(f"others saw {sorted(seen)}")
    return 1 if statistics.median(seconds) > MOST or seen - {("old/",), ("new/",)} else 0


if __name__ == "__main__":
    raise SystemExit(main())
