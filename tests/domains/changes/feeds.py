"""One open feed, as a server would hold it, and what it has been told."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from atrium.boot.assemble import Application
from atrium.product.changes.hub import Hub
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.patience import PATIENCE


@dataclass(slots=True)
class Told:
    """One event."""

    name: str
    data: Any
    id: str


@dataclass(slots=True)
class Feed:
    """One stream of a client's."""

    client: Client
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 0
    events: list[Told] = field(default_factory=list)
    raw: bytes = b""
    task: "asyncio.Task[None] | None" = None
    _received: asyncio.Queue[dict[str, Any]] = field(default_factory=asyncio.Queue)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    # Set while the client takes nothing.
    stalled: "asyncio.Event | None" = None

    async def open(self) -> "Feed":
        scope = self.client._scope(
            "GET", f"/api/changes{self.query}", None, {"accept": "text/event-stream", **self.headers}
        )
        self._received.put_nowait({"type": "http.request", "body": b"", "more_body": False})
        self.task = asyncio.ensure_future(self.client.app(scope, self._received.get, self._send))
        await self.until(lambda: bool(self.events) or (self.status not in (0, 200) and self.task.done()))
        return self

    async def _send(self, message: dict[str, Any]) -> None:
        if self.stalled is not None and message["type"] != "http.response.start":
            await self.stalled.wait()
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.raw += message.get("body", b"")
            if self.status == 200:
                *whole, self.raw = self.raw.split(b"\n\n")
                self.events += [_event(one) for one in whole if one and not one.startswith(b":")]
        self._news.set()

    async def until(self, holds: Any, seconds: float = PATIENCE) -> None:
        async with asyncio.timeout(seconds):
            while not holds():
                self._news.clear()
                waiting = asyncio.ensure_future(self._news.wait())
                assert self.task is not None
                await asyncio.wait({waiting, self.task}, return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
                if self.task.done():
                    assert holds(), f"the stream ended: {self.task.exception()!r} {self.events[-3:]}"

    @property
    def changes(self) -> list[tuple[str, str, str]]:
        return [(one.data["kind"], one.data["id"], one.data["action"]) for one in self.events if one.name == "change"]

    async def close(self) -> None:
        self._received.put_nowait({"type": "http.disconnect"})
        if self.stalled is not None:
            self.stalled.set()
        assert self.task is not None
        await asyncio.wait_for(self.task, PATIENCE)


def _event(block: bytes) -> Told:
    fields = dict(line.split(": ", 1) for line in block.decode().split("\n"))
    return Told(fields["event"], json.loads(fields["data"]), fields.get("id", ""))


@asynccontextmanager
async def hearing(client: Client, query: str = "", **headers: str) -> AsyncIterator[Feed]:
    """A feed that is open for a block."""
    feed = await Feed(client, query, {name.replace("_", "-"): value for name, value in headers.items()}).open()
    try:
        yield feed
    finally:
        await feed.close()


def hub_of(house: Application) -> Hub:
    hub: Hub = house.services.started["changes"]
    return hub


async def settled_place(house: Application, org_id: UUID) -> None:
    """Wait until this process has read everything that is committed in a company."""
    found = await run_as_owner(
        house.services.settings.database_url,
        "SELECT xid::text::bigint, seq FROM change_rows WHERE org_id = $1 ORDER BY xid DESC, seq DESC LIMIT 1",
        org_id,
    )
    told = hub_of(house)._companies.get(org_id)
    async with asyncio.timeout(PATIENCE):
        while found and told is not None and told.place is not None and told.place < tuple(found[0]):
            await asyncio.sleep(0.005)


async def settled(house: Application, org_id: UUID) -> None:
    """Wait until every listener of this process has taken everything that is committed in a company."""
    await settled_place(house, org_id)
    told = hub_of(house)._companies.get(org_id)
    async with asyncio.timeout(PATIENCE):
        while told is not None and any(one._frames for group in told.listeners.values() for one in group):
            await asyncio.sleep(0)
    for _ in range(20):
        await asyncio.sleep(0)
