"""Runs of ten steps over several processes that are killed, on a PostgreSQL that crashes: every run ends once, every effect is there once.

python -m tests.processes.kills.chaos --runs 2000 --kills 10 --crashes 4 [--lease 30] [--pause 0.2] [--forgetful]
python -m tests.processes.kills.chaos --runs 100000 --kills 200 --crashes 20 --seconds 1500 --pause 0.02
"""

import argparse
import asyncio
import contextlib
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import httpx

from tests.domains.workflows.engine import PROMISES
from tests.postgres import run_as_owner
from tests.processes.crash.campaign import Seat
from tests.support.load import chance
from tests.support.machine import slowness
from tests.support.people import found_company
from tests.support.processes import (
    ATRIUM,
    PrivatePostgres,
    Process,
    environment,
    free_port,
    private_postgres,
    server_settings,
    start,
    start_server,
)
from tests.support.servers import open_application, settings_for

FORGETFUL = ("-m", "tests.processes.kills.forgetful")
GRACE = 10
MANIFEST = 'id = "chaos"\nname = "Chaos"\nversion = "0.1.0"\ndescription = "Three tools."\nentry = "plugin.py"\n'
# Half of the steps have an effect, in both ways in which a tool can have one.
PLUGIN = """
import asyncio
from atrium.sdk import Operation, Parameter, Plugin, RecordedResult, Tool

PAUSE = {pause}
INSERT = "INSERT INTO effects (run, step) VALUES (:run, :step)"

async def look(db, principal, arguments):
    return arguments["step"]

async def write(db, principal, arguments):
    await db.run(INSERT, run=arguments["run"], step=arguments["step"])
    return arguments["step"]

async def perform(op: Operation, arguments) -> RecordedResult[str]:
    await asyncio.sleep(PAUSE)
    async with op.begin() as ctx:
        await ctx.db.run(INSERT, run=arguments["run"], step=arguments["step"])
        return await ctx.record_result(arguments["step"])

GIVEN = tuple(Parameter(name=name, type="string", description=name) for name in ("run", "step"))
PLUGIN = Plugin(tools=(
    Tool(name="chaos_look", description="Reads.", permission="notes:read", effect="read", untrusted=False, run=look, parameters=GIVEN),
    Tool(name="chaos_write", description="Writes.", permission="notes:write", effect="write", untrusted=False, run=write, parameters=GIVEN),
    Tool(name="chaos_perform", description="Waits and writes.", permission="notes:write", effect="write", untrusted=False, perform=perform,
         parameters=GIVEN),
))
"""
CALLED = ("look", "write", "look", "perform", "look", "write", "look", "perform", "look", "write")
SPEC: dict[str, Any] = {
    "slug": "chaos", "start": "s0", "max_steps": 10,
    "steps": [
        {"name": f"s{n}", "kind": "tool", "tool": f"chaos_{called}", "with": {"run": {"$": "run.id"}, "step": f"s{n}"}}
        for n, called in enumerate(CALLED)
    ],
}  # fmt: skip
WRITING = {f"s{n}" for n, called in enumerate(CALLED) if called != "look"}
# Nothing keeps an effect from being there twice but the engine; every ending leaves a line in the transaction that makes it.
LEDGER = (
    "CREATE TABLE effects (run text NOT NULL, step text NOT NULL)",
    "GRANT SELECT, INSERT ON effects TO atrium_app",
    "CREATE TABLE endings (run uuid NOT NULL, state text NOT NULL)",
    """
    CREATE FUNCTION note_ending() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
      INSERT INTO endings VALUES (NEW.id, NEW.state); RETURN NULL; END $$
    """,
    """
    CREATE TRIGGER note_ending AFTER UPDATE ON runs FOR EACH ROW
      WHEN (NEW.state <> 'running') EXECUTE FUNCTION note_ending()
    """,
)
# A shorter lease than the kind's, so that what was lost comes back sooner.
LEASE = """
    CREATE FUNCTION shorten_lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      NEW.lease := make_interval(secs => {seconds}); RETURN NEW; END $$
"""
_OUT_OF_REACH = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError)


