"""A rebuild that is broken off and servers that are killed, beside writers: afterwards the index is what it is made of."""

import asyncio
import contextlib
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from atrium.boot.assemble import Application
from atrium.product.search import index, index_check
from tests.domains.search.world import WORDS, differences, done, found
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Client
from tests.support.load import chance, until_alone
from tests.support.patience import PATIENCE
from tests.support.people import Company, found_company
from tests.support.processes import (
    ATRIUM,
    Process,
    environment,
    rounds,
    run_atrium,
    server_settings,
    start,
    start_server,
)
from tests.support.servers import open_application, settings_for

# So many notes of each company that a rebuild takes several batches.
NOTES = 1500
FILL = """
  INSERT INTO notes (id, org_id, team_id, owner_id, title, body, visibility)
  SELECT gen_random_uuid(), $1, $2, $3, 'Lantern ' || n, 'quiche', 'team' FROM generate_series(1, $4) AS n
"""
# What a server finds that is newer than its index: a quarter of it has to be read again while people write.
FORGET = "DELETE FROM search_rows WHERE left(md5(id::text), 1) < '4'"
WAITING = "INSERT INTO search_backlog (source) VALUES ('notes'), ('objects') ON CONFLICT DO NOTHING"
REBUILD = (*ATRIUM, "search", "rebuild")
LEFT = "SELECT (SELECT count(*) FROM search_backlog) + (SELECT count(*) FROM search_moved)"


@dataclass(slots=True)
class Writer:
    """One person who writes, edits, shares, hides and deletes until the server is gone, or until it is enough."""

    person: Client
    colleague: Client
    dice: Random
    statuses: Counter[int]
    enough: asyncio.Event
    things: list[str] = field(default_factory=list)

    async def write(self, server: Process) -> None:
        async with server.client(self.person.token) as client:
            while not self.enough.is_set():
                try:
                    reply = await self._change(client)
                except httpx.TransportError:
                    return
                self.statuses[reply.status_code] += 1

    async def _change(self, client: httpx.AsyncClient) -> httpx.Response:
        if len(self.things) < 4 or self.dice.random() < 0.4:
            return await self._create(client)
        path = self.dice.choice(self.things)
        act = self.dice.choice(["edit", "share", "show", "delete"])
        if act == "delete":
            self.things.remove(path)
            return await client.delete(path)
        if path.startswith("/api/notes"):
            return await self._change_note(client, path, act)
        return await self._change_object(client, path, act)

    async def _create(self, client: httpx.AsyncClient) -> httpx.Response:
        words, of_notes = " ".join(self.dice.sample(WORDS, 2)), self.dice.random() < 0.5
        if of_notes:
            reply = await client.post("/api/notes", json={"title": words, "body": words, "visibility": "private"})
        else:
            key = f"{self.dice.getrandbits(64):x}/{words.replace(' ', '-')}.bin"
            reply = await client.put(f"/api/repo/{key}", content=b"\0")
        if reply.status_code in (200, 201):
            self.things.append(f"/api/{'notes' if of_notes else 'repo-obj'}/{reply.json()['id']}")
        return reply

    async def _change_note(self, client: httpx.AsyncClient, path: str, act: str) -> httpx.Response:
        if act == "share":
            given: dict[str, Any] = {"user_id": self.colleague.user_id, "permission": "notes:read"}
            return await client.post(f"{path}/share", json=given)
        changed = {"visibility": "team"} if act == "show" else {"body": " ".join(self.dice.sample(WORDS, 3))}
        return await client.put(path, json=changed)

    async def _change_object(self, client: httpx.AsyncClient, path: str, act: str) -> httpx.Response:
        if act == "share":
            given = {"principal_type": "user", "principal_id": self.colleague.user_id}
            return await client.post(f"{path}/share", json=given)
        if act == "show":
            return await client.post(f"{path}/visibility", json={"visibility": "team"})
        return await client.put(f"/api/repo/{self.dice.choice(WORDS)}-{self.person.username}.bin", content=b"\1")


