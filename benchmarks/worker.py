"""The process of one worker that is measured: it prepares, says so, drains when told, and says what that took.

It needs nothing but Python, so that an interpreter with another engine can run it.
"""

import asyncio
import contextlib
import json
import os
import resource
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

Drain = Callable[[], Awaitable[None]]
# Takes the database's address and how much there is to do.
Prepare = Callable[[str, int], Awaitable[Drain]]


async def _serve(prepare: Prepare, url: str, count: int) -> None:
    drain = await prepare(url, count)
    print(json.dumps({"ready": True}), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    before, started = _seconds(), time.perf_counter()
    await drain()
    print(json.dumps({"seconds": time.perf_counter() - started, "cpu": _seconds() - before}), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    os._exit(0)


def _seconds() -> float:
    used = [resource.getrusage(which) for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main(engines: Mapping[str, Prepare]) -> None:
    """The command line: engine, database, count."""
    run: Callable[[Coroutine[Any, Any, None]], None] = asyncio.run
    with contextlib.suppress(ImportError):
        from uvloop import run
    run(_serve(engines[sys.argv[1]], sys.argv[2], int(sys.argv[3])))
