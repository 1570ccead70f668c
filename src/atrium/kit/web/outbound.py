"""Calling out over HTTP: where an operator's settings say, or to the public internet and nowhere else.

A connection for each request and no pool: what is called here are models, whose answers last. A pool of a thousand lasting
answers is walked at every request, and two names behind one address must not share a handshake.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from functools import cache
from urllib.parse import SplitResult, quote, urlsplit

import certifi
import httptools

from atrium.kit.telemetry import trace_context
from atrium.kit.telemetry.trace_context import Within
from atrium.kit.web.addresses import NotPublic, Unresolved, find_public, is_trusted

CONNECT_SECONDS = 5.0
# The longest silence, before the first byte and between two.
SILENCE_SECONDS = 120.0
# So much may arrive before it is read; then the other side has to wait.
MOST_UNREAD = 256 << 10
LARGEST_HEAD = 64 << 10
# What a path and a query may hold as it is, an escape included.
_UNTOUCHED = "/%:@!$&'()*+,;=-._~"
FindAddresses = Callable[[str, int], Awaitable[list[str]]]


class CallFailed(Exception):
    """No answer, or not all of it; the message says why."""


class NotConnected(CallFailed):
    """Nothing was sent: the host is unknown, or no address takes the connection."""


class Answer:
    """A reply whose body arrives as it is read; closing it hangs up."""

    __slots__ = ("_exchange", "headers", "status")

    def __init__(self, exchange: "_Exchange") -> None:
        self._exchange = exchange
        self.status, self.headers = exchange.status, exchange.headers

    async def read(self) -> bytes:
        """What has arrived since the last time, at least a byte; nothing at the end."""
        return await self._exchange.read()

    def close(self) -> None:
        """Hang up."""
        self._exchange.close()


class Client:
    """HTTP/1.1 to the addresses that `find` gives. Follows no redirects, and knows no proxies and no cookies."""

    def __init__(self, find: FindAddresses) -> None:
        self._find = find
        self._open: set[_Exchange] = set()

    async def send(
        self, method: str, url: str, headers: dict[str, str], content: bytes = b"", silence: float = SILENCE_SECONDS
    ) -> Answer:
        """The beginning of the answer: its status and headers. The other side is told which trace it is part of."""
        parts = _parts_of(url)
        facts = {"http.request.method": method, "server.address": parts.hostname or ""}
        with Within(method, "client", **facts) as span:
            answer = await self._send(
                method, parts, {**headers, "traceparent": trace_context.here().traceparent}, content, silence
            )
            if span is not None:
                span.note("http.response.status_code", answer.status)
        return answer

    async def _send(
        self, method: str, parts: SplitResult, headers: dict[str, str], content: bytes, silence: float
    ) -> Answer:
        exchange = await self._connect(parts, silence)
        self._open.add(exchange)
        exchange.on_closed = self._open.discard
        try:
            exchange.write(_head(method, parts, headers, len(content)) + content)
            await exchange.begun()
        except BaseException:
            exchange.close()
            raise
        return Answer(exchange)

    def close(self) -> None:
        """Hang up on everybody."""
        for exchange in list(self._open):
            exchange.close()

    async def _connect(self, parts: SplitResult, silence: float) -> "_Exchange":
        host, secure = parts.hostname or "", parts.scheme == "https"
        port = parts.port or (443 if secure else 80)
        try:
            addresses = await self._find(host, port)
        except Unresolved as error:
            raise NotConnected(str(error)) from error
        context = _trust() if secure else None
        failure: BaseException | None = None
        for address in addresses:
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    _, exchange = await asyncio.get_running_loop().create_connection(
                        lambda: _Exchange(silence), address, port, ssl=context, server_hostname=host if secure else None
                    )
            except (OSError, TimeoutError, UnicodeError) as error:
                failure = error
            else:
                return exchange
        raise NotConnected(f"{host} does not take a connection") from failure


class Outbound:
    """This process's two ways out."""

    def __init__(self, trusted_hosts: frozenset[str] = frozenset()) -> None:
        async def find(host: str, port: int) -> list[str]:
            return [host] if is_trusted(host, trusted_hosts) else await find_public(host, port)

        # For addresses out of the operator's own settings.
        self.anywhere = Client(_as_named)
        # For addresses that come from anybody else: looked up for each request, refused unless all are public, and
        # connected to exactly what was looked up.
        self.public = Client(find)

    def close(self) -> None:
        """Hang up on everybody."""
        self.anywhere.close()
        self.public.close()


