"""`atrium-worker model`, installed alone, between a running server and a real model."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.models.llama import KEY, NAME, Llama
from tests.models.scripted import Answer, scripted
from tests.models.test_llama import COUNT, PERSON
from tests.processes import Process, fresh_instance

HELLO = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 16}


@dataclass(frozen=True, slots=True)
class Bench:
    """A server, its operator, and the token of an executor that is the operator's choice for every turn."""

    server: Process
    operator: httpx.AsyncClient
    token: str
    python: Path

    @asynccontextmanager
    async def worker(self, url: str, key: str = KEY) -> AsyncIterator["subprocess.Popen[bytes]"]:
        """The command, working; killed at the end."""
        command = [str(self.python), "-m", "atrium_worker", "model", "--url", self.server.address]
        process = subprocess.Popen(
            [*command, "--openai-url", url, "--model", NAME],
            env={"PATH": os.environ["PATH"], "ATRIUM_TOKEN": self.token, "OPENAI_API_KEY": key},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    async def turn(self, **more: Any) -> dict[str, Any]:
        """One turn, from asking to its end."""
        queued = await self.operator.post("/api/jobs", json={"kind": "ai.turn", "model": "gpu", "input": HELLO | more})
        assert queued.status_code == 201, queued.text
        async with asyncio.timeout(60):
            while True:
                job: dict[str, Any] = (await self.operator.get(f"/api/jobs/{queued.json()['id']}")).json()
                if job["state"] in ("succeeded", "failed"):
                    return job
                await asyncio.sleep(0.05)


@pytest.fixture
async def bench(worker_python: Path) -> AsyncIterator[Bench]:
    async with fresh_instance() as instance:
        made = await instance.operator.post("/api/executors", json={"name": "gpu", "mode": "pull"})
        yield Bench(instance.server, instance.operator, made.json()["worker_token"], worker_python)


async def test_turns_are_answered_by_the_model_on_the_workers_side(bench: Bench, llama: Llama) -> None:
    format = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON}}
    async with bench.worker(llama.url):
        plain = await bench.turn()
        shaped = await bench.turn(max_tokens=400, response_format=format)
        called = await bench.turn(max_tokens=2000, tools=[COUNT])
        thought = await bench.turn(messages=[{"role": "user", "content": "Hi /think now"}], max_tokens=40)

    assert (plain["state"], plain["model"]) == ("succeeded", "gpu")
    assert plain["result"]["usage"]["prompt_tokens"] > 5
    assert '"known"' in shaped["result"]["text"]
    assert (called["result"]["finish"], called["result"]["calls"][0]["name"]) == ("tool_calls", "word_count")
    assert thought["result"]["thinking"].strip() == "mulling"


async def test_what_the_model_refuses_is_the_jobs_error(bench: Bench, llama: Llama) -> None:
    async with bench.worker(llama.url, key="sk-wrong"):
        job = await bench.turn()

    assert job["state"] == "failed"
    assert "the model answered 401" in job["error"]
    assert "sk-wrong" not in job["error"]


async def test_half_a_call_is_not_handed_in(bench: Bench) -> None:
    cut = {"function": {"name": "word_count", "arguments": '{"text": "to b'}}
    said = {"choices": [{"finish_reason": "length", "message": {"content": None, "tool_calls": [cut]}}]}
    async with (
        scripted(Answer(httpx.Response(200, json=said).content, type="application/json")) as server,
        bench.worker(server.url),
    ):
        job = await bench.turn()

    assert job["state"] == "failed"
    assert "word_count with arguments that are not a JSON object" in job["error"]


async def test_a_model_that_does_not_count_is_estimated(bench: Bench) -> None:
    said = {"choices": [{"finish_reason": "stop", "message": {"content": "four words were said"}}]}
    async with (
        scripted(Answer(httpx.Response(200, json=said).content, type="application/json")) as server,
        bench.worker(server.url),
    ):
        job = await bench.turn()

    assert job["result"]["text"] == "four words were said"
    assert min(job["result"]["usage"].values()) > 3
