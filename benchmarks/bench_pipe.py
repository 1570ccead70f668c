"""What carrying a thousand model streams costs beside a proxy that copies bytes and checks nothing, all taking turns in one run.

`pipe` is the wire and the event stream alone. `atrium` is `atrium serve` on PostgreSQL: credential, admission, every piece stored,
settlement. `litellm` is LiteLLM's proxy as `benchmarks/litellm.lock` pins it, in an environment of its own, without a database and
with its logging off; it is given a tenth of the streams, which is what one process of it carries without falling behind.
"""

import argparse
import asyncio
import contextlib
import json
import re
import secrets
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import uvloop

from benchmarks.generator import quantile
from benchmarks.processes import Cores, Starting
from benchmarks.seed import seed
from tests.postgres import fresh_database, run_as_owner
from tests.support.processes import free_port

GOAL_PROCESSOR, GOAL_BEHIND, GOAL_BYTES = 2.0, 1.0, 48 * 1024
GOAL_FIRST = {0.5: 0.040, 0.99: 0.400}
GOAL_LITELLM = 0.15
NAMES = ("proxy", "pipe", "atrium", "litellm")
USUAL = ("proxy", "pipe", "atrium")
ENVIRONMENT = Path(".venv-litellm")
_BESIDE_SECONDS = 20.0
_WORD = re.compile(rb"word(\d+)")


@dataclass(frozen=True, slots=True)
class Target:
    """A process that carries streams, and how it is asked."""

    process: psutil.Process
    port: int
    path: str = "/"
    token: str = ""
    # Whether it takes a question as OpenAI's API does.
    openai: bool = False

    def question(self, load: "Load") -> bytes:
        """The body that asks for so many words at such a rate."""
        words = f"{load.pieces} {load.rate:g}"
        if not self.openai:
            return json.dumps({"prompt": words}).encode()
        message = {"role": "user", "content": words}
        return json.dumps({"model": "m", "messages": [message], "stream": True}).encode()

    def request(self, body: bytes, path: str = "") -> bytes:
        """One request of HTTP/1.1."""
        head = f"POST {path or self.path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        head += f"authorization: Bearer {self.token}\r\n" if self.token else ""
        return head.encode() + b"content-length: %d\r\n\r\n%b" % (len(body), body)


@dataclass(frozen=True, slots=True)
class Carried:
    """One round through one app."""

    whole: int
    microseconds: float
    first: list[float]
    behind: list[float]
    bytes_a_stream: float


@dataclass(slots=True)
class Found:
    """All rounds, and how long another request took at Atrium with the streams and without."""

    rounds: dict[str, list[Carried]] = field(default_factory=dict)
    beside: list[float] = field(default_factory=list)
    idle: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Load:
    """How many streams, how long and how fast each, and in which time they are opened."""

    streams: int
    pieces: int
    rate: float
    opened_over: float


