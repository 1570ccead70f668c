"""`atrium work` as a process: it drains on a signal, and a killed one loses nothing."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from atrium.boot.assemble import Application
from atrium.engine.jobs import service
from tests.postgres import fresh_database
from tests.support.patience import PATIENCE
from tests.support.processes import ATRIUM, ROOT, environment, rounds, run_atrium, server_settings
from tests.support.queue import Member, Queue
from tests.support.servers import open_application, settings_for

PLUGIN = """
import asyncio
import msgspec
from atrium.sdk import Assignment, JobKind, Operation, Plugin

class Nap(msgspec.Struct):
    seconds: float = 0

async def nap(op: Operation, job: Assignment) -> dict:
    await asyncio.sleep(job.arguments.seconds)
    return {"attempt": job.attempt}

PLUGIN = Plugin(job_kinds=(JobKind(name="x.naps.nap", description="Sleep.", arguments=Nap, run=nap, lease=2, attempts=50),))
"""
MANIFEST = 'id = "naps"\nname = "Naps"\nversion = "0.1.0"\ndescription = "Sleeps."\nentry = "plugin.py"\n'
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plugins")
    (folder / "naps").mkdir()
    (folder / "naps" / "plugin.py").write_text(PLUGIN)
    (folder / "naps" / "plugin.toml").write_text(MANIFEST)
    return folder


@pytest.fixture(scope="module")
async def napping(plugins: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    async with fresh_database() as url:
        settings = settings_for(url, plugins_dir=str(plugins), data_dir=tmp_path_factory.mktemp("data"))
        async with open_application(settings) as house:
            yield house


@pytest.fixture
async def sleeper(napping: Application) -> Member:
    queue = Queue(napping)
    await queue.empty()
    return await queue.company()


@contextmanager
def working(sleeper: Member, plugins: Path, concurrency: int = 4, **settings: Any) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, *ATRIUM, "work", "--concurrency", str(concurrency)],
        cwd=ROOT,
        env=environment(**server_settings(sleeper.queue.url, plugins_dir=plugins, migrate=0, **settings)),
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def nap(sleeper: Member, *seconds: float) -> list[Any]:
    async with sleeper.op.begin() as ctx:
        return list(await service.enqueue(ctx, "x.naps.nap", [{"seconds": one} for one in seconds]))


async def until(sleeper: Member, sql: str, seconds: float = PATIENCE) -> None:
    async with asyncio.timeout(seconds):
        while not (await sleeper.queue.sql(f"SELECT {sql} FROM jobs"))[0][0]:
            await asyncio.sleep(0.05)


async def ended(process: subprocess.Popen[bytes], seconds: float = PATIENCE) -> int:
    return await asyncio.get_running_loop().run_in_executor(None, process.wait, seconds)


async def test_a_told_worker_finishes_what_it_can_and_hands_the_rest_back(sleeper: Member, plugins: Path) -> None:
    [short, long] = await nap(sleeper, 1.5, 60)
    with working(sleeper, plugins, drain_seconds=4) as process:
        await until(sleeper, "count(*) FILTER (WHERE state = 'running') = 2")
        process.send_signal(signal.SIGTERM)
        code = await ended(process)

    assert code == 0
    assert (await sleeper.queue.state(short), await sleeper.queue.state(long)) == ("succeeded", "queued")
    assert await sleeper.queue.broken_promises() == []


async def test_a_second_signal_hands_everything_back_at_once(sleeper: Member, plugins: Path) -> None:
    [long] = await nap(sleeper, 10 * PATIENCE)
    # Whoever waited for the job, or for the drain, would wait longer than the test does.
    with working(sleeper, plugins, drain_seconds=round(5 * PATIENCE)) as process:
        await until(sleeper, "count(*) FILTER (WHERE state = 'running') = 1")
        process.send_signal(signal.SIGINT)
        await asyncio.sleep(0.5)
        process.send_signal(signal.SIGINT)
        code = await ended(process)

    assert code == 0
    assert await sleeper.queue.state(long) == "queued"


async def test_killed_workers_lose_nothing_and_nothing_lands_twice(sleeper: Member, plugins: Path) -> None:
    await sleeper.cap(20)
    ids = await nap(sleeper, *[0.05] * 60)
    for _ in rounds(1, 10):
        with working(sleeper, plugins, 8) as process:
            await until(sleeper, "count(*) FILTER (WHERE state = 'running') > 0 OR bool_and(finished_at IS NOT NULL)")
            os.kill(process.pid, signal.SIGKILL)
    with working(sleeper, plugins, 8):
        await until(sleeper, "bool_and(finished_at IS NOT NULL)")

    rows = await sleeper.queue.sql(
        "SELECT state, (result->>'attempt')::int = attempt AS last, count(*) FROM jobs GROUP BY 1, 2"
    )
    assert [tuple(row) for row in rows] == [("succeeded", True, len(ids))]
    assert await sleeper.queue.broken_promises() == []


async def test_a_worker_needs_a_database_and_room() -> None:
    assert (await run_atrium("work")).code == 2
    assert (await run_atrium("work", "--concurrency", "0", database_url="postgres://127.0.0.1:1/x")).code == 2
