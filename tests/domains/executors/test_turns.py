"""`ai.turn` over HTTP: here, at a machine that is called, at one that asks for work; what it costs and who may choose."""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

from atrium.boot.assemble import Application
from atrium.engine.executors.turns import run_turn
from atrium.engine.jobs.runner import Runner
from atrium.seams.context import ANONYMOUS, Operation
from atrium.seams.models import Message, ModelUnavailable, Turn
from tests.domains.inference.test_llama import COUNT, PERSON
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.llama import KEY, NAME, Llama
from tests.support.patience import PATIENCE
from tests.support.people import Company, found_company
from tests.support.scripted import Answer, chunk, events, scripted
from tests.support.servers import open_application, settings_for

HELLO = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 16}
RESULT = {"text": "hi", "finish": "stop", "usage": {"prompt_tokens": 9, "completion_tokens": 2}}


@pytest.fixture(scope="module")
async def llama_house(llama: Llama, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    """A server whose own model is a real one, and which runs its own jobs."""
    async with fresh_database() as url:
        settings = settings_for(
            url, data_dir=tmp_path_factory.mktemp("llama"), embed_worker=True, executor_hosts="127.0.0.1",
            local_model_url=llama.url, local_model_key=KEY, local_model=NAME,
        )  # fmt: skip
        async with open_application(settings) as house:
            yield house


@pytest.fixture
async def company(llama_house: Application) -> Company:
    return await found_company(llama_house)


@pytest.fixture
async def owner(company: Company) -> Client:
    return await company.join("owner", org_role="org_owner")


async def turn(person: Client, model: str | None = None, **more: Any) -> str:
    queued = await person.post("/api/jobs", {"kind": "ai.turn", "input": HELLO | more, "model": model})
    assert queued.status == 201, queued.body
    return str(queued["id"])


async def ended(person: Client, id: str) -> Any:
    async with asyncio.timeout(PATIENCE):
        while (job := await person.get(f"/api/jobs/{id}"))["state"] in ("queued", "running"):
            await asyncio.sleep(0.02)
    return job.body


async def used(person: Client) -> dict[str, int]:
    lines = (await person.get("/api/usage"))["items"]
    return {line["dimension"]: line["used"] for line in lines if line["level"] == "team"}


async def push(operator: Client, name: str, url: str, key: str | None = KEY, model: str | None = NAME) -> None:
    made = await operator.post("/api/executors", {"name": name, "mode": "push", "url": url, "key": key, "model": model})
    assert made.status == 201, made.body


async def pull(owner: Client, name: str, **more: Any) -> Client:
    """A worker of the company's own."""
    made = await owner.post("/api/org/executors", {"name": name, "mode": "pull", **more})
    assert made.status == 201, made.body
    return Client(owner.app, made["worker_token"])


async def test_a_turn_runs_on_this_servers_model_and_pays_what_it_used(alice: Client) -> None:
    job = await ended(alice, await turn(alice))

    usage = job["result"]["usage"]
    spent = await used(alice)
    assert (job["state"], job["model"], set(job["result"])) == ("succeeded", "local", {"text", "finish", "usage"})
    assert usage["prompt_tokens"] > 5
    assert (spent["ai.requests"], spent["ai.tokens.total"]) == (1, usage["prompt_tokens"] + usage["completion_tokens"])


async def test_a_schema_and_tools_reach_the_model(alice: Client) -> None:
    format = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON}}

    shaped = await ended(alice, await turn(alice, max_tokens=400, response_format=format))
    called = await ended(alice, await turn(alice, max_tokens=2000, tools=[COUNT]))

    assert '"known"' in shaped["result"]["text"]
    assert (called["result"]["finish"], called["result"]["calls"][0]["name"]) == ("tool_calls", "word_count")


async def test_json_that_is_cut_off_is_refused_and_paid(alice: Client) -> None:
    format = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON}}

    job = await ended(alice, await turn(alice, max_tokens=4, response_format=format))

    assert (job["state"], job["attempt"]) == ("failed", 1)
    assert "cut off" in job["error"]["message"]
    assert (await used(alice))["ai.tokens.total"] > 4


@pytest.mark.parametrize(
    "said", ['{"name": "Ada"}', '```json\n{"name": "Ada", "known": true}\n```', "I would rather not"]
)
async def test_a_server_that_ignores_the_schema_is_found_out(operator: Client, said: str) -> None:
    format = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON}}
    async with scripted(Answer(events(chunk(said), chunk(finish="stop")))) as server:
        await push(operator, f"careless {operator.username}", server.url)
        job = await ended(operator, await turn(operator, f"careless {operator.username}", response_format=format))

    assert (job["state"], job["attempt"]) == ("failed", 1)
    assert "not what was asked for" in job["error"]["message"]


