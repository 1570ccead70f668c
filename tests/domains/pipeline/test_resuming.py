"""Each step of each shipped workflow fails once and is resumed: no call or token twice, and the result of an undisturbed run."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from atrium.boot.assemble import Application
from atrium.engine.extraction.service import TEXT_KIND
from atrium.kit.errors import Invalid
from atrium.seams.context import Context, Operation
from tests.domains.knowledge.conftest import document, entities, facts_in, shapes
from tests.domains.pipeline.conftest import SCHEMA, Kept, Reader, put, read_body
from tests.domains.workflows.engine import Engine, Starter
from tests.postgres import fresh_database
from tests.support import honest
from tests.support.client import Client
from tests.support.people import found_company
from tests.support.servers import left_to_tests, open_application, settings_for
from tests.support.speaker import Line, Speaker
from tests.support.spoken_house import reserved, used

FORM = "# Invoice {{ number }}\n\nTotal {{ total }}\n"
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# Slug and step; of a map its second item fails.
STEPS = [
    ("index-documents", "find"), ("index-documents", "extract"),
    ("index-knowledge", "find"), ("index-knowledge", "extract"),
    ("process-upload", "text"), ("process-upload", "fields"), ("process-upload", "form"), ("process-upload", "translate_form"),
    ("process-upload without a form", "translate_source"),
    ("translate-chat", "chat"), ("translate-chat", "to_all"), ("translate-chat", "back_home"),
]  # fmt: skip
Place = tuple[str, int | None]


@dataclass(slots=True)
class Watch:
    """Which calls of steps succeeded, and the one that fails when it comes first."""

    fails: str | None = None
    done: Counter[Place] = field(default_factory=Counter)

    def meets(self, place: Place) -> None:
        if self.fails == place[0] and place[1] in (None, 1):
            self.fails = None
            raise Invalid("it fails this once")

    def around(self, called: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def watched(acting: Operation | Context, arguments: dict[str, Any]) -> Any:
            assert acting.step is not None
            place = acting.step.name, acting.step.index
            self.meets(place)
            result = await called(acting, arguments)
            self.done[place] += 1
            return result

        return watched


@pytest.fixture(scope="module")
async def server(speaker: Speaker, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    """A server that reads no text by itself, so that there is something to index."""
    async with fresh_database() as url:
        settings = settings_for(
            url, data_dir=tmp_path_factory.mktemp("resuming"), local_model_url=speaker.url, extraction=False
        )
        async with open_application(settings, domains=left_to_tests(TEXT_KIND)) as made:
            yield made


@pytest.fixture
def watch(server: Application) -> Iterator[Watch]:
    tools, found = server.services.registry.tools, Watch()
    before = dict(tools)
    for name, tool in before.items():
        if tool.perform is not None:
            tools[name] = replace(tool, perform=found.around(tool.perform))
        elif tool.act is not None:
            tools[name] = replace(tool, act=found.around(tool.act))
    yield found
    tools.update(before)


class Talker(Reader):
    """Also answers a person who only talks, and tells what a text of facts says."""

    def _answer(self, line: Line) -> None:
        said = line.asked["messages"][-1]["content"]
        if said.startswith("{"):
            super()._answer(line)
            return
        line.say("Good evening to you.")
        line.finish(usage=(10, 20))

    def _reply(self, asked: dict[str, Any]) -> object:
        facts = facts_in(asked.get("document", ""))
        return facts if facts["entities"] else super()._reply(asked)


@pytest.fixture
async def talker(speaker: Speaker) -> AsyncIterator[Talker]:
    found = Talker()
    answering = asyncio.ensure_future(found.answer(speaker))
    yield found
    answering.cancel()


async def begin(server: Application, slug: str) -> tuple[Starter, dict[str, Any]]:
    """A new company, and what a run of the workflow is given there."""
    company = await found_company(server)
    starter = Starter(Engine(server), company, await company.join("admin"))
    if slug.startswith("process-upload"):
        id = await put(starter.client, "in/bill.pdf", honest.pdf(1), "application/pdf")
        template = "" if slug.endswith("without a form") else FORM
        return starter, {"object_id": id, "schema": SCHEMA, "template": template, "locales": ["es", "nl", "is"]}
    if slug == "index-documents":
        for number in range(4):
            await put(starter.client, f"in/{number}.txt", f"text {number}".encode())
        return starter, {}
    if slug == "index-knowledge":
        for number in range(3):
            facts = document(f"person:Ada>knows>person:Bob {number}", f"place:Port {number}")
            id = await put(starter.client, f"in/{number}.txt", facts)
            await Kept("text").call(server, starter.client, "repo_extract_text", id=id)
        return starter, {}
    return starter, {"message": "Good morning"}


async def run(starter: Starter, slug: str, given: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    id = await starter.start(slug.partition(" ")[0], given, **more)
    # One at a time: what fails is then the second of a map, and nothing else is under way.
    async with starter.engine.working(concurrency=1):
        return await starter.ended(id)


async def outcome(starter: Starter, ended: dict[str, Any]) -> tuple[Any, dict[str, Any], list[tuple[Any, ...]]]:
    """What a run came to, whatever the ids are, and what there is afterwards: files, and what the knowledge graph says."""
    ids: dict[str, str] = {}
    output = _ID.sub(
        lambda found: ids.setdefault(found[0], f"id {len(ids)}"), json.dumps(ended["output"], sort_keys=True)
    )
    files = (await starter.client.get("/api/repo", prefix="in/", limit=100))["items"]
    kept = {}
    for one in files:
        read = await starter.client.get(f"/api/repo-obj/{one['id']}")
        body = await read_body(starter.client, one["id"]) if not one["key"].endswith(".pdf") else ""
        kept[one["key"]] = one["version"]["number"], read["text"]["state"], body
    return json.loads(output), kept, shapes(await entities(starter.client))


async def spent(person: Client) -> tuple[int, int, int]:
    found = await used(person)
    return found.get("ai.requests", 0), found.get("ai.tokens.total", 0), await reserved(person)


@pytest.mark.parametrize(("slug", "step"), STEPS)
async def test_a_step_that_fails_once_is_resumed_with_the_result_of_an_undisturbed_run(
    server: Application, speaker: Speaker, watch: Watch, talker: Talker, slug: str, step: str
) -> None:
    quiet, given = await begin(server, slug)
    watch.done.clear()
    undisturbed = await run(quiet, slug, given)
    calls = dict(watch.done)
    disturbed, given = await begin(server, slug)
    watch.done.clear()
    watch.fails = step

    failed = await run(disturbed, slug, given)
    between = dict(watch.done)
    resumed = await run(disturbed, slug, resume={"run_id": failed["id"], "step": step})

    assert undisturbed["state"] == "succeeded", undisturbed["error"]
    # A map that collects its failures goes on with them.
    assert failed["state"] == ("succeeded" if step == "extract" else "failed")
    assert resumed["state"] == "succeeded", resumed["error"]
    assert between != calls
    assert watch.done == calls, "each call succeeds as often as without the failure"
    assert set(calls.values()) == {1}
    assert await outcome(disturbed, resumed) == await outcome(quiet, undisturbed)
    assert await spent(disturbed.client) == await spent(quiet.client)
    taken_over = {one["name"] for one in resumed["steps"] if one["reused_from"] == failed["id"]}
    assert taken_over >= {name for name, _ in between} - {step}
