"""A domain that only these tests assemble: a stream that never ends by itself."""

import asyncio
from collections.abc import AsyncGenerator

from atrium.seams.context import Operation
from atrium.seams.routes import BEARER, GET, Event, EventStream, Route, section

ROWS: tuple[Route, ...] = section("Ticks", GET("/api/ticks", "ticks.stream_ticks", BEARER))


async def stream_ticks(op: Operation) -> EventStream:
    """Ticks for ever."""
    return EventStream(_ticks())


async def _ticks() -> AsyncGenerator[Event, None]:
    try:
        number = 0
        while True:
            yield Event("tick", number)
            number += 1
            await asyncio.sleep(0.05)
    finally:
        print("the source of ticks was closed", flush=True)