async def test_a_server_without_a_model_simulates_one(house: Application) -> None:
    alice = await (await found_company(house)).join("member")
    id = await turn(alice)

    runner = Runner(house.services, 4)
    runner.start()
    job = await ended(alice, id)
    await runner.stop(0)

    local = (await alice.get("/api/executors"))["items"][0]
    assert job["result"]["text"] == "[simulated] Hello"
    assert (local["name"], local["model"]) == ("local", "simulated")


async def test_a_push_executor_is_called_with_its_key(operator: Client, llama: Llama) -> None:
    await push(operator, f"gpu {operator.username}", llama.url)
    await push(operator, f"locked {operator.username}", llama.url, key="sk-not-it")

    works = await ended(operator, await turn(operator, f"gpu {operator.username}"))
    refused = await ended(operator, await turn(operator, f"locked {operator.username}"))

    assert (works["state"], works["model"]) == ("succeeded", f"gpu {operator.username}")
    assert (refused["state"], refused["attempt"]) == ("failed", 1)
    assert "401" in refused["error"]["message"]
    assert "sk-not-it" not in refused["error"]["message"]


async def test_a_machine_that_is_away_is_tried_again_and_costs_nothing(operator: Client) -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        await push(operator, f"away {operator.username}", f"http://127.0.0.1:{unheard.getsockname()[1]}/v1")
        job = await ended(operator, await turn(operator, f"away {operator.username}"))

    assert (job["state"], job["attempt"]) == ("failed", 3)
    assert "cannot be reached" in job["error"]["message"]
    assert (await used(operator)).get("ai.requests", 0) == 0


