"""What traces cost: requests per second of a server that sends them against one that does not, taking turns in short rounds."""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

from atrium.boot.assemble import assemble
from atrium.kit.telemetry.traces import USUAL_SHARE, Telemetry
from benchmarks.bench_requests import NOTES, Goal, Report, compare, describe
from benchmarks.load import WITHOUT_INDEX, Kind
from benchmarks.processes import Starting, atrium
from benchmarks.seed import seed, write_targets
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.people import found_company
from tests.support.servers import settings_for

# On, as it is unless OTEL_TRACES_SAMPLER says otherwise: one trace in fifty.
GOAL = 0.95
EVERY = {"OTEL_TRACES_SAMPLER": "always_on"}


@asynccontextmanager
async def sink() -> AsyncIterator[str]:
    """The address of a receiver that takes everything and looks at nothing."""

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                await reader.readexactly(int(length.partition(b":")[2]))
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n")
        except asyncio.IncompleteReadError:
            writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def on_against_off(every: bool, rounds: int, seconds: int, companies: int, kinds: Sequence[Kind]) -> Report:
    """A server that records traces and sends them, and one that does neither, each on its own copy of one database."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="atrium-bench-")))
        address = await stack.enter_async_context(sink())
        url = await stack.enter_async_context(fresh_database())
        targets = write_targets(await seed(url, companies, NOTES), folder / "targets")
        copy = await stack.enter_async_context(fresh_database(template=url.rpartition("/")[2]))
        variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": address} | (EVERY if every else {})
        name = "every trace" if every else "traces"
        tracing = Starting(name, url, ["-m", "atrium", "serve"], variables=variables)
        return await compare(stack, [(tracing, targets), (atrium(copy, "none"), targets)], rounds, seconds, kinds)


async def processor_time(rounds: int, requests: int) -> dict[str, float]:
    """Processor time of a request in this process, relative to a server without traces; a busy machine changes it little.

    Sending is part of it. PostgreSQL and the network are not, so what traces cost shows larger than to a client.
    """
    async with AsyncExitStack() as stack:
        address = await stack.enter_async_context(sink())
        url = await stack.enter_async_context(fresh_database())
        clients: dict[str, tuple[Client, str]] = {}
        sending: dict[str, Telemetry] = {}
        for name, share in (("none", None), ("one in fifty", USUAL_SHARE), ("every", 1.0)):
            exporters = [OTLPSpanExporter(f"{address}/v1/traces")]
            telemetry = None if share is None else Telemetry(exporters, "0", share=share)
            if telemetry is not None:
                sending[name] = telemetry
            house = assemble(settings_for(url), telemetry=telemetry)
            await house.app.on_start()
            stack.push_async_callback(house.app.on_stop)
            client = await (await found_company(house)).join("member")
            clients[name] = client, (await client.post("/api/notes", {"title": "x", "body": "y" * 400}))["id"]
        spent: dict[str, list[float]] = {name: [] for name in clients}
        for number in range(rounds + 1):
            for name, (client, note) in clients.items() if number % 2 else reversed(clients.items()):
                began = time.process_time()
                for _ in range(requests):
                    await client.get(f"/api/notes/{note}")
                if name in sending:
                    # Within its own time, and not beside the next one's requests.
                    await asyncio.to_thread(sending[name].flush)
                spent[name].append((time.process_time() - began) / requests)
        usual = [statistics.median(of[1:]) for of in spent.values()]
        print(
            "\n".join(
                f"{name:14} {took * 1e6:6.0f} us  {took / usual[0]:.3f}"
                for name, took in zip(spent, usual, strict=True)
            )
        )
        return dict(zip(spent, usual, strict=True))


def main() -> int:
    """Measure, print, and say by the exit code whether the goal was met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--companies", type=int, default=20)
    parser.add_argument(
        "--kind", type=Kind, choices=list(WITHOUT_INDEX), action="append", help="only this one; may repeat"
    )
    parser.add_argument("--every", action="store_true", help="record every trace instead of one in fifty; has no goal")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--processor", action="store_true", help="processor time in one process, for a busy machine")
    options = parser.parse_args()
    if options.processor:
        asyncio.run(processor_time(options.rounds, 400))
        return 0
    kinds = options.kind or list(WITHOUT_INDEX)
    report = asyncio.run(on_against_off(options.every, options.rounds, options.seconds, options.companies, kinds))
    goals = dict.fromkeys(Kind, Goal(0.0 if options.every else GOAL))
    print(describe(report, goals))
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n")
    return 0 if all(goals[one.kind].is_met(one) for one in report.comparisons) else 1


if __name__ == "__main__":
    sys.exit(main())
