"""Somebody is let go while they write, upload and share through two servers: nothing is lost, left over or still reachable.

`ATRIUM_FULL=1 pytest -s tests/processes/races/test_leaving.py` plays forty rounds and prints what was written in them.
"""

import asyncio
import random
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from atrium.product.s3 import sigv4
from tests.postgres import fresh_database, run_as_owner
from tests.processes.races.conftest import Pair
from tests.support.processes import Process, bootstrap, rounds, serving

pytestmark = pytest.mark.timeout(1800)
PHRASE = "a phrase only they know"


@pytest.fixture(scope="module")
async def storing(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Pair, str]]:
    """Two servers with one folder for bytes, and the operator's token."""
    folder: Path = tmp_path_factory.mktemp("bytes")
    async with fresh_database() as url, serving(url, 2, database_pool=12, data_dir=folder) as servers:
        yield Pair(url, servers), await bootstrap(servers[0])


@dataclass(slots=True)
class Written:
    """What was acknowledged to somebody, and what came back to requests that began after they were let go."""

    notes: set[str] = field(default_factory=set)
    objects: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    shares: int = 0
    refused: int = 0
    late: list[tuple[str, int]] = field(default_factory=list)


@dataclass(slots=True)
class Member:
    """Somebody with every kind of credential, writing through both servers until told to stop."""

    id: str
    username: str
    colleague: str
    clients: list[httpx.AsyncClient]
    pair: tuple[str, str]
    servers: list[Process]
    written: Written = field(default_factory=Written)
    gone_at: float = float("inf")
    stop: bool = False
    chance: random.Random = field(default_factory=lambda: random.Random(6))

    async def _ask(self, name: str, asked: Awaitable[httpx.Response]) -> httpx.Response | None:
        began = time.monotonic()
        answer = await asked
        if answer.status_code in (401, 403):
            self.written.refused += 1
            return None
        assert answer.status_code < 300 or answer.status_code in (404, 409), (name, answer.status_code, answer.text)
        if began > self.gone_at:
            self.written.late.append((name, answer.status_code))
        return answer if answer.is_success else None

    async def write_notes(self, number: int) -> None:
        client = self.clients[number % 2]
        while not self.stop:
            visibility = self.chance.choice(("private", "team"))
            made = await self._ask("note", client.post("/api/notes", json={"title": "x", "visibility": visibility}))
            if made is None:
                continue
            id = made.json()["id"]
            self.written.notes.add(id)
            if self.chance.randrange(3) == 0:
                share = {"user_id": self.colleague, "permission": "notes:read"}
                self.written.shares += (
                    await self._ask("share", client.post(f"/api/notes/{id}/share", json=share)) is not None
                )

    async def upload(self, number: int) -> None:
        client = self.clients[number % 2]
        while not self.stop:
            visibility = self.chance.choice(("private", "team"))
            at = f"/api/repo/{self.username}/{secrets.token_hex(6)}?visibility={visibility}"
            stored = await self._ask("object", client.put(at, content=secrets.token_bytes(2000)))
            if stored is None:
                continue
            id = stored.json()["id"]
            self.written.objects.add(id)
            if self.chance.randrange(3) == 0:
                grant = {"user_id": self.colleague}
                answer = await self._ask("grant", client.post(f"/api/repo-obj/{id}/share", json=grant))
                self.written.shares += answer is not None

    async def upload_over_s3(self, number: int) -> None:
        server = self.servers[number % 2]
        async with server.client() as client:
            while not self.stop:
                key = f"{self.username}/s3-{secrets.token_hex(6)}"
                put = sigv4.Link("PUT", "http", server.address.removeprefix("http://"), f"/s3/files/{key}")
                link = sigv4.sign_link(put, self.pair, "atrium", datetime.now(UTC), 60)
                if await self._ask("s3", client.put(link, content=secrets.token_bytes(2000))) is not None:
                    self.written.keys.add(key)


async def hired(storing: Pair, admin: httpx.AsyncClient, colleague: str) -> Member:
    """A member with a password: a session for one server, an API token for the other, an S3 key for both."""
    username = f"m-{secrets.token_hex(6)}"
    added = (await admin.post("/api/members", json={"username": username, "role": "admin"})).json()
    async with storing.servers[0].client(added["token"]) as first:
        session = (await first.post("/api/password", json={"new_password": PHRASE})).json()["token"]
    one = storing.servers[0].client(session)
    token = (await one.post("/api/tokens", json={"name": "machine", "ttl": "never"})).json()["token"]
    key = (await one.post("/api/s3/credentials", json={"name": "key"})).json()
    pair = key["access_key_id"], key["secret_access_key"]
    clients = [one, storing.servers[1].client(token)]
    return Member(added["member"]["id"], username, colleague, clients, pair, storing.servers)


