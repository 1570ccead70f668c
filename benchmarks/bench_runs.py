"""What a step of a run costs, side by side in one run, and whether runs stay quick as they become many.

python -m benchmarks.bench_runs [rate latency map listing ended page] [--runs 2000] [--ended 1000000] [--rounds 3] [--python INTERPRETER]

`rate`: runs of ten empty steps through one worker process: bare PostgreSQL writing the same rows in batches of 50, ours, DBOS and
Restate. The last two are no dependency of ours: `--python` is an interpreter that has dbos, restate-sdk, httpx and hypercorn
installed, and RESTATE_SERVER names the program of npm's @restatedev/restate-server; without them they are left out. `latency` and
`map`: a run of ten empty steps, and a map of 900 items, on an idle `atrium serve`. `listing`, `ended` and `page`: inside one
process, with a team that has `--ended` ended runs.
"""

import argparse
import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import asyncpg

from benchmarks.drains import Figures, Workers, summed_up, told
from benchmarks.run_workers import STEPS, spec
from tests.domains.workflows.engine import Engine, Starter, ref, spec_of, tool
from tests.domains.workflows.hand import Hand
from tests.domains.workflows.probes import WITH_PROBES
from tests.postgres import fresh_database, run_as_owner
from tests.support.processes import serving
from tests.support.servers import open_application, settings_for

PARTS = ("rate", "latency", "map", "listing", "ended", "page")
ENGINES = ("bare", "atrium", "dbos", "restate")
# The slow ones get fewer runs; a figure per step does not change by it.
SHARE = {"dbos": 0.1, "restate": 0.5}
WORKERS = Path(__file__).with_name("run_workers.py")
GOAL_LISTING, GOAL_PAGE, GOAL_TEN, GOAL_FLAT = 20.0, 150.0, {0.5: 70.0, 0.99: 250.0}, 1.3
ROUNDS_OF_ENDED = 10
BATCH = 100_000
PLUGIN = """
from atrium.sdk import Parameter, Plugin, Tool

async def nothing(db, principal, arguments):
    return {"done": True}

PLUGIN = Plugin(tools=(Tool(name="bench_nothing", description="Nothing.", permission="notes:read", effect="read", untrusted=False,
                            run=nothing, parameters=(Parameter(name="item", type="integer", description="An item.", optional=True),)),))
"""
MANIFEST = 'id = "bench"\nname = "Bench"\nversion = "0.1.0"\ndescription = "Nothing."\nentry = "plugin.py"\n'
# Ids grow, as real ones do; nine of ten are succeeded, and a hundredth came from a trigger.
RUNS = """
INSERT INTO runs (id, org_id, team_id, user_id, slug, version, state, locale, input, output, trigger_id, steps_used, max_steps, created_at,
                  finished_at)
SELECT ('018f0000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, $2, ($3::uuid[])[1 + n % 10], 'flow-' || n % 5, 1,
       CASE WHEN n % 10 < 9 THEN 'succeeded' WHEN n % 20 = 9 THEN 'failed' ELSE 'cancelled' END, 'en', '{}', '{"result": 1}',
       CASE WHEN n % 100 = 0 THEN $4::uuid END, 10, 1000, now() - interval '1 day', now() - interval '1 day'
  FROM generate_series($5::int, $6::int) n
"""


def p(share: float, many: list[float]) -> float:
    return sorted(many)[min(len(many) - 1, int(len(many) * share))]


async def rate(options: Any) -> None:
    """Steps a second, and milliseconds of processor per step in the worker and in PostgreSQL."""
    figures: dict[str, list[Figures]] = defaultdict(list)
    engines = [
        name
        for name in ENGINES
        if not (reason := _missing(name, options.python)) or print(f"{name} is left out: {reason}")
    ]
    workers = Workers(WORKERS, options.python)
    for number in range(options.rounds):
        for name in engines:
            found = await _drain(workers, name, options.runs)
            figures[name].append(found)
            told(number, name, found, "step")
    summed_up(figures, "step")


def _missing(name: str, python: str) -> str:
    modules = {"dbos": ["dbos"], "restate": ["restate", "hypercorn", "httpx"]}.get(name, [])
    for module in modules:
        if subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode:
            return f"{python} has no {module}"
    if name == "restate" and not os.environ.get("RESTATE_SERVER") and shutil.which("restate-server") is None:
        return "RESTATE_SERVER names no program, and restate-server is not on the PATH"
    return ""


async def _drain(workers: Workers, name: str, runs: int) -> Figures:
    server = os.environ.get("RESTATE_SERVER") or shutil.which("restate-server") or ""
    with TemporaryDirectory(prefix="atrium-restate-") as folder:
        env = {"RESTATE_SERVER": server, "RESTATE_FOLDER": folder}
        return await workers.drain(name, max(1, int(runs * SHARE.get(name, 1))), STEPS, env)


