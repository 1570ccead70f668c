"""Two companies, one hostile in each of ten ways: the other signs in, reads and writes nearly as soon as beside harmless requests."""

import asyncio
import math
import signal
import sys
import time
from asyncio.subprocess import PIPE
from asyncio.subprocess import Process as Subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx
import msgspec
import pytest

from atrium.boot.assemble import Application
from tests.domains.edge.hostile_ways import WAYS, Order, Sent
from tests.domains.edge.test_sizes import WIDE_MAP
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import found_company
from tests.support.processes import ROOT, Process, environment, serving, sized
from tests.support.servers import open_application, settings_for

pytestmark = [pytest.mark.finding, pytest.mark.proof, pytest.mark.timeout(3600)]
# Of each kind of request, beside hostile ones and beside harmless ones, in so many rounds of both.
EACH, ROUNDS = sized(20, 200), sized(2, 10)
MOST = 3.0
PASSWORD = "correct horse battery staple"
HOSTILE = [name for name in WAYS if name != "harmless"]
# As the product comes: what the settings of other tests lift.
LIMITS: dict[str, Any] = {
    "rate_public_writes": 60,
    "rate_per_credential": 6_000,
    "login_failures": 5,
    "trusted_proxies": "127.0.0.1",
}
LONG_NOTES, NOTES, LARGE_FILES = 50, 6_000, 16


@dataclass(slots=True)
class Victim:
    """A person of the other company, and how long their requests took."""

    client: httpx.AsyncClient
    username: str
    note: str
    signed_in: int = 0
    seconds: dict[str, list[float]] = field(default_factory=lambda: {"sign in": [], "read": [], "write": []})

    async def ask(self, *, kept: bool = True) -> None:
        """One request of each kind."""
        self.signed_in += 1
        # As colleagues do, each from an address of their own.
        address = f"198.51.{self.signed_in // 250}.{self.signed_in % 250}"
        credentials = {"username": self.username, "password": PASSWORD}
        asked: dict[str, Callable[[], Awaitable[httpx.Response]]] = {
            "sign in": lambda: self.client.post("/api/login", json=credentials, headers={"x-forwarded-for": address}),
            "read": lambda: self.client.get(f"/api/notes/{self.note}"),
            "write": lambda: self.client.post("/api/notes", json={"title": "Berth", "body": "word " * 100}),
        }
        for kind, send in asked.items():
            began = time.perf_counter()
            answer = await send()
            if kept:
                self.seconds[kind].append(time.perf_counter() - began)
            assert answer.status_code in (200, 201), (kind, answer.status_code, answer.text[:300])


@dataclass(frozen=True, slots=True)
class Prepared:
    """A database to copy, the hostile company's credential and what it knows, and the victim's."""

    database: str
    folder: Path
    token: str
    facts: dict[str, Any]
    victims_token: str
    username: str
    note: str


@dataclass(slots=True)
class Scene:
    """A server on a copy of it, which stands still while nobody measures on it."""

    prepared: Prepared
    server: Process
    victim: Victim

    @contextmanager
    def awake(self) -> Iterator[None]:
        """It runs until the block ends, with whatever is still to do there."""
        self.server.popen.send_signal(signal.SIGCONT)
        try:
            yield
        finally:
            self.server.popen.send_signal(signal.SIGSTOP)


@pytest.fixture(scope="module")
async def prepared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Prepared]:
    folder = tmp_path_factory.mktemp("data")
    async with fresh_database() as url:
        async with open_application(settings_for(url, data_dir=folder)) as house:
            facts, hostile = await _hostile(house)
            victim = await (await found_company(house)).join("member", password=PASSWORD)
            note = (await victim.post("/api/notes", {"title": "Berth", "body": "word " * 100}))["id"]
        database = url.rpartition("/")[2]
        yield Prepared(database, folder, hostile.token or "", facts, victim.token or "", victim.username, note)


@asynccontextmanager
async def scene_of(prepared: Prepared) -> AsyncIterator[Scene]:
    async with (
        fresh_database(template=prepared.database) as url,
        serving(url, data_dir=prepared.folder, embed_worker=1, **LIMITS) as [server],
        # A connection of its own for each request: none is left open while the server stands still.
        server.client(prepared.victims_token, limits=httpx.Limits(max_keepalive_connections=0)) as client,
    ):
        server.popen.send_signal(signal.SIGSTOP)
        yield Scene(prepared, server, Victim(client, prepared.username, prepared.note))


