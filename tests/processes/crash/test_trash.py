"""Killing servers between writing, deleting, restoring and purging: what was acknowledged is so, and nothing else is lost."""

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from atrium.engine.repository import release
from atrium.ground.quotas import service as quotas
from atrium.product.trash import service as trash
from tests.domains.trash.signing import signed_headers
from tests.postgres import fresh_database, run_as_owner
from tests.support.processes import (
    Process,
    bootstrap,
    environment,
    rounds,
    run_atrium,
    server_settings,
    serving,
    start,
    start_server,
)
from tests.support.servers import open_application, settings_for

LOADERS, SLOTS = 4, 5
# What each thing that is done to something makes of it.
AFTER = {"save": "live", "delete": "trash", "delete over s3": "trash", "restore": "live", "purge": "purged"}


@dataclass
class Slot:
    """One note or object, as far as it was acknowledged; `asked` is what nobody has answered yet."""

    kind: str
    name: str
    id: str = ""
    state: str = "none"
    texts: list[str] = field(default_factory=list)
    asked: str | None = None
    asked_text: str | None = None
    # Made as old as what housekeeping takes away.
    due: bool = False

    @property
    def base(self) -> str:
        return f"/api/{'notes' if self.kind == 'note' else 'repo-obj'}/{self.id}"


@dataclass
class Ledger:
    """Everything that was ever acknowledged to a loader."""

    key: dict[str, Any]
    slots: list[list[Slot]]
    done: list[Slot] = field(default_factory=list)
    acknowledged: Counter[str] = field(default_factory=Counter)
    named: int = 0

    def new_slot(self, chosen: random.Random) -> Slot:
        self.named += 1
        return Slot(chosen.choice(["note", "object"]), f"thing-{self.named}")


async def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    """One kill, as soon as something was saved, deleted and restored."""
    await survive(tmp_path, 1, random.Random(10), at_random=False)


@pytest.mark.proof
@pytest.mark.timeout(3600)
async def test_what_was_acknowledged_survives_every_kill(tmp_path: Path) -> None:
    await survive(tmp_path, len(rounds(3, 30)), random.Random(10), at_random=True)


async def survive(tmp_path: Path, times: int, chosen: random.Random, *, at_random: bool) -> None:
    kills = 0
    kept: dict[str, Any] = {"data_dir": tmp_path / "data", "blob_keep_hours": 0, "extraction": 0}
    async with fresh_database() as url:
        async with serving(url, **kept) as (server,):
            token = await bootstrap(server)
            async with server.client(token) as client:
                key = (await client.post("/api/s3/credentials", json={"name": "kill"})).json()
        ledger = Ledger(key, [])
        ledger.slots = [[ledger.new_slot(chosen) for _ in range(SLOTS)] for _ in range(LOADERS)]
        for _ in range(times):
            await _round(url, kept, token, ledger, chosen, tmp_path, at_random)
            kills += 1
        await _finish(url, kept["data_dir"])

        async with serving(url, **kept) as (server,):
            await _require_everything(server, token, ledger)
        verified = await run_atrium("blobs", "verify", **server_settings(url, **kept))
        counted = await run_atrium("quotas", "verify", **server_settings(url, **kept))

    print(f"{kills} kills, acknowledged: {dict(ledger.acknowledged)}")
    assert {"save", "delete", "restore"} <= ledger.acknowledged.keys()
    assert verified.code == 0, verified.output
    assert "0 unreferenced," in verified.output
    assert "0 missing, 0 corrupt, 0 orphaned" in verified.output
    assert list((tmp_path / "data" / "staging").iterdir()) == []
    assert counted.code == 0, counted.output
    assert " 0 differences" in counted.output


async def _round(
    url: str, kept: dict[str, Any], token: str, ledger: Ledger, chosen: random.Random, folder: Path, at_random: bool
) -> None:
    """Load on one server while another process purges and releases; both killed after enough of it, or at a random moment."""
    server = start_server(url, folder, **kept)
    purger = start(("-m", "tests.processes.crash.purger"), environment(**server_settings(url, **kept)), folder)
    try:
        await server.until_ready()
        await purger.until_prints("purging")
        async with server.client(token) as client:
            load = [
                asyncio.ensure_future(_load(client, url, server.address, ledger, slots, random.Random(chosen.random())))
                for slots in ledger.slots
            ]
            # After so many acknowledgements and not after a time: a slow machine would have none in it.
            wanted = ledger.acknowledged.total() + chosen.randrange(20, 100)
            while not _is_enough(ledger, wanted) and not any(task.done() for task in load):
                await asyncio.sleep(0.005)
            if at_random:
                await asyncio.sleep(chosen.uniform(0, 0.1))
            for task in load:
                assert not task.done(), task.exception()
            server.popen.kill()
            if at_random:
                await asyncio.sleep(chosen.uniform(0, 0.2))
            purger.popen.kill()
            await asyncio.gather(*load)
    finally:
        purger.clean_up()
        server.clean_up()


def _is_enough(ledger: Ledger, wanted: int) -> bool:
    return ledger.acknowledged.total() >= wanted and {"save", "delete", "restore"} <= ledger.acknowledged.keys()


async def _load(
    client: httpx.AsyncClient, url: str, address: str, ledger: Ledger, slots: list[Slot], chosen: random.Random
) -> None:
    """Do something to something until the server is gone; only what it answered is written down."""
    try:
        for slot in slots:
            await _settle(client, slot)
        while True:
            index = chosen.randrange(len(slots))
            slot = slots[index]
            if slot.due or slot.state == "purged" or (slot.state == "none" and slot.asked is not None):
                ledger.done.append(slot)
                slot = slots[index] = ledger.new_slot(chosen)
            await _act(client, url, address, ledger, slot, chosen)
    except httpx.TransportError:
        return