async def _on_idle_server(document: dict[str, Any], input: dict[str, Any], rounds: int) -> list[float]:
    """Milliseconds from a run's start to its end, one run after the other."""
    with TemporaryDirectory() as folder:
        plugin = Path(folder, "plugins", "bench")
        plugin.mkdir(parents=True)
        (plugin / "plugin.py").write_text(PLUGIN)
        (plugin / "plugin.toml").write_text(MANIFEST)
        plugins = str(Path(folder, "plugins"))
        async with fresh_database() as url:
            async with open_application(settings_for(url, plugins_dir=plugins, database_pool=2)) as server:
                starter = await Engine(server).company()
                await starter.client.post("/api/tools/bench_nothing", {"enabled": True})
                reply = await starter.client.post("/api/workflows", document)
                assert reply.status == 201, reply.raw
            async with (
                serving(url, plugins_dir=plugins, embed_worker=1) as [process],
                process.client(starter.client.token) as client,
            ):
                for _ in range(rounds + 3):
                    made = await client.post(f"/api/workflows/{document['slug']}/run", json={"input": input})
                    assert made.status_code == 202, made.text
                    while (await client.get(f"/api/runs/{made.json()['id']}")).json()["state"] == "running":
                        await asyncio.sleep(0.02)
            took = await run_as_owner(
                url, "SELECT extract(epoch FROM finished_at - created_at)::float * 1000 FROM runs WHERE state = 'succeeded' ORDER BY id"
            )  # fmt: skip
    assert len(took) == rounds + 3
    return [row[0] for row in took][3:]


async def latency(options: Any) -> None:
    """Ten empty steps of one run, end to end."""
    took = await _on_idle_server(spec("bench_nothing"), {}, options.latencies)
    told = ", ".join(
        f"p{share * 100:.0f} {p(share, took):.1f} ms (at most {goal:g})" for share, goal in GOAL_TEN.items()
    )
    print(f"ten empty steps of one run on an idle server: {told}")


async def map_items(options: Any) -> None:
    """A map of 900 items."""
    each = {
        "name": "each",
        "kind": "map",
        "over": ref("input.items"),
        "tool": "bench_nothing",
        "with": {"item": ref("item")},
    }
    document = spec_of(each, slug="wide", inputs={"items": {"type": "array"}})
    took = await _on_idle_server(document, {"items": list(range(900))}, 2 * options.rounds)
    print(f"a map of 900 items: {statistics.median(took):.0f} ms, {statistics.median(took) / 900:.2f} ms an item")


async def listing(options: Any) -> None:
    """Every filter of GET /api/runs, newest page and a page from the middle."""
    async with _grown(options.ended) as (starter, trigger):
        queries: dict[str, dict[str, Any]] = {
            "no filter": {}, "state=running": {"state": "running"}, "state=succeeded": {"state": "succeeded"},
            "state=failed": {"state": "failed"}, "state=cancelled": {"state": "cancelled"}, "workflow": {"workflow": "flow-1"},
            "workflow, state=failed": {"workflow": "flow-1", "state": "failed"}, "workflow of none": {"workflow": "nothing"},
            "trigger": {"trigger": trigger}, "trigger, state": {"trigger": trigger, "state": "succeeded"}, "mine": {"mine": 1},
            "mine, state=failed": {"mine": 1, "state": "failed"}, "mine, workflow": {"mine": 1, "workflow": "flow-2"},
            "mine, workflow, state": {"mine": 1, "workflow": "flow-0", "state": "succeeded"},
            "trigger, workflow": {"trigger": trigger, "workflow": "flow-3"},
            "trigger, workflow, state": {"trigger": trigger, "workflow": "flow-0", "state": "failed"},
            "trigger, mine": {"trigger": trigger, "mine": 1}, "trigger, mine, state": {"trigger": trigger, "mine": 1, "state": "failed"},
            "trigger, mine, workflow": {"trigger": trigger, "mine": 1, "workflow": "flow-3"},
            "all four": {"trigger": trigger, "mine": 1, "workflow": "flow-0", "state": "succeeded"},
        }  # fmt: skip
        for name, query in queries.items():
            took = await _timed(partial(starter.client.get, "/api/runs", **query), 40)
            cursor = (await starter.client.get("/api/runs", **query))["next_cursor"]
            later = (
                await _timed(partial(starter.client.get, "/api/runs", cursor=cursor, **query), 20) if cursor else [0.0]
            )
            slow = "  above the goal" if max(p(0.95, took), p(0.95, later)) > GOAL_LISTING else ""
            print(
                f"{name:26} p50 {p(0.5, took):7.2f} ms  p95 {p(0.95, took):7.2f} ms  second page p95 {p(0.95, later):7.2f} ms{slow}"
            )


