"""Writers that remember what they were promised, kills at random moments, and what the database says afterwards."""

import asyncio
import os
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.postgres import run_as_owner
from tests.support.processes import PROOFS, Process, bootstrap, run_atrium, start_server
from tests.support.servers import SECRET

WRITERS = 8


@dataclass(slots=True)
class Promises:
    """The notes whose creation was acknowledged, by id, and every status seen."""

    notes: dict[str, str] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)

    def keep(self, title: str, answer: httpx.Response) -> None:
        self.statuses[answer.status_code] += 1
        if answer.status_code == 201:
            self.notes[answer.json()["id"]] = title


async def write_until_cut_off(server: Process, token: str, name: str, promises: Promises) -> None:
    """Post one note after another over one connection until it breaks."""
    async with server.client(token) as client:
        number = 0
        while True:
            title = f"{name}-{number}"
            try:
                answer = await client.post("/api/notes", json={"title": title})
            except httpx.TransportError:
                return
            promises.keep(title, answer)
            number += 1


def write_from_all_sides(server: Process, token: str, name: str, promises: Promises) -> "list[asyncio.Task[None]]":
    """Start the writers."""
    return [
        asyncio.create_task(write_until_cut_off(server, token, f"{name}-{writer}", promises))
        for writer in range(WRITERS)
    ]


def chance() -> random.Random:
    """Moments that can be had again: the gate has always the same, proofs draw theirs; ATRIUM_SEED sets the seed, which is printed."""
    seed = int(os.environ.get("ATRIUM_SEED") or (random.randrange(2**32) if PROOFS else 1))
    print(f"ATRIUM_SEED={seed}")
    return random.Random(seed)


async def kill_under_load(url: str, folder: Path, module: Sequence[str], count: range) -> Promises:
    """Rounds of: start, write from all sides, kill -9 at a random moment. Returns what was promised in all of them."""
    promises, moments, token = Promises(), chance(), ""
    for number in count:
        server = start_server(url, folder, module=module)
        try:
            await server.until_ready()
            token = token or await bootstrap(server)
            writers = write_from_all_sides(server, token, f"round-{number}", promises)
            await until_promised(promises, len(promises.notes) + moments.randrange(25, 100))
            await asyncio.sleep(moments.uniform(0, 0.02))
            server.popen.kill()
            await asyncio.gather(*writers)
        finally:
            server.clean_up()
    await until_alone(url)
    return promises


async def until_promised(promises: Promises, count: int) -> None:
    """Wait until so many notes have been acknowledged."""
    async with asyncio.timeout(60):
        while len(promises.notes) < count:
            await asyncio.sleep(0.002)


async def until_alone(url: str) -> None:
    """Wait until PostgreSQL has noticed that its clients are gone, so that nothing is still being decided."""
    others = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        " AND backend_type = 'client backend'"
    )
    async with asyncio.timeout(30):
        while (await run_as_owner(url, others))[0][0]:
            await asyncio.sleep(0.05)


async def broken_promises(url: str, promises: Promises) -> list[str]:
    """Everything the database does not bear out; empty when all is well."""
    rows = await run_as_owner(url, "SELECT id::text, title FROM notes")
    events = await run_as_owner(url, "SELECT subject FROM audit_events WHERE kind = 'notes.created'")
    stored, recorded = {row["id"]: row["title"] for row in rows}, Counter(row["subject"] for row in events)
    lost = [f"lost: {title}" for id, title in promises.notes.items() if stored.get(id) != title]
    untraced = [f"no event: {title}" for id, title in stored.items() if recorded[id] != 1]
    return lost + untraced + [f"event of nothing: {id}" for id in recorded.keys() - stored.keys()]


async def seal_all(url: str) -> str:
    """Seal until nothing is left open; the heads, as `atrium audit heads` prints them."""
    async with asyncio.timeout(60):
        while True:
            heads = await run_atrium("audit", "heads", database_url=url, secret_key=SECRET)
            assert heads.code == 0, heads.output
            if not (await run_as_owner(url, "SELECT count(*) FROM audit_events WHERE seq IS NULL"))[0][0]:
                return heads.output
