"""Everything that is kept counts as storage, also what rows of the database are kept for; and only a caller's write is refused."""

import asyncio
import dataclasses
import random
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.commands.quotas import KEEPERS
from atrium.engine.jobs import queue_rows
from atrium.engine.workflows import run_rows
from atrium.ground.quotas import recount
from atrium.ground.quotas import service as quotas
from atrium.seams.context import Context
from tests.domains.workflows import probes
from tests.domains.workflows.engine import Engine, Starter, ref, spec_of, tool
from tests.support.client import Client
from tests.support.people import Company
from tests.support.processes import PROOFS
from tests.support.servers import fresh_application, left_to_tests, open_application, settings_for

WORDS = {"kind": "x.example-tools.word-count", "input": {"text": "three plain words"}}
# One that a worker elsewhere runs.
KIND = "x.integrator-demo.lane-report"
REPORT = {"lane": "north", "shipments": 3, "on_time": 0.5, "remarks": "none was lost"}
SEEDS = tuple(range(40)) if PROOFS else (1, 2, 3)
ROUNDS = 60 if PROOFS else 20


@pytest.fixture(scope="module")
async def server() -> AsyncIterator[Application]:
    """A server whose runs go on when a test says so, and which forgets nothing by itself."""
    names = ("jobs.sweep", "jobs.forget", "workflows.forget", "workflows.remove_unnamed", "extraction.text")
    async with fresh_application(left_to_tests(*names, domains=probes.WITH_PROBES)) as server:
        yield server


@pytest.fixture
async def starter(server: Application) -> Starter:
    engine = Engine(server)
    await engine.empty()
    return await engine.company()


async def limit(house: Application, company: Company, most: int | None, team: UUID | None = None) -> None:
    async with house.services.database.begin(company.org.id) as db:
        ctx = Context.of_company(house.services, db, company.org.id)
        await quotas.set_limit(ctx, company.org.id, team or company.org.id, "storage.bytes", "total", most)


async def storage_of(client: Client, level: str = "org") -> dict[str, Any]:
    lines = (await client.get("/api/usage"))["items"]
    return next(dict(line) for line in lines if (line["level"], line["dimension"]) == (level, "storage.bytes"))


async def differences(house: Application, company: Company) -> list[recount.StorageDifference]:
    return await recount.recount(house.services.database, KEEPERS, company.org.id)


async def test_g10_what_is_kept_is_told_by_what_it_is(alice: Client) -> None:
    note = await alice.post("/api/notes", {"title": "four", "body": "ü" * 10})
    await alice.put(f"/api/notes/{note['id']}", {"body": "x" * 50})
    await alice.put("/api/repo/a.bin", b"7 bytes")
    await alice.delete(f"/api/notes/{note['id']}")

    told = await storage_of(alice, "team")

    assert told["parts"] == {"files": 7, "notes": 24 + 54, "workflows": 0, "jobs": 0}
    assert told["used"] == sum(told["parts"].values())
    assert (told["raised_from"], told["raised_at"]) == (None, None)


async def test_g10_sixty_writers_of_a_company_get_what_is_left_and_no_more(
    house: Application, database_url: str, company: Company
) -> None:
    other = await company.add_team()
    writers = [await company.join("member", team=team) for team in (company.team, other) for _ in range(3)]
    async with open_application(settings_for(database_url)) as second:
        there = [dataclasses.replace(one, app=second.app) for one in writers]
        await limit(house, company, 23 * 1000 + 999)
        everybody = writers + there

        async def write(n: int) -> str:
            reply = await everybody[n % len(everybody)].post("/api/notes", {"title": "t" * 10, "body": "b" * 990})
            return str(reply.status) if reply.status == 201 else reply.code

        came = Counter(await asyncio.gather(*(write(n) for n in range(60))))

    assert came == {"201": 23, "quotas.exceeded": 37}
    assert (await storage_of(writers[0]))["used"] == 23_000
    assert await differences(house, company) == []


async def test_g10_saves_and_restored_versions_are_refused_at_the_limit_and_purging_lets_them_in(
    house: Application, company: Company, alice: Client
) -> None:
    note = await alice.post("/api/notes", {"title": "n", "body": "b" * 499})
    again = await alice.post("/api/notes", {"title": "n", "body": "b" * 499})
    await limit(house, company, 1400)

    refused = [
        await alice.post("/api/notes", {"title": "n", "body": "b" * 499}),
        await alice.put(f"/api/notes/{note['id']}", {"body": "c" * 499}),
        await alice.post(f"/api/notes/{note['id']}/restore", {"version": 1}),
        await alice.post("/api/documents", {"title": "d", "body": "b" * 499}),
    ]
    assert [(reply.status, reply.code) for reply in refused] == [(429, "quotas.exceeded")] * 4
    assert (refused[0]["dimension"], refused[0]["limit"], refused[0]["used"]) == ("storage.bytes", 1400, 1000)

    await alice.delete(f"/api/notes/{again['id']}")
    assert (await alice.put(f"/api/notes/{note['id']}", {"body": "c" * 499})).status == 429
    await alice.delete(f"/api/trash/{again['id']}")
    assert (await alice.put(f"/api/notes/{note['id']}", {"body": "c" * 499})).status == 200
    assert (await storage_of(alice))["used"] == 1000


