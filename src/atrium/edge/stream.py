"""Server-sent events that always close their source, whether the stream ends, fails, the client leaves or we stop."""

import asyncio
from typing import Any, Literal

from atrium.edge.credential_watch import CredentialEnded
from atrium.kit.web.sse import sse_frame
from atrium.seams.routes import EventStream, SseEvent

PING_SECONDS = 15
_PING = b": ping\n\n"
Reason = Literal["signed_out", "shutdown"]


class Streams:
    """The streams open in this process, so that a stopping process can end them all."""

    def __init__(self) -> None:
        self._open: set[_Sending] = set()
        self._stopping = False

    def stop(self) -> None:
        """End every stream after the event it is at; new ones end at once."""
        self._stopping = True
        for sending in list(self._open):
            sending.end("shutdown")

    async def send(self, stream: EventStream, receive: Any, send: Any) -> None:
        """Send until the source ends or the client disconnects, then close the source before returning."""
        sending = _Sending(stream, send)
        self._open.add(sending)
        gone = asyncio.ensure_future(sending.end_when_gone(receive))
        try:
            if not self._stopping:
                await sending.pump()
            await sending.say_last()
        except _Gone:
            pass
        finally:
            self._open.discard(sending)
            gone.cancel()
            await stream.events.aclose()


class _Sending:
    """One stream on its way, in one task; whatever ends it from outside breaks off its waiting for the source."""

    def __init__(self, stream: EventStream, send: Any) -> None:
        self._stream, self._send = stream, send
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        self._number = 0
        self._last = self._loop.time()
        self._waits = self._ended = False
        self._because: Reason | None = None
        self._ping: asyncio.Task[None] | None = None

    def end(self, because: Reason | None = None) -> None:
        """Stop after the event it is at; the client is still there when a reason is given."""
        self._ended = True
        self._because = self._because or because
        if self._waits and self._task is not None:
            self._waits = False
            self._task.cancel()

    async def end_when_gone(self, receive: Any) -> None:
        """Stop when the client disconnects or its credential ends."""
        self.end(await _reason_of_end(receive))

    async def say_last(self) -> None:
        """What the source wants said when the server ends the stream."""
        if self._because is not None and self._stream.last_words is not None:
            await _deliver(self._send, self._stream.last_words(self._because))

    async def pump(self) -> None:
        """Everything the source gives, as it comes."""
        self._timer = self._loop.call_later(PING_SECONDS, self._look)
        try:
            while (coming := await self._next()) is not None:
                self._last = self._loop.time()
                await _deliver(self._send, coming if isinstance(coming, bytes) else self._frame(coming))
        finally:
            self._timer.cancel()
            if self._ping is not None:
                self._ping.cancel()

    async def _next(self) -> SseEvent | bytes | None:
        if self._ended:
            return None
        self._waits = True
        try:
            return await anext(self._stream.events)
        except StopAsyncIteration:
            return None
        except asyncio.CancelledError:
            # The cancellation was ours, and no other one is pending.
            if self._ended and self._task is not None and self._task.uncancel() == 0:
                return None
            raise
        finally:
            self._waits = False

    def _look(self) -> None:
        """Keep the line awake; one timer for the whole stream, not one for every event."""
        silent = self._loop.time() - self._last
        if silent >= PING_SECONDS:
            self._last, silent = self._loop.time(), 0
            self._ping = asyncio.ensure_future(self._send_ping())
        self._timer = self._loop.call_later(PING_SECONDS - silent, self._look)

    async def _send_ping(self) -> None:
        try:
            await _deliver(self._send, _PING)
        except _Gone:
            self.end()

    def _frame(self, event: SseEvent) -> bytes:
        self._number += 1
        return sse_frame(str(self._number), event.name, event.data)


class _Gone(Exception):
    """The connection broke; only sending can say so, because a source that fails may well raise an OSError of its own."""


async def _deliver(send: Any, frame: bytes) -> None:
    try:
        await send({"type": "http.response.body", "body": frame, "more_body": True})
    except OSError as error:
        raise _Gone from error


async def until_gone(receive: Any) -> None:
    """Wait until the client disconnects or its credential ends."""
    await _reason_of_end(receive)


async def _reason_of_end(receive: Any) -> Reason | None:
    """The same; that its credential has ended is a reason that the client can be told."""
    try:
        while (await receive())["type"] != "http.disconnect":
            pass
    except CredentialEnded:
        return "signed_out"
    return None