@dataclass(slots=True)
class Siege:
    """Two companies on one database, their writers, and whoever is killed."""

    url: str
    folder: Path
    dice: Random
    people: list[tuple[Client, Client]]
    statuses: Counter[int] = field(default_factory=Counter)
    kills: Counter[str] = field(default_factory=Counter)
    # Every rebuild by how it ended: 0, or the signal that killed it.
    rebuilds: Counter[int] = field(default_factory=Counter)

    async def begin(self) -> Process:
        server = start_server(self.url, self.folder, data_dir=self.folder / "data")
        await server.until_ready()
        return server

    async def strike(self, server: Process) -> None:
        """Write from all sides beside rebuilds, and kill the server, the rebuild or both at some moment."""
        await run_as_owner(self.url, FORGET)
        await run_as_owner(self.url, WAITING)
        enough, before = asyncio.Event(), self.statuses.total()
        crew = [
            Writer(one, other, Random(self.dice.random()), self.statuses, enough)
            for pair in self.people
            for one, other in (pair, pair[::-1])
        ]
        writing = [asyncio.create_task(writer.write(server)) for writer in crew]
        async with self._rebuilding(enough) as running:
            await self._until_written(before + self.dice.randrange(20, 120), writing)
            await asyncio.sleep(self.dice.uniform(0, 0.5))
            enough.set()
            self._kill(self.dice.choice(["server", "rebuild", "both"]), server, running[-1])
            await asyncio.gather(*writing)

    @asynccontextmanager
    async def _rebuilding(self, enough: asyncio.Event) -> AsyncIterator[list[Process]]:
        """One rebuild after the other until it is enough; the newest is the last of the list."""
        seen = environment(**server_settings(self.url, data_dir=self.folder / "data"))
        begun = [start(REBUILD, seen, self.folder)]

        async def go_on() -> None:
            while True:
                self.rebuilds[await begun[-1].until_ended()] += 1
                if enough.is_set():
                    return
                begun.append(start(REBUILD, seen, self.folder))

        going_on = asyncio.create_task(go_on())
        try:
            yield begun
            await going_on
        finally:
            enough.set()
            for one in begun:
                one.clean_up()

    async def _until_written(self, count: int, writing: "list[asyncio.Task[None]]") -> None:
        async with asyncio.timeout(PATIENCE):
            while self.statuses.total() < count:
                assert not all(one.done() for one in writing), "nobody writes any more"
                await asyncio.sleep(0.005)

    def _kill(self, whom: str, server: Process, rebuild: Process) -> None:
        self.kills[whom] += 1
        if whom in ("server", "both"):
            server.popen.kill()
        if whom in ("rebuild", "both"):
            rebuild.popen.kill()

    async def recover(self, server: Process) -> Process:
        """A server again, and nothing left that it has to read."""
        if server.popen.poll() is not None or self.kills.total() % 2:
            server.clean_up()
            await until_alone(self.url)
            server = await self.begin()
        async with asyncio.timeout(PATIENCE):
            while (await run_as_owner(self.url, LEFT))[0][0]:
                await asyncio.sleep(0.1)
        return server


async def besieged(url: str, folder: Path, dice: Random) -> Siege:
    """Two companies of two people each, with notes from before the index."""
    people = []
    async with open_application(settings_for(url, data_dir=folder / "data")) as house:
        for _ in range(2):
            company = await found_company(house)
            pair = await company.join("member"), await company.join("member")
            ids = (company.org.id, company.team.id, pair[0].user_id)
            await run_as_owner(url, FILL, *ids, NOTES)
            people.append(pair)
    return Siege(url, folder, dice, people)


@pytest.mark.proof
@pytest.mark.timeout(3600)
async def test_the_index_is_what_it_is_made_of_whoever_is_killed(tmp_path: Path) -> None:
    async with fresh_database() as url:
        siege = await besieged(url, tmp_path, chance())
        server = await siege.begin()
        try:
            for _ in rounds(5, 50):
                await siege.strike(server)
                server = await siege.recover(server)
                verdict = await run_atrium("search", "verify", **server_settings(url, data_dir=tmp_path / "data"))
                assert (verdict.code, verdict.output.splitlines()[-1]) == (0, "0 differences"), verdict.output
        finally:
            server.clean_up()

    print(f"killed {dict(siege.kills)}, rebuilds {dict(siege.rebuilds)}, answers {dict(siege.statuses)}, 0 differences")
    assert siege.rebuilds[-signal.SIGKILL] > 0
    assert set(siege.statuses) <= {200, 201, 204, 503}


async def test_a_rebuild_that_is_broken_off_beside_a_writer_can_be_done_again(
    house: Application, company: Company, alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [await written(alice, number) for number in range(12)]
    url, org = house.services.settings.database_url, company.org.id
    await run_as_owner(url, "DELETE FROM search_rows WHERE org_id = $1", org)
    services, third = house.services, asyncio.Event()
    with monkeypatch.context() as patch:
        patch.setattr(index_check, "_BATCH", 3)
        patch.setattr(index, "refresh", waiting_for_ever(after=2, reached=third))
        rebuilding = asyncio.create_task(index_check.rebuild(services.database, services.compute, org))
        async with asyncio.timeout(PATIENCE):
            await third.wait()
        await change_some(alice, ids)
        rebuilding.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await rebuilding
    broken_off = await differences(house, company)

    with monkeypatch.context() as patch:
        patch.setattr(index_check, "_BATCH", 3)
        await asyncio.gather(index_check.rebuild(services.database, services.compute, org), change_some(alice, ids[6:]))

    assert {one.problem for one in broken_off} == {"missing"}
    assert await differences(house, company) == []
    assert len(await found(alice, "lantern")) == 10


async def written(person: Client, number: int) -> str:
    body = {"title": f"Lantern {number}", "body": "", "visibility": "team"}
    return str(done(await person.post("/api/notes", body))["id"])


async def change_some(person: Client, ids: list[str]) -> None:
    """One is edited, one hidden, one deleted, and one has another title."""
    done(await person.put(f"/api/notes/{ids[0]}", {"body": "wyvern"}))
    done(await person.put(f"/api/notes/{ids[1]}", {"visibility": "private"}))
    done(await person.delete(f"/api/notes/{ids[2]}"))
    done(await person.put(f"/api/notes/{ids[5]}", {"title": "Lantern, again"}))


def waiting_for_ever(*, after: int, reached: asyncio.Event) -> Any:
    """What a rebuild does for each batch, standing still within the transaction of the one that follows so many."""
    batches, refresh = 0, index.refresh

    async def counted(*given: Any, **more: Any) -> None:
        nonlocal batches
        # The writers beside it refresh rows too, but never read again.
        batches += bool(more.get("again"))
        if more.get("again") and batches > after:
            reached.set()
            await asyncio.Event().wait()
        await refresh(*given, **more)

    return counted
