"""Many guests of many companies at once, and what is left of them when the server is killed."""

import asyncio
import json
import os
import secrets
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from atrium.kit.isolation.process_pool import PoolBusy, ProcessPool
from atrium.kit.isolation.sandbox import Sandbox
from tests.domains.sandbox.guests import CALLER, call, serving, turn_on, write_guest
from tests.postgres import fresh_database
from tests.support.folders import readable_folder
from tests.support.patience import PATIENCE
from tests.support.people import found_company
from tests.support.plugin_folders import write_plugin
from tests.support.processes import bootstrap
from tests.support.processes import serving as server_process

FULL = bool(os.environ.get("ATRIUM_FULL"))
# Guests, companies, people of each, calls of each.
SIZE = (32, 20, 2, 40) if FULL else (4, 4, 2, 6)
BREAKING = ("leave", "garbage", "malformed", "answer_others", "long_line")


@pytest.fixture
def root() -> Iterator[Path]:
    with readable_folder() as folder:
        yield folder


@pytest.mark.timeout(1800)
async def test_no_word_crosses_between_people_or_companies_under_load(
    sandbox: Sandbox, database_url: str, root: Path, tmp_path: Path
) -> None:
    guests, companies, people, calls = SIZE
    for number in range(guests):
        write_guest(root, f"odd{number}", manifest='capabilities = ["notes.read"]\nseconds = 30\n')
    grants = json.dumps({f"odd{number}": ["notes.read"] for number in range(guests)})
    async with serving(database_url, root, tmp_path, grants=grants, oop_processes=32 if FULL else 6) as application:
        made = [await found_company(application) for _ in range(companies)]
        for company in made:
            await turn_on(company, "_remember", "_use", *BREAKING)
        persons = [await company.join() for company in made for _ in range(people)]
        canaries = [secrets.token_hex(8) for _ in persons]
        found = await asyncio.gather(
            *(
                _talk(person, canary, guests, calls, seed)
                for seed, (person, canary) in enumerate(zip(persons, canaries, strict=True))
            )
        )
    for canary, heard in zip(canaries, found, strict=True):
        assert canary in heard
        assert [other for other in canaries if other != canary and other in heard] == []


async def _talk(person: Any, canary: str, guests: int, calls: int, seed: int) -> str:
    """Everything that a person hears from the guests they tell their canary, some of which break off."""
    note = await person.post("/api/notes", {"title": "Mine", "body": canary})
    heard = []
    for number in range(calls):
        guest = f"odd{(seed * 7 + number // 3) % guests}"
        if number % 5 == 4:
            assert (await call(person, guest, BREAKING[number % len(BREAKING)])).status in (502, 503)
            continue
        if number % 2:
            said = await call(person, guest, "use", capability="notes.read", params={"id": note["id"]})
        else:
            said = await call(person, guest, "remember", words=canary)
        assert said.status in (200, 503), said.raw
        heard.append(said.raw.decode())
    return "\n".join(heard)


def processes_of(root: Path) -> list[int]:
    """Every process of a sandbox that was started for a guest of this folder, inside and outside."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            words = Path(f"/proc/{name}/cmdline").read_bytes()
            mounts = Path(f"/proc/{name}/mountinfo").read_bytes()
        except OSError:
            continue
        if (str(root).encode() in words and b"bwrap" in words) or (
            b" /guest ro" in mounts and str(root).encode() in mounts
        ):
            found.append(int(name))
    return found


async def test_a_killed_server_leaves_no_process_behind(sandbox: Sandbox, root: Path, tmp_path: Path) -> None:
    write_guest(root, "odd", manifest="seconds = 60\n")
    write_plugin(tmp_path / "plugins", "caller", CALLER)
    settings: dict[str, Any] = {"oop_dir": root, "plugins_dir": tmp_path / "plugins", "data_dir": tmp_path}
    async with fresh_database() as url, server_process(url, **settings) as (server,):
        async with server.client(await bootstrap(server)) as client:
            for tool in ("spin", "echo"):
                reply = await client.post(f"/api/tools/oop_odd_{tool}", json={"enabled": True})
                assert reply.status_code == 200, reply.text
            body: dict[str, Any] = {"name": "oop_odd_echo", "arguments": {}}
            reply = await client.post("/api/x/caller/call", json=body)
            assert reply.status_code == 200, reply.text
            spinning = asyncio.ensure_future(client.post("/api/x/caller/call", json=body | {"name": "oop_odd_spin"}))
            await asyncio.sleep(0.3)
            assert len(processes_of(root)) > 1
            await server.stop(signal.SIGKILL)
            await asyncio.gather(spinning, return_exceptions=True)
        until = time.monotonic() + PATIENCE
        while (left := processes_of(root)) and time.monotonic() < until:
            await asyncio.sleep(0.05)
    assert left == []


class Counted:
    """A process that only counts."""

    def __init__(self, key: object) -> None:
        self.key, self.is_alive = key, True

    async def end(self) -> None:
        self.is_alive = False


async def hold(
    pool: ProcessPool[Counted],
    key: str,
    *,
    owner: str = "",
    seconds: float = PATIENCE,
    wait: float = 0,
    until: asyncio.Event | None = None,
) -> Counted:
    async def start() -> Counted:
        return Counted(key)

    async with pool.hold(key, owner or key, start, seconds) as process:
        await (until.wait() if until else asyncio.sleep(wait))
        return process


async def test_the_longest_idle_process_leaves_for_a_new_one() -> None:
    pool: ProcessPool[Counted] = ProcessPool(2)
    a, b = await hold(pool, "a"), await hold(pool, "b")
    again = await hold(pool, "a")
    await hold(pool, "c")
    await asyncio.sleep(0)

    assert again is a
    assert (a.is_alive, b.is_alive) == (True, False)


async def test_an_owner_has_half_of_the_places_in_use_at_most() -> None:
    pool: ProcessPool[Counted] = ProcessPool(4)
    over = asyncio.Event()
    held = asyncio.gather(*(hold(pool, key, owner="one", until=over) for key in "ab"))
    await asyncio.sleep(0.01)

    with pytest.raises(PoolBusy):
        await hold(pool, "c", owner="one", seconds=0.05)
    assert (await hold(pool, "d", owner="other")).is_alive
    over.set()
    await held
    assert (await hold(pool, "c", owner="one")).is_alive


async def test_one_key_is_held_by_one_caller_at_a_time() -> None:
    pool: ProcessPool[Counted] = ProcessPool(4)
    began = time.perf_counter()

    found = await asyncio.gather(*(hold(pool, "a", wait=0.05) for _ in range(4)))

    assert len(set(map(id, found))) == 1
    assert time.perf_counter() - began >= 0.2


async def test_a_process_that_ended_is_not_handed_out_again() -> None:
    pool: ProcessPool[Counted] = ProcessPool(2)
    first = await hold(pool, "a")
    first.is_alive = False

    assert await hold(pool, "a") is not first


async def test_a_start_that_fails_leaves_the_place_free() -> None:
    pool: ProcessPool[Counted] = ProcessPool(1)

    async def fail() -> Counted:
        raise OSError("no process")

    with pytest.raises(OSError, match="no process"):
        async with pool.hold("a", "a", fail, 1):
            pass
    assert (await hold(pool, "b")).is_alive
