"""A server with one route more: a stream on which nothing ever happens. Its handlers, and the process that serves them."""

import argparse
import asyncio
import sys
from collections.abc import AsyncGenerator

import msgspec

from atrium.boot.assemble import assemble
from atrium.boot.serve import bind, run
from atrium.boot.wiring import DOMAINS
from atrium.kit.telemetry.log import set_up_logging
from atrium.routes import ROUTES
from atrium.seams.context import Operation
from atrium.seams.routes import BEARER, GET, EventStream, SseEvent
from atrium.seams.settings import read_settings
from atrium.seams.wiring import Domain

WATCH, COUNT = "/api/idle", "/api/idle/count"
_open = [0]


class Sources(msgspec.Struct, frozen=True):
    """How many sources are open in this process."""

    open: int


async def watch_nothing(op: Operation) -> EventStream:
    """Events that never come."""
    return EventStream(_silence())


async def count_sources(op: Operation) -> Sources:
    """How many streams have not been closed."""
    return Sources(_open[0])


async def _silence() -> AsyncGenerator[SseEvent, None]:
    _open[0] += 1
    try:
        await asyncio.Event().wait()
        yield SseEvent("never", None)
    finally:
        _open[0] -= 1


def main() -> None:
    """Serve with the settings of the environment, the database as it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    settings = read_settings()
    set_up_logging(settings.log_level)
    # Run as a program this module is `__main__`, and the handlers are looked for in the module that names them.
    idle = Domain("idle", sys.modules[__name__])
    routes = (GET(WATCH, "idle.watch_nothing", BEARER), GET(COUNT, "idle.count_sources", BEARER))
    run(assemble(settings, (*ROUTES, *routes), (*DOMAINS, idle)), bind("127.0.0.1", options.port))


if __name__ == "__main__":
    main()
