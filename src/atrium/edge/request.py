"""One request as the edge sees it, and reading its body within limits of size and time."""

import asyncio
import re
from collections.abc import AsyncIterator
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from atrium.edge.credential_watch import Watch
from atrium.kit.errors import AppError, Invalid, Kind, TooLarge
from atrium.kit.telemetry.trace_context import Trace
from atrium.seams.routes import Disconnected

Receive = Any
_LONGEST_AGENT = 400
LARGEST_HEAD, MOST_HEADERS = 64 << 10, 200
LARGEST_UNKNOWN = 64 << 10
# Of a request that has not begun to be answered.
NOWHERE = Trace("0" * 32, "0" * 16, "")
_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}\Z")


class BodyTooSlow(AppError):
    """The body did not arrive in time."""

    kind, code, title = Kind.INVALID, "request.too_slow", "The body did not arrive in time"


class HeadTooLarge(AppError):
    """The request line and its headers are more than is read before anybody is asked who sent them."""

    kind, code, title = Kind.HEAD, "request.head_too_large", "The request's head is too large"


class Request:
    """What came in. Headers are a dict of lower-case names; a repeated name keeps its last value."""

    __slots__ = ("address", "headers", "id", "method", "path", "receive", "scope", "secure", "trace", "watch")

    def __init__(self, scope: dict[str, Any], receive: Receive, fresh_id: str) -> None:
        self.scope, self.receive = scope, receive
        self.watch: Watch | None = None
        self.trace = NOWHERE
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        given = self.headers.get(b"x-request-id")
        self.id = given.decode() if given is not None and _ID.match(given) else fresh_id
        client = scope.get("client")
        self.address: str = client[0] if client else ""
        self.secure: bool = scope["scheme"] == "https"

    def last(self, watch: Watch) -> None:
        """Take as long as the bytes do, but not longer than the credential."""
        self.watch, self.receive = watch, partial(watch.during, self.receive)

    def header(self, name: bytes) -> str | None:
        """A header's value as text; None when absent."""
        value = self.headers.get(name)
        return None if value is None else value.decode("latin-1")

    def query(self) -> dict[str, str]:
        """The query's names and values; malformed or repeated ones are the caller's error."""
        raw = self.scope["query_string"]
        if not raw:
            return {}
        try:
            pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, max_num_fields=100, errors="strict")
        except ValueError as error:
            raise Invalid("the query cannot be read: it must be percent-encoded UTF-8") from error
        found = dict(pairs)
        if len(found) != len(pairs):
            raise Invalid("a query parameter is given twice")
        return found

    @property
    def user_agent(self) -> str:
        """What the client says it is; for people to recognise their devices by, and never to decide on."""
        return self.headers.get(b"user-agent", b"")[:_LONGEST_AGENT].decode("latin-1")

    @property
    def length(self) -> int | None:
        """The body's announced length; None when it is not announced."""
        value = self.headers.get(b"content-length")
        return int(value) if value is not None and value.isdigit() else None

    @property
    def is_large(self) -> bool:
        """Whether the body may be larger than what is read before the caller is known."""
        length = self.length
        return b"transfer-encoding" in self.headers if length is None else length > LARGEST_UNKNOWN

    async def body(self, limit: int, seconds: float) -> bytes:
        """The whole body, at most `limit` bytes within `seconds`."""
        length = self.length
        if length is not None and length > limit:
            raise TooLarge(f"a body here has at most {limit} bytes", limit=limit)
        if length == 0 or (length is None and b"transfer-encoding" not in self.headers):
            return b""
        try:
            async with asyncio.timeout(seconds):
                return await self._read(limit)
        except TimeoutError as error:
            raise BodyTooSlow(f"the body must arrive within {seconds:g} s") from error

    async def _read(self, limit: int) -> bytes:
        message = await self.receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        first: bytes = message.get("body", b"")
        if len(first) > limit:
            raise TooLarge(f"a body here has at most {limit} bytes", limit=limit)
        if not message.get("more_body"):
            return first
        parts, size = [first], len(first)
        async for chunk in self.chunks():
            parts.append(chunk)
            size += len(chunk)
            if size > limit:
                raise TooLarge(f"a body here has at most {limit} bytes", limit=limit)
        return b"".join(parts)

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body piece by piece, as it arrives."""
        while True:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise Disconnected
            chunk: bytes = message.get("body", b"")
            if chunk:
                yield chunk
            if not message.get("more_body"):
                return
