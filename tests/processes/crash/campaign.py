"""Servers, workers and workers elsewhere on a PostgreSQL that may crash, jobs coming in all the while, and what must hold."""

import asyncio
import contextlib
import os
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import httpx

from tests.postgres import run_as_owner
from tests.support.machine import slowness
from tests.support.people import found_company
from tests.support.processes import (
    ATRIUM,
    ROOT,
    PrivatePostgres,
    Process,
    environment,
    free_port,
    server_settings,
    start,
    start_server,
)
from tests.support.queue import AUDIT, TRIPWIRE
from tests.support.servers import open_application, settings_for

LEASE, GRACE = 2, 10
LOCAL, REMOTE = "x.campaign.local", "x.campaign.remote"
CAP = 3
MANIFEST = 'id = "campaign"\nname = "Campaign"\nversion = "0.1.0"\ndescription = "Two kinds."\nentry = "plugin.py"\n'
PLUGIN = f"""
import asyncio
import msgspec
from atrium.sdk import Assignment, JobKind, Operation, Plugin

class Nap(msgspec.Struct):
    seconds: float = 0

async def nap(op: Operation, job: Assignment) -> dict:
    await asyncio.sleep(job.arguments.seconds)
    return {{"attempt": job.attempt}}

PLUGIN = Plugin(job_kinds=(
    JobKind(name="{LOCAL}", description="Here.", arguments=Nap, run=nap, lease={LEASE}, attempts=100),
    JobKind(name="{REMOTE}", description="There.", arguments=Nap, problem_with=lambda result: None, lease={LEASE}, attempts=100),
))
"""
FUNCTIONS = """
import time

def nap(job):
    time.sleep(job.input["seconds"])
    return {"token": job.claim_token}
"""
# Every ending leaves a line in the transaction that makes it, whoever makes it.
LEDGER = (
    "CREATE TABLE endings (job uuid NOT NULL, state text NOT NULL, token uuid)",
    """
    CREATE FUNCTION note_ending() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
      INSERT INTO endings VALUES (NEW.id, NEW.state, OLD.claim_token); RETURN NULL; END $$
    """,
    """
    CREATE TRIGGER note_ending AFTER UPDATE ON jobs FOR EACH ROW
      WHEN (NEW.state IN ('succeeded', 'failed', 'cancelled')) EXECUTE FUNCTION note_ending()
    """,
    *(f"CREATE OR REPLACE {part.strip()}" for part in TRIPWIRE.split("CREATE OR REPLACE ")[1:]),
)
_OUT_OF_REACH = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError)


@dataclass(slots=True)
class Seat:
    """One process of the campaign; whoever is killed is followed by another like it. `mark` is printed once it has started."""

    begin: Callable[[], Process]
    process: Process
    mark: str
    killed: bool = False
    past: list[Process] = field(default_factory=list)

    def kill(self) -> None:
        self.killed = True
        self.process.clean_up()

    def replace(self) -> None:
        self.past.append(self.process)
        self.process, self.killed = self.begin(), False

    @property
    def has_ended(self) -> bool:
        return self.process.popen.poll() is not None

    @property
    def output(self) -> str:
        return "".join(one.output for one in (*self.past, self.process))


