"""Requests per second of Atrium against a bare app with the same SQL, and of Atrium on much data against little.

Every figure is a ratio within one run: the two servers take turns in short rounds, so that whatever else the machine
does falls on both.
"""

import argparse
import asyncio
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec

from benchmarks.load import Kind, Run, generator_name, run
from benchmarks.processes import Cores, Server, Starting, atrium, atrium_of, bare, interpreter_of, pin_backends
from benchmarks.seed import seed, write_targets
from tests.postgres import fresh_database
from tests.processes import environment
from tests.servers import SECRET

GOALS = {Kind.READ: 0.85, Kind.LIST: 0.95, Kind.CREATE: 0.95}
SCALE_GOAL = 0.80
# A change may cost three hundredths.
CHANGE_GOAL = 0.97
NOTES = 100
SMALL, LARGE = 10, 10_000
_WARM_UP_SECONDS = 1


class Comparison(msgspec.Struct, frozen=True):
    """One kind of request on two servers: medians of the rounds' ratios (requests per second, processor time) and figures."""

    kind: Kind
    ratio: float
    cpu_ratio: float
    first: Run
    second: Run
    ratios: list[float]


class Report(msgspec.Struct, frozen=True):
    """A whole run."""

    first: str
    second: str
    rounds: int
    seconds: int
    generator: str
    python: str
    comparisons: list[Comparison]


class Contestant(msgspec.Struct, frozen=True):
    """A server and the requests it understands."""

    server: Server
    targets: Path


async def against_bare(rounds: int, seconds: int, companies: int, kinds: Sequence[Kind] = tuple(Kind)) -> Report:
    """Atrium and the bare app, each on its own copy of the same database."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="atrium-bench-")))
        url = await stack.enter_async_context(fresh_database())
        targets = write_targets(await seed(url, companies, NOTES), folder / "targets")
        copy = await stack.enter_async_context(fresh_database(template=url.rpartition("/")[2]))
        starting = [(atrium(url), targets), (bare(copy), targets)]
        return await compare(stack, starting, rounds, seconds, kinds)


async def against_checkout(checkout: Path, rounds: int, seconds: int, companies: int, kinds: Sequence[Kind]) -> Report:
    """This checkout and another one, each on a database that its own migrations made."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="atrium-bench-")))
        ours = await stack.enter_async_context(fresh_database())
        theirs = await stack.enter_async_context(fresh_database(migrated=False))
        seen = environment(database_url=theirs, secret_key=SECRET, data_dir=folder)
        subprocess.run([interpreter_of(checkout), "-m", "atrium", "migrate"], env=seen, check=True, capture_output=True)
        starting: list[tuple[Starting, Path]] = []
        for server in (atrium(ours), atrium_of(checkout, theirs)):
            targets = write_targets(
                await seed(server.database_url, companies, NOTES), folder / f"targets-{len(starting)}"
            )
            starting.append((server, targets))
        return await compare(stack, starting, rounds, seconds, kinds)


async def small_against_large(rounds: int, seconds: int, kinds: Sequence[Kind] = tuple(Kind)) -> Report:
    """Atrium with 10,000 companies against Atrium with ten."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="atrium-bench-")))
        starting = []
        for companies in (LARGE, SMALL):
            url = await stack.enter_async_context(fresh_database())
            targets = write_targets(await seed(url, companies, NOTES), folder / f"targets-{companies}")
            starting.append((atrium(url, f"atrium, {companies:,} companies"), targets))
        return await compare(stack, starting, rounds, seconds, kinds)


async def compare(
    stack: AsyncExitStack, starting: list[tuple[Starting, Path]], rounds: int, seconds: int, kinds: Sequence[Kind]
) -> Report:
    """Two servers, one after the other in each round."""
    cores = Cores.of_this_machine()
    contestants = []
    for server, targets in starting:
        contestants.append(Contestant(await stack.enter_async_context(server.on(cores.server)), targets))
        await _warm_up(contestants[-1], kinds, cores)
    comparisons = [await _compare_kind(contestants, kind, rounds, seconds, cores) for kind in kinds]
    first, second = (contestant.server.name for contestant in contestants)
    return Report(first, second, rounds, seconds, generator_name(), platform.python_version(), comparisons)


async def _warm_up(contestant: Contestant, kinds: Sequence[Kind], cores: Cores) -> None:
    """Fill the pool and every cache, then let the sessions settle on their core."""
    for kind in kinds:
        await run(contestant.server, kind, contestant.targets, _WARM_UP_SECONDS, cores)
    await pin_backends(contestant.server, cores.rest)
    contestant.server.sleep()


async def _compare_kind(
    contestants: list[Contestant], kind: Kind, rounds: int, seconds: int, cores: Cores
) -> Comparison:
    runs: dict[str, list[Run]] = {contestant.server.name: [] for contestant in contestants}
    for number in range(rounds):
        # Whoever goes second meets warmer caches; swapping shares that out.
        for contestant in contestants if number % 2 == 0 else contestants[::-1]:
            contestant.server.wake()
            runs[contestant.server.name].append(await run(contestant.server, kind, contestant.targets, seconds, cores))
            contestant.server.sleep()
    first, second = runs.values()
    pairs = list(zip(first, second, strict=True))
    ratios = [ours.per_second / theirs.per_second for ours, theirs in pairs]
    cpu_ratio = statistics.median(ours.cpu_us / theirs.cpu_us for ours, theirs in pairs)
    return Comparison(kind, statistics.median(ratios), cpu_ratio, _median(first), _median(second), ratios)


def _median(runs: list[Run]) -> Run:
    return Run(*(statistics.median(getattr(one, name) for one in runs) for name in Run.__struct_fields__))


def describe(report: Report, goals: dict[Kind, float]) -> str:
    """The report for people."""
    lines = [f"{report.first} / {report.second}: {report.rounds} rounds of {report.seconds} s, {report.generator}"]
    for one in report.comparisons:
        verdict = "met" if one.ratio >= goals[one.kind] else "MISSED"
        lines.append(
            f"{one.kind:7} {one.ratio:.3f}  (goal {goals[one.kind]:.2f}, {verdict}); processor time {one.cpu_ratio:.3f}"
        )
        lines += [
            f"        {name:24} {run.per_second:8.0f}/s  p50 {run.p50_ms:6.2f} ms  p99 {run.p99_ms:6.2f} ms"
            f"  {run.cpu_us:6.0f} us of processor a request"
            for name, run in ((report.first, one.first), (report.second, one.second))
        ]
    return "\n".join(lines)


def main() -> int:
    """Measure, print, and say by the exit code whether every goal was met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--companies", type=int, default=20)
    parser.add_argument("--kind", type=Kind, choices=list(Kind), action="append", help="only this one; may repeat")
    parser.add_argument("--scale", action="store_true", help="10,000 companies against ten, instead of against bare")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another checkout, set up, instead of bare")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    kinds = options.kind or list(Kind)
    if options.scale:
        goals, work = dict.fromkeys(Kind, SCALE_GOAL), small_against_large(options.rounds, options.seconds, kinds)
    elif options.against:
        goals = dict.fromkeys(Kind, CHANGE_GOAL)
        work = against_checkout(options.against, options.rounds, options.seconds, options.companies, kinds)
    else:
        goals, work = GOALS, against_bare(options.rounds, options.seconds, options.companies, kinds)
    report = asyncio.run(work)
    print(describe(report, goals))
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n")
    return 0 if all(one.ratio >= goals[one.kind] for one in report.comparisons) else 1


if __name__ == "__main__":
    sys.exit(main())
