"""One connection of a client: what it may send before anybody looks at it, and how long it may hold what it was sent."""

import asyncio
from typing import Any

from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from atrium.edge.app import COMMON
from atrium.edge.encode import Reply, problem_of
from atrium.edge.request import LARGEST_HEAD, MOST_HEADERS, HeadTooLarge
from atrium.kit.errors import Invalid

# Clients of today send one request and wait; each one more that waits behind it costs memory before anybody is asked.
_MOST_WAITING = 16
# After a refusal the rest of what was on its way is read and forgotten, or the reply would be lost with the connection.
_LINGER_SECONDS, _LINGER_BYTES = 2, 1 << 20


def _wire_of(reply: Reply) -> bytes:
    headers = [*reply.headers, *COMMON, (b"content-length", b"%d" % len(reply.body)), (b"connection", b"close")]
    lines = b"".join(b"%b: %b\r\n" % header for header in headers)
    return STATUS_LINE[reply.status] + lines + b"\r\n" + reply.body


_TOO_LARGE = _wire_of(
    problem_of(
        HeadTooLarge(f"a request's head has at most {LARGEST_HEAD} bytes and {MOST_HEADERS} headers"), "no request"
    )
)
_MALFORMED = _wire_of(problem_of(Invalid("this is not a request of HTTP/1.1"), "no request"))


class Connection(HttpToolsProtocol):
    """Bounds what a client holds: a head in size, count and time, requests that wait, and a reply that is not taken."""

    head_seconds: float = 15
    send_seconds: float = 60

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._deadline: asyncio.TimerHandle | None = None
        self._patience: asyncio.TimerHandle | None = None
        # Bytes since the parser last had something to tell: inside a head, a trailer, or the frame of a chunk.
        self._untold = self._piece = 0
        self._is_large = False
        self._forgotten: int | None = None
        self._await_head()

    def data_received(self, data: bytes) -> None:
        if self._forgotten is not None:
            self._forget(len(data))
            return
        if self._deadline is None and self.cycle is not None and self.cycle.response_complete:
            self._await_head()
        self._piece = len(data)
        self._untold += self._piece
        super().data_received(data)
        if self._untold > LARGEST_HEAD:
            self._refuse(_TOO_LARGE)

    def on_header(self, name: bytes, value: bytes) -> None:
        # Instead of the server's own, for every header of every request. What is raised here stops the parser at once.
        headers, name = self.headers, name.lower()
        if len(headers) >= MOST_HEADERS:
            raise self._too_large()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        headers.append((name, value))

    def on_headers_complete(self) -> None:
        # Counted exactly only when it could be too much.
        if (self._piece > LARGEST_HEAD or self._untold > LARGEST_HEAD) and self._head_size() > LARGEST_HEAD:
            raise self._too_large()
        if len(self.pipeline) >= _MOST_WAITING:
            raise Invalid("too many requests wait for the first one's reply")
        self._untold = 0
        self._head_is_here()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        # Instead of the server's own, which asks about upgrades each time: a body may come in pieces of one byte.
        self._untold = 0
        cycle = self.cycle
        if cycle.response_complete:
            return
        cycle.body += body
        if len(cycle.body) > HIGH_WATER_LIMIT:
            self.flow.pause_reading()
        cycle.message_event.set()

    def send_400_response(self, msg: str) -> None:
        """The parser stopped: the head was too large, or not one."""
        self._refuse(_TOO_LARGE if self._is_large else _MALFORMED)

    def eof_received(self) -> None:
        if self._forgotten is not None:
            self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._await_taking()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._was_taken()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():
            self._await_taking()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._await_taking()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_here()
        self._was_taken()
        super().connection_lost(exc)

    def _too_large(self) -> HeadTooLarge:
        self._is_large = True
        return HeadTooLarge("see the reply")

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _await_head(self) -> None:
        self._deadline = self.loop.call_later(self.head_seconds, self.transport.close)

    def _head_is_here(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _await_taking(self) -> None:
        """Cut off a client that takes nothing of what waits for it; one that takes a little has all the time it needs."""
        waiting = self.transport.get_write_buffer_size()
        if self._patience is None and waiting:
            self._patience = self.loop.call_later(self.send_seconds, self._look_again, waiting)

    def _look_again(self, waited: int) -> None:
        self._patience = None
        if self.transport.get_write_buffer_size() >= waited:
            self.transport.abort()
        else:
            self._await_taking()

    def _was_taken(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _refuse(self, reply: bytes) -> None:
        """Say why and hang up; when a request before it is still being answered there is no place to say it."""
        if self.transport.is_closing() or self._forgotten is not None:
            return
        self._head_is_here()
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.close()
            return
        self._forgotten = 0
        self.transport.write(reply)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._deadline = self.loop.call_later(_LINGER_SECONDS, self._hang_up)

    def _hang_up(self) -> None:
        """In TLS's own words first: without them a client cannot tell a reply from a piece of one."""
        self.transport.close()
        self._deadline = self.loop.call_later(_LINGER_SECONDS, self.transport.abort)

    def _forget(self, size: int) -> None:
        self._forgotten = (self._forgotten or 0) + size
        if self._forgotten > _LINGER_BYTES:
            self.transport.abort()
