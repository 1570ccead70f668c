"""A chat at a pull executor: the turn is a job of its worker, and what the worker says comes with its heartbeats to any process."""

import asyncio
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.engine.executors import pulled
from atrium.engine.jobs import child_jobs
from atrium.engine.turns import lost_turns, upkeep
from atrium.engine.turns.utility import run_turn
from atrium.seams.context import Operation, Principal
from atrium.seams.models import Message, ModelUnavailable, Turn
from tests.postgres import run_as_owner
from tests.support.client import Answer, Client
from tests.support.people import Company
from tests.support.reader import Reader
from tests.support.spoken_house import reserved, used

CLAIM = {"kinds": ["ai.turn"], "max_wait": 10}
USAGE = {"prompt_tokens": 7, "completion_tokens": 3}


@dataclass(slots=True)
class Machine:
    """A worker, spoken for by hand."""

    client: Client
    id: str
    name: str

    async def claim(self, wait: float = 10) -> Answer:
        return await self.client.post("/api/workers/claim", CLAIM | {"max_wait": wait})

    async def tell(self, verb: str, claimed: Answer, **more: Any) -> Answer:
        body = {"claim_token": claimed["claim_token"], **more}
        return await self.client.post(f"/api/workers/jobs/{claimed['job']['id']}/{verb}", body)

    async def say(self, claimed: Answer, at: int, text: str) -> Answer:
        return await self.tell("heartbeat", claimed, said={"at": at, "text": text})

    async def finish(self, claimed: Answer, text: str, **more: Any) -> Answer:
        return await self.tell("complete", claimed, result={"text": text, "finish": "stop", "usage": USAGE, **more})

    def ask(self, **more: Any) -> dict[str, Any]:
        return {"prompt": "Who?", "executor": self.name, "on_disconnect": "finish", **more}


async def employ(company: Company, house: Application, name: str = "gpu") -> Machine:
    owner = await company.join("owner", org_role="org_owner")
    made = await owner.post("/api/org/executors", {"name": name, "mode": "pull", "model": "tiny"})
    assert made.status == 201, made.body
    return Machine(Client(house.app, made["worker_token"]), made["id"], name)


@pytest.fixture
async def machine(company: Company, houses: list[Application]) -> Machine:
    """It asks for work at the other process than the people."""
    return await employ(company, houses[1])


def person(house: Application, alice: Client) -> Operation:
    who = Principal(
        user_id=UUID(alice.user_id), team_id=UUID(alice.team_id), org_id=UUID(alice.org_id), username=alice.username,
        role="member", permissions=frozenset({"chat:use"}),
    )  # fmt: skip
    return Operation(who=who, services=house.services)


async def rows(house: Application, sql: str, *values: object) -> list[Any]:
    return [tuple(row) for row in await run_as_owner(house.services.settings.database_url, sql, *values)]


async def test_what_a_worker_says_is_read_as_its_heartbeats_bring_it(
    houses: list[Application], company: Company, alice: Client, elsewhere: Client, machine: Machine
) -> None:
    reader = await Reader(alice, machine.ask()).open()
    claimed = await machine.claim()
    first = await machine.say(claimed, 0, "Grüße ")
    await reader.heard("Grüße ")
    again = await machine.say(claimed, 0, "Grüße ")
    more = await machine.say(claimed, 3, "ße 🌍 ")
    gap = await machine.say(claimed, 9, "gap")
    await reader.heard("Grüße 🌍 ")
    following = await Reader(elsewhere, {"resume": reader.turn}).open()
    plain = await machine.tell("heartbeat", claimed)
    done = await machine.finish(claimed, "Grüße 🌍 you", thinking="hm")
    last, followed = await reader.ended(), await following.ended()

    assert claimed["job"]["input"]["messages"] == [{"role": "user", "content": "Who?"}]
    assert [answer.status for answer in (first, again, more, plain, done)] == [200] * 5
    assert (gap.status, gap.code, gap["heard"]) == (409, "jobs.words_missing", 8)
    assert reader.events[0].data["executor"] == "gpu"
    assert reader.events[0].data["model"] == "tiny"
    assert (reader.text, last.data["text"], followed.data["text"]) == ("Grüße 🌍 you",) * 3
    assert (following.text, reader.thinking) == ("Grüße 🌍 you", "hm")
    assert last.data["usage"] == {**USAGE, "total_tokens": 10, "exact": True}
    # One payment: the turn's.
    spent = await used(alice)
    assert (spent["ai.requests"], spent["ai.tokens.total"], await reserved(alice)) == (1, 10, 0)
    # To the team, its admins and the owner among them, there is no such job, and nothing of it is left.
    admin = await company.join("owner", org_role="org_owner")
    for client in (admin, alice):
        assert (await client.get("/api/jobs"))["items"] == []
        assert (await client.get("/api/jobs", kind="ai.turn"))["items"] == []
        assert (await client.get(f"/api/jobs/{claimed['job']['id']}")).status == 404
        assert (await client.post(f"/api/jobs/{claimed['job']['id']}/cancel")).status == 404
    assert await rows(houses[0], "SELECT input, result FROM jobs WHERE part_of IS NOT NULL") in ([], [("{}", None)])
    assert await rows(houses[0], "SELECT body FROM job_words") == []


