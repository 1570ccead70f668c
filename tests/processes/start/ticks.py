"""A domain that only these tests assemble: a stream that never ends by itself."""

import asyncio
from collections.abc import AsyncGenerator

from atrium.seams.context import Operation
from atrium.seams.routes import ANY, BEARER, GET, EventStream, Route, SseEvent, section

ROWS: tuple[Route, ...] = section("Ticks", GET("/api/ticks", "ticks.stream_ticks", BEARER, accepts=ANY))


async def stream_ticks(op: Operation) -> EventStream:
    """Ticks for ever."""
    return EventStream(_ticks())


async def _ticks() -> AsyncGenerator[SseEvent, None]:
    try:
        number = 0
        while True:
            yield SseEvent("tick", number)
            number += 1
            await asyncio.sleep(0.05)
    finally:
        print("the source of ticks was closed", flush=True)