@dataclass(slots=True)
class Chaos:
    """Who takes part, which runs were acknowledged, and what was seen that must not be."""

    postgres: PrivatePostgres
    url: str
    token: str
    servers: list[Seat]
    workers: list[Seat]
    lease: int
    moments: random.Random
    started: list[str] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    # When PostgreSQL came back last: before that nothing could go on.
    back_at: float = field(default_factory=time.monotonic)
    longest: float = 0
    done: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def seats(self) -> list[Seat]:
        return [*self.servers, *self.workers]

    async def produce(self, count: int) -> None:
        """Start runs until so many were acknowledged by all producers together."""
        while len(self.started) < count and not self.done.is_set():
            server = self.moments.choice(self.servers)
            with contextlib.suppress(httpx.TransportError):
                async with server.process.client(self.token) as client:
                    while len(self.started) < count:
                        answer = await client.post("/api/workflows/chaos/run", json={})
                        self.statuses[answer.status_code] += 1
                        if answer.status_code == 202:
                            self.started.append(answer.json()["id"])
                        else:
                            await asyncio.sleep(0.2)
            await asyncio.sleep(0.05)

    async def watch(self) -> None:
        """Look for what hangs, and for promises that are broken, whenever there is a PostgreSQL to ask."""
        while not self.done.is_set():
            began = time.monotonic()
            with contextlib.suppress(*_OUT_OF_REACH):
                await self.look()
            # It reads all runs there are: with many of them it would be most of the load.
            await asyncio.sleep(max(1, 20 * (time.monotonic() - began)))

    async def look(self) -> None:
        rows = await run_as_owner(
            self.url,
            "SELECT extract(epoch FROM clock_timestamp() - min(lease_until))::float FROM jobs WHERE state = 'running'",
        )
        overdue = min(rows[0][0] or 0, time.monotonic() - self.back_at)
        self.longest = max(self.longest, overdue)
        if overdue > GRACE and overdue > GRACE * slowness():
            self.wrong.append(f"a step was not taken up again {overdue:.1f} s after its lease")
        self.wrong += [f"{row[0]} {row[1]}" for row in await run_as_owner(self.url, PROMISES)]

    async def supervise(self) -> None:
        """A process that finds no PostgreSQL while it starts may refuse to, and is started again."""
        while not self.done.is_set():
            for seat in self.seats:
                if seat.has_ended and not seat.killed:
                    if seat.mark in seat.process.output:
                        self.wrong.append(f"ended by itself: {seat.process.output[-2000:]}")
                    seat.replace()
            await asyncio.sleep(0.1)

    async def disturb(self, kills: int, crashes: int, seconds: float) -> None:
        """So many kills and crashes, at random moments of about this time."""
        deeds = ["kill"] * kills + ["crash"] * crashes
        self.moments.shuffle(deeds)
        for deed in deeds:
            await asyncio.sleep(self.moments.uniform(0.2, 1.8) * seconds / len(deeds))
            if deed == "kill":
                victim = self.moments.choice(self.seats)
                victim.kill()
                victim.replace()
            else:
                await self.postgres.crash()
                await asyncio.sleep(self.moments.uniform(0, 0.5))
                await self.postgres.recover()
                self.back_at = time.monotonic()

    async def settle_down(self, seconds: float) -> None:
        """Until every run has ended; what has not by then hangs."""
        deadline = time.monotonic() + seconds
        while True:
            with contextlib.suppress(*_OUT_OF_REACH):
                left = await run_as_owner(self.url, "SELECT id FROM runs WHERE state = 'running'")
                if not left:
                    return
                if time.monotonic() > deadline:
                    self.wrong.append(f"{len(left)} runs never ended")
                    return
            await asyncio.sleep(0.3)

    async def check(self) -> None:
        """Every acknowledged run is there and ended well once, and each of its effects is there once."""
        states = {str(row[0]): row[1] for row in await run_as_owner(self.url, "SELECT id, state FROM runs")}
        endings = Counter(str(row[0]) for row in await run_as_owner(self.url, "SELECT run FROM endings"))
        effects = Counter((row[0], row[1]) for row in await run_as_owner(self.url, "SELECT run, step FROM effects"))
        self.wrong += [f"run {id} was lost" for id in self.started if id not in states]
        for id, state in states.items():
            if (state, endings[id]) != ("succeeded", 1):
                self.wrong.append(f"run {id} is {state} and ended {endings[id]} times")
            for step in WRITING:
                if effects[id, step] != 1:
                    self.wrong.append(f"{step} of run {id} had its effect {effects[id, step]} times")
        self.wrong += [f"{row[0]} {row[1]}" for row in await run_as_owner(self.url, PROMISES)]


