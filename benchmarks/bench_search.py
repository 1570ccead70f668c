"""What search costs: a note written with and without the index, and questions over so many rows, for a member and a company's reader.

python -m benchmarks.bench_search [--rows 50000] [--rounds 200]
"""

import argparse
import asyncio
import random
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from atrium.boot.assemble import Application
from atrium.product.notes.model import NoteSaved
from atrium.product.search import chores, verification
from tests.client import Client
from tests.people import Company, found_company
from tests.postgres import fresh_database, run_as_owner
from tests.servers import open_application, settings_for

LEAST_RATE, LONGEST_MS = 0.85, 100
COMMON, RARE = "common", "rareword"
QUESTIONS = (
    "common",
    "common w17",
    '"w17 w18"',
    "rareword",
    "c",
    "co",
    "w1",
    "rarewrod",
    " ".join(f"w{n}" for n in range(16)),
)
# Every hundredth note is the member's own team's, the others belong to another team; half of all have the common word.
FILL = """
  INSERT INTO notes (id, org_id, team_id, owner_id, title, body, visibility, updated_at)
  SELECT gen_random_uuid(), $1, CASE WHEN n % 100 = 0 THEN $2::uuid ELSE $3::uuid END,
         CASE WHEN n % 100 = 0 THEN $4::uuid ELSE $5::uuid END,
         'Note w' || n % 997 || ' w' || n % 41, CASE WHEN n % 2 = 0 THEN 'common ' ELSE '' END
           || CASE WHEN n % 10000 = 0 THEN 'rareword ' ELSE '' END
           || (SELECT string_agg('w' || (n * 31 + k * k) % 5000 || ' w' || k, ' ') FROM generate_series(1, 45) k), 'team',
         now() - n * interval '1 minute'
    FROM generate_series(1, $6::int) n
"""


def percentiles(times: list[float]) -> str:
    cuts = statistics.quantiles(times, n=20)
    return f"p50 {statistics.median(times) * 1000:6.1f} ms, p95 {cuts[18] * 1000:6.1f} ms"


async def timed(work: object) -> float:
    began = time.perf_counter()
    reply = await work  # type: ignore[misc]
    assert reply.status < 300, reply.raw
    return time.perf_counter() - began


async def write_cost(house: Application, person: Client, rounds: int) -> float:
    """The rate of writing notes with the index as a share of the rate without it, the two taking turns."""
    listeners = house.services.registry.listeners
    hearing, times = listeners[NoteSaved], {True: 0.0, False: 0.0}
    for n in range(rounds):
        body = {
            "title": f"Note {n}",
            "body": " ".join(f"w{random.randrange(5000)}" for _ in range(90)),
            "visibility": "team",
        }
        for indexed in (True, False) if n % 2 else (False, True):
            listeners[NoteSaved] = hearing if indexed else []
            times[indexed] += await timed(person.post("/api/notes", body))
    listeners[NoteSaved] = hearing
    return times[False] / times[True]


async def fill(house: Application, company: Company, member: Client, other: Client, rows: int) -> None:
    url = house.services.settings.database_url
    await run_as_owner(url, FILL, company.org.id, member.team_id, other.team_id, member.user_id, other.user_id, rows)
    began = time.perf_counter()
    await verification.rebuild(house.services.database, company.org.id)
    seconds = time.perf_counter() - began
    await run_as_owner(url, "VACUUM ANALYZE search_rows")
    (size,) = await run_as_owner(url, "SELECT pg_indexes_size('search_rows') AS size")
    print(
        f"{rows} rows read in {seconds:.0f} s ({rows / seconds:.0f}/s), {size['size'] / rows:.0f} bytes of index a row"
    )
    print(f"{await chores.count_words(house.services)} words with statistics")


async def ask(person: Client, scope: str, rounds: int) -> float:
    worst = 0.0
    for q in QUESTIONS:
        times, cut = [], 0
        for _ in range(max(5, rounds // 10)):
            began = time.perf_counter()
            reply = await person.get("/api/search", q=q, scope=scope)
            times.append(time.perf_counter() - began)
            cut += reply["cut"]
        worst = max(worst, statistics.median(times) * 1000)
        print(f"  {q[:20]:20} {percentiles(times)}{f', {cut} cut' if cut else ''}")
    return worst


async def main(rows: int, rounds: int) -> int:
    async with fresh_database() as url:
        with TemporaryDirectory() as folder:
            async with open_application(settings_for(url, data_dir=Path(folder))) as house:
                company = await found_company(house)
                member = await company.join("member")
                other = await company.join("member", team=await company.add_team())
                reader = await company.join("member", org_role="org_reader")
                await write_cost(house, other, 20)
                share = await write_cost(house, other, rounds)
                print(f"notes are written at {share:.2f} of the rate without the index (at least {LEAST_RATE})")
                await fill(house, company, member, other, rows)
                print("a member who reads 1 % of the rows")
                slowest = await ask(member, "team", rounds)
                print("a reader of the whole company")
                slowest = max(slowest, await ask(reader, "org", rounds))
    return 0 if share >= LEAST_RATE and slowest <= LONGEST_MS else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    raise SystemExit(asyncio.run(main(options.rows, options.rounds)))