async def test_a_whole_reply_without_words_before_is_the_same(alice: Client, machine: Machine) -> None:
    asking = asyncio.ensure_future(alice.post("/api/ai/chat", {"prompt": "Who?", "executor": "gpu"}))
    claimed = await machine.claim()
    await machine.finish(claimed, "Ada", thinking="hm")
    reply = await asking

    assert (reply.status, reply["text"], reply["thinking"], reply["executor"]) == (200, "Ada", "hm", "gpu")


async def test_a_claim_that_is_not_ones_own_says_nothing(
    houses: list[Application], company: Company, alice: Client, machine: Machine
) -> None:
    another = await employ(company, houses[0], "another")
    reader = await Reader(alice, machine.ask()).open()
    claimed = await machine.claim()
    refused = await another.say(claimed, 0, "not mine")
    stale = await machine.tell(
        "heartbeat", claimed, claim_token=str(UUID(int=3)), said={"at": 0, "text": "not this claim"}
    )
    await machine.finish(claimed, "mine")

    assert (refused.status, stale.status, stale.code) == (409, 409, "jobs.stale_claim")
    assert (await reader.ended()).data["text"] == "mine"


async def test_stopping_reaches_the_worker_and_pays_once(alice: Client, elsewhere: Client, machine: Machine) -> None:
    reader = await Reader(alice, machine.ask()).open()
    claimed = await machine.claim()
    await machine.say(claimed, 0, "half an ans")
    await reader.heard("half an ans")
    stopped = await elsewhere.post("/api/ai/chat/stream", {"stop": reader.turn})
    told = await machine.say(claimed, 11, "wer")
    paid = await used(alice)
    late = await machine.finish(claimed, "half an answer")

    assert (stopped["state"], stopped["text"]) == ("stopped", "half an ans")
    assert (told.status, told["cancel_requested"], late.status) == (200, True, 200)
    assert (await reader.ended()).data["finish"] == "stopped"
    assert paid["ai.tokens.total"] == stopped["usage"]["total_tokens"] > 0
    after = await used(alice)
    assert (after["ai.requests"], after["ai.tokens.total"]) == (1, paid["ai.tokens.total"])
    assert await reserved(alice) == 0


async def test_a_turn_that_is_stopped_while_it_waits_is_given_to_no_worker(alice: Client, machine: Machine) -> None:
    reader = await Reader(alice, machine.ask()).open()
    stopped = await alice.post("/api/ai/chat/stream", {"stop": reader.turn})

    assert (stopped["state"], stopped["usage"]["total_tokens"]) == ("stopped", 0)
    assert (await machine.claim(0)).status == 204
    assert (await used(alice)).get("ai.requests", 0) == 0


async def test_a_worker_that_dies_ends_the_turn_with_what_it_said(
    houses: list[Application], alice: Client, machine: Machine
) -> None:
    reader = await Reader(alice, machine.ask()).open()
    claimed = await machine.claim()
    await machine.say(claimed, 0, "then it went dark")
    await reader.heard("then it went dark")
    await rows(houses[0], "UPDATE jobs SET lease_until = now() - interval '1 s' WHERE id = $1", claimed["job"]["id"])
    last = await reader.ended()

    assert (last.name, last.data["code"], last.data["status"]) == ("error", "models.unavailable", 502)
    assert last.data["text"] == "then it went dark"
    spent = await used(alice)
    assert (spent["ai.requests"], spent["ai.tokens.total"]) == (1, last.data["usage"]["total_tokens"])
    assert await reserved(alice) == 0
    assert (await machine.claim(0)).status == 204


