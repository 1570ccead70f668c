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
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec

from benchmarks.load import WITHOUT_INDEX, Kind, Run, generator_name, run
from benchmarks.processes import Cores, Server, Starting, atrium, atrium_of, bare, interpreter_of, pin_backends
from benchmarks.seed import seed, write_targets
from tests.postgres import fresh_database
from tests.support.processes import environment
from tests.support.servers import SECRET

NOTES = 100
SMALL, LARGE = 10, 10_000
# So many pairs of rounds tell a change of a few hundredths from chance.
ROUNDS, ROUNDS_OF_A_CHANGE = 9, 20
_WARM_UP_SECONDS = 1


class Spread(msgspec.Struct, frozen=True):
    """How far the rounds' ratios lie apart."""

    least: float
    quarter: float
    median: float
    three_quarters: float
    most: float

    def __str__(self) -> str:
        """From the least to the most, with the half of the rounds that lies around the median."""
        return (
            f"{self.least:.3f} to {self.most:.3f}, half of the rounds {self.quarter:.3f} to {self.three_quarters:.3f}"
        )


def spread_of(ratios: Sequence[float]) -> Spread:
    """The spread of one round or more."""
    ordered = sorted(ratios)
    quarters = statistics.quantiles(ordered, n=4, method="inclusive") if len(ordered) > 1 else ordered * 3
    return Spread(ordered[0], quarters[0], quarters[1], quarters[2], ordered[-1])


class Comparison(msgspec.Struct, frozen=True):
    """One kind of request on two servers: medians of the rounds' ratios (requests per second, processor time) and figures."""

    kind: Kind
    ratio: float
    cpu_ratio: float
    first: Run
    second: Run
    ratios: list[float]
    cpu_ratios: list[float]


class Goal(msgspec.Struct, frozen=True):
    """The least rate and, where it is judged, the most processor time, each as a share of the other server's."""

    rate: float
    processor: float | None = None

    def is_met(self, one: Comparison) -> bool:
        """Whether both are kept."""
        return one.ratio >= self.rate and (self.processor is None or one.cpu_ratio <= self.processor)


GOALS = {Kind.READ: Goal(0.85), Kind.LIST: Goal(0.95), Kind.CREATE: Goal(0.95)}
SCALE_GOAL = Goal(0.80)
# A change may cost three hundredths of the rate, and five of the processor.
CHANGE_GOAL = Goal(0.97, 1.05)


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


async def against_bare(rounds: int, seconds: int, companies: int, kinds: Sequence[Kind] = WITHOUT_INDEX) -> Report:
    """Atrium and the bare app, which has no search, each on its own copy of the same database."""
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
            if Kind.SEARCH in kinds:
                _fill_index(server, folder)
            starting.append((server, targets))
        return await compare(stack, starting, rounds, seconds, kinds)


def _fill_index(server: Starting, folder: Path) -> None:
    """The notes of the seed were not written through a server."""
    seen = environment(database_url=server.database_url, secret_key=SECRET, data_dir=folder)
    subprocess.run([server.python, "-m", "atrium", "search", "rebuild"], env=seen, check=True, capture_output=True)


async def small_against_large(rounds: int, seconds: int, kinds: Sequence[Kind] = WITHOUT_INDEX) -> Report:
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
    cpu = [ours.cpu_us / theirs.cpu_us for ours, theirs in pairs]
    medians = statistics.median(ratios), statistics.median(cpu)
    return Comparison(kind, *medians, _median(first), _median(second), ratios, cpu)


def _median(runs: list[Run]) -> Run:
    return Run(*(statistics.median(getattr(one, name) for one in runs) for name in Run.__struct_fields__))


def describe(report: Report, goals: Mapping[Kind, Goal]) -> str:
    """The report for people."""
    lines = [f"{report.first} / {report.second}: {report.rounds} rounds of {report.seconds} s, {report.generator}"]
    for one in report.comparisons:
        goal = goals[one.kind]
        lines.append(
            f"{one.kind:7} {one.ratio:.3f}  (goal {goal.rate:.2f}, {_verdict(one.ratio >= goal.rate)}): {spread_of(one.ratios)}"
        )
        judged = ""
        if goal.processor is not None:
            judged = f"  (at most {goal.processor:.2f}, {_verdict(one.cpu_ratio <= goal.processor)})"
        lines.append(f"        processor time {one.cpu_ratio:.3f}{judged}: {spread_of(one.cpu_ratios)}")
        lines += [
            f"        {name:24} {run.per_second:8.0f}/s  p50 {run.p50_ms:6.2f} ms  p99 {run.p99_ms:6.2f} ms"
            f"  {run.cpu_us:6.0f} us of processor a request"
            for name, run in ((report.first, one.first), (report.second, one.second))
        ]
    return "\n".join(lines)


def _verdict(met: bool) -> str:
    return "met" if met else "MISSED"


def main() -> int:
    """Measure, print, and say by the exit code whether every goal was met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, help=f"{ROUNDS}, and {ROUNDS_OF_A_CHANGE} with --against")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--companies", type=int, default=20)
    parser.add_argument("--kind", type=Kind, choices=list(Kind), action="append", help="only this one; may repeat")
    parser.add_argument("--scale", action="store_true", help="10,000 companies against ten, instead of against bare")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another checkout, set up, instead of bare")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    kinds = options.kind or (list(Kind) if options.against else list(WITHOUT_INDEX))
    if Kind.SEARCH in kinds and not options.against:
        parser.error("search is compared with --against alone: the bare app has none, and the large database no index")
    rounds = options.rounds or (ROUNDS_OF_A_CHANGE if options.against else ROUNDS)
    goals: Mapping[Kind, Goal] = GOALS
    if options.scale:
        goals, work = dict.fromkeys(Kind, SCALE_GOAL), small_against_large(rounds, options.seconds, kinds)
    elif options.against:
        goals = dict.fromkeys(Kind, CHANGE_GOAL)
        work = against_checkout(options.against, rounds, options.seconds, options.companies, kinds)
    else:
        work = against_bare(rounds, options.seconds, options.companies, kinds)
    report = asyncio.run(work)
    print(describe(report, goals))
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n")
    return 0 if all(goals[one.kind].is_met(one) for one in report.comparisons) else 1


if __name__ == "__main__":
    sys.exit(main())
