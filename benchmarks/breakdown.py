"""Where the microseconds go: processor time of every step of a request, in Atrium and in the bare app, without the HTTP server.

Both apps run in this process on one database and are called the way a server calls them, one request at a time. A step's
figure is its own time, without the steps inside it. The stopwatch itself adds about a microsecond to each.
"""

import argparse
import asyncio
import inspect
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import uvloop
from asyncpg.pool import Pool as DriverPool

from atrium.edge import app as edge
from atrium.edge import dispatch, gate
from atrium.edge.access_log import AccessLog
from atrium.edge.app import App
from atrium.edge.limits import Rates
from atrium.edge.router import Router
from atrium.ground.identity import service as identity
from atrium.kit.postgres.database import OpenTransaction
from atrium.kit.postgres.pool import Pool
from atrium.product.notes import service as notes
from benchmarks import bare
from benchmarks.generator import DRAFT
from benchmarks.load import WITHOUT_INDEX, Kind
from benchmarks.seed import Target, seed
from tests.postgres import fresh_database
from tests.support.servers import open_application, settings_for

REST = "everything else in the app"
STEPS: list[tuple[Any, str, str]] = [
    (asyncpg.Connection, "fetch", "statements"),
    (asyncpg.Connection, "fetchrow", "statements"),
    (asyncpg.Connection, "execute", "statements"),
    (DriverPool, "_acquire", "a connection, and giving it back"),
    (DriverPool, "release", "a connection, and giving it back"),
    (Pool, "take", "a connection, and giving it back"),
    (Pool, "give_back", "a connection, and giving it back"),
    (edge, "Request", "reading the head"),
    (Router, "match", "matching the route"),
    (dispatch.Dispatch, "_body", "reading the body"),
    (identity, "identify", "who it is"),
    (identity, "identify_writer", "who it is"),
    (Rates, "admit", "the credential's rate"),
    (gate, "check", "the gate, before and after"),
    (gate, "confirm", "the gate, before and after"),
    (dispatch, "fill", "arguments"),
    (OpenTransaction, "__aenter__", "beginning and ending the transaction"),
    (OpenTransaction, "__aexit__", "beginning and ending the transaction"),
    (dispatch, "reply_of", "encoding"),
    (bare, "_encode", "encoding"),
    (App, "_send", "headers"),
    (App, "_note", "metrics"),
    (AccessLog, "add", "access log"),
    (notes, "read_note", "rules and rows"),
    (notes, "list_notes", "rules and rows"),
    (notes, "create_note", "rules and rows"),
]


class Stopwatch:
    """Own processor time by step, nested calls taken out."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()
        self._open = [REST]
        self._since = 0

    async def time(self, app: Any, scope: dict[str, Any]) -> Counter[str]:
        """Nanoseconds by step of one request."""
        self.spent = Counter()
        self._since = time.process_time_ns()
        await app(scope, _receive, _send)
        self._charge()
        return self.spent

    def enter(self, step: str) -> None:
        self._charge()
        self._open.append(step)

    def leave(self) -> None:
        self._charge()
        self._open.pop()

    def _charge(self) -> None:
        now = time.process_time_ns()
        self.spent[self._open[-1]] += now - self._since
        self._since = now

    def watch(self, owner: Any, name: str, step: str) -> None:
        """From now on, count this function's time as the step's."""
        plain = getattr(owner, name)
        is_async = inspect.iscoroutinefunction(plain)
        setattr(owner, name, self._around_async(plain, step) if is_async else self._around(plain, step))

    def _around(self, plain: Callable[..., Any], step: str) -> Callable[..., Any]:
        def watched(*arguments: Any, **named: Any) -> Any:
            self.enter(step)
            try:
                return plain(*arguments, **named)
            finally:
                self.leave()

        return watched

    def _around_async(self, plain: Callable[..., Any], step: str) -> Callable[..., Any]:
        async def watched(*arguments: Any, **named: Any) -> Any:
            self.enter(step)
            try:
                return await plain(*arguments, **named)
            finally:
                self.leave()

        return watched


async def measure(kind: Kind, requests: int) -> dict[str, dict[str, float]]:
    """Microseconds by app and step: the lower quartile over many requests, the apps taking turns."""
    async with fresh_database() as url:
        targets = await seed(url, companies=20, notes=100)
        async with open_application(settings_for(url, access_log=True)) as house, _opened(url) as yardstick:
            apps = {"atrium": house.app, "bare": yardstick}
            watch = Stopwatch()
            for owner, name, step in STEPS:
                watch.watch(owner, name, step)
            found: dict[str, list[Counter[str]]] = {name: [] for name in apps}
            for number in range(requests * len(apps)):
                name = list(apps)[number // 10 % len(apps)]
                scope = _scope(kind, targets[number % len(targets)])
                found[name].append(await watch.time(apps[name], scope))
    return {name: _typical(requests) for name, requests in found.items()}


def _typical(requests: list[Counter[str]]) -> dict[str, float]:
    steps = {REST, *(step for _, _, step in STEPS)}
    return {step: statistics.quantiles([one[step] / 1000 for one in requests], n=4)[0] for step in steps}


@asynccontextmanager
async def _opened(url: str) -> AsyncIterator[bare.Bare]:
    """The bare app between its start and its end."""
    app, ready, over = bare.Bare(url, 10), asyncio.Event(), asyncio.Event()

    async def receive() -> None:
        if ready.is_set():
            await over.wait()

    async def send(message: dict[str, Any]) -> None:
        ready.set()

    life = asyncio.create_task(app({"type": "lifespan"}, receive, send))
    await ready.wait()
    yield app
    over.set()
    await life


async def _receive() -> dict[str, Any]:
    return {"type": "http.request", "body": DRAFT, "more_body": False}


async def _send(message: dict[str, Any]) -> None:
    if message.get("status", 200) >= 300:
        raise RuntimeError(f"refused with {message['status']}")


def _scope(kind: Kind, target: Target) -> dict[str, Any]:
    headers = [(b"host", b"127.0.0.1"), (b"authorization", b"Bearer " + target.token.encode())]
    path = f"/api/notes/{target.note_id}" if kind is Kind.READ else "/api/notes"
    if kind is Kind.CREATE:
        headers += [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(DRAFT))]
    return {
        "type": "http",
        "method": "POST" if kind is Kind.CREATE else "GET",
        "path": path,
        "scheme": "http",
        "query_string": b"",
        "client": ("127.0.0.1", 50_000),
        "headers": headers,
    }


def describe(kind: Kind, found: dict[str, dict[str, float]]) -> str:
    """A Markdown table, dearest step first."""
    ours, theirs = found["atrium"], found["bare"]
    lines = [f"| {kind} | atrium, µs | bare, µs |", "|---|---|---|"]
    lines += [
        f"| {step} | {ours[step]:.1f} | {theirs[step]:.1f} |" for step in sorted(ours, key=lambda one: -ours[one])
    ]
    return "\n".join([*lines, f"| **in all** | {sum(ours.values()):.0f} | {sum(theirs.values()):.0f} |"])


def main() -> None:
    """Measure one kind of request and print where its time goes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", type=Kind, choices=list(WITHOUT_INDEX))
    parser.add_argument("--requests", type=int, default=4000)
    options = parser.parse_args()
    # The access log goes to standard output; here it costs what it costs, and is thrown away.
    printed = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    table = describe(options.kind, uvloop.run(measure(options.kind, options.requests)))
    os.dup2(printed, 1)
    sys.stdout.write(table + "\n")


if __name__ == "__main__":
    main()
