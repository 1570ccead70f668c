"""Credentials that end under load, through two servers: from the acknowledgement on, none of their requests succeeds in either."""

import asyncio
import contextlib
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.postgres import fresh_database, run_as_owner
from tests.processes.races.conftest import Pair
from tests.support.processes import Process, bootstrap, rounds, serving

pytestmark = pytest.mark.timeout(3600)
PASSWORD = "a phrase only the victim knows"
AT_ONCE = 8
# More than the system keeps between two ends of a connection.
LARGE = 64 << 20
# So many requests come after the end was acknowledged, for each way in which one ends.
AFTERWARDS = len(rounds(100, 10_000))
_numbers = itertools.count()


@dataclass
class World:
    """An operator who ends things, by a connection to either server."""

    pair: Pair
    operator: list[httpx.AsyncClient]

    async def ask(self, method: str, path: str, **options: Any) -> Any:
        answer = await self.operator[next(_numbers) % 2].request(method, path, **options)
        assert answer.status_code < 300, answer.text
        return answer.json()


@dataclass(frozen=True)
class Ask:
    """A request that succeeds while its credential stands."""

    method: str
    path: str
    json: Any = None


EVERYDAY = (Ask("GET", "/api/whoami"), Ask("POST", "/api/notes", {"title": "late"}), Ask("GET", "/api/notes"))


@dataclass(frozen=True)
class Victim:
    """A credential that ends, what is done with it, and a witness: another session of the same person."""

    id: str
    token: str | None
    witness: str
    asks: tuple[Ask, ...] = EVERYDAY
    refused: int = 401


async def a_person(world: World) -> Victim:
    username = f"victim{next(_numbers)}"
    added = await world.ask("POST", "/api/members", json={"username": username, "role": "owner"})
    async with world.pair.servers[0].client(added["token"]) as client:
        first = (await client.post("/api/password", json={"new_password": PASSWORD})).json()["token"]
        again = await client.post("/api/login", json={"username": username, "password": PASSWORD})
    return Victim(added["member"]["id"], again.json()["token"], first)


async def a_token(world: World) -> Victim:
    person = await a_person(world)
    issued = await told(world, person.token, "POST", "/api/tokens", json={"name": "machine"})
    return replace(person, id=issued["id"], token=issued["token"])


async def a_worker(world: World) -> Victim:
    draft = {"name": f"machine {next(_numbers)}", "mode": "pull"}
    made = await world.ask("POST", "/api/executors", json=draft)
    claim = Ask("POST", "/api/workers/claim", {"kinds": ["x.integrator-demo.lane-report"], "max_wait": 0})
    return Victim(made["id"], made["worker_token"], "", (claim,))


async def told(world: World, token: str | None, method: str, path: str, **options: Any) -> Any:
    """Either server's answer, which has to be a good one."""
    return await told_by(world.pair.of(next(_numbers)), token, method, path, **options)


async def told_by(server: Process, token: str | None, method: str, path: str, **options: Any) -> Any:
    async with server.client(token) as client:
        answer = await client.request(method, path, **options)
    assert answer.status_code < 300, answer.text
    return answer.json()


async def sign_out(world: World, victim: Victim) -> None:
    await told(world, victim.token, "POST", "/api/logout")


async def end_the_session(world: World, victim: Victim) -> None:
    found = await told(world, victim.witness, "GET", "/api/sessions")
    (other,) = [one for one in found["items"] if not one["current"]]
    await told(world, victim.witness, "DELETE", f"/api/sessions/{other['id']}")


async def end_the_others(world: World, victim: Victim) -> None:
    await told(world, victim.witness, "DELETE", "/api/sessions")


async def change_the_password(world: World, victim: Victim) -> None:
    change = {"password": PASSWORD, "new_password": "another phrase altogether"}
    await told(world, victim.witness, "POST", "/api/password", json=change)


async def turn_two_factor_on(world: World, victim: Victim) -> None:
    await told(world, victim.witness, "POST", "/api/2fa/enable", json={"password": PASSWORD})


async def revoke_two_factor(world: World, victim: Victim) -> None:
    await run_as_owner(world.pair.url, "UPDATE users SET totp_sealed = '\\x00' WHERE id = $1::uuid", victim.id)
    await world.ask("DELETE", f"/api/admin/users/{victim.id}/2fa")


async def remove_the_member(world: World, victim: Victim) -> None:
    heir = (await world.ask("GET", "/api/whoami"))["user"]["id"]
    await world.ask("DELETE", f"/api/members/{victim.id}", json={"transfer_to": heir})


async def redeem_a_reset(world: World, victim: Victim) -> None:
    offered = await world.ask("POST", f"/api/members/{victim.id}/reset", json={})
    redeemed = {"token": offered["url"].rpartition("=")[2], "password": "another phrase altogether"}
    await told(world, None, "POST", "/api/password/reset", json=redeemed)


async def revoke_the_token(world: World, victim: Victim) -> None:
    await told(world, victim.witness, "DELETE", f"/api/tokens/{victim.id}")


async def remove_the_owner(world: World, victim: Victim) -> None:
    owner = (await told(world, victim.witness, "GET", "/api/whoami"))["user"]["id"]
    await remove_the_member(world, replace(victim, id=owner))