@pytest.fixture
def rebinding(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """`model.example` is public when it is looked at, and inside when it is called."""
    addresses, real = ["8.8.8.8", "127.0.0.1"], socket.getaddrinfo

    def look_up(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if host != "model.example":
            return real(host, port, *rest, **more)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (addresses.pop(0), port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return addresses


async def test_a_name_that_turns_inwards_is_not_called(operator: Client, llama: Llama, rebinding: list[str]) -> None:
    await push(operator, f"turncoat {operator.username}", f"http://model.example:{llama.port}/v1")

    job = await ended(operator, await turn(operator, f"turncoat {operator.username}"))

    assert (job["state"], job["attempt"], rebinding) == ("failed", 1, [])
    assert "not on the public internet" in job["error"]["message"]


async def test_a_pull_executor_takes_the_turns_that_are_meant_for_it(owner: Client, alice: Client) -> None:
    worker, other = await pull(owner, "cellar"), await pull(owner, "attic")
    id = await turn(alice, "cellar")

    assert (await other.post("/api/workers/claim", {"kinds": ["ai.turn"]})).status == 204
    claimed = await worker.post("/api/workers/claim", {"kinds": ["ai.turn"]})
    claim = {"claim_token": claimed["claim_token"]}
    refused = await worker.post(f"/api/workers/jobs/{id}/complete", claim | {"result": {"text": "hi"}})
    done = await worker.post(f"/api/workers/jobs/{id}/complete", claim | {"result": RESULT})

    job = (await alice.get(f"/api/jobs/{id}")).body
    assert (claimed["job"]["id"], claimed["job"]["input"]) == (id, HELLO)
    assert (refused.status, refused.code, done.status) == (422, "jobs.result_refused", 200)
    assert (job["state"], job["result"], job["model"]) == ("succeeded", RESULT, "cellar")
    assert (await used(alice))["ai.tokens.total"] == 11


@pytest.mark.parametrize(
    "result",
    [
        None,
        RESULT | {"finish": "bored"},
        RESULT | {"usage": {"prompt_tokens": -1, "completion_tokens": 0}},
        RESULT | {"calls": [{"id": "c", "name": "look", "arguments": "{"}]},
    ],
)
async def test_what_is_not_a_reply_is_refused(owner: Client, result: Any) -> None:
    worker = await pull(owner, "cellar")
    id = await turn(owner, "cellar")
    claimed = await worker.post("/api/workers/claim", {"kinds": ["ai.turn"]})

    body = {"claim_token": claimed["claim_token"], "result": result}

    assert (await worker.post(f"/api/workers/jobs/{id}/complete", body)).status == 422


async def test_a_workers_reply_is_judged_by_the_schema_too(owner: Client) -> None:
    worker = await pull(owner, "cellar")
    id = await turn(
        owner, "cellar", response_format={"type": "json_schema", "json_schema": {"name": "p", "schema": PERSON}}
    )
    claimed = await worker.post("/api/workers/claim", {"kinds": ["ai.turn"]})
    claim = {"claim_token": claimed["claim_token"]}

    prose = await worker.post(f"/api/workers/jobs/{id}/complete", claim | {"result": RESULT})
    fits = RESULT | {"text": '{"name": "Ada", "known": true}'}
    fitting = await worker.post(f"/api/workers/jobs/{id}/complete", claim | {"result": fits})

    assert (prose.status, prose.code) == (422, "jobs.result_refused")
    assert (fitting.status, fitting["state"]) == (200, "succeeded")


async def test_the_teams_choice_is_where_its_turns_go(owner: Client, alice: Client) -> None:
    worker = await pull(owner, "cellar")
    await owner.put("/api/model-roles", {"roles": {"utility": "cellar"}})

    id = await turn(alice)

    assert (await alice.get(f"/api/jobs/{id}"))["waiting_reason"] == "no_worker"
    assert (await worker.post("/api/workers/claim", {"kinds": ["ai.turn"]}))["job"]["id"] == id


async def test_turns_of_a_retired_machine_fail_and_say_so(owner: Client, operator: Client) -> None:
    worker = await pull(owner, "cellar")
    held, waiting = await turn(owner, "cellar"), await turn(owner, "cellar")
    await worker.post("/api/workers/claim", {"kinds": ["ai.turn"]})
    [cellar] = [one["id"] for one in (await owner.get("/api/executors"))["items"] if one["name"] == "cellar"]

    await operator.delete(f"/api/executors/{cellar}")

    for job in (await ended(owner, held), await ended(owner, waiting)):
        assert (job["state"], job["error"]["message"]) == ("failed", "cellar is no longer in service for your company")
    assert (await used(owner)).get("ai.requests", 0) == 0


async def test_everybodys_machines_are_not_for_members_to_choose(alice: Client, operator: Client, llama: Llama) -> None:
    await push(operator, f"gpu {operator.username}", llama.url)
    draft = {"kind": "ai.turn", "input": HELLO, "model": f"gpu {operator.username}"}

    assert (await alice.post("/api/jobs", draft)).status == 403


async def test_another_companys_machine_does_not_exist(owner: Client, llama_house: Application) -> None:
    await pull(owner, "cellar")
    stranger = await (await found_company(llama_house)).join("owner", org_role="org_owner")

    reply = await stranger.post("/api/jobs", {"kind": "ai.turn", "input": HELLO, "model": "cellar"})

    assert (reply.status, reply.code) == (404, "executors.missing")


async def test_a_machine_for_other_kinds_takes_no_turns(owner: Client) -> None:
    await pull(owner, "reports", capabilities=["x.integrator-demo.lane-report"])

    reply = await owner.post("/api/jobs", {"kind": "ai.turn", "input": HELLO, "model": "reports"})

    assert (reply.status, reply.code) == (409, "executors.wrong")


@pytest.mark.parametrize(
    "input",
    [
        {},
        {"messages": []},
        {"messages": [{"role": "king", "content": "x"}]},
        {"messages": HELLO["messages"], "max_tokens": 0},
        {"messages": HELLO["messages"], "response_format": {"type": "xml"}},
        {"messages": HELLO["messages"], "response_format": {"type": "json_schema"}},
        {
            "messages": HELLO["messages"],
            "response_format": {"type": "json_schema", "json_schema": {"schema": {"$ref": "http://x/"}}},
        },
        {"messages": HELLO["messages"], "mood": "good"},
    ],
)
async def test_what_is_not_a_turn_is_refused(alice: Client, input: dict[str, Any]) -> None:
    reply = await alice.post("/api/jobs", {"kind": "ai.turn", "input": input})

    assert (reply.status, reply.code) == (400, "jobs.bad_input")


async def test_turns_wait_for_the_quota(operator: Client) -> None:
    await operator.post("/api/quota", {"dimension": "ai.requests", "limit": 1, "window": "month"})

    # Both may be asked for at the same moment, so either can be the one that is admitted.
    turns = [await turn(operator), await turn(operator)]
    async with asyncio.timeout(PATIENCE):
        while "quota" not in (waiting := [(await operator.get(f"/api/jobs/{id}"))["waiting_reason"] for id in turns]):
            await asyncio.sleep(0.02)
    refused = turns[waiting.index("quota")]
    [admitted] = [id for id in turns if id != refused]

    assert (await ended(operator, admitted))["state"] == "succeeded"
    assert (await operator.get(f"/api/jobs/{refused}"))["state"] == "queued"


async def test_a_turn_that_takes_too_long_is_hung_up_on_and_pays_what_was_said(
    operator: Client, llama_house: Application
) -> None:
    op = Operation(who=ANONYMOUS, services=llama_house.services)
    endless = Answer(events(chunk("and so on "), done=False), missing=10, hangs=True)
    async with scripted(endless) as server, asyncio.timeout(PATIENCE):
        await push(operator, f"endless {operator.username}", server.url)
        asked = Turn([Message("user", "Hello")])

        with pytest.raises(ModelUnavailable, match="took more than") as failed:
            await run_turn(op, f"endless {operator.username}", asked, seconds=2)
        await server.left.wait()

    assert failed.value.usage.prompt_tokens >= 7
