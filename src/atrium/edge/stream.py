"""Server-sent events that always close their source, whether the stream ends, fails, the client leaves or we stop."""

import asyncio
from typing import Any

import msgspec

from atrium.seams.routes import Event, EventStream

PING_SECONDS = 15
_PING = b": ping\n\n"


class Streams:
    """The streams open in this process, so that a stopping process can end them all."""

    def __init__(self) -> None:
        self._stops: set[asyncio.Future[None]] = set()
        self._stopping = False

    def stop(self) -> None:
        """End every stream after the event it is at; new ones end at once."""
        self._stopping = True
        for stop in self._stops:
            if not stop.done():
                stop.set_result(None)

    async def send(self, stream: EventStream, receive: Any, send: Any) -> None:
        """Send until the source ends or nobody wants more, then close the source before returning."""
        stop = asyncio.get_running_loop().create_future()
        self._stops.add(stop)
        if self._stopping:
            stop.set_result(None)
        gone = asyncio.ensure_future(until_gone(receive))
        try:
            await self._pump(stream, send, {stop, gone})
        except _Gone:
            pass
        finally:
            self._stops.discard(stop)
            gone.cancel()
            await stream.events.aclose()

    async def _pump(self, stream: EventStream, send: Any, ends: set[asyncio.Future[None]]) -> None:
        number = 0
        coming: asyncio.Task[Event] | None = None
        try:
            while True:
                coming = coming or asyncio.ensure_future(_next(stream))
                waiting: set[asyncio.Future[Any]] = {coming, *ends}
                done, _ = await asyncio.wait(waiting, timeout=PING_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                if done & ends:
                    return
                if coming not in done:
                    await _deliver(send, _PING)
                    continue
                number += 1
                await _deliver(send, _frame(number, coming.result()))
                coming = None
        except StopAsyncIteration:
            return
        finally:
            if coming is not None:
                coming.cancel()
                await asyncio.wait({coming})


async def _next(stream: EventStream) -> Event:
    try:
        return await anext(stream.events)
    except StopAsyncIteration as end:
        # A task cannot raise StopAsyncIteration's cousin StopIteration; keep the meaning, lose nothing.
        raise _Ended from end


class _Ended(StopAsyncIteration):
    pass


class _Gone(Exception):
    """The connection broke; only sending can say so, because a source that fails may well raise an OSError of its own."""


async def _deliver(send: Any, frame: bytes) -> None:
    try:
        await send({"type": "http.response.body", "body": frame, "more_body": True})
    except OSError as error:
        raise _Gone from error


async def until_gone(receive: Any) -> None:
    """Wait until the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _frame(number: int, event: Event) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, event.name.encode(), msgspec.json.encode(event.data))
