"""Routes that exist only in tests: streams whose source a test holds in its hands, and a handler that breaks."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from atrium.seams.context import Operation
from atrium.seams.routes import ANY, BEARER, GET, POST, PUBLIC, EventStream, Route, SseEvent, section

ROUTES: tuple[Route, ...] = section(
    "Only in tests",
    POST("/api/test/streams/:name", "odd.watch", BEARER, accepts=ANY),
    GET("/api/test/streams/:name", "odd.look", BEARER, accepts=ANY),
    GET("/api/test/broken", "odd.break_down", PUBLIC),
)


@dataclass(slots=True)
class Source:
    """What a stream sends is put in here; None ends it, an exception breaks it."""

    coming: asyncio.Queue[SseEvent | BaseException | None] = field(default_factory=asyncio.Queue)
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def events(self) -> AsyncGenerator[SseEvent, None]:
        try:
            while (item := await self.coming.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            self.closed.set()


SOURCES: dict[str, Source] = {}


async def watch(op: Operation, name: str) -> EventStream:
    """Whatever the test sends."""
    return EventStream(SOURCES[name].events())


async def look(op: Operation, name: str) -> EventStream:
    """The same, by reading."""
    return EventStream(SOURCES[name].events())


async def break_down(op: Operation) -> None:
    """Never answers well."""
    raise RuntimeError("a secret detail")
