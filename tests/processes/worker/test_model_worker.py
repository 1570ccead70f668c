"""`atrium-worker model`, installed alone, between a running server and a real model."""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.domains.inference.test_llama import COUNT, PERSON
from tests.domains.turns.test_processes import Heard
from tests.postgres import run_as_owner
from tests.support import honest
from tests.support.llama import KEY, NAME, Llama
from tests.support.patience import PATIENCE
from tests.support.processes import Process, fresh_instance
from tests.support.scripted import Answer, scripted
from tests.support.speaker import speaking

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"paid": {"type": "boolean"}, "currency": {"enum": ["EUR", "USD"]}},
    "required": ["paid", "currency"],
    "additionalProperties": False,
}
FORM = "# Paid: {{ paid }}\n\n{{ currency }}\n"
OFFICE = "application/vnd.openxmlformats-officedocument"
FORMATS: dict[str, tuple[Callable[[], bytes], str]] = {
    "bill.pdf": (lambda: honest.pdf(1), "application/pdf"),
    "bill.docx": (honest.word, f"{OFFICE}.wordprocessingml.document"),
    "bill.xlsx": (honest.sheet, f"{OFFICE}.spreadsheetml.sheet"),
    "bill.html": (honest.page, "text/html"),
    "bill.eml": (honest.mail, "message/rfc822"),
}
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
        async with asyncio.timeout(PATIENCE):
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
    assert "the model answered 401" in job["error"]["message"]
    assert "sk-wrong" not in job["error"]["message"]


async def test_half_a_call_is_not_handed_in(bench: Bench) -> None:
    cut = {"function": {"name": "word_count", "arguments": '{"text": "to b'}}
    said = {"choices": [{"finish_reason": "length", "message": {"content": None, "tool_calls": [cut]}}]}
    async with (
        scripted(Answer(httpx.Response(200, json=said).content, type="application/json")) as server,
        bench.worker(server.url),
    ):
        job = await bench.turn()

    assert job["state"] == "failed"
    assert "word_count with arguments that are not a JSON object" in job["error"]["message"]


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
            async with asyncio.timeout(PATIENCE):
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
        async with asyncio.timeout(PATIENCE):
            while not line.hung_up.is_set():
                line.say("word ")
                await asyncio.sleep(0.2)
        await heard.ended()

        assert stopped.json()["state"] == "stopped"
        assert await bench.used() == stopped.json()["usage"]["total_tokens"] > 0


async def test_a_chat_whose_worker_is_killed_ends_with_what_was_heard(bench: Bench) -> None:
    async with speaking() as speaker:
        async with bench.worker(speaker.url):
            heard = await bench.ask()
            line = await speaker.line()
            line.say("before the end")
            async with asyncio.timeout(PATIENCE):
                while not heard.text:
                    await asyncio.sleep(0.02)
        # Killed. Its lease of 20 seconds runs out; here it has.
        await run_as_owner(bench.url, "UPDATE jobs SET lease_until = now() - interval '1 s' WHERE state = 'running'")
        await heard.ended()

    assert (heard.end["code"], heard.end["text"]) == ("models.unavailable", "before the end")
    assert await bench.used() == heard.end["usage"]["total_tokens"] > 0


@pytest.fixture
async def busy_bench(worker_python: Path) -> AsyncIterator[Bench]:
    """A server that runs its own jobs and leaves the turns of the role `utility` to a pull worker."""
    async with fresh_instance(embed_worker=1) as instance:
        made = await instance.operator.post("/api/executors", json={"name": "gpu", "mode": "pull"})
        chosen = await instance.operator.put("/api/model-roles", json={"roles": {"utility": "gpu"}})
        assert chosen.status_code == 200, chosen.text
        token = made.json()["worker_token"]
        yield Bench(instance.server, instance.operator, token, worker_python, instance.url, instance.token)


async def upload(bench: Bench, name: str) -> str:
    make, content_type = FORMATS[name]
    stored = await bench.operator.put(f"/api/repo/{name}", content=make(), headers={"content-type": content_type})
    assert stored.status_code in (200, 201), stored.text
    return str(stored.json()["id"])


async def run(bench: Bench, id: str, **given: Any) -> dict[str, Any]:
    """A run over one document, from its start to its end."""
    inputs = {"object_id": id, "schema": SCHEMA, "template": FORM, "locales": []} | given
    started = await bench.operator.post("/api/workflows/process-upload/run", json={"input": inputs})
    assert started.status_code in (201, 202), started.text
    async with asyncio.timeout(2 * PATIENCE):
        while True:
            found: dict[str, Any] = (await bench.operator.get(f"/api/runs/{started.json()['id']}")).json()
            if found["state"] in ("succeeded", "failed"):
                return found
            await asyncio.sleep(0.1)


async def made_from(bench: Bench, name: str) -> dict[str, dict[str, Any]]:
    found = (await bench.operator.get("/api/repo", params={"prefix": f"{name}."})).json()["items"]
    return {one["key"].removeprefix(f"{name}."): one for one in found}


async def content(bench: Bench, one: dict[str, Any]) -> str:
    return (await bench.operator.get(f"/api/repo-obj/{one['id']}/content")).text


@pytest.mark.timeout(300)
async def test_fields_of_every_format_fit_their_schema_and_a_new_upload_makes_new_versions(
    busy_bench: Bench, llama: Llama
) -> None:
    bench = busy_bench
    async with bench.worker(llama.url):
        ids = {name: await upload(bench, name) for name in FORMATS}
        # One after the other: what makes a form has few seconds for it, of a busy machine too.
        ended = {name: await run(bench, id) for name, id in ids.items()}
        again = await run(bench, await upload(bench, "bill.html"))

    assert {name: one["error"] for name, one in ended.items() if one["state"] != "succeeded"} == {}
    assert again["state"] == "succeeded", again["error"]
    for name, one in ended.items():
        made = await made_from(bench, name)
        fields = json.loads(await content(bench, made["fields.json"]))
        assert (type(fields.pop("paid")), fields.keys()) == (bool, {"currency"})
        assert fields["currency"] in await content(bench, made["form.md"])
        assert {made[key]["version"]["number"] for key in made} == ({2} if name == "bill.html" else {1})
        assert next(step for step in one["steps"] if step["name"] == "fields")["usage"]["ai.tokens.total"] > 0
        for key in ("fields.json", "form.md"):
            threads = (await bench.operator.get(f"/api/repo-obj/{made[key]['id']}/derivations")).json()["items"]
            assert {thread["source_id"] for thread in threads} == {ids[name]}
        processing = (await bench.operator.get(f"/api/repo-obj/{ids[name]}/processing")).json()
        assert {derived["object_id"] for derived in processing["derived"]} == {made[key]["id"] for key in made}