async def test_what_a_worker_fails_with_is_the_error(alice: Client, machine: Machine) -> None:
    reader = await Reader(alice, machine.ask()).open()
    claimed = await machine.claim()
    await machine.tell("fail", claimed, error="out of memory")
    last = await reader.ended()

    assert (last.name, last.data["code"]) == ("error", "models.unavailable")
    assert "out of memory" in last.data["detail"]
    assert (await used(alice)).get("ai.requests", 0) == 0


async def test_a_result_that_takes_back_what_was_said_is_refused(alice: Client, machine: Machine) -> None:
    reader = await Reader(alice, machine.ask()).open()
    claimed = await machine.claim()
    await machine.say(claimed, 0, "The answer is 41")
    await reader.heard("The answer is 41")
    await machine.finish(claimed, "The answer is 42")
    last = await reader.ended()

    assert (last.name, last.data["code"], last.data["text"]) == ("error", "models.refused", "The answer is 41")
    assert (await used(alice))["ai.tokens.total"] == 10


async def test_the_turn_judges_the_format_and_not_the_job(alice: Client, machine: Machine) -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "integer"}}}
    replies = []
    for text in ('"no number"', "36"):
        ask = {"prompt": "?", "executor": "gpu", "response_format": wanted}
        asking = asyncio.ensure_future(alice.post("/api/ai/chat", ask))
        claimed = await machine.claim()
        assert (await machine.finish(claimed, text)).status == 200
        replies.append(await asking)

    assert (replies[0].status, replies[0].code, replies[0]["text"]) == (502, "ai.format_refused", '"no number"')
    assert replies[1]["parsed"] == 36
    assert (await used(alice))["ai.tokens.total"] == 20


async def test_a_machine_without_a_worker_is_unavailable(
    alice: Client, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulled, "_ABSENT_SECONDS", 0.5)
    monkeypatch.setattr(pulled, "_WATCH_SECONDS", 0.1)
    reply = await alice.post("/api/ai/chat", {"prompt": "Who?", "executor": "gpu"})

    assert (reply.status, reply.code) == (502, "models.unavailable")
    assert "no worker of gpu" in reply["detail"]
    assert await reserved(alice) == 0


@pytest.mark.parametrize("words", ["", "It began "])
async def test_a_machine_that_is_retired_ends_its_turns(
    company: Company, alice: Client, machine: Machine, words: str
) -> None:
    reader = await Reader(alice, machine.ask()).open()
    claimed = await machine.claim()
    if words:
        await machine.say(claimed, 0, words)
        await reader.heard(words)
    owner = await company.join("owner", org_role="org_owner")
    assert (await owner.delete(f"/api/executors/{machine.id}")).status == 200
    last = await reader.ended()

    assert (last.name, last.data["text"]) == ("error", words)


async def test_nothing_is_asked_twice_after_its_first_word(
    houses: list[Application], alice: Client, machine: Machine
) -> None:
    reader = await Reader(alice, machine.ask()).open()
    claimed = await machine.claim()
    await machine.say(claimed, 0, "once ")
    await reader.heard("once ")
    # As if the attempt had been handed back, for whatever reason.
    sql = "UPDATE jobs SET state = 'queued', claim_token = NULL, lease_until = NULL, worker = NULL WHERE id = $1"
    await rows(houses[0], sql, claimed["job"]["id"])
    await rows(houses[0], "UPDATE job_teams SET running = 0")
    await rows(
        houses[0], "INSERT INTO job_wakes (org_id, team_id, pool) SELECT org_id, team_id, pool FROM jobs WHERE id = $1",
        claimed["job"]["id"],
    )  # fmt: skip
    second = await machine.claim(2)

    assert second.status == 204
    assert (await reader.ended()).data["text"] == "once "


