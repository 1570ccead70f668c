"""Killing servers in uploads, deletes and sweeps: what was acknowledged stays, and what was not leaves nothing behind."""

import asyncio
import hashlib
import random
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from atrium.engine.repository import service as repository
from tests.houses import open_house, settings_for
from tests.postgres import fresh_database, run_as_owner
from tests.processes import Process, bootstrap, rounds, run_atrium, server_settings, serving, start_server

SIZES = [0, 1, 5_000, 300_000, 3 << 20]


@dataclass
class Ledger:
    """What servers have acknowledged: the digest of every version that must be there, and the objects that must not."""

    versions: dict[tuple[str, int], str] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)


@pytest.mark.timeout(3600)
async def test_nothing_acknowledged_is_lost_and_nothing_else_stays(tmp_path: Path) -> None:
    data, ledger = tmp_path / "data", Ledger()
    async with fresh_database() as url:
        async with serving(url, data_dir=data) as (server,):
            token = await bootstrap(server)
        for number in rounds(6, 200):
            await _round(url, data, token, ledger, random.Random(number), tmp_path)

        async with serving(url, data_dir=data) as (server,):
            await _require_everything(server, token, ledger)
        await _sweep(url, data)
        verified = await run_atrium("blobs", "verify", **server_settings(url, data_dir=data))
        counted = await run_as_owner(url, "SELECT coalesce(sum(size), 0)::bigint FROM object_versions")
        used = await run_as_owner(url, "SELECT max(total) FROM quota_usage WHERE dimension = 'storage.bytes'")

    assert len(ledger.versions) > 10
    assert verified.code == 0, verified.output
    assert "0 unreferenced, 0 missing, 0 corrupt, 0 orphaned" in verified.output
    assert list((data / "staging").iterdir()) == []
    assert (used[0][0] or 0) == counted[0][0]


async def _round(url: str, data: Path, token: str, ledger: Ledger, chosen: random.Random, folder: Path) -> None:
    """Load on one server, killed at a random moment."""
    server = start_server(url, folder, data_dir=data)
    try:
        await server.until_ready()
        async with server.client(token) as client:
            load = [asyncio.ensure_future(_load(client, ledger, random.Random(chosen.random()))) for _ in range(4)]
            await asyncio.sleep(chosen.uniform(0.05, 1.0))
            server.popen.kill()
            await asyncio.gather(*load)
    finally:
        server.clean_up()


async def _load(client: httpx.AsyncClient, ledger: Ledger, chosen: random.Random) -> None:
    """Write and delete until the server is gone; only what it answered is written down."""
    try:
        while True:
            body = secrets.token_bytes(chosen.choice(SIZES)) if chosen.random() < 0.8 else b"the same for all"
            answer = await client.put(f"/api/repo/key-{chosen.randrange(40)}", content=body)
            if answer.status_code == 200:
                stored = answer.json()
                ledger.versions[stored["id"], stored["version"]["number"]] = hashlib.sha256(body).hexdigest()
                if chosen.random() < 0.3:
                    await _delete(client, ledger, stored)
    except httpx.TransportError:
        return


async def _delete(client: httpx.AsyncClient, ledger: Ledger, stored: dict[str, Any]) -> None:
    # Asked for is already not to be relied on: the server may delete it and die before it says so.
    ledger.versions = {key: digest for key, digest in ledger.versions.items() if key[0] != stored["id"]}
    ledger.deleted.add(stored["id"])
    await client.delete(f"/api/repo-obj/{stored['id']}")


async def _require_everything(server: Process, token: str, ledger: Ledger) -> None:
    async with server.client(token) as client:
        for (id, number), digest in ledger.versions.items():
            if id in ledger.deleted:
                continue
            answer = await client.get(f"/api/repo-obj/{id}/content", params={"version": number})
            assert answer.status_code == 200, answer.text
            assert hashlib.sha256(answer.content).hexdigest() == digest


async def _sweep(url: str, data: Path) -> None:
    async with open_house(settings_for(url, data_dir=data)) as house:
        await repository.sweep(house.services, seconds=0)
