"""Findings about schemas and turns that anybody may hand in: refused in plain words, or done without keeping anybody waiting."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from atrium.kit.ids import new_id
from tests.domains.edge.watched import WATCHED
from tests.support.machine import slowness
from tests.support.patience import PATIENCE
from tests.support.processes import Process, fresh_instance

pytestmark = pytest.mark.finding

MOST_SECONDS = 0.1
HELLO = [{"role": "user", "content": "look"}]


def arrays(levels: int, each: int) -> dict[str, Any]:
    return {"type": "array", "minItems": each, "items": arrays(levels - 1, each)} if levels else {"type": "string"}


def doubled(levels: int) -> dict[str, Any]:
    """Small, and twice as much with each definition."""
    pair = [
        {"type": "object", "required": ["a", "b"], "properties": {k: {"$ref": f"#/$defs/s{n}"} for k in "ab"}}
        for n in range(levels)
    ]
    return {
        "$defs": {"s0": {"type": "string"}, **{f"s{n + 1}": one for n, one in enumerate(pair)}},
        "$ref": f"#/$defs/s{levels}",
    }


def as_format(schema: Any) -> dict[str, Any]:
    return {
        "messages": HELLO,
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}},
    }


def as_tool(schema: Any) -> dict[str, Any]:
    return {"messages": HELLO, "tools": [{"type": "function", "function": {"name": "look", "parameters": schema}}]}


TOO_MUCH: dict[str, Any] = {
    "nested arrays": arrays(3, 100),
    "deeply nested arrays": arrays(20, 2),
    "one long array": arrays(1, 10**9),
    "a number without an end": {"type": "array", "minItems": 1e300},
    "long texts": {"type": "array", "minItems": 50, "items": {"type": "string", "minLength": 10_000}},
    "doubled definitions": doubled(14),
    "a type that needs itself": {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}},
    "many names": {"type": "object", "minProperties": 10**6},
    "many places": {"anyOf": [{"minLength": n} for n in range(2000)]},
    "patterns": {"allOf": [{"pattern": f"a{{1,50}}{n}"} for n in range(150)]},
    "patterns of names": {"patternProperties": {f"a{{1,50}}{n}": True for n in range(150)}},
    "a long pattern of a name": {"patternProperties": {"a" * 300: True}},
}
ALLOWED: dict[str, Any] = {
    "a hundred hundreds": arrays(2, 90),
    "as many places as are taken": {"anyOf": [{"type": "string", "minLength": n} for n in range(700)]},
    "as many patterns as are taken": {"anyOf": [{"pattern": f"\\w{{1,45}}\\W{{1,45}}{n}"} for n in range(100)]},
    "a long constant often": {"type": "array", "minItems": 5000, "items": {"const": "a " * 10_000}},
    "the other branch is less": {"anyOf": [arrays(2, 99), {"type": "null"}], "default": 7},
}


@dataclass(frozen=True, slots=True)
class Bench:
    """A server that runs its own jobs and watches itself, and who asks it."""

    server: Process
    client: httpx.AsyncClient

    async def queue(self, input: dict[str, Any], **more: Any) -> httpx.Response:
        return await self.client.post("/api/jobs", json={"kind": "ai.turn", "input": input, **more})

    async def ended(self, id: str) -> Any:
        async with asyncio.timeout(PATIENCE):
            while (job := (await self.client.get(f"/api/jobs/{id}")).json())["state"] in ("queued", "running"):
                await asyncio.sleep(0.05)
        return job

    async def longest(self) -> float:
        return float((await self.client.get("/api/watch")).json()["seconds"])


@pytest.fixture(scope="module")
async def bench() -> AsyncIterator[Bench]:
    async with fresh_instance(WATCHED, embed_worker=1) as instance:
        yield Bench(instance.server, instance.operator)


async def refused(bench: Bench, schema: Any) -> float:
    """What would cost too much is refused when it is asked for; the longest stall meanwhile."""
    await bench.longest()

    answer = await bench.queue(schema)

    assert (answer.status_code, answer.json()["code"]) == (400, "jobs.bad_input"), answer.text
    assert "schema" in answer.json()["detail"]
    return await bench.longest()


@pytest.mark.parametrize("put", [as_format, as_tool])
@pytest.mark.parametrize("name", TOO_MUCH)
async def test_f5_what_would_cost_too_much_is_refused_when_it_is_asked_for(bench: Bench, name: str, put: Any) -> None:
    await refused(bench, put(TOO_MUCH[name]))


@pytest.mark.proof
@pytest.mark.parametrize("put", [as_format, as_tool])
@pytest.mark.parametrize("name", TOO_MUCH)
async def test_f5_what_is_refused_keeps_nobody_waiting(bench: Bench, name: str, put: Any) -> None:
    assert await refused(bench, put(TOO_MUCH[name])) < MOST_SECONDS * slowness()


async def taken(bench: Bench, schema: Any) -> float:
    """What is taken ends; the longest stall meanwhile."""
    await bench.longest()

    answer = await bench.queue(schema)
    job = await bench.ended(answer.json()["id"])

    assert (answer.status_code, job["attempt"]) == (201, 1), answer.text
    assert (
        job["state"] == "succeeded"
        or "the simulated model says at most" in job["error"]["message"]
        or "fit" in job["error"]["message"]
    )
    return await bench.longest()


@pytest.mark.parametrize("put", [as_format, as_tool])
@pytest.mark.parametrize("name", ALLOWED)
async def test_f5_what_is_taken_ends(bench: Bench, name: str, put: Any) -> None:
    await taken(bench, put(ALLOWED[name]))


@pytest.mark.proof
@pytest.mark.parametrize("put", [as_format, as_tool])
@pytest.mark.parametrize("name", ALLOWED)
async def test_f5_what_is_taken_keeps_nobody_waiting(bench: Bench, name: str, put: Any) -> None:
    assert await taken(bench, put(ALLOWED[name])) < MOST_SECONDS * slowness()


LONG = ("1" * 900_000, "a1" * 450_000, "aB" * 450_000, "\n a" * 200_000, "é" * 400_000)


async def long_turn(bench: Bench, text: str) -> float:
    """A turn of a megabyte succeeds; the longest stall meanwhile."""
    tools = [{"type": "function", "function": {"name": f"{text[:500]}{n}"}} for n in range(128)]
    await bench.longest()

    answer = await bench.queue({"messages": [{"role": "user", "content": text}], "tools": tools})
    job = await bench.ended(answer.json()["id"])

    assert job["state"] == "succeeded"
    return await bench.longest()


@pytest.mark.parametrize("text", LONG)
async def test_f5_a_turn_of_a_megabyte_succeeds(bench: Bench, text: str) -> None:
    await long_turn(bench, text)


@pytest.mark.proof
@pytest.mark.parametrize("text", LONG)
async def test_f5_a_turn_of_a_megabyte_keeps_nobody_waiting(bench: Bench, text: str) -> None:
    assert await long_turn(bench, text) < MOST_SECONDS * slowness()


JUDGED = pytest.mark.parametrize(
    ("schema", "reply"),
    [
        ({"items": {"anyOf": [*({"minLength": n, "type": "string"} for n in range(700)), {"type": "integer"}]}}, [5] * 100_000),
        ({"items": {"enum": [{"a": n} for n in range(900)]}}, [{"a": 899}] * 40_000),
        ({"items": {"uniqueItems": True}}, [[{"a": n} for n in range(60_000)]]),
        ({"allOf": [{"pattern": f"(\\w|{n}){{1,40}}x"} for n in range(100)]}, "a" * 800_000),
        ({"items": {"$ref": "#"}}, json.loads("[" * 900 + "]" * 900)),
    ],
    ids=["branches", "objects", "unique", "patterns", "depth"],
)  # fmt: skip


@JUDGED
async def test_f5_a_workers_reply_is_judged(bench: Bench, schema: Any, reply: Any) -> None:
    await judged(bench, schema, reply)


@pytest.mark.proof
@JUDGED
async def test_f5_a_workers_reply_is_judged_without_keeping_anybody_waiting(
    bench: Bench, schema: Any, reply: Any
) -> None:
    assert await judged(bench, schema, reply) < MOST_SECONDS * slowness()


async def judged(bench: Bench, schema: Any, reply: Any) -> float:
    """A worker's reply is accepted or refused; the longest stall meanwhile."""
    name = f"cellar {new_id()}"
    made = (await bench.client.post("/api/executors", json={"name": name, "mode": "pull"})).json()
    id = (await bench.queue(as_format(schema), model=name)).json()["id"]
    async with bench.server.client(made["worker_token"]) as worker:
        claimed = (await worker.post("/api/workers/claim", json={"kinds": ["ai.turn"], "max_wait": 30})).json()
        usage = {"prompt_tokens": 1, "completion_tokens": 1}
        result = {"text": json.dumps(reply, separators=(",", ":")), "finish": "stop", "usage": usage}
        await bench.longest()

        word = {"claim_token": claimed["claim_token"], "result": result}
        answer = await worker.post(f"/api/workers/jobs/{id}/complete", json=word)

    assert answer.status_code in (200, 422), answer.text
    return await bench.longest()


@pytest.mark.proof
async def test_f5_a_stall_would_be_noticed(bench: Bench) -> None:
    await bench.longest()

    await bench.client.post("/api/watch/slow", json={"seconds": 0.2 * slowness()})

    assert await bench.longest() > MOST_SECONDS
