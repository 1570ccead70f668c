"""The serving process: uvicorn with bounded connections, and a stop that loses nothing."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable
from contextvars import Context
from pathlib import Path
from types import FrameType

import uvicorn

from atrium import __version__
from atrium.admin.backups.folder import BackupBusy
from atrium.admin.instance import service as instance
from atrium.boot.assemble import Application, assemble
from atrium.boot.connection import Connection
from atrium.boot.instance import back_up
from atrium.boot.requirements import (
    StartRefused,
    explain_database_errors,
    opened_unjudged,
    require_at_head,
    require_known_database,
    require_known_schema,
    require_usable,
)
from atrium.boot.supervisor import Supervisor
from atrium.kit.crypto.keys import Keyring, read_secret
from atrium.kit.postgres.migrate import migrate
from atrium.kit.telemetry.log import log, set_up_logging
from atrium.kit.telemetry.traces import Telemetry, TelemetryMissing, open_telemetry
from atrium.seams.settings import Settings, chose_sampler, wants_traces

Progress = Callable[[int, int, str], None]
_BUSY_SECONDS = 0.5


class Server(uvicorn.Server):
    """Says when it listens; on the first signal turns unready, ends streams, and lets requests in flight finish."""

    def __init__(self, config: uvicorn.Config, application: Application, announce: str) -> None:
        super().__init__(config)
        self._application, self._announce = application, announce
        self._supervisor = Supervisor()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        except OSError as error:
            # Another process bound the same port at the same moment and was first to listen.
            await self.lifespan.shutdown()
            raise StartRefused(f"cannot listen: {error.strerror}; choose another port with --port") from error
        if self.started:
            self._supervisor.ready()
            log.info("serve.listening", address=[sock.getsockname()[:2] for sock in sockets or ()])
            if self._announce:
                print(self._announce, flush=True)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # A signal interrupts whatever runs: without a context of its own it would be logged as part of some request.
        Context().run(self._drain, sig)

    def _drain(self, sig: int) -> None:
        # Not passed on: uvicorn would raise the signal once more at the end, and a clean stop would look like a death.
        self._application.services.state.draining = True
        self._application.app.streams.stop()
        self._application.services.wait_queues.release()
        self._application.services.compute.drain()
        self._supervisor.stopping()
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
        option = "--host" if isinstance(error, socket.gaierror) else "--port"
        raise StartRefused(f"cannot listen on {host}:{port}: {error.strerror}; choose another with {option}") from error
    return sock


async def prepare_database(settings: Settings, progress: Progress | None = None) -> None:
    """Migrate the schema, unless a separate step does it."""
    if not settings.migrate:
        return
    await _back_up_before(settings)
    with explain_database_errors():
        applied = await migrate(settings.database_owner_url or settings.database_url, progress=progress or _logged)
    if applied and progress is None:
        log.info("migrate.applied", migrations=applied)


async def _back_up_before(settings: Settings) -> None:
    """A way back from a migration, where a folder for backups is set; a start whose backup fails migrates nothing."""
    missing = await require_known_schema(settings)
    while settings.backup_dir and missing and not missing[0].startswith("0001_"):
        try:
            backup, _ = await back_up(settings, Path(settings.backup_dir))
        except BackupBusy:
            # Another process is about to migrate the same database: by the time it is done there is nothing left to do.
            await asyncio.sleep(_BUSY_SECONDS)
            missing = await require_known_schema(settings)
        else:
            log.info("backup.made", backup=backup.name, before=missing[0])
            return


def _logged(number: int, count: int, name: str) -> None:
    log.info("migrate.applying", migration=name, number=number, of=count)


async def keep_key(settings: Settings) -> None:
    """Remember the key of a new database; refuse one that another process was faster to replace."""
    keys = Keyring(read_secret(settings.secret_key, settings.data_dir))
    async with opened_unjudged(settings) as database:
        await instance.require_same_key(database, keys)


def prepare(settings: Settings, progress: Progress | None = None) -> Application:
    """The application, after all checks passed and the database is at head; a refused start migrates nothing."""
    require_usable(settings)
    missing = asyncio.run(require_known_database(settings))
    if not settings.migrate:
        require_at_head(missing)
    application = assemble(settings, telemetry=_telemetry())
    asyncio.run(_bring_up(settings, progress))
    for plugin, reason in application.services.registry.failed_plugins.items():
        log.error("plugin.refused", plugin=plugin, reason=reason)
    return application


def _telemetry() -> Telemetry | None:
    if not wants_traces():
        return None
    try:
        return open_telemetry(__version__, sampler_chosen=chose_sampler())
    except TelemetryMissing as error:
        # Many machines set these variables for everything that runs on them.
        log.error("telemetry.missing", error=str(error))
        return None


async def _bring_up(settings: Settings, progress: Progress | None) -> None:
    await prepare_database(settings, progress)
    await keep_key(settings)


def serve(settings: Settings, host: str, port: int) -> None:
    """Serve until told to stop."""
    serve_socket(settings, bind(host, port))


def serve_socket(
    settings: Settings, sock: socket.socket, *, announce: str = "", progress: Progress | None = None
) -> None:
    """Serve on a bound socket until told to stop; `announce` is printed once it listens, `progress` hears of migrations."""
    set_up_logging(settings.log_level)
    # Ctrl-C is a wish, not a failure, also before there is anything to drain.
    with contextlib.suppress(KeyboardInterrupt), contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(sock)]
        if settings.s3_port:
            sockets.append(stack.enter_context(bind(sock.getsockname()[0], settings.s3_port)))
        run(prepare(settings, progress), *sockets, announce=announce)


def run(application: Application, *sockets: socket.socket, announce: str = "") -> None:
    """Answer requests until told to stop."""
    settings = application.services.settings
    patience = {"head_seconds": settings.header_timeout, "send_seconds": settings.send_timeout}
    protocol = type("PatientConnection", (Connection,), patience)
    config = uvicorn.Config(
        application.app,
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
    Server(config, application, announce).run(list(sockets))