async def _hostile(house: Application) -> tuple[dict[str, Any], Client]:
    """A company with much in it, made before the server starts."""
    company = await found_company(house)
    person, worker = await company.join("admin", password=PASSWORD), await company.employ()
    small = await person.post("/api/notes", {"title": "Small", "body": "word"})
    for number in range(LONG_NOTES):
        body = {"title": f"Anchor {number}", "body": f"{'語' * 60_000} anchor"}
        assert (await person.post("/api/notes", body)).status == 201
    await run_as_owner(
        house.services.settings.database_url,
        "INSERT INTO notes (id, org_id, team_id, owner_id, title, body, visibility)"
        " SELECT gen_random_uuid(), org_id, team_id, owner_id, 'Note ' || n, repeat('word ', 100), 'team'"
        " FROM notes, generate_series(1, $2::int) n WHERE id = $1::text::uuid",
        small["id"], NOTES,
    )  # fmt: skip
    for number in range(LARGE_FILES):
        assert (await person.put(f"/api/repo/large/{number}.bin", bytes(1 << 20))).status == 201
    assert (await person.post("/api/workflows", WIDE_MAP)).status == 201
    assert (await person.post("/api/workflows", {**WIDE_MAP, "slug": "narrow", "steps": [_narrow()]})).status == 201
    facts = {
        "note": small["id"], "workflows": ["wide", "narrow"], "worker": worker.token, "username": person.username,
        "password": PASSWORD, "cursors": await _deep(person),
    }  # fmt: skip
    return facts, person


def _narrow() -> dict[str, Any]:
    """A map of as many values as are taken: it runs."""
    values = [{"$": "input.absent", "default": number} for number in range(60)]
    return {**cast(Any, WIDE_MAP["steps"])[0], "with": {"id": values}}


async def _deep(person: Client) -> list[str]:
    """The cursors of the last pages."""
    found, cursor = list[str](), None
    while True:
        page = await person.get("/api/notes", limit=200, **({"cursor": cursor} if cursor else {}))
        if (cursor := page["next_cursor"]) is None:
            return found[-4:]
        found.append(cursor)


@asynccontextmanager
async def sending(scene: Scene, way: str, said: list[Sent]) -> AsyncIterator[Callable[[int], None]]:
    """A process of the hostile company's that sends as many requests as the block permits."""
    order = Order(scene.server.port, scene.prepared.token, way, scene.prepared.facts)
    process: Subprocess = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.domains.edge.hostile_ways", stdin=PIPE, stdout=PIPE, cwd=ROOT, env=environment()
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(msgspec.json.encode(order) + b"\n")
    assert await asyncio.wait_for(process.stdout.readline(), PATIENCE) == b"ready\n"
    try:
        yield lambda count: process.stdin.write(b"%d\n" % count)  # type: ignore[union-attr]
    finally:
        process.stdin.close()
        said.append(msgspec.json.decode(await asyncio.wait_for(process.stdout.read(), PATIENCE), type=Sent))
        await process.wait()


async def beside_hostile(scene: Scene, way: str, each: int) -> Sent:
    """The victim's requests while as many hostile ones as there can be are under way; how many those were."""
    said: list[Sent] = []
    with scene.awake():
        async with sending(scene, way, said) as permit:
            permit(-1)
            await scene.victim.ask(kept=False)
            for _ in range(each):
                await scene.victim.ask()
    return said[0]


async def beside_harmless(scene: Scene, each: int, count: int) -> None:
    """The same beside so many harmless ones, evenly over the victim's own."""
    said: list[Sent] = []
    with scene.awake():
        async with sending(scene, "harmless", said) as permit:
            await scene.victim.ask(kept=False)
            for number in range(each):
                permit(count * (number + 1) // each - count * number // each)
                await scene.victim.ask()


def p95(seconds: list[float]) -> float:
    """In milliseconds, by rank."""
    return sorted(seconds)[math.ceil(0.95 * len(seconds)) - 1] * 1000


@pytest.mark.parametrize("way", HOSTILE)
async def test_a_company_beside_a_hostile_one_waits_at_most_three_times_as_long(prepared: Prepared, way: str) -> None:
    sent = Sent(0, {})
    async with scene_of(prepared) as hostile, scene_of(prepared) as harmless:
        for _ in range(ROUNDS):
            found = await beside_hostile(hostile, way, EACH // ROUNDS)
            await beside_harmless(harmless, EACH // ROUNDS, found.count)
            sent.count += found.count
            for status, count in found.statuses.items():
                sent.statuses[status] = sent.statuses.get(status, 0) + count
    ratios: dict[str, float] = {}
    print(f"{way}: {sent.count} hostile requests, {dict(sorted(sent.statuses.items()))}")
    for kind in hostile.victim.seconds:
        beside, alone = p95(hostile.victim.seconds[kind]), p95(harmless.victim.seconds[kind])
        ratios[kind] = beside / alone
        print(f"{way}: {kind}: {beside:.1f} ms, beside as many harmless ones {alone:.1f} ms, {ratios[kind]:.2f} times")

    assert sent.count > 0
    assert {kind: round(ratio, 2) for kind, ratio in ratios.items() if ratio > MOST} == {}


def test_the_ways_are_ten() -> None:
    assert len(HOSTILE) == 10
    assert p95([number / 1000 for number in range(1, 201)]) == pytest.approx(190.0)