async def let_go(admin: httpx.AsyncClient, member: Member, private: str, heir: str) -> dict[str, Any]:
    """Once there is something to lose."""
    while not (len(member.written.notes) > 20 and member.written.objects and member.written.keys):
        await asyncio.sleep(0.01)
    leaving = {"transfer_to": heir, "private": private}
    answer = await admin.request("DELETE", f"/api/members/{member.id}", json=leaving)
    member.gone_at = time.monotonic()
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def in_database(pair: Pair, sql: str, *values: object) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in await run_as_owner(pair.url, sql, *values)]


async def require_nothing_lost(pair: Pair, member: Member, heir: str) -> None:
    """Every acknowledged write is the successor's, or in the trash of whoever left."""
    for table, ids in (("notes", member.written.notes), ("objects", member.written.objects)):
        found = {
            row[0]: row[1:]
            for row in await in_database(
                pair,
                f"SELECT id::text, owner_id::text, trashed_at IS NOT NULL FROM {table} WHERE id = ANY($1::uuid[])",
                list(ids),
            )
        }
        assert found.keys() == ids, f"{len(ids - found.keys())} acknowledged {table} are gone"
        assert {(heir, False), (member.id, True)} >= set(found.values()), set(found.values())
    kept = await in_database(pair, "SELECT key FROM objects WHERE key = ANY($1)", list(member.written.keys))
    assert {row[0] for row in kept} == member.written.keys


async def require_nothing_left(pair: Pair, member: Member) -> None:
    """Nothing is theirs but what is in the trash, and nothing acts for them."""
    for sql in (
        "SELECT id FROM notes WHERE owner_id = $1::uuid AND trashed_at IS NULL",
        "SELECT id FROM objects WHERE owner_id = $1::uuid AND trashed_at IS NULL",
        "SELECT id FROM multipart_uploads WHERE owner_id = $1::uuid",
        "SELECT id FROM tokens WHERE user_id = $1::uuid",
        "SELECT id FROM s3_keys WHERE user_id = $1::uuid",
        "SELECT note_id FROM note_grants WHERE user_id = $1::uuid",
        "SELECT object_id FROM object_grants WHERE principal_id = $1::uuid OR owner_id = $1::uuid",
        "SELECT id FROM notes n WHERE NOT EXISTS (SELECT FROM users u WHERE u.id = n.owner_id) AND $1::uuid IS NOT NULL",
    ):
        assert await in_database(pair, sql, member.id) == [], sql


async def require_nothing_reachable(member: Member) -> None:
    """Every credential of theirs is refused by both servers."""
    for server in member.servers:
        for client in member.clients:
            async with server.client() as fresh:
                answer = await fresh.get("/api/notes", headers={"authorization": client.headers["authorization"]})
                assert answer.status_code == 401
                known = {"username": member.username, "password": PHRASE}
                assert (await fresh.post("/api/login", json=known)).status_code == 401


async def play(pair: Pair, admin: httpx.AsyncClient, colleague: str, heir: str, private: str) -> Written:
    member = await hired(pair, admin, colleague)
    works: list[Callable[[int], Awaitable[None]]] = [member.write_notes, member.upload, member.upload_over_s3]
    tasks = [asyncio.ensure_future(work(number)) for number in range(2) for work in works]
    try:
        removed = await let_go(admin, member, private, heir)
        # They go on knocking for a while.
        refused = member.written.refused
        while member.written.refused < refused + 20:
            await asyncio.sleep(0.01)
            assert not any(task.done() for task in tasks), [task for task in tasks if task.done()]
    finally:
        member.stop = True
        await asyncio.gather(*tasks)
    assert member.written.late == []
    assert (removed["tokens"], removed["s3_keys"]) == (1, 1)
    await require_nothing_lost(pair, member, heir)
    await require_nothing_left(pair, member)
    await require_nothing_reachable(member)
    for client in member.clients:
        await client.aclose()
    return member.written


async def test_whoever_is_let_go_while_they_write_loses_and_keeps_nothing(storing: tuple[Pair, str]) -> None:
    pair, token = storing
    written = []
    async with pair.servers[1].client(token) as admin:
        people = [
            (await admin.post("/api/members", json={"username": f"p-{secrets.token_hex(6)}", "role": "member"})).json()
            for _ in range(2)
        ]
        colleague, heir = (one["member"]["id"] for one in people)

        for number in rounds(4, 40):
            written.append(await play(pair, admin, colleague, heir, ("trash", "transfer")[number % 2]))

    print(
        f"{len(written)} rounds: {sum(len(one.notes) for one in written)} notes, {sum(len(one.objects) for one in written)}"
        f" objects, {sum(len(one.keys) for one in written)} over S3, {sum(one.shares for one in written)} shares acknowledged;"
        f" {sum(one.refused for one in written)} requests refused, 0 lost, 0 late"
    )
