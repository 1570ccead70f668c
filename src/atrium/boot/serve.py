"""The serving process: uvicorn with deadlines on request heads, and a stop that loses nothing."""

import asyncio
import contextlib
import signal
import socket
import ssl
from types import FrameType
from typing import Any

import asyncpg
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from atrium.admin.instance import service as instance
from atrium.boot.assemble import House, assemble
from atrium.kit.database import Database
from atrium.kit.keys import Keyring, read_secret
from atrium.kit.log import log, set_up_logging
from atrium.kit.migrate import MigrationRefused, migrate, pending
from atrium.kit.settings import Settings

_UNREACHABLE = (
    OSError,
    TimeoutError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.exceptions.ClientConfigurationError,
)


class StartRefused(SystemExit):
    """This process cannot serve; the message says why and what to change."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"atrium: {reason}")


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
    """Says when it listens; on the first signal turns unready, ends streams, and lets requests in flight finish."""

    def __init__(self, config: uvicorn.Config, house: House, announce: str) -> None:
        super().__init__(config)
        self._house, self._announce = house, announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        except OSError as error:
            # Another process bound the same port at the same moment and was first to listen.
            await self.lifespan.shutdown()
            raise StartRefused(f"cannot listen: {error.strerror}; choose another port with --port") from error
        if self.started:
            log.info("serve.listening", address=[sock.getsockname()[:2] for sock in sockets or ()])
            if self._announce:
                print(self._announce, flush=True)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # Not passed on: uvicorn would raise the signal once more at the end, and a clean stop would look like a death.
        self._house.services.state.draining = True
        self._house.app.streams.stop()
        self._house.services.lines.release()
        log.info("serve.draining", signal=signal.Signals(sig).name)
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self.should_exit = True


def bind(host: str, port: int) -> socket.socket:
    """A socket that holds the address but does not listen yet: a taken port is found before any work is done."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
        sock = socket.socket(family, kind, protocol)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(address)
        except BaseException:
            sock.close()
            raise
    except OSError as error:
        raise StartRefused(f"cannot listen on {host}:{port}: {error.strerror}; choose another with --port") from error
    return sock


async def prepare_database(settings: Settings) -> None:
    """Bring the schema to head, or refuse to serve on one that is not."""
    owner = settings.database_owner_url or settings.database_url
    try:
        if settings.migrate:
            if applied := await migrate(owner):
                log.info("migrate.applied", migrations=applied)
        elif missing := await pending(settings.database_url):
            raise MigrationRefused(f"the schema is behind ({', '.join(missing)}); run `atrium migrate` first")
    except _UNREACHABLE as error:
        raise StartRefused(f"the database cannot be reached: {error}; look at SERVICE_DATABASE_URL") from error


async def require_same_key(settings: Settings) -> None:
    """Refuse a key that is too short, or that is not the one this database's secrets were sealed with."""
    try:
        keys = Keyring(read_secret(settings.secret_key, settings.data_dir))
    except ValueError as error:
        raise StartRefused(str(error)) from error
    database = Database(settings.database_url, pool_size=1, statement_cache=settings.database_statement_cache)
    try:
        await database.open()
        await instance.require_same_key(database, keys)
    except _UNREACHABLE as error:
        raise StartRefused(f"the database cannot be reached: {error}; look at SERVICE_DATABASE_URL") from error
    finally:
        await database.close()


def require_certificate(settings: Settings) -> None:
    """Refuse a certificate or key that cannot be used, before anything else is done."""
    if not settings.tls_certificate and not settings.tls_key:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.tls_certificate, settings.tls_key or None)
    except (OSError, ssl.SSLError) as error:
        raise StartRefused(
            f"the certificate cannot be used: {error}; look at SERVICE_TLS_CERTIFICATE and SERVICE_TLS_KEY"
        ) from error


async def prepare(settings: Settings) -> None:
    """Everything that must hold before this process may use the database."""
    await prepare_database(settings)
    await require_same_key(settings)


def serve(settings: Settings, host: str, port: int) -> None:
    """Serve until told to stop."""
    serve_on(settings, bind(host, port))


def serve_on(settings: Settings, sock: socket.socket, *, announce: str = "") -> None:
    """Serve on a bound socket until told to stop; `announce` is printed once it listens."""
    set_up_logging(settings.log_level)
    # Ctrl-C is a wish, not a failure, also before there is anything to drain.
    with contextlib.suppress(KeyboardInterrupt), contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(sock)]
        if settings.s3_port:
            sockets.append(stack.enter_context(bind(sock.getsockname()[0], settings.s3_port)))
        require_certificate(settings)
        asyncio.run(prepare(settings))
        house = assemble(settings)
        for plugin, reason in house.services.registry.failed_plugins.items():
            log.error("plugin.refused", plugin=plugin, reason=reason)
        run(house, *sockets, announce=announce)


def run(house: House, *sockets: socket.socket, announce: str = "") -> None:
    """Answer requests with an assembled house until told to stop."""
    settings = house.services.settings
    protocol = type("Protocol", (DeadlinedProtocol,), {"head_seconds": settings.header_timeout})
    config = uvicorn.Config(
        house.app,
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
        ssl_certfile=settings.tls_certificate or None,
        ssl_keyfile=settings.tls_key or None,
        h11_max_incomplete_event_size=None,
    )
    Server(config, house, announce).run(list(sockets))