async def _act(
    client: httpx.AsyncClient, url: str, address: str, ledger: Ledger, slot: Slot, chosen: random.Random
) -> None:
    if slot.state in ("none", "live"):
        delete = "delete over s3" if slot.kind == "object" and chosen.random() < 0.5 else "delete"
        slot.asked = "save" if slot.state == "none" or chosen.random() < 0.5 else delete
    else:
        slot.asked = chosen.choices(["restore", "purge", "grow old"], [4, 2, 2])[0]
    slot.asked_text = f"{slot.name} {chosen.random()}" if slot.asked == "save" else None
    if slot.asked == "grow old":
        await _grow_old(url, slot)
        slot.due, slot.asked = True, None
        ledger.acknowledged["grow old"] += 1
        return
    answer = await _send(client, address, ledger, slot)
    assert answer.status_code in (200, 201, 204), answer.text
    ledger.acknowledged[slot.asked] += 1
    if slot.asked == "save":
        slot.id = answer.json()["id"]
        slot.texts.append(slot.asked_text or "")
    slot.state, slot.asked = AFTER[slot.asked], None


async def _send(client: httpx.AsyncClient, address: str, ledger: Ledger, slot: Slot) -> httpx.Response:
    if slot.asked == "save":
        return await _save(client, slot)
    if slot.asked == "delete over s3":
        path = f"/s3/files/{slot.name}"
        return await client.delete(path, headers=signed_headers(ledger.key, "DELETE", f"{address}{path}"))
    if slot.asked == "delete":
        return await client.delete(slot.base)
    if slot.asked == "restore":
        return await client.post(f"/api/trash/{slot.id}/restore", json={})
    return await client.delete(f"/api/trash/{slot.id}")


async def _save(client: httpx.AsyncClient, slot: Slot) -> httpx.Response:
    text = slot.asked_text or ""
    if slot.kind == "object":
        return await client.put(f"/api/repo/{slot.name}", content=text.encode())
    if slot.id:
        return await client.put(slot.base, json={"body": text})
    return await client.post("/api/notes", json={"title": slot.name, "body": text})


async def _grow_old(url: str, slot: Slot) -> None:
    table = "notes" if slot.kind == "note" else "objects"
    await run_as_owner(url, f"UPDATE {table} SET trashed_at = now() - interval '31 days' WHERE id = $1", UUID(slot.id))


async def _settle(client: httpx.AsyncClient, slot: Slot) -> None:
    """What was asked and not answered either happened whole or not at all."""
    if slot.asked is None or slot.state == "none":
        return
    state = await _state_of(client, slot)
    assert state in (slot.state, AFTER[slot.asked]), f"{slot} is {state}"
    if slot.asked == "save":
        texts = await _texts_of(client, slot)
        assert texts in (slot.texts, [*slot.texts, slot.asked_text]), f"{slot} says {texts}"
        slot.texts = texts
    slot.state, slot.asked = state, None


async def _state_of(client: httpx.AsyncClient, slot: Slot) -> str:
    if (await client.get(slot.base)).status_code == 200:
        return "live"
    return "trash" if slot.id in await _ids_in_trash(client) else "purged"


async def _ids_in_trash(client: httpx.AsyncClient) -> set[str]:
    found, cursor = set[str](), ""
    while True:
        page = (await client.get(f"/api/trash?limit=200{cursor}")).json()
        found |= {one["id"] for one in page["items"]}
        if page["next_cursor"] is None:
            return found
        cursor = f"&cursor={page['next_cursor']}"


async def _texts_of(client: httpx.AsyncClient, slot: Slot) -> list[str]:
    """Every version's text, oldest first."""
    part = "versions" if slot.kind == "note" else ""
    shown = (await client.get(f"{slot.base}/{part}".rstrip("/"), params={"limit": 200} if part else {})).json()
    numbers = sorted(one["number"] for one in shown["items" if slot.kind == "note" else "versions"])
    return [await _text_of(client, slot, number) for number in numbers]


async def _text_of(client: httpx.AsyncClient, slot: Slot, number: int) -> str:
    if slot.kind == "note":
        return str((await client.get(f"{slot.base}/versions/{number}")).json()["body"])
    return (await client.get(f"{slot.base}/content", params={"version": number})).text


async def _finish(url: str, data: Path) -> None:
    """What housekeeping would do in the end."""
    async with open_application(settings_for(url, data_dir=data, blob_keep_hours=0)) as house:
        await trash.purge_due(house.services)
        await release.sweep(house.services, seconds=0)
        await quotas.enter_noted(house.services.database)


async def _require_everything(server: Process, token: str, ledger: Ledger) -> None:
    """Live things say what they said, trashed ones come back saying it, and purged ones are nowhere."""
    slots = [slot for slots in ledger.slots for slot in slots] + ledger.done
    async with server.client(token) as client:
        for slot in slots:
            if slot.state != "none":
                await _settle(client, slot)
                await _require(client, slot)


async def _require(client: httpx.AsyncClient, slot: Slot) -> None:
    expected = "purged" if slot.due else slot.state
    assert await _state_of(client, slot) == expected, slot
    restored = await client.post(f"/api/trash/{slot.id}/restore", json={})
    assert restored.status_code == (200 if expected == "trash" else 404), f"{slot}: {restored.text}"
    if expected != "purged":
        assert await _texts_of(client, slot) == slot.texts, slot
