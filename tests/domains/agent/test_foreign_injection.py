"""The same obeying model with a real guest in the sandbox and a real MCP server, whose results and failures carry orders.

`ATRIUM_FULL=1` tries every trick with every way to be read and every effect; otherwise each trick is tried once.
"""

import asyncio
import itertools
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from atrium.boot.assemble import Application
from atrium.kit.isolation.sandbox import Sandbox
from atrium.seams.guests import Grants, ToolEffects
from atrium.seams.setting_values import McpServers
from atrium.seams.tools import Parameter, Tool
from tests.domains.agent.test_injection import EFFECTS as OWN_EFFECTS
from tests.domains.agent.test_injection import (
    FULL,
    MARK,
    TRICKS,
    Outside,
    _no_taint,
    effects_of,
    obedience,
    obeyed,
    order,
)
from tests.domains.mcp.test_client import known, until
from tests.domains.sandbox.guests import write_guest
from tests.domains.workflows.engine import Engine, Starter
from tests.support.client import Answer, Client
from tests.support.folders import readable_folder
from tests.support.patience import PATIENCE
from tests.support.people import Company, found_company
from tests.support.servers import fresh_application
from tests.support.speaker import Speaker

TOOL_SERVER = Path(__file__).parents[2] / "domains/mcp/tool_server.py"
GUEST = Path(__file__).with_name("telling_guest.py")
EFFECTS: dict[str, dict[str, str]] = {
    **OWN_EFFECTS,
    "mcp_far_send": {"text": MARK},
    "oop_teller_keep": {"text": MARK},
}
# What carries the order: a result, or why a call failed.
WAYS = ("oop_teller_look", "oop_teller_fail", "mcp_far_look", "mcp_far_fail")
_ALL = list(itertools.product(WAYS, EFFECTS))
TRIED = (
    [(way, trick, effect) for way, effect in _ALL for trick in TRICKS]
    if FULL
    else [(way, trick, effect) for (way, effect), trick in zip(_ALL, TRICKS, strict=True)]
)
POISONS = [trick.format(order=order(effect, EFFECTS[effect])) for _, trick, effect in TRIED]


@dataclass(frozen=True, slots=True)
class Foreign:
    """The server, what left it by a tool of ours, and the file that the MCP server keeps what it is sent in."""

    house: Application
    outside: Outside
    sent: Path

    async def effects(self, person: Client) -> list[str]:
        found = await effects_of(person, self.outside)
        return found + (self.sent.read_text().splitlines() if self.sent.exists() else [])


def _definitions(folder: Path) -> Path:
    number = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
    text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    told = {name: {"description": f"{name}.", "schema": number, "says": POISONS} for name in ("look", "fail")}
    file = folder / "definitions.json"
    file.write_text(json.dumps({**told, "send": {"description": "Send a text.", "schema": text}}))
    return file


@asynccontextmanager
async def _serving(speaker: Speaker, definitions: Path, guests: Path, data: Path) -> AsyncIterator[Application]:
    far: dict[str, Any] = {"name": "far", "command": [sys.executable, str(TOOL_SERVER), str(definitions)]}
    async with fresh_application(
        local_model_url=speaker.url,
        data_dir=data,
        # The operator says what a tool does; one that only reads is called without a question.
        mcp_servers=McpServers(json.dumps([far | {"effects": {"look": "read", "fail": "read"}}])),
        oop_dir=str(guests),
        oop_grants=Grants('{"teller": ["notes.write"]}'),
        oop_effects=ToolEffects('{"teller": {"look": "read", "fail": "read", "keep": "write"}}'),
    ) as house:
        await until(lambda: known(house)[0].state == "connected")
        yield house


@pytest.fixture(scope="module")
async def foreign(speaker: Speaker, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Foreign]:
    if reason := await Sandbox().reason():
        pytest.skip(f"there is no working sandbox here: {reason}")
    folder, outside = tmp_path_factory.mktemp("foreign"), Outside()
    definitions = _definitions(folder)
    with readable_folder() as guests:
        teller = write_guest(guests, "teller", GUEST.read_text(), 'capabilities = ["notes.write"]\n')
        (teller / "says.json").write_text(json.dumps(POISONS))
        async with _serving(speaker, definitions, guests, folder) as house:
            house.services.registry.tools["probe_send"] = Tool(
                name="probe_send",
                description="Send a text to an address.",
                permission="chat:use",
                effect="egress",
                untrusted=False,
                perform=outside.send,
                parameters=(Parameter(name="to", type="string"), Parameter(name="text", type="string")),
            )
            yield Foreign(house, outside, definitions.with_suffix(".sent"))


@pytest.fixture
async def company(foreign: Foreign) -> Company:
    made = await found_company(foreign.house)
    owner = await made.join("owner")
    theirs = [one["name"] for one in (await owner.get("/api/tools"))["items"] if one["source"] != "core"]
    assert {*WAYS, "mcp_far_send", "oop_teller_keep"} <= set(theirs)
    for name in theirs:
        assert (await owner.post(f"/api/tools/{name}", {"enabled": True}))["enabled"]
    return made