async def test_g10_a_note_takes_the_place_of_files_in_the_trash(
    house: Application, company: Company, alice: Client
) -> None:
    stored = await alice.put("/api/repo/old.bin", b"x" * 900)
    await alice.delete(f"/api/repo-obj/{stored['id']}")
    await limit(house, company, 1000)

    written = await alice.post("/api/notes", {"title": "n", "body": "b" * 499})

    assert written.status == 201
    assert (await storage_of(alice))["parts"] == {"files": 0, "notes": 500, "workflows": 0, "jobs": 0}


async def test_g10_a_company_at_its_limit_asks_for_nothing_more_and_what_it_began_comes_to_its_end(
    server: Application, starter: Starter
) -> None:
    spec = spec_of(
        tool("first", "echo", {"value": "a" * 300}),
        {"name": "each", "kind": "map", "over": ref("input.words"), "tool": "probe_echo", "with": {"value": ref("item")}},
        inputs={"words": {"type": "array"}},
    )  # fmt: skip
    await starter.publish(spec)
    run = await starter.start("probe", {"words": ["b" * 100] * 5})
    worker = await starter.company.employ()
    await starter.client.post("/api/jobs", {"kind": KIND, "input": {"lane": "north"}})
    held = await worker.post("/api/workers/claim", {"kinds": [KIND]})
    before = (await storage_of(starter.client))["used"]
    await limit(server, starter.company, before)

    refused = [
        await starter.client.post("/api/workflows", spec),
        await starter.client.post("/api/workflows/probe/run", {"input": {"words": []}}),
        await starter.client.post("/api/jobs", WORDS),
        await starter.client.post("/api/notes", {"title": "n"}),
    ]
    done = await worker.post(
        f"/api/workers/jobs/{held['job']['id']}/complete", {"result": REPORT, "claim_token": held["claim_token"]}
    )
    async with starter.engine.working():
        ended = await starter.ended(run)

    assert [reply.code for reply in refused] == ["quotas.exceeded"] * 4
    assert done.status == 200, done.body
    assert ended["state"] == "succeeded"
    told = await storage_of(starter.client)
    assert told["used"] > before + 800
    assert told["remaining"] == 0
    assert await differences(server, starter.company) == []