async def measure(load: Load, rounds: int, names: tuple[str, ...]) -> Found:
    """The apps taking turns."""
    found = Found({name: [] for name in names})
    cores = Cores.of_this_machine()
    async with _process(cores.rest, "benchmarks.model_stand_in", model := free_port()):
        url = f"http://127.0.0.1:{model}"
        for number in range(rounds):
            for name in names if number % 2 else reversed(names):
                async with _target(name, cores, url) as target:
                    await _carry(target, Load(20, 5, 5, 0.1))
                    share = load if name != "litellm" else replace(load, streams=load.streams // 10)
                    found.rounds[name].append(await _carry(target, share))
                    print(f"{name}: {found.rounds[name][-1].whole} whole, {_told(found.rounds[name][-1])}", flush=True)
                    if name == "atrium":
                        found.idle += await _ask_beside(target, _BESIDE_SECONDS)
                        found.beside += await _while_carrying(target, load)
    return found


async def _while_carrying(target: Target, load: Load) -> list[float]:
    """How long another request takes while the streams are told; they are all open by then, and counted apart."""
    carrying = asyncio.create_task(
        _carry(target, replace(load, pieces=int(load.rate * (_BESIDE_SECONDS + load.opened_over))))
    )
    await asyncio.sleep(load.opened_over)
    taken = await _ask_beside(target, _BESIDE_SECONDS)
    await carrying
    return taken


@asynccontextmanager
async def _target(name: str, cores: Cores, url: str) -> AsyncIterator[Target]:
    if name == "litellm":
        async with _litellm(cores.server, url) as target:
            yield target
        return
    if name != "atrium":
        port = free_port()
        async with _process(cores.server, "benchmarks.pipes", name, port, url) as process:
            yield Target(process, port)
        return
    async with fresh_database() as database:
        token = (await seed(database, companies=1, notes=2))[0].token
        starting = Starting("atrium", database, ["-m", "atrium", "serve"], settings={"local_model_url": url})
        async with starting.on(cores.server) as server:
            yield Target(server.inspected, server.port, "/api/ai/chat/stream", token)
        if rows := await run_as_owner(
            database,
            "SELECT state, ending ->> 'code' AS code, count(*) FROM turns WHERE state <> 'finished' GROUP BY 1, 2",
        ):
            raise RuntimeError(f"turns that did not come to their end: {[dict(row) for row in rows]}")


@asynccontextmanager
async def _litellm(core: int | None, url: str) -> AsyncIterator[Target]:
    """LiteLLM's proxy with what its documentation recommends for speed: one worker a core, nothing logged, nothing looked up.

    It refuses to start without a key of its own, which it compares with the caller's.
    """
    program = await asyncio.to_thread(_installed_litellm)
    port, key = free_port(), f"sk-{secrets.token_hex(32)}"
    with TemporaryDirectory(prefix="atrium-litellm-") as folder:
        settings = Path(folder, "settings.json")
        model = {"model": "openai/m", "api_base": f"{url}/v1", "api_key": "x"}
        quiet = {"telemetry": False, "disable_streaming_logging": True, "set_verbose": False, "num_retries": 0}
        settings.write_text(
            json.dumps({"model_list": [{"model_name": "m", "litellm_params": model}], "litellm_settings": quiet})
        )
        child = await asyncio.create_subprocess_exec(
            program, "--config", str(settings), "--port", str(port), "--host", "127.0.0.1", "--num_workers", "1",
            env={"PATH": str(program.parent), "LITELLM_LOG": "ERROR", "LITELLM_MODE": "PRODUCTION", "HOME": folder,
                 "LITELLM_LOCAL_MODEL_COST_MAP": "True", "NO_DOCS": "True", "LITELLM_MASTER_KEY": key},
            stdout=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        process = psutil.Process(child.pid)
        if core is not None:
            process.cpu_affinity([core])
        try:
            await _until_open(port, 240, child)
            yield Target(process, port, "/v1/chat/completions", key, openai=True)
        finally:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            await child.wait()


def _installed_litellm() -> Path:
    program, uv = ENVIRONMENT / "bin/litellm", Path(sys.executable).with_name("uv")
    if not program.exists():
        lock = Path(__file__).with_name("litellm.lock")
        subprocess.run([uv, "venv", "-q", ENVIRONMENT], check=True)
        python = ENVIRONMENT / "bin/python"
        subprocess.run([uv, "pip", "install", "-q", "--python", python, "--require-hashes", "-r", lock], check=True)
    return program.absolute()


async def _carry(target: Target, load: Load) -> Carried:
    before, resident = target.process.cpu_times(), target.process.memory_info().rss
    listening = []
    for _ in range(load.streams):
        listening.append(asyncio.create_task(_listen(target, load)))
        await asyncio.sleep(load.opened_over / load.streams)
    heaviest = target.process.memory_info().rss
    heard = await asyncio.gather(*listening)
    after = target.process.cpu_times()
    spent = after.user + after.system - before.user - before.system
    count = sum(words for _, words, _ in heard)
    whole = sum(words == load.pieces for _, words, _ in heard)
    return Carried(
        whole,
        spent / max(count, 1) * 1e6,
        sorted(first for first, _, _ in heard),
        sorted(behind for _, _, behind in heard),
        (heaviest - resident) / load.streams,
    )


async def _listen(target: Target, load: Load) -> tuple[float, int, float]:
    """Seconds to the first word, how many words came, and how far the latest of them was behind."""
    started = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
    writer.write(target.request(target.question(load)))
    first, count, behind = 0.0, 0, 0.0
    while data := await reader.read(65536):
        # The last event repeats the whole reply.
        words = _WORD.findall(data.partition(b"event: done")[0])
        if words:
            first = first or time.perf_counter() - started
            behind = max(behind, time.monotonic() - int(words[0]) / 1000)
            count += len(words)
        if data.endswith(b"0\r\n\r\n"):
            break
    writer.close()
    return first, count, behind


async def _ask_beside(target: Target, seconds: float) -> list[float]:
    """How long a small request takes, twenty times a second."""
    taken: list[float] = []
    reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
    head = f"GET /api/whoami HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {target.token}\r\n\r\n".encode()
    with contextlib.suppress(asyncio.CancelledError):
        for _ in range(int(seconds * 20)):
            started = time.perf_counter()
            writer.write(head)
            length = re.search(rb"content-length: (\d+)", await reader.readuntil(b"\r\n\r\n"))
            json.loads(await reader.readexactly(int(length[1]) if length else 0))
            taken.append(time.perf_counter() - started)
            await asyncio.sleep(0.05)
    writer.close()
    return taken


@asynccontextmanager
async def _process(core: int | None, module: str, *arguments: object) -> AsyncIterator[psutil.Process]:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, *map(str, arguments), stdout=asyncio.subprocess.DEVNULL
    )
    process = psutil.Process(child.pid)
    if core is not None:
        process.cpu_affinity([core])
    port = next(int(text) for text in map(str, arguments) if text.isdecimal())
    try:
        await _until_open(port)
        yield process
    finally:
        child.kill()
        await child.wait()


async def _until_open(port: int, seconds: float = 60, child: asyncio.subprocess.Process | None = None) -> None:
    async with asyncio.timeout(seconds):
        while True:
            if child is not None and child.returncode is not None:
                raise RuntimeError("the server ended before it listened; what it wrote is above")
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return
            await asyncio.sleep(0.1)


def main() -> int:
    """Print the figures; fail when a stream is short or a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--pieces", type=int, default=300)
    parser.add_argument("--rate", type=float, default=5)
    parser.add_argument("--over", type=float, default=20, help="seconds in which the streams are opened")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=list(USUAL))
    given = parser.parse_args()
    load = Load(given.streams, given.pieces, given.rate, given.over)
    found = uvloop.run(measure(load, given.rounds, tuple(given.only)))
    missed = [*_missed(found, load)]
    print("\n".join(missed) or "every goal is met")
    return 1 if missed else 0


def _told(one: Carried) -> str:
    p50, p99 = quantile(one.first, 0.5), quantile(one.first, 0.99)
    first = f"first word {p50 * 1000:.0f} ms p50 and {p99 * 1000:.0f} ms p99"
    behind = f"furthest behind {one.behind[-1]:.2f} s"
    return f"{one.microseconds:.1f} µs an event, {first}, {behind}, {one.bytes_a_stream / 1024:.0f} KiB a stream"


def _missed(found: Found, load: Load) -> list[str]:
    missed = [
        f"{name}: {load.streams - one.whole} streams are short"
        for name, rounds in found.rounds.items()
        for one in rounds
        if name != "litellm" and one.whole != load.streams
    ]
    if {"atrium", "litellm"} <= found.rounds.keys():
        ours, theirs = (
            statistics.median(one.microseconds for one in found.rounds[name]) for name in ("atrium", "litellm")
        )
        print(f"atrium: {ours / theirs:.2f} of LiteLLM's processor time an event (at most {GOAL_LITELLM})")
        if ours / theirs > GOAL_LITELLM:
            missed.append("atrium: processor time an event beside LiteLLM")
    if "proxy" not in found.rounds:
        return missed
    proxy = found.rounds["proxy"]
    for name, rounds in found.rounds.items():
        if name in ("proxy", "litellm"):
            continue
        typical = statistics.median(one.microseconds for one in rounds)
        ratio = typical / statistics.median(one.microseconds for one in proxy)
        print(f"{name}: {ratio:.2f} of the proxy's processor time an event (at most {GOAL_PROCESSOR})")
        if ratio > GOAL_PROCESSOR:
            missed.append(f"{name}: processor time an event")
        for share, goal in GOAL_FIRST.items():
            later = statistics.median(quantile(one.first, share) for one in rounds)
            later -= statistics.median(quantile(one.first, share) for one in proxy)
            print(
                f"{name}: first word p{share * 100:.0f} {later * 1000:.0f} ms after the proxy's (at most {goal * 1000:.0f})"
            )
            if later > goal:
                missed.append(f"{name}: first word, p{share * 100:.0f}")
        if max(one.behind[-1] for one in rounds) > GOAL_BEHIND:
            missed.append(f"{name}: a stream was more than {GOAL_BEHIND:g} s behind")
        if max(one.bytes_a_stream for one in rounds) > GOAL_BYTES:
            missed.append(f"{name}: memory a stream")
    if found.beside:
        slow, quick = quantile(sorted(found.beside), 0.99), quantile(sorted(found.idle), 0.99)
        print(f"another request's p99: {slow * 1000:.1f} ms beside the streams, {quick * 1000:.1f} ms without")
    return missed


if __name__ == "__main__":
    sys.exit(main())
