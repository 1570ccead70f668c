"""A server whose model says about each document what a test tells it to, and ways to look at the graph."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from atrium.boot.assemble import Application
from tests.domains.pipeline.conftest import acting, call, put
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for
from tests.support.speaker import Speaker, speaking

__all__ = ["acting", "call", "put"]
_FACT = re.compile(r"\[(\w+):([^\]>]+?)(?:>(\w+)>(\w+):([^\]]+?))?\]")


def document(*facts: str) -> bytes:
    """A text with facts such as `person:Ada` or `person:Ada>knows>person:Bob`, which `facts_in` reads."""
    return " and ".join(f"[{fact}]" for fact in facts).encode()


def facts_in(text: str) -> dict[str, Any]:
    """What a truthful model says about a text of `document`."""
    entities: list[dict[str, str]] = []
    relations: list[dict[str, str]] = []
    for found in _FACT.finditer(text):
        ends = [(found[1], found[2])] + ([(found[4], found[5])] if found[3] else [])
        for type, name in ends:
            entities.append({"id": f"e{len(entities)}", "kind": type, "name": name, "quote": found[0]})
        if found[3]:
            last = len(entities) - 1
            relations.append({"from": f"e{last - 1}", "kind": found[3], "to": f"e{last}", "quote": found[0]})
    return {"entities": entities, "relations": relations}


@dataclass(slots=True)
class Model:
    """Answers every turn; `asked` are the texts, `knows` is what it says about each."""

    knows: Callable[[str], object] = facts_in
    # Said in this order instead of anything else, while there are some.
    says: list[str] = field(default_factory=list)
    # What happens while the model thinks, once.
    meanwhile: Callable[[], Awaitable[object]] | None = None
    asked: list[str] = field(default_factory=list)

    async def answer(self, speaker: Speaker) -> None:
        while True:
            line = await speaker.lines.get()
            if (happens := self.meanwhile) is not None:
                self.meanwhile = None
                await happens()
            text = json.loads(line.asked["messages"][-1]["content"])["document"]
            self.asked.append(text)
            line.say(self.says.pop(0) if self.says else json.dumps(self.knows(text)))
            line.finish(usage=(10, 20))


@pytest.fixture(scope="module")
async def speaker() -> AsyncIterator[Speaker]:
    async with speaking() as found:
        yield found


@pytest.fixture(scope="module")
async def house(speaker: Speaker, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    async with fresh_database() as url:
        folder = tmp_path_factory.mktemp("knowledge")
        settings = settings_for(url, data_dir=folder, local_model_url=speaker.url, embed_worker=True)
        async with open_application(settings) as house:
            yield house


@pytest.fixture
async def model(speaker: Speaker) -> AsyncIterator[Model]:
    found = Model()
    answering = asyncio.ensure_future(found.answer(speaker))
    yield found
    answering.cancel()
    speaker.refusal = None


@pytest.fixture
async def company(house: Application) -> Company:
    return await found_company(house)


async def learn(person: Client, house: Application, key: str, *facts: str, visibility: str | None = "team") -> str:
    """The id of a document that was written and read."""
    id = await put(person, key, document(*facts), visibility=visibility)
    await call(person, house, "kg_extract", object=id)
    return id


async def entities(person: Client, **query: object) -> list[dict[str, Any]]:
    """Every entity that a person sees, over all pages."""
    found: list[dict[str, Any]] = []
    cursor: object = None
    while True:
        asked = {**query, "cursor": cursor} if cursor else query
        page = await person.send("GET", "/api/kg/entities", query=asked)
        assert page.status == 200, page.raw
        found += page["items"]
        if (cursor := page["next_cursor"]) is None:
            return found


async def entity(person: Client, name: str) -> dict[str, Any]:
    """The one entity that is called so."""
    [found] = [one for one in await entities(person) if one["name"] == name]
    return found


async def settled(person: Client, kind: str, arguments: dict[str, object]) -> Any:
    """A job, once it has ended."""
    job = await person.post("/api/jobs", {"kind": kind, "input": arguments})
    assert job.status in (200, 201, 202), job.raw
    async with asyncio.timeout(PATIENCE):
        while (found := await person.get(f"/api/jobs/{job['id']}"))["state"] in ("queued", "running", "waiting"):
            await asyncio.sleep(0.02)
    return found


async def merge(person: Client, keep: str, drop: str) -> str:
    """The id of a merge."""
    ended = await settled(person, "knowledge.merge", {"keep": keep, "drop": drop})
    assert ended["state"] == "succeeded", ended.raw
    return str(ended["result"]["merge"])


def shapes(found: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Entities without their ids, in order of what they say."""
    return sorted(
        (one["type"], one["name"], tuple(one["aliases"]), one["mentions"], one["documents"], one["relations"])
        for one in found
    )