async def ended(options: Any) -> None:
    """Starting and settling beside a thousand and beside many ended runs, in turns."""
    counts = (1000, options.ended)
    async with AsyncExitStack() as stack:
        starters = [(await stack.enter_async_context(_grown(count)))[0] for count in counts]
        for starter in starters:
            await starter.publish(spec_of(*(tool(f"s{n}", "echo") for n in range(STEPS)), slug="ten"))
        hands = [Hand(starter.engine) for starter in starters]
        starts, settled = [list[float]() for _ in counts], [list[float]() for _ in counts]
        for _ in range(ROUNDS_OF_ENDED):
            for place, (starter, hand) in enumerate(zip(starters, hands, strict=True)):
                starts[place] += await _timed(partial(starter.start, "ten"), 20)
                settled[place] += await _settled(hand, 60)
    for count, started, ends in zip(counts, starts, settled, strict=True):
        print(
            f"{count:>9,} ended runs: start p50 {p(0.5, started):.2f} ms, settle p50 {p(0.5, ends):.2f} ms, p95 {p(0.95, ends):.2f} ms"
        )
    print(f"with {options.ended:,} as many times as with 1,000: start {p(0.5, starts[1]) / p(0.5, starts[0]):.2f}, "
          f"settle {p(0.5, settled[1]) / p(0.5, settled[0]):.2f} (at most {GOAL_FLAT:g})")  # fmt: skip


async def _settled(hand: Hand, many: int) -> list[float]:
    times: list[float] = []
    while len(times) < many and (attempts := await hand.claim()):
        report = await hand.perform(attempts[0])
        times += await _timed(partial(hand.settle, report), 1)
    return times


async def page(options: Any) -> None:
    """A run's page with a map of 900 items."""
    async with _grown(1000) as (starter, _):
        each = {
            "name": "each",
            "kind": "map",
            "over": ref("input.items"),
            "tool": "probe_echo",
            "with": {"value": ref("item")},
        }
        await starter.publish(spec_of(each, slug="wide", inputs={"items": {"type": "array"}}))
        id = await starter.start("wide", {"items": [f"item {n}" for n in range(900)]})
        async with starter.engine.working(100):
            await starter.ended(id, 120)
        took = await _timed(lambda: starter.client.get(f"/api/runs/{id}"), 60)
        cursor = (await starter.read(id))["steps"][0]["next_cursor"]
        items = await _timed(lambda: starter.client.get(f"/api/runs/{id}", step="each", cursor=cursor), 60)
        print(f"a run's page with 900 items: p50 {p(0.5, took):.1f} ms, p95 {p(0.95, took):.1f} ms (at most {GOAL_PAGE:g}); "
              f"its next 200 items: p95 {p(0.95, items):.1f} ms")  # fmt: skip


class _grown:
    """A server in this process, with a team that has so many ended runs."""

    def __init__(self, count: int) -> None:
        self._count = count

    async def __aenter__(self) -> tuple[Starter, str]:
        self._folder = TemporaryDirectory()
        self._database = fresh_database()
        url = await self._database.__aenter__()
        self._server = open_application(settings_for(url, data_dir=Path(self._folder.name)), domains=WITH_PROBES)
        starter = await Engine(await self._server.__aenter__()).company()
        people = [
            UUID(starter.client.user_id),
            *[UUID((await starter.company.join("member")).user_id) for _ in range(9)],
        ]
        trigger = UUID(int=7)
        connection = await asyncpg.connect(url)
        await connection.execute("SET session_replication_role = replica; SET synchronous_commit = off")
        for start in range(0, self._count, BATCH):
            stop = min(self._count, start + BATCH) - 1
            org, team = starter.company.org.id, starter.company.team.id
            await connection.execute(RUNS, org, team, people, trigger, start, stop, timeout=3600)
        await connection.execute("VACUUM ANALYZE runs", timeout=3600)
        # What was filled is written before anything is measured.
        await connection.execute("CHECKPOINT", timeout=3600)
        await connection.close()
        return starter, str(trigger)

    async def __aexit__(self, *error: Any) -> None:
        await self._server.__aexit__(*error)
        await self._database.__aexit__(*error)
        self._folder.cleanup()


async def _timed(act: Callable[[], Awaitable[Any]], times: int) -> list[float]:
    took = []
    for _ in range(times):
        started = time.perf_counter()
        answer = await act()
        took.append((time.perf_counter() - started) * 1000)
        assert getattr(answer, "status", 200) == 200, answer.raw
    return took


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(PARTS), choices=[*PARTS, []])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--ended", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--latencies", type=int, default=200, help="how many runs `latency` takes")
    options = parser.parse_args()
    measures = {"rate": rate, "latency": latency, "map": map_items, "listing": listing, "ended": ended, "page": page}
    for name in options.parts or PARTS:
        await measures[name](options)


if __name__ == "__main__":
    asyncio.run(main())
