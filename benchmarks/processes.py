"""Server processes, each pinned to a core, asleep while another one is measured."""

import asyncio
import contextlib
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.postgres import run_as_owner
from tests.support.processes import environment, free_port
from tests.support.servers import SECRET

POOL = 10
_START_SECONDS = 30
# PostgreSQL numbers its own processes; only a backend on this machine may be pinned, and not our own session.
_BACKENDS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


@dataclass(frozen=True, slots=True)
class Cores:
    """Where the server under test runs, and where everything else does; both None on a machine with one core."""

    server: int | None
    rest: int | None

    @staticmethod
    def of_this_machine() -> "Cores":
        usable = sorted(os.sched_getaffinity(0))
        return Cores(usable[0], usable[1]) if len(usable) > 1 else Cores(None, None)


@dataclass(slots=True)
class Server:
    """A process under test and the database it serves."""

    name: str
    port: int
    database_url: str
    process: asyncio.subprocess.Process

    @property
    def inspected(self) -> psutil.Process:
        return psutil.Process(self.process.pid)

    def cpu_seconds(self) -> float:
        times = self.inspected.cpu_times()
        return times.user + times.system

    def resident_bytes(self) -> int:
        return int(self.inspected.memory_info().rss)

    def sleep(self) -> None:
        self.inspected.suspend()

    def wake(self) -> None:
        self.inspected.resume()


def pinned(core: int | None) -> Callable[[], None] | None:
    """What a child process does before it becomes the program."""
    if core is None:
        return None
    return lambda: os.sched_setaffinity(0, {core})


def atrium(url: str, name: str = "atrium") -> "Starting":
    """The real thing: `atrium serve`, everything on; only the rate limit is out of the generator's way."""
    return Starting(name, url, ["-m", "atrium", "serve"])


def atrium_of(checkout: Path, url: str) -> "Starting":
    """The `atrium serve` of another checkout, by that checkout's own interpreter."""
    return Starting(str(checkout), url, ["-m", "atrium", "serve"], str(interpreter_of(checkout)))


def interpreter_of(checkout: Path) -> Path:
    """The Python of a checkout that `make setup` has prepared."""
    return checkout.absolute() / ".venv" / "bin" / "python"


def bare(url: str) -> "Starting":
    """The yardstick."""
    return Starting("bare", url, ["-m", "benchmarks.bare"])


@dataclass(frozen=True, slots=True)
class Starting:
    """A server to be started: `python <arguments> --port N` with the settings both kinds read."""

    name: str
    database_url: str
    arguments: Sequence[str]
    python: str = sys.executable
    settings: Mapping[str, object] = field(default_factory=dict)
    # Beside the settings.
    variables: Mapping[str, str] = field(default_factory=dict)

    @asynccontextmanager
    async def on(self, core: int | None) -> AsyncIterator[Server]:
        """Started and answering; stopped at the end, and expected to stop well."""
        with tempfile.TemporaryDirectory(prefix="atrium-bench-") as folder:
            port = free_port()
            process = await self._start(Path(folder), port, core)
            try:
                await _until_answering(process, port, Path(folder))
                yield Server(self.name, port, self.database_url, process)
            finally:
                await _stop(process)

    async def _start(self, folder: Path, port: int, core: int | None) -> asyncio.subprocess.Process:
        seen = environment(
            database_url=self.database_url,
            database_pool=POOL,
            secret_key=SECRET,
            data_dir=folder,
            rate_per_credential=100_000_000,
            **self.settings,
        )
        with (folder / "access.log").open("wb") as out, (folder / "errors.log").open("wb") as errors:
            return await asyncio.create_subprocess_exec(
                self.python,
                *self.arguments,
                "--port",
                str(port),
                env=seen | dict(self.variables),
                stdout=out,
                stderr=errors,
                preexec_fn=pinned(core),
            )


async def pin_backends(server: Server, core: int | None) -> None:
    """Move the server's database sessions to a core, where this machine and its rights allow it."""
    if core is None:
        return
    for (pid,) in await run_as_owner(server.database_url, _BACKENDS):
        with contextlib.suppress(psutil.Error, PermissionError):
            if psutil.Process(pid).name().startswith("postgres"):
                os.sched_setaffinity(pid, {core})


async def _until_answering(process: asyncio.subprocess.Process, port: int, folder: Path) -> None:
    async with asyncio.timeout(_START_SECONDS):
        while process.returncode is None:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.02)
                continue
            writer.close()
            await writer.wait_closed()
            return
    raise RuntimeError(f"the server did not start:\n{(folder / 'errors.log').read_text()}")


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        psutil.Process(process.pid).resume()
        process.terminate()
    await process.wait()
