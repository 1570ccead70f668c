"""One reader of an event stream, as a browser would be."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from tests.support.client import Client
from tests.support.patience import PATIENCE


@dataclass(frozen=True, slots=True)
class Event:
    """One event as it came."""

    id: str
    name: str
    data: Any

    @property
    def position(self) -> int:
        return int(self.id.rpartition(".")[2])


@dataclass(slots=True)
class Reader:
    """An open stream; `leave` hangs up."""

    client: Client
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    path: str = "/api/ai/chat/stream"
    status: int = 0
    raw: bytes = b""
    events: list[Event] = field(default_factory=list)
    _received: asyncio.Queue[dict[str, Any]] = field(default_factory=asyncio.Queue)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _rest: bytes = b""
    task: "asyncio.Task[None] | None" = None

    async def open(self) -> "Reader":
        raw = b"" if self.body is None else json.dumps(self.body).encode()
        headers = self.headers | ({"content-length": str(len(raw))} if raw else {})
        scope = self.client._scope("POST", self.path, None, headers)
        self._received.put_nowait({"type": "http.request", "body": raw, "more_body": False})
        self.task = asyncio.ensure_future(self.client.app(scope, self._received.get, self._send))
        await self._until(lambda: bool(self.status))
        return self

    async def _send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.raw += message["body"]
            *blocks, self._rest = (self._rest + message["body"]).split(b"\n\n")
            if self.status == 200:
                self.events += [_event(block) for block in blocks if not block.startswith(b":")]
        self._news.set()

    async def _until(self, condition: Any, seconds: float = PATIENCE) -> None:
        async with asyncio.timeout(seconds):
            while not condition():
                self._news.clear()
                await self._news.wait()

    async def heard(self, text: str) -> None:
        """Wait until this much of the reply has come."""
        await self._until(lambda: self.text.startswith(text) and len(self.text) >= len(text))

    async def ended(self, seconds: float = PATIENCE) -> Event:
        """The last event, after the stream has closed."""
        assert self.task is not None
        await asyncio.wait_for(asyncio.shield(self.task), seconds)
        return self.events[-1]

    @property
    def turn(self) -> str:
        return str(self.events[0].id.rpartition(".")[0])

    @property
    def text(self) -> str:
        return "".join(event.data.get("text", "") for event in self.events if event.name == "delta")

    @property
    def thinking(self) -> str:
        return "".join(event.data.get("thinking", "") for event in self.events if event.name == "delta")

    def leave(self) -> None:
        self._received.put_nowait({"type": "http.disconnect"})


def _event(block: bytes) -> Event:
    fields = dict(line.split(": ", 1) for line in block.decode().split("\n"))
    return Event(fields.get("id", ""), fields["event"], json.loads(fields["data"]))
