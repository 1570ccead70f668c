"""One run of load against one server: wrk where there is one, our own generator elsewhere."""

import asyncio
import shutil
import sys
from enum import StrEnum
from pathlib import Path

import msgspec

from benchmarks.processes import Cores, Server, pinned

CONNECTIONS = 16
_SCRIPT = Path(__file__).with_name("requests.lua")


class Kind(StrEnum):
    """The requests, in the order they are measured: what writes comes last, so that no reading meets its traces."""

    READ = "read"
    LIST = "list"
    SEARCH = "search"
    CREATE = "create"


# What an app without an index understands, and a database whose index was not filled.
WITHOUT_INDEX = (Kind.READ, Kind.LIST, Kind.CREATE)


class _Outcome(msgspec.Struct):
    requests: int
    seconds: float
    p50_ms: float
    p99_ms: float
    failed: int


class Run(msgspec.Struct, frozen=True):
    """What one server did under one kind of request."""

    per_second: float
    p50_ms: float
    p99_ms: float
    cpu_us: float


class LoadFailed(RuntimeError):
    """A request was refused or the generator broke: the figures would mean nothing."""


def generator_name() -> str:
    """Which generator this machine has."""
    return "wrk" if shutil.which("wrk") else "benchmarks.generator"


async def run(server: Server, kind: Kind, targets: Path, seconds: int, cores: Cores) -> Run:
    """Drive the server for some seconds; its own processor time is counted, nobody else's."""
    before = server.cpu_seconds()
    outcome = await _generate(server.port, kind, targets, seconds, cores)
    spent = server.cpu_seconds() - before
    if outcome.failed or not outcome.requests:
        raise LoadFailed(f"{outcome.failed} of {outcome.requests} requests to {server.name} failed ({kind})")
    return Run(outcome.requests / outcome.seconds, outcome.p50_ms, outcome.p99_ms, spent / outcome.requests * 1e6)


async def _generate(port: int, kind: Kind, targets: Path, seconds: int, cores: Cores) -> _Outcome:
    process = await asyncio.create_subprocess_exec(
        *_command(port, kind, targets, seconds), stdout=asyncio.subprocess.PIPE, preexec_fn=pinned(cores.rest)
    )
    printed, _ = await process.communicate()
    if process.returncode:
        raise LoadFailed(f"the generator ended with {process.returncode}")
    return msgspec.json.decode(printed.strip().rpartition(b"\n")[2], type=_Outcome)


def _command(port: int, kind: Kind, targets: Path, seconds: int) -> list[str]:
    wrk = shutil.which("wrk")
    if wrk:
        address = f"http://127.0.0.1:{port}"
        return [wrk, "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", f"-s{_SCRIPT}", address, "--", kind, str(targets)]
    options = ["--port", str(port), "--connections", str(CONNECTIONS), "--seconds", str(seconds)]
    return [sys.executable, "-m", "benchmarks.generator", *options, kind, str(targets)]