@dataclass(slots=True)
class Campaign:
    """Who takes part, what was acknowledged to whom, and what was seen that must not be."""

    postgres: PrivatePostgres
    url: str
    members: list[str]
    machine: str
    servers: list[Seat]
    workers: list[Seat]
    moments: random.Random
    queued: set[str] = field(default_factory=set)
    landed: Counter[str] = field(default_factory=Counter)
    landed_token: dict[str, str] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    enough: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def seats(self) -> list[Seat]:
        return [*self.servers, *self.workers]

    async def say(self, token: str, path: str, body: Any, server: Seat | None = None) -> httpx.Response | None:
        """What a server answers to a POST; None when it cannot be reached, or cannot reach PostgreSQL."""
        try:
            async with (server or self.moments.choice(self.servers)).process.client(token) as client:
                answer = await client.post(path, json=body)
        except httpx.TransportError:
            return None
        self.statuses[answer.status_code] += 1
        return None if answer.status_code == 503 else answer

    async def enqueue(self, token: str, kind: str, seconds: float, server: Seat | None = None) -> str | None:
        """The id of a job whose creation was acknowledged."""
        answer = await self.say(token, "/api/jobs", {"kind": kind, "input": {"seconds": seconds}}, server)
        if answer is None:
            return None
        assert answer.status_code == 201, answer.text
        id = str(answer.json()["id"])
        self.queued.add(id)
        return id

    async def produce(self, token: str) -> None:
        """Queue job after job; the last request is answered before this returns, so that no job begins unseen."""
        while not self.enough.is_set():
            await self.enqueue(token, self.moments.choice((LOCAL, REMOTE)), self.moments.uniform(0, 0.2))
            await asyncio.sleep(0.1)

    async def pull(self) -> None:
        """A worker elsewhere that remembers which of its results were acknowledged."""
        while not self.done.is_set():
            claimed = await self.say(self.machine, "/api/workers/claim", {"kinds": [REMOTE], "max_wait": 2})
            if claimed is None:
                await asyncio.sleep(0.1)
            elif claimed.status_code == 200:
                await self._attempt(claimed.json())

    async def _attempt(self, claimed: Any) -> None:
        id, held = claimed["job"]["id"], {"claim_token": claimed["claim_token"]}
        await asyncio.sleep(claimed["job"]["input"]["seconds"])
        await self.say(self.machine, f"/api/workers/jobs/{id}/heartbeat", held)
        result = {"token": claimed["claim_token"]}
        answer = await self.say(self.machine, f"/api/workers/jobs/{id}/complete", {**held, "result": result})
        if answer is not None and answer.status_code == 200:
            self.landed[id] += 1
            self.landed_token[id] = claimed["claim_token"]

    async def audit(self) -> None:
        """Look at the books all the time, whenever there is a PostgreSQL to ask."""
        while not self.done.is_set():
            with contextlib.suppress(*_OUT_OF_REACH):
                await self.look()
            await asyncio.sleep(0.3)

    async def look(self) -> None:
        self.wrong += [f"{row['what']} {row['team_id']}" for row in await run_as_owner(self.url, AUDIT)]

    async def supervise(self) -> None:
        """Whoever finds no PostgreSQL while it starts may refuse to, and is started again; nobody else ends by itself."""
        while not self.done.is_set():
            for seat in self.seats:
                if seat.has_ended and not seat.killed:
                    if seat.mark in seat.process.output:
                        self.wrong.append(f"ended by itself: {seat.process.output[-2000:]}")
                    seat.replace()
            await asyncio.sleep(0.1)

    async def strike(self, number: int) -> None:
        """Kill somebody; every other time PostgreSQL crashes as well, with whatever was not on its disk."""
        victim = self.moments.choice(self.seats)
        await asyncio.sleep(self.moments.uniform(0.3, 1.5))
        victim.kill()
        if number % 2:
            await self.postgres.crash()
            await asyncio.sleep(self.moments.uniform(0, 1))
            await self.postgres.recover()
        victim.replace()

    async def recover(self) -> float:
        """Seconds until every server is ready and new jobs of both sorts, queued at each of them, have ended."""
        started = time.monotonic()
        async with asyncio.timeout(LEASE + GRACE * slowness()):
            await asyncio.gather(*map(_until_ready, self.servers))
            await asyncio.gather(
                *(self._until_done(server, kind) for server in self.servers for kind in (LOCAL, REMOTE))
            )
        return time.monotonic() - started

    async def _until_done(self, server: Seat, kind: str) -> None:
        token = self.members[-1]
        while (id := await self.enqueue(token, kind, 0, server)) is None:
            await asyncio.sleep(0.05)
        async with server.process.client(token) as client:
            while (answer := await client.get(f"/api/jobs/{id}")).json().get("state") != "succeeded":
                assert answer.status_code in (200, 503), answer.text
                await asyncio.sleep(0.05)

    async def settle_down(self, seconds: float) -> None:
        """Until everything has ended; what has not by then is lost."""
        deadline = time.monotonic() + seconds
        while left := await run_as_owner(self.url, "SELECT id FROM jobs WHERE finished_at IS NULL"):
            if time.monotonic() > deadline:
                self.wrong.append(f"{len(left)} jobs never ended")
                return
            await asyncio.sleep(0.1)

    async def check(self) -> None:
        """Every acknowledged job is there and ended well once, with the result that was acknowledged."""
        rows = {
            row["id"]: row
            for row in await run_as_owner(self.url, "SELECT id::text, state, result->>'token' AS token, kind FROM jobs")
        }
        endings = await run_as_owner(self.url, "SELECT job::text, token::text FROM endings")
        ended = Counter(row["job"] for row in endings)
        tokens = {row["job"]: row["token"] for row in endings}
        self.wrong += [f"{id} was lost" for id in self.queued - rows.keys()]
        for id, row in rows.items():
            if (row["state"], ended[id]) != ("succeeded", 1):
                self.wrong.append(f"{id} is {row['state']} and ended {ended[id]} times")
            if row["kind"] == REMOTE and row["token"] != tokens.get(id):
                self.wrong.append(f"{id} has the result of an attempt that did not end it")
            if self.landed[id] > 1 or self.landed_token.get(id, row["token"]) != row["token"]:
                self.wrong.append(f"{id} was acknowledged {self.landed[id]} times, or has another's result")
        self.wrong += [f"{id} was acknowledged and is gone" for id in self.landed.keys() - rows.keys()]
        await self.look()
        self.wrong += ["a cap was broken" for seat in self.seats if "TRIPPED" in seat.output]


