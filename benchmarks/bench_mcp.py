"""What a tool call through /mcp costs beside a route that does the same work, what the server's start pays for it, and 200 clients at once.

python -m benchmarks.bench_mcp [--rounds 7] [--seconds 2]
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import uvloop

from benchmarks.generator import Connection, quantile
from benchmarks.load import LoadFailed
from benchmarks.processes import Cores, Server, Starting, pin_backends
from tests.domains.mcp.server.speaking import STATELESS, headers_of, message
from tests.postgres import fresh_database
from tests.support.people import found_company
from tests.support.plugin_folders import write_plugin
from tests.support.processes import serving
from tests.support.servers import open_application, settings_for

CONNECTIONS = 16
CLIENTS, BUDGET, ASKED = 200, 10, 30
TEXT = "What we said, who does it, and by when. " * 10
# A plugin whose route does what /mcp does for a tool: the team's switch, the permission, the schema, the call, its audit event.
PLUGIN = """
import msgspec
from atrium.sdk import Operation, Parameter, Plugin, PluginRequest, PluginRoute, Tool, call_tool


class Wanted(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    arguments: dict


async def call(op: Operation, request: PluginRequest):
    found = await call_tool(op, request.body.name, request.body.arguments)
    return {"text": found.text, "value": found.value}


async def mark(db, principal, arguments):
    return await db.value("SELECT name FROM teams WHERE id = :id", id=principal.team_id)


TEXT = Parameter(name="text", type="string")
PLUGIN = Plugin(
    tools=(Tool(name="mark", description="Mark.", permission="chat:use", effect="write", run=mark, parameters=(TEXT,)),),
    routes=(PluginRoute("POST", "/call", "chat:use", call, "Call a tool.", body=Wanted),),
)
"""
COUNT = {"name": "word_count", "arguments": {"text": TEXT}}
NOTE = {"title": "A note from the benchmark", "body": TEXT, "visibility": "team"}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two ways to have the same done; the second is /mcp's."""

    name: str
    route: bytes
    through_mcp: bytes


def request(path: str, token: str, body: dict[str, Any], **headers: str) -> bytes:
    raw = json.dumps(body).encode()
    fields = {"host": "127.0.0.1", "authorization": f"Bearer {token}", "content-length": str(len(raw)), **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + raw


def mcp_request(token: str, method: str, params: dict[str, Any]) -> bytes:
    body = message(method, params)
    return request("/mcp", token, body, **headers_of(body, STATELESS))


def pairs_of(token: str) -> list[Pair]:
    mark = {"name": "mark", "arguments": {"text": TEXT}}
    return [
        Pair(
            "a tool that writes, and a plugin's route that calls it",
            request("/api/x/bench/call", token, mark),
            mcp_request(token, "tools/call", mark),
        ),
        Pair(
            "a tool that reads, and a plugin's route that calls it (leaves no audit event)",
            request("/api/x/bench/call", token, COUNT),
            mcp_request(token, "tools/call", COUNT),
        ),
        Pair(
            "notes_create, and POST /api/notes",
            request("/api/notes", token, NOTE),
            mcp_request(token, "tools/call", {"name": "notes_create", "arguments": NOTE}),
        ),
        Pair(
            "word_count, and the plugin's own function as a route (no switch, no schema, no event)",
            request("/api/x/example-tools/word-count", token, {"text": TEXT}),
            mcp_request(token, "tools/call", COUNT),
        ),
    ]


async def drive(port: int, sent: bytes, seconds: float) -> list[float]:
    """The latencies of one request, repeated on every connection for some seconds."""
    latencies: list[float] = []
    failures: list[int] = []
    loop = asyncio.get_running_loop()
    lines = [
        await loop.create_connection(lambda: Connection(repeat(sent), latencies, failures), "127.0.0.1", port)
        for _ in range(CONNECTIONS)
    ]
    await asyncio.sleep(seconds)
    for _, line in lines:
        line.close()
    assert not failures, failures[:5]
    return latencies


async def compare(server: Server, pair: Pair, rounds: int, seconds: float) -> None:
    """Both in turn; what counts is the median over the rounds of how much longer /mcp takes, and of processor time."""
    ratios, spent, medians = [], [], []
    for number in range(rounds + 1):
        found = []
        for sent in (pair.route, pair.through_mcp):
            before = server.cpu_seconds()
            latencies = await drive(server.port, sent, seconds)
            if not latencies:
                raise LoadFailed(f"no reply within {seconds:g} s; something else keeps the disk or the processor busy")
            found.append((statistics.median(latencies) * 1000, (server.cpu_seconds() - before) / len(latencies) * 1e6))
        if number:  # the first round warms up
            ratios.append(found[1][0] / found[0][0])
            spent.append(found[1][1] / found[0][1])
            medians.append((found[0][0], found[1][0]))
    route, through = (statistics.median(column) for column in zip(*medians, strict=True))
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    print(f"{pair.name}:\n  {route:.2f} ms and {through:.2f} ms, x {statistics.median(ratios):.2f} ({spread})", end="")
    print(f"; processor x {statistics.median(spent):.2f}", flush=True)


# What only one module brings: everything else is loaded before, so that its own time is left.
_AGAIN = """
import sys, time
import {before}
for name in {own!r}:
    del sys.modules[name]
began = time.process_time()
import {counted}
print((time.process_time() - began) * 1000)
"""


def start_cost(rounds: int) -> None:
    """What the server's part adds to the start of a process, from compiled files, and what the SDK would."""
    with TemporaryDirectory() as folder:
        plain = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        compiled = plain | {"PYTHONPYCACHEPREFIX": folder}
        parts = ("rpc", "server", "server_calls", "server_model", "server_tools")
        own = [f"atrium.product.mcp.{part}" for part in parts] + ["atrium.kit.web.strict_json"]
        ours = _AGAIN.format(before="atrium.boot.wiring", own=own, counted="atrium.product.mcp.server")
        theirs = _AGAIN.format(before="atrium.boot.wiring", own=[], counted="mcp.server")
        found = [statistics.median(_timed(code, compiled) for _ in range(rounds)) for code in (ours, theirs)]
    print(f"start: {found[0]:.1f} ms; with the SDK it would be {found[1]:.0f} ms")


def _timed(code: str, seen: dict[str, str]) -> float:
    run = subprocess.run([sys.executable, "-c", code], env=seen, check=True, capture_output=True, text=True)
    return float(run.stdout)


async def crowd(port: int, tokens: list[str]) -> None:
    """Every client at once, each asking more than its credential's budget."""
    began = time.perf_counter()
    counted = await asyncio.gather(*(_client(port, token) for token in tokens))
    seconds = time.perf_counter() - began
    admitted = [found[200] for found, _ in counted]
    refused = sum(found[429] for found, _ in counted)
    others = CLIENTS * ASKED - sum(admitted) - refused
    # A minute's budget at once, and what it gains meanwhile.
    most = int(BUDGET + BUDGET * seconds / 60) + 1
    waits = sorted(latency for _, latencies in counted for latency in latencies)
    print(f"{len(tokens)} clients at once, {ASKED} calls each with a budget of {BUDGET} a minute, {seconds:.0f} s:")
    print(
        f"  {min(admitted)} to {max(admitted)} admitted each (at most {most}), {refused} refused with 429, {others} others;",
        end=" ",
    )
    print(f"p50 {quantile(waits, 0.5) * 1000:.0f} ms, p99 {quantile(waits, 0.99) * 1000:.0f} ms")
    assert others == 0
    assert min(admitted) >= BUDGET
    assert max(admitted) <= most


async def _client(port: int, token: str) -> tuple[Counter[int], list[float]]:
    """One client's statuses, and how long its admitted calls took."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    sent = mcp_request(token, "tools/call", COUNT)
    found: Counter[int] = Counter()
    latencies = []
    for _ in range(ASKED):
        began = time.perf_counter()
        writer.write(sent)
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.partition(b":")[2]))
        status = int(head.split(b" ", 2)[1])
        found[status] += 1
        if status == 200:
            latencies.append(time.perf_counter() - began)
    writer.close()
    return found, latencies


async def people(url: str, folder: Path, count: int) -> list[str]:
    """The sessions of so many members of one company."""
    async with open_application(settings_for(url, data_dir=folder)) as house:
        company = await found_company(house)
        return [str((await company.join("member")).token) for _ in range(count)]


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2)
    options = parser.parse_args()
    cores = Cores.of_this_machine()
    start_cost(options.rounds)
    with TemporaryDirectory() as folder:
        write_plugin(Path(folder), "bench", PLUGIN)
        async with fresh_database() as url:
            tokens = await people(url, Path(folder), CLIENTS)
            serves = Starting("atrium", url, ["-m", "atrium", "serve"], settings={"plugins_dir": folder})
            async with serves.on(cores.server) as server:
                await pin_backends(server, cores.rest)
                for pair in pairs_of(tokens[0]):
                    await compare(server, pair, options.rounds, options.seconds)
            async with serving(url, rate_per_credential=BUDGET) as [process]:
                await crowd(process.port, tokens)


if __name__ == "__main__":
    uvloop.run(main())
