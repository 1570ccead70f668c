"""What the sandbox costs: a guest's tool beside the same tool inside the server, a first call, and a document's text.

python -m benchmarks.bench_guests [--seconds 4]
"""

import argparse
import statistics
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import uvloop

from atrium.boot.assemble import Application
from atrium.engine.extraction.text_process import extract
from atrium.engine.tools.calls import call_tool
from atrium.ground.identity import service as identity
from atrium.kit.isolation.sandbox import Sandbox
from atrium.seams.context import HoldLevel, Operation
from atrium.seams.settings import Settings
from atrium.seams.tools import Tool
from tests.domains.sandbox.guests import MANIFEST, turn_on
from tests.postgres import fresh_database
from tests.support.folders import readable_folder
from tests.support.people import found_company, uuid_of
from tests.support.servers import open_application, settings_for

ROUNDS = 6
PYTHON = """
import json, sys
TOOLS = [{"name": "echo", "description": "Echo.", "parameters": {"type": "object"}}]
for line in sys.stdin:
    asked = json.loads(line)
    said = {"protocol": 1, "tools": TOOLS} if asked["method"] == "initialize" else asked["params"]["arguments"]
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": said}) + "\\n")
    sys.stdout.flush()
"""
NODE = """
import { createInterface } from 'node:readline';
const tools = [{ name: 'echo', description: 'Echo.', parameters: { type: 'object' } }];
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const result = method === 'initialize' ? { protocol: 1, tools } : params.arguments;
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
}
"""
ARGUMENTS = {"text": "three words here", "numbers": [1, 2, 3]}


async def echo(op: Operation, arguments: dict[str, Any]) -> dict[str, Any]:
    """The tool inside the server."""
    return arguments


def write_guests(root: Path) -> None:
    """The same tool as a guest in Python and in JavaScript."""
    for id, name, code in (("py", "guest.py", PYTHON), ("js", "guest.mjs", NODE)):
        (root / id).mkdir(mode=0o755)
        command = '["python3", "-I", "guest.py"]' if id == "py" else '["node", "guest.mjs"]'
        (root / id / "guest.toml").write_text(MANIFEST.format(id=id).replace('["python3", "-I", "guest.py"]', command))
        (root / id / name).write_text(code)


async def operations(application: Application, count: int) -> list[Operation]:
    """Members of one company that has every guest turned on."""
    company = await found_company(application)
    await turn_on(company)
    made = []
    for _ in range(count):
        person = await company.join()
        async with application.services.database.begin(company.org.id) as db:
            who = (await identity.list_principals(db, company.org.id, [uuid_of(person)]))[uuid_of(person)]
        made.append(Operation(who=who, services=application.services, holding=HoldLevel.WRITING))
    return made


async def timed(work: Callable[[], Awaitable[Any]], seconds: float) -> list[float]:
    """Milliseconds of each call in so many seconds."""
    took, until = [], time.perf_counter() + seconds
    while (began := time.perf_counter()) < until:
        await work()
        took.append((time.perf_counter() - began) * 1000)
    return took


async def calls(seconds: float) -> None:
    """Warm calls in turns, and first calls of people who have no process yet."""
    with readable_folder() as root:
        write_guests(root)
        async with (
            fresh_database() as url,
            open_application(settings_for(url, oop_dir=str(root), oop_processes=16)) as application,
        ):
            application.services.registry.tools["inside_echo"] = Tool(
                name="inside_echo", description="Echo.", permission="chat:use", effect="egress", perform=echo,
                schema={"type": "object"},
            )  # fmt: skip
            people = await operations(application, 9)
            names = {"inside": "inside_echo", "python": "oop_py_echo", "node": "oop_js_echo"}
            found: dict[str, list[float]] = {name: [] for name in names}
            for name in names.values():
                await call_tool(people[0], name, ARGUMENTS)
            for _ in range(ROUNDS):
                for label, name in names.items():
                    found[label] += await timed(partial(call_tool, people[0], name, ARGUMENTS), seconds / ROUNDS)
            for label in ("python", "node"):
                first = [await once(partial(call_tool, person, names[label], ARGUMENTS)) for person in people[1:]]
                print(f"first call of a person, {label}: {statistics.median(first):.0f} ms")
    report(found)


async def once(work: Callable[[], Awaitable[Any]]) -> float:
    """Milliseconds of one call."""
    began = time.perf_counter()
    await work()
    return (time.perf_counter() - began) * 1000


def report(found: dict[str, list[float]]) -> None:
    """Medians, and what a guest adds to them."""
    inside = statistics.median(found["inside"])
    for label, took in found.items():
        middle, high = statistics.median(took), statistics.quantiles(took, n=20)[-1]
        print(
            f"{label}: p50 {middle:.2f} ms, p95 {high:.2f} ms, {middle - inside:+.2f} ms beside inside, {len(took)} calls"
        )


class _Without(Sandbox):
    async def reason(self) -> str:
        return "measured without it"


async def documents(seconds: float) -> None:
    """The text of a small document in the sandbox and without it, in turns."""
    with readable_folder() as root:
        path = root / "a.txt"
        path.write_text("words " * 200)
        with_it, without = Sandbox(), _Without()
        await extract(path, "plain", Settings(), with_it)
        inside: list[float] = []
        outside: list[float] = []
        for _ in range(ROUNDS):
            inside += await timed(partial(extract, path, "plain", Settings(), with_it), seconds / ROUNDS)
            outside += await timed(partial(extract, path, "plain", Settings(), without), seconds / ROUNDS)
    one, other = statistics.median(inside), statistics.median(outside)
    print(f"a document: p50 {one:.1f} ms in the sandbox, {other:.1f} ms without ({one - other:+.1f} ms)")


async def main(seconds: float) -> None:
    """Both, or why they cannot be measured."""
    if reason := await Sandbox().reason():
        raise SystemExit(f"there is no working sandbox here: {reason}")
    await calls(seconds)
    await documents(seconds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4)
    uvloop.run(main(parser.parse_args().seconds))