async def retire_the_executor(world: World, victim: Victim) -> None:
    await world.ask("DELETE", f"/api/executors/{victim.id}")


Make = Callable[[World], Awaitable[Victim]]
End = Callable[[World, Victim], Awaitable[None]]
WAYS: list[tuple[Make, End]] = [
    (a_person, sign_out),
    (a_person, end_the_session),
    (a_person, end_the_others),
    (a_person, change_the_password),
    (a_person, turn_two_factor_on),
    (a_person, revoke_two_factor),
    (a_person, remove_the_member),
    (a_person, redeem_a_reset),
    (a_token, remove_the_owner),
    (a_token, revoke_the_token),
    (a_worker, retire_the_executor),
]


class Load:
    """Requests of one credential to both servers, without a pause; those sent after the end are counted by their status."""

    def __init__(self, world: World, victim: Victim) -> None:
        self._world, self._victim = world, victim
        self._ended, self.before, self.after = False, 0, 0
        self.admitted: list[tuple[str, int]] = []
        self._tasks = [asyncio.create_task(self._press(server)) for server in range(2) for _ in range(AT_ONCE // 2)]

    async def _press(self, server: int) -> None:
        victim = self._victim
        async with self._world.pair.servers[server].client(victim.token) as client:
            for ask in itertools.cycle(victim.asks):
                if self.after >= AFTERWARDS:
                    return
                late = self._ended
                answer = await client.request(ask.method, ask.path, json=ask.json)
                self.before += not late
                self.after += late
                if late and answer.status_code != victim.refused:
                    self.admitted.append((answer.request.method, answer.status_code))
                if not late:
                    assert answer.status_code in (200, 201, 204, victim.refused), answer.text

    async def under_way(self) -> None:
        while self.before < AT_ONCE * 4:
            assert not any(task.done() for task in self._tasks), [task for task in self._tasks if task.done()]
            await asyncio.sleep(0.005)

    async def finish(self) -> None:
        self._ended = True
        await asyncio.gather(*self._tasks)


@pytest.fixture(scope="module")
async def world(pair: Pair) -> AsyncIterator[World]:
    token = await pair.founded()
    clients = [server.client(token) for server in pair.servers]
    yield World(pair, clients)
    for client in clients:
        await client.aclose()


@pytest.mark.parametrize(("make", "end"), WAYS)
async def test_nothing_is_admitted_after_the_end_was_acknowledged(world: World, make: Make, end: End) -> None:
    victim = await make(world)
    load = Load(world, victim)
    await load.under_way()

    await end(world, victim)
    await load.finish()

    assert load.after >= AFTERWARDS
    assert load.admitted == []


@asynccontextmanager
async def upload_begun(server: Process, token: str | None) -> AsyncIterator[asyncio.StreamReader]:
    """An upload whose body the server is waiting for; what it answers can be read."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    head = f"PUT /api/repo/late.bin HTTP/1.1\r\nhost: {server.address}\r\nauthorization: Bearer {token}\r\n"
    writer.write(f"{head}content-length: 1000\r\nexpect: 100-continue\r\n\r\n".encode())
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
    yield reader
    writer.close()


async def broken_off(pieces: AsyncIterator[bytes]) -> int:
    """How many bytes still came before the connection broke."""
    received = 0
    with contextlib.suppress(httpx.TransportError):
        async for piece in pieces:
            received += len(piece)
    return received


async def test_what_is_under_way_in_the_other_process_ends(tmp_path: Path) -> None:
    await ended_under_way(tmp_path)


@pytest.mark.proof
async def test_what_is_under_way_in_the_other_process_ends_within_a_second(tmp_path: Path) -> None:
    assert await ended_under_way(tmp_path) < 1.0


async def ended_under_way(folder: Path) -> float:
    """An upload, a download and a waiting worker end with their credential; seconds until they had."""
    async with fresh_database() as url, serving(url, 2, data_dir=folder) as servers, AsyncExitStack() as stack:
        operator = await bootstrap(servers[0])
        here = World(
            Pair(url, servers), [await stack.enter_async_context(server.client(operator)) for server in servers]
        )
        person, worker = await a_person(here), await a_worker(here)
        stored = await told(here, person.witness, "PUT", "/api/repo/large.bin", content=b"x" * LARGE)
        client = await stack.enter_async_context(servers[0].client(person.token))
        machine = await stack.enter_async_context(servers[0].client(worker.token))
        upload = await stack.enter_async_context(upload_begun(servers[0], person.token))
        waiting = {"kinds": ["x.integrator-demo.lane-report"], "max_wait": 30}
        claim = asyncio.create_task(machine.post("/api/workers/claim", json=waiting))
        download = await stack.enter_async_context(client.stream("GET", f"/api/repo-obj/{stored['id']}/content"))
        pieces = download.aiter_raw()
        first = len(await anext(pieces))

        await told_by(servers[1], person.witness, "DELETE", "/api/sessions")
        await told_by(servers[1], operator, "DELETE", f"/api/executors/{worker.id}")
        acknowledged = time.monotonic()
        answered = await upload.readline()
        refused = await claim
        took = time.monotonic() - acknowledged

        assert (answered.split()[1], refused.status_code) == (b"401", 401)
        assert first + await broken_off(pieces) < LARGE
        return took
