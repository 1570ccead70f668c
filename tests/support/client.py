"""A client that speaks to the app in this process, byte for byte as a server would."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from atrium.edge.app import App


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)

    @property
    def code(self) -> str:
        return str(self.body["code"])

    def __getitem__(self, name: str) -> Any:
        return self.body[name]


@dataclass(slots=True)
class Client:
    """One person's connection."""

    app: App
    token: str | None = None
    user_id: str = ""
    team_id: str = ""
    org_id: str = ""
    username: str = ""
    address: str = "198.51.100.7"
    # What a browser sends by itself instead of a token, and what it says about who asked for it.
    cookie: str = ""
    site: str = "same-origin"
    scheme: str = "http"

    async def get(self, path: str, *, headers: dict[str, str] | None = None, **query: object) -> Answer:
        return await self.send("GET", path, query=query, headers=headers)

    async def post(self, path: str, body: Any = None, *, headers: dict[str, str] | None = None) -> Answer:
        return await self.send("POST", path, body, headers=headers)

    async def put(self, path: str, body: Any = None, *, headers: dict[str, str] | None = None) -> Answer:
        return await self.send("PUT", path, body, headers=headers)

    async def patch(self, path: str, body: Any = None, *, headers: dict[str, str] | None = None) -> Answer:
        return await self.send("PATCH", path, body, headers=headers)

    async def delete(self, path: str, *, headers: dict[str, str] | None = None) -> Answer:
        return await self.send("DELETE", path, headers=headers)

    async def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: dict[str, object] | None = None,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        if isinstance(body, AsyncIterator):
            return await _exchange(self.app, self._scope(method, path, query, headers or {}), body)
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        length = {"content-length": str(len(raw))} if raw else {}
        return await _exchange(self.app, self._scope(method, path, query, (headers or {}) | length), _whole(raw))

    def _scope(
        self, method: str, path: str, query: dict[str, object] | None, headers: dict[str, str]
    ) -> dict[str, Any]:
        path, _, inline = path.partition("?")
        sent = {
            "host": "atrium.test",
            **({"authorization": f"Bearer {self.token}"} if self.token else {}),
            **({"cookie": self.cookie} if self.cookie else {}),
            **({"sec-fetch-site": self.site} if self.cookie and self.site else {}),
            **headers,
        }
        return {
            "type": "http", "method": method, "path": path, "raw_path": path.encode(), "scheme": self.scheme,
            "query_string": (inline or urlencode(query or {})).encode(), "client": (self.address, 50_000), "server": ("atrium.test", 80),
            "headers": [(name.lower().encode(), value.encode()) for name, value in sent.items()],
        }  # fmt: skip


async def _whole(raw: bytes) -> AsyncIterator[bytes]:
    yield raw


async def _exchange(app: App, scope: dict[str, Any], pieces: AsyncIterator[bytes]) -> Answer:
    """One request whose body comes piece by piece: the pieces of a generator, when it has them."""
    status, headers, parts = 0, {}, []
    coming: AsyncIterator[bytes] | None = pieces
    done = asyncio.Event()

    async def receive() -> dict[str, Any]:
        nonlocal coming
        if coming is not None:
            piece = await anext(coming, None)
            if piece is not None:
                return {"type": "http.request", "body": piece, "more_body": True}
            coming = None
            return {"type": "http.request", "body": b"", "more_body": False}
        # The client stays until it has everything.
        await done.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status, headers
        if message["type"] == "http.response.start":
            status = message["status"]
            headers = {name.decode(): value.decode("latin-1") for name, value in message["headers"]}
            assert len(headers) == len(message["headers"]), f"a header is sent twice: {message['headers']}"
        else:
            parts.append(message.get("body", b""))
            if not message.get("more_body"):
                done.set()

    await app(scope, receive, send)
    return Answer(status, headers, b"".join(parts))