class _Exchange(asyncio.Protocol):
    """One request on one connection, and its answer."""

    def __init__(self, silence: float) -> None:
        self._silence = silence
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._parser = httptools.HttpResponseParser(self)
        self._pieces: list[bytes] = []
        self._unread = self._head_bytes = 0
        self._paused = self._has_head = self._has_end = self._ends_with_connection = False
        self._failure: CallFailed | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._heard = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self.on_closed: Callable[[_Exchange], None] = lambda _: None
        self.status = 0
        self.headers: dict[str, str] = {}

    # What the transport tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]
        self._timer = self._loop.call_later(self._silence, self._look)

    def data_received(self, data: bytes) -> None:
        self._heard = self._loop.time()
        if not self._has_head:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._fail(f"the answer is not HTTP: {error}")
        if not self._has_head and self._head_bytes > LARGEST_HEAD:
            self._fail("the answer's head is too long")
        if self._unread > MOST_UNREAD and not self._paused and not self._transport.is_closing():
            self._paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, error: Exception | None) -> None:
        if not self._has_end:
            if error is None and self._has_head and self._ends_with_connection:
                self._has_end = True
            else:
                self._failure = self._failure or CallFailed("the connection broke off")
        self._finish()
        self._wake()

    # What the parser tells.

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._has_head:
            self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        if self._has_head:
            return
        status = self._parser.get_status_code()
        if status < 200:
            # Said in passing; the answer itself follows.
            self.headers.clear()
            return
        self.status, self._has_head = status, True
        self._ends_with_connection = not ({"content-length", "transfer-encoding"} & self.headers.keys())

    def on_body(self, body: bytes) -> None:
        # Whatever follows the end was not asked for.
        if not self._has_end:
            self._pieces.append(body)
            self._unread += len(body)

    def on_message_complete(self) -> None:
        if self._has_head:
            self._has_end = True

    # What the caller asks.

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    async def begun(self) -> None:
        while not self._has_head:
            await self._more()

    async def read(self) -> bytes:
        while not self._pieces:
            if self._has_end:
                return b""
            await self._more()
        whole = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        self._unread = 0
        if self._paused:
            self._paused = False
            self._heard = self._loop.time()
            if not self._transport.is_closing():
                self._transport.resume_reading()
        return whole

    def close(self) -> None:
        self._failure = self._failure or CallFailed("hung up")
        self._transport.abort()
        self._finish()
        self._wake()

    async def _more(self) -> None:
        if self._failure is not None:
            raise self._failure
        self._waiter = self._loop.create_future()
        await self._waiter

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, reason: str) -> None:
        self._failure = self._failure or CallFailed(reason)
        self.close()

    def _finish(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self.on_closed(self)

    def _look(self) -> None:
        """Whether the other side has been silent for too long; one timer for the whole answer, not one for every piece."""
        left = self._heard + self._silence - self._loop.time()
        if left <= 0 and not self._paused:
            self._fail(f"nothing came for {self._silence:g} seconds")
        else:
            self._timer = self._loop.call_later(max(left, 1.0), self._look)


async def _as_named(host: str, port: int) -> list[str]:
    return [host]


@cache
def _trust() -> ssl.SSLContext:
    """The authorities this machine trusts, and Mozilla's where it has none of its own."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def _parts_of(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        plain = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError as error:
        raise NotPublic(f"this is not a URL: {error}") from error
    if not plain:
        raise NotPublic("give a plain http or https URL")
    return parts


def _head(method: str, parts: SplitResult, headers: dict[str, str], length: int) -> bytes:
    """The request's first lines; nothing that a setting or a user wrote can begin another line."""
    target = quote(parts.path, safe=_UNTOUCHED) or "/"
    if parts.query:
        target += "?" + quote(parts.query, safe=_UNTOUCHED + "?")
    lines = {"host": _host_of(parts), "accept-encoding": "identity", "connection": "close", **headers}
    if length:
        lines["content-length"] = str(length)
    for name, value in lines.items():
        if not (value.isascii() and value.isprintable()):
            raise CallFailed(f"the header {name} has a character that cannot be sent")
    return "\r\n".join([f"{method} {target} HTTP/1.1", *map(": ".join, lines.items()), "", ""]).encode()


def _host_of(parts: SplitResult) -> str:
    host = parts.netloc.rpartition("@")[2]
    return host if host.isascii() else host.encode("idna").decode()
