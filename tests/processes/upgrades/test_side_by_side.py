"""A server of the last release beside one of this: a grant that either gives or withdraws is what the other goes by."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.postgres import fresh_database
from tests.processes.upgrades.previous import NoPreviousRelease, check_out, name_previous
from tests.support.processes import (
    ATRIUM,
    Process,
    bootstrap,
    environment,
    free_port,
    server_settings,
    start,
    start_server,
)

# Starts a server of each release, so there is no form that is short enough for the gate.
pytestmark = [pytest.mark.proof, pytest.mark.timeout(900)]
ROUNDS = 40
PHRASE = "a phrase only they know"


@asynccontextmanager
async def side_by_side(url: str, folder: Path) -> AsyncIterator[list[Process]]:
    """Ready servers of the last release and of this one, with one database and one folder for bytes."""
    before = folder / "previous"
    before.mkdir()
    check_out(name_previous(), before)
    port = free_port()
    seen = environment(**server_settings(url, data_dir=folder)) | {"PYTHONPATH": str(before / "src")}
    servers = [start((*ATRIUM, "serve", "--port", str(port)), seen, folder, port)]
    servers.append(start_server(url, folder, data_dir=folder))
    try:
        await asyncio.gather(*(server.until_ready() for server in servers))
        yield servers
    finally:
        for server in servers:
            server.clean_up()


@dataclass(frozen=True, slots=True)
class Given:
    """Something private: where it is read and listed, and what is asked to share it and to end that."""

    id: str
    path: str
    listing: str
    share: tuple[str, dict[str, Any]]
    withdraw: tuple[str, dict[str, Any]]


async def written(owner: httpx.AsyncClient, reader_id: str, number: int) -> list[Given]:
    """A note and a file that only their owner can read."""
    note = await owner.post("/api/notes", json={"title": f"note {number}", "visibility": "private"})
    stored = await owner.put(f"/api/repo/lent-{number}.bin", content=b"bytes")
    assert (note.is_success, stored.is_success) == (True, True), (note.text, stored.text)
    of_note, of_file = f"/api/notes/{note.json()['id']}", f"/api/repo-obj/{stored.json()['id']}"
    to = {"principal_type": "user", "principal_id": reader_id}
    person = {"user_id": reader_id}
    return [
        Given(
            note.json()["id"], of_note, "/api/notes",
            (f"{of_note}/share", person | {"permission": "notes:read"}), (f"{of_note}/share", person | {"permission": None}),
        ),
        Given(
            stored.json()["id"], of_file, "/api/repo",
            (f"{of_file}/share", to | {"capability": "view"}), (f"{of_file}/unshare", to),
        ),
    ]  # fmt: skip


async def sees(reader: httpx.AsyncClient, given: Given) -> tuple[bool, bool]:
    """Whether it can be read, and whether it is listed."""
    one, listed = await reader.get(given.path), await reader.get(given.listing, params={"limit": 200})
    assert one.status_code in (200, 404), one.text
    assert listed.is_success, listed.text
    return one.status_code == 200, given.id in {item["id"] for item in listed.json()["items"]}


async def done(client: httpx.AsyncClient, request: tuple[str, dict[str, Any]]) -> None:
    answer = await client.post(request[0], json=request[1])
    assert answer.is_success, answer.text


async def play(
    owners: Sequence[httpx.AsyncClient], readers: Sequence[httpx.AsyncClient], given: Given, turn: int
) -> None:
    """Shared by one server and withdrawn by either: both say the same, from the reply on."""
    for giver, ender in ((turn, turn + 1), (turn + 1, turn + 1)):
        await done(owners[giver % 2], given.share)
        assert [await sees(reader, given) for reader in readers] == [(True, True)] * 2
        await done(owners[ender % 2], given.withdraw)
        assert [await sees(reader, given) for reader in readers] == [(False, False)] * 2


async def test_no_grant_is_lost_or_seen_too_long_between_two_releases(tmp_path: Path) -> None:
    try:
        name_previous()
    except NoPreviousRelease as missing:
        if os.environ.get("ATRIUM_WHOLE_HISTORY"):
            raise
        pytest.skip(str(missing))
    async with fresh_database() as url, side_by_side(url, tmp_path) as servers:
        token = await bootstrap(servers[0])
        owners = [server.client(token) for server in servers]
        added = (await owners[1].post("/api/members", json={"username": "bob", "role": "member"})).json()
        async with servers[1].client(added["token"]) as first:
            session = (await first.post("/api/password", json={"new_password": PHRASE})).json()["token"]
        readers = [server.client(session) for server in servers]

        for number in range(ROUNDS):
            for given in await written(owners[number % 2], added["member"]["id"], number):
                await play(owners, readers, given, number)
                # What stands when the round is over is there for both at the end.
                await done(owners[number % 2], given.share)
        lists = [(await reader.get("/api/notes", params={"limit": 200})).json()["items"] for reader in readers]

        assert [len(items) for items in lists] == [ROUNDS, ROUNDS]
        for client in (*owners, *readers):
            await client.aclose()