@asynccontextmanager
async def arranged(
    postgres: PrivatePostgres, folder: Path, lease: int, pause: float, module: Sequence[str], moments: random.Random
) -> AsyncIterator[Chaos]:
    """Two servers and two workers on a database of their own with a ledger."""
    plugin = folder / "plugins" / "chaos"
    plugin.mkdir(parents=True)
    (plugin / "plugin.py").write_text(PLUGIN.replace("{pause}", str(pause)))
    (plugin / "plugin.toml").write_text(MANIFEST)
    await run_as_owner(postgres.url, "CREATE DATABASE chaos")
    url = urlunsplit(urlsplit(postgres.url)._replace(path="/chaos"))
    settings: dict[str, Any] = {"plugins_dir": folder / "plugins", "database_pool": 6}
    ports = [free_port(), free_port()]

    def server(port: int) -> Callable[[], Process]:
        return lambda: start_server(url, folder, port, module, **settings)

    def worker() -> Process:
        seen = environment(**server_settings(url, **settings))
        return start((*module, "work", "--concurrency", "8"), seen, folder)

    seats = [Seat(server(ports[0]), server(ports[0])(), "serve.listening")]
    try:
        await seats[0].process.until_ready()
        token = await _person(url, folder)
        for statement in LEDGER:
            await run_as_owner(url, statement)
        await run_as_owner(url, LEASE.format(seconds=lease))
        await run_as_owner(
            url, "CREATE TRIGGER shorten_lease BEFORE INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION shorten_lease()"
        )
        seats.append(Seat(server(ports[1]), server(ports[1])(), "serve.listening"))
        seats += [Seat(worker, worker(), "work.started"), Seat(worker, worker(), "work.started")]
        await seats[1].process.until_ready()
        yield Chaos(postgres, url, token, seats[:2], seats[2:], lease, moments)
    finally:
        for seat in seats:
            seat.process.clean_up()


async def _person(url: str, folder: Path) -> str:
    """The token of an admin whose team has the tools on and the workflow published."""
    async with open_application(settings_for(url, plugins_dir=str(folder / "plugins"), database_pool=2)) as server:
        company = await found_company(server)
        admin = await company.join("admin")
        for called in set(CALLED):
            reply = await admin.post(f"/api/tools/chaos_{called}", {"enabled": True})
            assert reply.status == 200, reply.raw
        reply = await admin.post("/api/workflows", SPEC)
        assert reply.status == 201, reply.raw
    return admin.token or ""


async def rage(chaos: Chaos, runs: int, kills: int, crashes: int, seconds: float) -> float:
    """Start runs, disturb them, wait for their ends and check; how long all of that took."""
    began = time.monotonic()
    running = [asyncio.ensure_future(one) for one in (chaos.watch(), chaos.supervise())]
    producing = [asyncio.ensure_future(chaos.produce(runs)) for _ in range(8)]
    try:
        await chaos.disturb(kills, crashes, seconds)
        await asyncio.gather(*producing)
        await chaos.settle_down(chaos.lease + GRACE + runs / 5 + 60)
    finally:
        chaos.done.set()
        for task in (*running, *producing):
            task.cancel()
        ended = await asyncio.gather(*running, *producing, return_exceptions=True)
    chaos.wrong += [repr(one) for one in ended if isinstance(one, Exception)]
    await chaos.check()
    return time.monotonic() - began


async def run(
    runs: int, kills: int, crashes: int, seconds: float, lease: int, module: Sequence[str] = ATRIUM, pause: float = 0.2
) -> Chaos:
    """The whole of it, with figures."""
    with private_postgres() as postgres, tempfile.TemporaryDirectory(prefix="atrium-chaos-") as folder:
        async with arranged(postgres, Path(folder), lease, pause, module, chance()) as chaos:
            took = await rage(chaos, runs, kills, crashes, seconds)
            rows = await run_as_owner(
                chaos.url,
                "SELECT count(*), coalesce(sum(lapses), 0), coalesce(sum(failures), 0), max(attempt) FROM jobs",
            )
    jobs, lapses, failures, attempts = rows[0]
    print(
        f"{len(chaos.started)} runs acknowledged, {jobs} steps, {kills} kills, {crashes} crashes, {took:.0f} s, {jobs / took:.0f} steps/s; "
        f"{lapses} attempts lost, {failures} failed, {attempts} at one step at most; longest past its lease {chaos.longest:.1f} s; "
        f"answers {dict(chaos.statuses)}; {len(chaos.wrong)} wrong",
        flush=True,
    )
    return chaos


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--crashes", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=60, help="about how long the disturbances are spread over")
    parser.add_argument("--lease", type=int, default=30)
    parser.add_argument("--pause", type=float, default=0.2, help="seconds that a tool waits before its effect")
    parser.add_argument("--forgetful", action="store_true", help="without receipts: must fail")
    given = parser.parse_args()
    module = FORGETFUL if given.forgetful else ATRIUM
    chaos = asyncio.run(run(given.runs, given.kills, given.crashes, given.seconds, given.lease, module, given.pause))
    print("\n".join(chaos.wrong[:20]) or "everything ended once")
    return 1 if chaos.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
