"""A model that goes away, dawdles, lies or is no longer paid for in the middle of `index-knowledge`: what fails stays with its document."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from atrium.boot.assemble import Application
from atrium.product.knowledge import extraction_prompt
from atrium.product.knowledge.extraction_prompt import LONGEST_PART
from tests.domains.knowledge.conftest import call, document, entities, facts_in, put
from tests.domains.knowledge.test_index import ended, items_of
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import Company
from tests.support.speaker import Line, Speaker
from tests.support.spoken_house import used


def truthfully(line: Line, text: str) -> None:
    line.say(json.dumps(facts_in(text)))
    line.finish(usage=(10, 20))


@dataclass(slots=True)
class Moody:
    """Answers each question on its own, so that one without an answer holds up no other."""

    answers: Callable[[Line, str], None] = truthfully
    asked: list[str] = field(default_factory=list)

    async def listen(self, speaker: Speaker) -> None:
        while True:
            line = await speaker.lines.get()
            text = json.loads(line.asked["messages"][-1]["content"])["document"]
            self.asked.append(text)
            self.answers(line, text)


@pytest.fixture
async def moody(speaker: Speaker) -> AsyncIterator[Moody]:
    found = Moody()
    listening = asyncio.ensure_future(found.listen(speaker))
    yield found
    listening.cancel()


async def stored(house: Application, ids: list[str]) -> dict[str, int]:
    """How many rows there are of each of these objects, in every table that a share is made of."""
    counted = """
      SELECT object_id::text AS id, count(*) AS rows FROM (
        SELECT object_id FROM knowledge_shares UNION ALL SELECT object_id FROM knowledge_mentions
        UNION ALL SELECT object_id FROM knowledge_relations
      ) AS parts WHERE object_id::text = ANY($1) GROUP BY object_id
    """
    rows = await run_as_owner(house.services.settings.database_url, counted, ids)
    return {row["id"]: row["rows"] for row in rows}


async def test_what_fails_stays_with_its_document_and_is_resumed(
    house: Application, company: Company, moody: Moody, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extraction_prompt, "LONGEST_TURN", 3.0)
    admin = await company.join("admin")
    long = document("person:Half") + b" filler" * (LONGEST_PART // 4) + document("person:Second")
    texts = {name: document(f"person:{name}") for name in ("Good", "Gone", "Slow", "Lies")} | {"Half": long}
    ids = {name: await put(admin, f"{name}.txt", text) for name, text in texts.items()}

    def badly(line: Line, text: str) -> None:
        if "Gone" in text:
            line.say('{"entities": [')
            line.die()
        elif "Second" in text:
            line.die()
        elif "Lies" in text:
            line.say(
                '{"entities": [{"id": "e1", "kind": "person", "name": "Lies", "quote": "never said"}], "relations": []}'
            )
            line.finish(usage=(10, 20))
        elif "Slow" not in text:
            truthfully(line, text)

    moody.answers = badly
    run = await ended(admin, (await admin.post("/api/kg/extract"))["id"])
    found, between = items_of(run), await stored(house, list(ids.values()))
    seen = {one["name"] for one in await entities(admin)}
    asked = len(moody.asked)
    moody.answers = truthfully
    resumed = await admin.post(
        "/api/workflows/index-knowledge/run", {"resume": {"run_id": run["id"], "step": "extract"}}
    )
    again = items_of(await ended(admin, resumed["id"]))

    assert run["state"] == "succeeded"
    assert {name: (found[id].get("error") or {}).get("code") for name, id in ids.items()} == {
        "Good": None,
        "Gone": "models.unavailable",
        "Slow": "models.unavailable",
        "Lies": "knowledge.refused",
        "Half": "models.unavailable",
    }
    assert (between, seen) == ({ids["Good"]: 2}, {"Good"})
    assert all(not (one.get("error")) for one in again.values())
    assert {one["name"] for one in await entities(admin)} == {*texts, "Second"}
    assert not any("Good" in text for text in moody.asked[asked:])


async def test_without_quota_the_rest_waits_and_is_read_later(
    house: Application, company: Company, moody: Moody
) -> None:
    admin, operator = await company.join("admin"), await company.join("owner", operator=True)
    ids = [await put(admin, f"{n}.txt", document(f"person:P{n}")) for n in range(3)]
    await operator.post("/api/quota", {"dimension": "ai.requests", "limit": 1, "window": "day"})

    started = await admin.post("/api/kg/extract")
    run = await waiting_for_quota(admin, started["id"], 2)
    between = await stored(house, ids)
    unread = [one["reason"] for one in (await admin.post("/api/kg/extract?dry_run=1"))["items"]]
    await admin.post(f"/api/runs/{started['id']}/cancel")
    await ended(admin, started["id"])
    await operator.post("/api/quota", {"dimension": "ai.requests", "limit": 100, "window": "day"})
    later = await ended(admin, (await admin.post("/api/kg/extract"))["id"])

    assert (run["state"], list(between.values()), unread) == ("running", [2], ["new", "new"])
    assert later["state"] == "succeeded"
    assert {one["name"] for one in await entities(admin)} == {"P0", "P1", "P2"}
    assert (len(moody.asked), (await used(admin))["ai.requests"]) == (3, 3)


async def waiting_for_quota(person: Client, id: str, many: int) -> Any:
    """The run, once so many of its items were put off."""
    async with asyncio.timeout(PATIENCE):
        while True:
            run = await person.get(f"/api/runs/{id}")
            items = [one for step in run["steps"] if step["name"] == "extract" for one in step["items"]]
            jobs = [await person.get(f"/api/jobs/{one['job_id']}") for one in items if one["state"] == "queued"]
            if sum(job["waiting_reason"] in ("scheduled", "quota") for job in jobs) == many:
                return run
            await asyncio.sleep(0.05)


async def test_two_at_once_with_different_answers_leave_the_share_of_one(
    house: Application, alice: Client, bob: Client, moody: Moody
) -> None:
    id = await put(alice, "a.txt", b"[person:Ada>knows>person:Bob] and [place:London]")
    lines: list[Line] = []

    def together(line: Line, text: str) -> None:
        """Say nothing before both have asked; then one finds people, the other a place."""
        lines.append(line)
        if len(lines) == 2:
            for one, part in zip(lines, ("[person:Ada>knows>person:Bob]", "[place:London]"), strict=True):
                truthfully(one, part)

    moody.answers = together
    kept = await asyncio.gather(call(alice, house, "kg_extract", object=id), call(bob, house, "kg_extract", object=id))
    names = {one["name"] for one in await entities(alice)}

    assert (kept[0]["entities"], kept[0]["relations"]) == (kept[1]["entities"], kept[1]["relations"])
    assert names in ({"Ada", "Bob"}, {"London"})
    assert await stored(house, [id]) == ({id: 4} if "Ada" in names else {id: 2})