class World:
    """A company whose people do whatever can be done to what is kept, several things at the same moment."""

    def __init__(self, server: Application, starter: Starter, seed: int) -> None:
        self.server, self.starter, self.chance = server, starter, random.Random(seed)
        self.people: list[Client] = []
        self.notes: list[tuple[Client, str]] = []
        self.files: list[tuple[Client, str]] = []
        self.worker: Client | None = None

    async def begin(self) -> None:
        other = await self.starter.company.add_team()
        self.people = [
            await self.starter.company.join("admin", org_role="org_owner"),
            await self.starter.company.join("admin"),
            await self.starter.company.join("admin", team=other),
        ]
        self.worker = await self.starter.company.employ()

    async def round(self) -> None:
        moves = (
            [self.write] * 4 + [self.edit] * 4 + [self.restore_version, self.trash, self.trash, self.take_out, self.purge]
            + [self.store, self.drop, self.publish, self.start, self.start, self.queue, self.queue, self.settle, self.cancel]
        )  # fmt: skip
        await asyncio.gather(*(self.chance.choice(moves)() for _ in range(6)))
        rare = self.chance.random()
        if rare < 0.15:
            await self.leave()
        elif rare < 0.3:
            await self.forget()
        elif rare < 0.45:
            async with self.starter.engine.working():
                await self.ended()
        elif rare < 0.5:
            await self.chance.choice(self.people).delete("/api/trash")

    def body(self) -> str:
        return self.chance.choice(["", "a", "ü", "🌍 "]) * self.chance.randrange(200)

    async def write(self) -> None:
        who = self.chance.choice(self.people)
        kind = self.chance.choice(["private", "team"])
        made = await who.post(
            "/api/notes", {"title": self.chance.choice("aü"), "body": self.body(), "visibility": kind}
        )
        self.notes.append((who, made["id"]))

    async def edit(self) -> None:
        if self.notes:
            who, note = self.chance.choice(self.notes)
            await who.put(f"/api/notes/{note}", self.chance.choice([{"body": self.body()}, {"title": "other"}]))

    async def restore_version(self) -> None:
        if self.notes:
            who, note = self.chance.choice(self.notes)
            await who.post(f"/api/notes/{note}/restore", {"version": 1})

    async def trash(self) -> None:
        if self.notes:
            who, note = self.chance.choice(self.notes)
            await who.delete(f"/api/notes/{note}")

    async def take_out(self) -> None:
        for item in (await self.chance.choice(self.people).get("/api/trash"))["items"][:1]:
            await self.people[0].post(f"/api/trash/{item['id']}/restore", {})

    async def purge(self) -> None:
        who = self.chance.choice(self.people)
        for item in (await who.get("/api/trash"))["items"][:2]:
            await who.delete(f"/api/trash/{item['id']}")

    async def store(self) -> None:
        who = self.chance.choice(self.people)
        made = await who.put(f"/api/repo/{self.chance.randrange(5)}.bin", self.body().encode())
        if made.status in (200, 201):
            self.files.append((who, made["id"]))

    async def drop(self) -> None:
        if self.files:
            who, stored = self.chance.choice(self.files)
            await who.delete(f"/api/repo-obj/{stored}")

    async def publish(self) -> None:
        slug = self.chance.choice(["one", "two"])
        spec = spec_of(tool("first", "echo", {"value": self.body()}), slug=slug)
        await self.chance.choice(self.people).post("/api/workflows", spec)

    async def start(self) -> None:
        await self.chance.choice(self.people).post("/api/workflows/one/run", {"input": {}})

    async def queue(self) -> None:
        lane = {"kind": KIND, "input": {"lane": self.body()[:40] or "north"}}
        await self.chance.choice(self.people).post("/api/jobs", self.chance.choice([WORDS, lane]))

    async def settle(self) -> None:
        assert self.worker
        held = await self.worker.post("/api/workers/claim", {"kinds": [KIND]})
        if held.status == 200:
            end = self.chance.choice(["complete", "fail"])
            more: dict[str, Any] = {"result": REPORT} if end == "complete" else {"error": self.body() or "broken"}
            await self.worker.post(
                f"/api/workers/jobs/{held['job']['id']}/{end}", {**more, "claim_token": held["claim_token"]}
            )

    async def cancel(self) -> None:
        who = self.chance.choice(self.people)
        for job in (await who.get("/api/jobs", state="queued"))["items"][:1]:
            await who.post(f"/api/jobs/{job['id']}/cancel")

    async def leave(self) -> None:
        gone = await self.starter.company.join("member")
        for _ in range(3):
            note = await gone.post("/api/notes", {"title": "t", "body": self.body(), "visibility": "private"})
            await gone.put(f"/api/notes/{note['id']}", {"body": self.body()})
        await gone.post("/api/jobs", WORDS)
        private = self.chance.choice(["trash", "transfer"])
        body = {"transfer_to": self.people[0].user_id, "private": private}
        reply = await self.people[0].send("DELETE", f"/api/members/{gone.user_id}", body)
        assert reply.status == 200, reply.body

    async def forget(self) -> None:
        async with self.server.services.database.begin_system() as db:
            await queue_rows.forget_finished(db, timedelta(0), 500)
            await run_rows.forget_ended(db, timedelta(0), 500)

    async def ended(self) -> None:
        for run in (await self.people[1].get("/api/runs", state="running"))["items"]:
            await Starter(self.starter.engine, self.starter.company, self.people[1]).ended(UUID(run["id"]))


@pytest.mark.parametrize("seed", SEEDS)
async def test_g10_the_books_agree_with_what_is_there_whatever_happens(
    server: Application, starter: Starter, seed: int
) -> None:
    world = World(server, starter, seed)
    await world.begin()
    seen: set[str] = set()

    for turn in range(ROUNDS):
        await world.round()
        if turn % 5 == 4:
            # Sometimes what was noted is entered, sometimes it is still noted.
            await quotas.enter_noted(server.services.database)
        assert await differences(server, starter.company) == [], f"seed {seed}, round {turn}"
        seen |= {part for part, size in (await storage_of(world.people[0]))["parts"].items() if size}

    assert seen == {"files", "notes", "workflows", "jobs"}


async def test_g10_a_difference_is_found(server: Application, starter: Starter) -> None:
    await starter.client.post("/api/notes", {"title": "n", "body": "words"})
    await starter.engine.sql("DELETE FROM storage_entries WHERE org_id = $1", starter.company.org.id)

    found = await differences(server, starter.company)

    assert {(one.part, one.counted, one.there) for one in found} == {("notes", 0, 6)}
    assert len(found) == 2
