"""What upload triggers cost an upload: one that matches, and one or a thousand that do not.

python -m benchmarks.bench_triggers [--rounds 200]
"""

import argparse
import asyncio
import random
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from atrium.boot.assemble import Application
from tests.domains.triggers.flows import arm, publish, upload
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.people import found_company
from tests.support.servers import open_application, settings_for

MOST = 1.1
# By name: (triggers that match, triggers that do not, half of them by their prefix and half by their type).
TEAMS = {"none": (0, 0), "one unlike": (0, 1), "a thousand unlike": (0, 1000), "one that fires": (1, 0)}


async def staged(house: Application, fitting: int, unlike: int) -> Client:
    """The admin of a team of its own with so many triggers."""
    admin = await (await found_company(house)).join("admin")
    slug = await publish(admin)
    for n in range(unlike):
        wanted = {"match_prefix": f"unlike/{n:04}/"} if n % 2 else {"match_types": [f"image/x-{n:04}"]}
        await arm(admin, slug, **wanted)
    for _ in range(fitting):
        await arm(admin, slug, match_prefix="in/")
    return admin


async def timed(admin: Client, key: str) -> float:
    began = time.perf_counter()
    await upload(admin, key)
    return time.perf_counter() - began


async def compare(rounds: int) -> dict[str, list[float]]:
    """Seconds of single uploads, the teams taking turns in a new order each round."""
    with TemporaryDirectory(prefix="atrium-triggers-") as folder:
        async with fresh_database() as url:
            settings = settings_for(url, data_dir=Path(folder), extraction=False)
            async with open_application(settings) as house:
                people = {name: await staged(house, *counts) for name, counts in TEAMS.items()}
                seconds: dict[str, list[float]] = {name: [] for name in TEAMS}
                for n in range(-20, rounds):
                    for name in random.sample(list(people), len(people)):
                        took = await timed(people[name], f"in/{n + 20}.txt")
                        if n >= 0:
                            seconds[name].append(took)
                return seconds


def main() -> int:
    """Print medians and p95; fail when triggers that do not match cost more than a tenth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    seconds = asyncio.run(compare(parser.parse_args().rounds))
    medians = {name: statistics.median(found) for name, found in seconds.items()}
    lates = {name: statistics.quantiles(found, n=20)[18] for name, found in seconds.items()}
    for name in seconds:
        p50, p95 = medians[name] * 1000, lates[name] * 1000
        ratios = f"{medians[name] / medians['none']:5.2f} and {lates[name] / lates['none']:5.2f}"
        print(f"{name:20} p50 {p50:7.2f} p95 {p95:7.2f} ms  {ratios} of the same without triggers")
    grown = medians["a thousand unlike"] / medians["one unlike"]
    print(f"a thousand that do not match beside one: {grown:.2f} (at most {MOST})")
    return 0 if grown <= MOST else 1


if __name__ == "__main__":
    raise SystemExit(main())