async def test_a_job_of_a_dead_process_is_no_longer_wanted(
    houses: list[Application], alice: Client, elsewhere: Client, machine: Machine
) -> None:
    url = houses[0].services.settings.database_url
    reader = await Reader(alice, machine.ask()).open()
    claimed = await machine.claim()
    await machine.say(claimed, 0, "kept")
    await reader.heard("kept")
    await upkeep.store_pieces(houses[0].services)
    await run_as_owner(url, "UPDATE turns SET process_id = $1 WHERE id = $2", UUID(int=9), UUID(reader.turn))
    await run_as_owner(url, "UPDATE turn_processes SET steady_since = now() - interval '1 minute'")
    await lost_turns.settle_lost(houses[1].services)
    told = await machine.tell("heartbeat", claimed)
    resumed = await Reader(elsewhere, {"resume": reader.turn}).open()

    assert told["cancel_requested"] is True
    assert (await resumed.ended()).data["code"] == "ai.interrupted"
    await machine.finish(claimed, "kept and more")
    assert (await reader.ended()).data["code"] == "ai.interrupted"
    assert (await used(alice))["ai.requests"] == 1


async def test_what_a_plugin_asks_goes_to_the_worker_too(
    houses: list[Application], company: Company, alice: Client, machine: Machine
) -> None:
    owner = await company.join("owner", org_role="org_owner")
    assert (await owner.put("/api/model-roles", {"roles": {"utility": "gpu"}})).status == 200
    op = person(houses[0], alice)
    asking = asyncio.ensure_future(run_turn(op, Turn([Message("user", "Hi")], max_tokens=50)))
    claimed = await machine.claim()
    await machine.say(claimed, 0, "Good ")
    await machine.finish(claimed, "Good day")
    reply = await asking
    failing = asyncio.ensure_future(run_turn(op, Turn([Message("user", "Hi")], max_tokens=50)))
    claimed = await machine.claim()
    await machine.say(claimed, 0, "Good ")
    await machine.tell("fail", claimed, error="broken")
    with pytest.raises(ModelUnavailable, match="broken"):
        await failing
    leaving = asyncio.ensure_future(run_turn(op, Turn([Message("user", "Hi")], max_tokens=50)))
    claimed = await machine.claim()
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)

    assert (reply.text, reply.usage.total) == ("Good day", 10)
    assert (await machine.tell("heartbeat", claimed))["cancel_requested"] is True
    spent = await used(alice)
    assert spent["ai.requests"] == 3
    assert spent["ai.tokens.total"] > 10
    assert await reserved(alice) == 0


async def test_a_job_of_its_own_may_be_spoken_of_too_and_keeps_no_words(
    houses: list[Application], alice: Client, machine: Machine
) -> None:
    given = {"messages": [{"role": "user", "content": "Hi"}]}
    queued = await alice.post("/api/jobs", {"kind": "ai.turn", "model": "gpu", "input": given})
    assert queued.status == 201, queued.body
    claimed = await machine.claim()
    said = [
        await machine.say(claimed, 0, "abc"),
        await machine.say(claimed, 1, "bcd"),
        await machine.say(claimed, 5, "x"),
    ]
    await machine.finish(claimed, "abcd")

    assert [answer.status for answer in said] == [200, 200, 409]
    assert await rows(houses[0], "SELECT body FROM job_words") == []
    assert (await used(alice))["ai.tokens.total"] == 10


async def test_parts_that_have_ended_or_were_left_behind_are_dropped(
    houses: list[Application], alice: Client, machine: Machine
) -> None:
    reader = await Reader(alice, machine.ask()).open()
    claimed = await machine.claim()
    await machine.finish(claimed, "done")
    await reader.ended()
    left = await Reader(alice, machine.ask()).open()
    await reader._until(lambda: bool(left.events))
    await asyncio.sleep(0.2)
    await rows(
        houses[0], "UPDATE jobs SET finished_at = finished_at - interval '2 minutes' WHERE finished_at IS NOT NULL"
    )
    await rows(houses[0], "UPDATE jobs SET created_at = created_at - interval '2 hours'")
    await child_jobs.forget(houses[0].services)

    assert (await left.ended()).name == "error"
    states = await rows(
        houses[0], "SELECT state FROM jobs WHERE part_of IS NOT NULL AND org_id = $1", UUID(alice.org_id)
    )
    assert states == [("cancelled",)]
