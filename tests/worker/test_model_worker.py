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

from tests.ai.speaker import speaking
from tests.ai.test_processes import Heard
from tests.models.llama import KEY, NAME, Llama
from tests.models.scripted import Answer, scripted
from tests.models.test_llama import COUNT, PERSON
from tests.postgres import run_as_owner
from tests.processes import Process, fresh_instance

HELLO = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 16}


@dataclass(frozen=True, slots=True)
class Bench:
    """A server, its operator, and the token of an executor that is the operator's choice for every turn."""

    server: Process
    operator: httpx.AsyncClient
    token: str
    python: Path
    url: str
    person: str

    async def ask(self) -> Heard:
        """A chat that goes to the worker, being read."""
        heard = Heard()
        body = {"prompt": "Hi", "executor": "gpu", "on_disconnect": "finish"}
        heard.reading = asyncio.ensure_future(heard.read(self.server, self.person, body))
        return heard

    async def used(self) -> int:
        lines = (await self.operator.get("/api/usage")).json()["items"]
        assert sum(line["reserved"] for line in lines) == 0
        return int(next(line["used"] for line in lines if line["dimension"] == "ai.tokens.total"))

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
        yield Bench(
            instance.server, instance.operator, made.json()["worker_token"], worker_python, instance.url, instance.token
        )


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
    usage = job["result"]["usage"]
    assert min(usage["prompt_tokens"], usage["completion_tokens"]) > 3
    assert usage["exact"] is False


async def test_a_chat_is_read_while_the_workers_model_speaks(bench: Bench) -> None:
    async with speaking() as speaker, bench.worker(speaker.url):
        heard = await bench.ask()
        line = await speaker.line()
        told = ""
        for number in range(4):
            line.say(f"{number} ü🌍 ")
            told += f"{number} ü🌍 "
            async with asyncio.timeout(2):
                while heard.text != told:
                    await asyncio.sleep(0.02)
        line.say("and the end")
        line.finish(usage=(11, 9))
        await heard.ended()

    assert heard.end["text"] == heard.text == told + "and the end"
    assert heard.end["usage"] == {"prompt_tokens": 11, "completion_tokens": 9, "total_tokens": 20, "exact": True}
    assert await bench.used() == 20


async def test_stopping_a_chat_hangs_up_on_the_workers_model(bench: Bench) -> None:
    async with speaking() as speaker, bench.worker(speaker.url):
        heard = await bench.ask()
        line = await speaker.line()
        while not heard.text:
            line.say("word ")
            await asyncio.sleep(0.2)
        stopped = await bench.operator.post("/api/ai/chat/stream", json={"stop": heard.turn})
        for _ in range(25):
            if line.hung_up.is_set():
                break
            line.say("word ")
            await asyncio.sleep(0.2)
        await heard.ended()

        assert line.hung_up.is_set()
        assert stopped.json()["state"] == "stopped"
        assert await bench.used() == stopped.json()["usage"]["total_tokens"] > 0


async def test_a_chat_whose_worker_is_killed_ends_with_what_was_heard(bench: Bench) -> None:
    async with speaking() as speaker:
        async with bench.worker(speaker.url):
            heard = await bench.ask()
            line = await speaker.line()
            line.say("before the end")
            async with asyncio.timeout(5):
                while not heard.text:
                    await asyncio.sleep(0.02)
        # Killed. Its lease of 20 seconds runs out; here it has.
        await run_as_owner(bench.url, "UPDATE jobs SET lease_until = now() - interval '1 s' WHERE state = 'running'")
        await heard.ended()

    assert (heard.end["code"], heard.end["text"]) == ("models.unavailable", "before the end")
    assert await bench.used() == heard.end["usage"]["total_tokens"] > 0