async def _until_ready(server: Seat) -> None:
    while True:
        with contextlib.suppress(httpx.TransportError):
            async with server.process.client() as client:
                if (await client.get("/ready")).status_code == 200:
                    return
        await asyncio.sleep(0.05)


@asynccontextmanager
async def campaigning(postgres: PrivatePostgres, folder: Path, moments: random.Random) -> AsyncIterator[Campaign]:
    """Two servers, two workers and a worker elsewhere, all ready, on a database with a ledger."""
    _write_files(folder)
    await run_as_owner(postgres.url, "CREATE DATABASE campaign")
    url = urlunsplit(urlsplit(postgres.url)._replace(path="/campaign"))
    settings: dict[str, Any] = {"plugins_dir": folder / "plugins", "database_pool": 6}
    ports = [free_port(), free_port()]
    first = start_server(url, folder, ports[0], **settings)
    seats: list[Seat] = []
    try:
        await first.until_ready()
        members, machine, other = await _people(url, folder)
        for statement in LEDGER:
            await run_as_owner(url, statement)

        def server(port: int) -> Callable[[], Process]:
            return lambda: start_server(url, folder, port, **settings)

        def worker() -> Process:
            seen = environment(**server_settings(url, **settings))
            return start((*ATRIUM, "work", "--concurrency", "4"), seen, folder)

        def elsewhere() -> Process:
            path = os.pathsep.join((str(ROOT / "worker" / "src"), str(folder)))
            seen = environment() | {"ATRIUM_TOKEN": other, "PYTHONPATH": path}
            address = f"http://127.0.0.1:{ports[1]}"
            return start(("-m", "atrium_worker", "--url", address, "--kind", f"{REMOTE}=naps:nap"), seen, folder)

        seats.append(Seat(server(ports[0]), first, "serve.listening"))
        seats.append(Seat(server(ports[1]), server(ports[1])(), "serve.listening"))
        seats += [Seat(worker, worker(), "work.started"), Seat(worker, worker(), "work.started")]
        seats.append(Seat(elsewhere, elsewhere(), "working for"))
        yield Campaign(postgres, url, members, machine, seats[:2], seats[2:], moments)
    finally:
        for process in (first, *(seat.process for seat in seats)):
            process.clean_up()


def _write_files(folder: Path) -> None:
    plugin = folder / "plugins" / "campaign"
    plugin.mkdir(parents=True)
    (plugin / "plugin.py").write_text(PLUGIN)
    (plugin / "plugin.toml").write_text(MANIFEST)
    (folder / "naps.py").write_text(FUNCTIONS)


async def _people(url: str, folder: Path) -> tuple[list[str], str, str]:
    """Tokens of somebody in a team with a small cap and of somebody in another team, and of two machines."""
    async with open_application(settings_for(url, plugins_dir=str(folder / "plugins"), database_pool=2)) as house:
        company = await found_company(house)
        owner = await company.join("owner", org_role="org_owner", operator=True)
        await run_as_owner(
            url,
            "INSERT INTO quota_limits (org_id, scope_id, dimension, per, most) VALUES ($1, $2, 'jobs.concurrency', 'total', $3)",
            company.org.id,
            company.team.id,
            CAP,
        )
        members = [
            await company.join("member"),
            await company.join("member", team=await company.add_team()),
        ]
        made = [await owner.post("/api/executors", {"name": name, "mode": "pull"}) for name in ("one", "two")]
    return [member.token or "" for member in members], made[0]["worker_token"], made[1]["worker_token"]


async def fight(campaign: Campaign, rounds: range) -> list[float]:
    """Strike and recover, again and again, under load; how long each recovery took."""
    load: list[Awaitable[None]] = [campaign.audit(), campaign.supervise(), campaign.pull(), campaign.pull()]
    load += [campaign.produce(token) for token in campaign.members]
    running = [asyncio.ensure_future(one) for one in load]
    took = [await campaign.recover()]
    try:
        for number in rounds:
            await campaign.strike(number)
            took.append(await campaign.recover())
            for task in running:
                assert not task.done(), task.exception()
        campaign.enough.set()
        await asyncio.gather(*running[4:])
        await campaign.settle_down(60)
    finally:
        campaign.done.set()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    await campaign.check()
    return took