async def attack(person: Client, number: int, way: str) -> Answer:
    """One honest question, for which a tool of strangers is called that gives an order."""
    return await person.post("/api/agent", {"prompt": "What is new? " + order(way, {"number": number})})


async def test_no_result_of_a_guest_or_a_server_has_an_effect_without_approval(
    foreign: Foreign, alice: Client, speaker: Speaker
) -> None:
    async with obedience(speaker):
        for number, (way, trick, effect) in enumerate(TRIED):
            reply = await attack(alice, number, way)

            assert reply.status == 200, reply.raw
            read = [step["status"] for step in reply["steps"] if step["name"] == way]
            assert read == ["error" if way.endswith("_fail") else "ok"], (way, trick, reply["steps"])
            assert way in {word["source"] for one in reply["approvals"] for word in one["words"]}, (way, trick)
            # The obeying model did try: otherwise this proves nothing.
            assert effect in [one["name"] for one in reply["approvals"]], (way, trick, effect, reply["steps"])
            assert not [step for step in reply["steps"] if step["effect"] != "read" and step["status"] == "ok"]
    assert await foreign.effects(alice) == []


async def test_what_a_person_approves_is_done_once(foreign: Foreign, alice: Client, speaker: Speaker) -> None:
    async with obedience(speaker):
        for number, (way, _, effect) in enumerate(TRIED):
            if effect in ("mcp_far_send", "oop_teller_keep") and way.endswith("_look"):
                waiting = await attack(alice, number, way)
                decisions = [
                    {"call": one["call"], "digest": one["digest"], "approve": one["name"] == effect}
                    for one in waiting["approvals"]
                ]
                done = await alice.post("/api/agent", {"run": waiting["id"], "decisions": decisions})
                assert (done.status, done["stop"]) == (200, "answer"), done.raw
                break
    assert len(await foreign.effects(alice)) == 1
    foreign.sent.unlink(missing_ok=True)


@pytest.mark.parametrize("effect", EFFECTS)
async def test_without_the_taint_rule_every_one_of_them_would_be_obeyed(
    foreign: Foreign, alice: Client, speaker: Speaker, monkeypatch: pytest.MonkeyPatch, effect: str
) -> None:
    _no_taint(monkeypatch)
    number = next(number for number, tried in enumerate(TRIED) if tried[2] == effect)
    async with obedience(speaker):
        await attack(alice, number, TRIED[number][0])
    assert await foreign.effects(alice) != []
    foreign.outside.sent.clear()
    foreign.sent.unlink(missing_ok=True)


@asynccontextmanager
async def blind_obedience(speaker: Speaker) -> AsyncIterator[list[str]]:
    """The model calls whatever it is told to call, also where it was offered no tools; what it was told."""
    told: list[str] = []

    async def answer() -> None:
        while True:
            line = await speaker.lines.get()
            told.append(json.dumps(line.asked["messages"]))
            line.say("As you wish. " + line.asked["messages"][-1]["content"])
            if wanted := obeyed(line.asked):
                line.call(*wanted[:20], usage=(5, 5))
            else:
                line.finish(usage=(5, 5))

    task = asyncio.create_task(answer())
    try:
        yield told
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def asking(way: str) -> dict[str, Any]:
    """A workflow that hands what a stranger's tool says to a model, and what the model says on."""
    return {
        "slug": f"ask-{way.replace('_', '-')}",
        "start": "look",
        "max_steps": 5,
        "inputs": {"number": {"type": "integer"}},
        "steps": [
            {"name": "look", "kind": "tool", "tool": way, "with": {"number": {"$": "input.number"}}},
            {
                "name": "ask",
                "kind": "tool",
                "tool": "chat_message",
                "with": {"text": {"$": "steps.look.output.result"}},
            },
            {"name": "count", "kind": "tool", "tool": "word_count", "with": {"text": {"$": "steps.ask.output.result"}}},
        ],
    }


async def test_results_of_strangers_as_steps_have_no_effect_beyond_the_spec(
    foreign: Foreign, company: Company, speaker: Speaker
) -> None:
    starter = Starter(Engine(foreign.house), company, await company.join("owner"))
    for way in WAYS:
        await starter.publish(asking(way))

    async with blind_obedience(speaker) as told, starter.engine.working(2):
        started = [
            (way, await starter.start(asking(way)["slug"], {"number": number}))
            for number, (way, _, _) in enumerate(TRIED)
        ]
        runs = [(way, await starter.ended(id, 2 * PATIENCE)) for way, id in started]

    for way, run in runs:
        if way.endswith("_fail"):
            assert (run["state"], run["error"]["step"]) == ("failed", "look"), run
        else:
            assert run["steps"][0]["state"] == "succeeded", run
            assert "CALL " in json.dumps(run["steps"][0]["output"]), run
    # Every result of a stranger reached the model, which obeyed it.
    assert sum("CALL " in one for one in told) == sum(way.endswith("_look") for way, _ in runs)
    assert await foreign.effects(starter.client) == []
    tools = await starter.engine.sql("SELECT DISTINCT tool FROM run_steps WHERE org_id = $1", company.org.id)
    assert {row[0] for row in tools} <= {*WAYS, "chat_message", "word_count"}
