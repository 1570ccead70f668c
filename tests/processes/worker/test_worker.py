"""The worker package, installed alone into an environment of its own and pointed at a running server."""

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.patience import PATIENCE
from tests.support.processes import Process, fresh_instance

KIND = "x.integrator-demo.lane-report"
FUNCTIONS = """
import time


def report(job):
    return {"lane": job.input["lane"], "shipments": 3, "on_time": 1, "remarks": "all quiet on " + job.input["lane"]}


def stumble(job):
    if job.attempt == 1:
        raise RuntimeError("out of paper")
    return report(job)


def babble(job):
    return {"nonsense": True}


def linger(job):
    open("began", "w").close()
    time.sleep(2)
    return report(job)
"""


@dataclass(frozen=True, slots=True)
class Bench:
    """A server, its operator, a worker's token, and the interpreter that has only the worker package."""

    server: Process
    operator: httpx.AsyncClient
    token: str
    python: Path
    folder: Path

    @asynccontextmanager
    async def worker(self, function: str, *more: str) -> AsyncIterator["subprocess.Popen[str]"]:
        """The command, working; killed at the end unless it has ended."""
        command = [str(self.python), "-m", "atrium_worker", "--url", self.server.address]
        process = subprocess.Popen(
            [*command, "--kind", f"{KIND}=functions:{function}", *more],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "ATRIUM_TOKEN": self.token},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    async def enqueue(self, lane: str = "north") -> str:
        answer = await self.operator.post("/api/jobs", json={"kind": KIND, "input": {"lane": lane}})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    async def until(self, job: str, *states: str) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            while True:
                found: dict[str, Any] = (await self.operator.get(f"/api/jobs/{job}")).json()
                if found["state"] in states:
                    return found
                await asyncio.sleep(0.05)


@pytest.fixture
async def bench(worker_python: Path, tmp_path: Path) -> AsyncIterator[Bench]:
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    async with fresh_instance() as instance:
        made = await instance.operator.post("/api/executors", json={"name": "reports", "mode": "pull"})
        assert made.status_code == 201, made.text
        yield Bench(instance.server, instance.operator, made.json()["worker_token"], worker_python, tmp_path)


def test_it_brings_no_server_code(worker_python: Path) -> None:
    ended = subprocess.run(
        [str(worker_python), "-I", "-c", "import atrium"], capture_output=True, text=True, check=False
    )

    assert "No module named 'atrium'" in ended.stderr


async def test_a_remote_job_is_done_by_the_installed_worker(bench: Bench) -> None:
    async with bench.worker("report"):
        job = await bench.until(await bench.enqueue("north"), "succeeded", "failed")

    assert (job["state"], job["result"]["remarks"]) == ("succeeded", "all quiet on north")


async def test_what_the_function_raises_is_the_jobs_error_and_the_next_attempt_may_succeed(bench: Bench) -> None:
    id = await bench.enqueue()
    async with bench.worker("stumble"):
        job = await bench.until(id, "succeeded", "failed")

    assert (job["state"], job["attempt"]) == ("succeeded", 2)


async def test_a_result_that_the_kind_refuses_fails_the_attempt(bench: Bench) -> None:
    id = await bench.enqueue()
    async with bench.worker("babble"):
        job = await bench.until(id, "failed")

    assert "the result was refused: 422" in job["error"]["message"]


async def test_on_sigterm_it_finishes_what_it_runs(bench: Bench) -> None:
    id = await bench.enqueue()
    async with bench.worker("linger") as process:
        while not (bench.folder / "began").exists():
            await asyncio.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        code = await asyncio.to_thread(process.wait, PATIENCE)
        job = await bench.until(id, "succeeded", "failed", "queued")

    assert (code, job["state"]) == (0, "succeeded")


async def test_a_wrong_token_ends_it_with_a_sentence(bench: Bench) -> None:
    wrong = Bench(bench.server, bench.operator, "atw_wrong", bench.python, bench.folder)
    async with wrong.worker("report") as process:
        said, _ = await asyncio.to_thread(process.communicate, None, PATIENCE)

    assert process.returncode == 1
    assert "look at the token and the URL" in said


async def test_it_waits_for_a_server_that_is_away(bench: Bench) -> None:
    await bench.server.stop()
    async with bench.worker("report") as process:
        await asyncio.sleep(2)

        assert process.poll() is None
