"""The serving process: uvicorn with deadlines on request heads, and a stop that loses nothing."""

import asyncio
import contextlib
import signal
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from atrium.boot.assemble import House, assemble
from atrium.kit.log import log, set_up_logging
from atrium.kit.migrate import MigrationRefused, migrate, pending
from atrium.kit.settings import Settings


class DeadlinedProtocol(HttpToolsProtocol):
    """Closes a connection whose request head does not arrive in time; a dribbling client holds nothing."""

    head_seconds: float = 15

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._deadline: asyncio.TimerHandle | None = None
        self._await_head()

    def data_received(self, data: bytes) -> None:
        if self._deadline is None and self.cycle is not None and self.cycle.response_complete:
            self._await_head()
        super().data_received(data)

    def on_headers_complete(self) -> None:
        self._head_is_here()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_here()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._deadline = self.loop.call_later(self.head_seconds, self.transport.close)

    def _head_is_here(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class Server(uvicorn.Server):
    """Turns unready on the first signal, ends streams, and lets requests in flight finish."""

    def __init__(self, config: uvicorn.Config, house: House) -> None:
        super().__init__(config)
        self._house = house

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._house.services.state.draining = True
        self._house.app.streams.stop()
        log.info("serve.draining", signal=signal.Signals(sig).name)
        super().handle_exit(sig, frame)


async def prepare_database(settings: Settings) -> None:
    """Bring the schema to head, or refuse to serve on one that is not."""
    owner = settings.database_owner_url or settings.database_url
    if settings.migrate:
        for name in await migrate(owner):
            log.info("migrate.applied", migration=name)
    elif missing := await pending(settings.database_url):
        raise MigrationRefused(f"the schema is behind ({', '.join(missing)}); run `atrium migrate` first")


def serve(settings: Settings, host: str, port: int, *, announce: str = "") -> None:
    """Serve until told to stop."""
    set_up_logging(settings.log_level)
    asyncio.run(prepare_database(settings))
    house = assemble(settings)
    for plugin, reason in house.services.registry.failed_plugins.items():
        log.error("plugin.refused", plugin=plugin, reason=reason)
    protocol = type("Protocol", (DeadlinedProtocol,), {"head_seconds": settings.header_timeout})
    config = uvicorn.Config(
        house.app,
        host=host,
        port=port,
        loop="uvloop",
        http=protocol,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies or None,
        timeout_keep_alive=75,
        backlog=2048,
        ws="none",
        timeout_graceful_shutdown=settings.drain_seconds,
        h11_max_incomplete_event_size=None,
    )
    server = Server(config, house)
    log.info("serve.starting", host=host, port=port)
    if announce:
        print(announce, flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        server.run()
