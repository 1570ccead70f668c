"""`index-knowledge` over a team's documents: what fails is collected, and can be resumed; nothing is half stored."""

import asyncio
from typing import Any

from atrium.boot.assemble import Application
from tests.domains.knowledge.conftest import Model, document, entities, facts_in, put
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import Company
from tests.support.speaker import Speaker


async def ended(person: Client, id: str) -> Any:
    async with asyncio.timeout(PATIENCE):
        while (run := await person.get(f"/api/runs/{id}"))["state"] == "running":
            await asyncio.sleep(0.02)
    return run


def items_of(run: Any) -> dict[str, Any]:
    [step] = [step for step in run["steps"] if step["name"] == "extract"]
    return {one["item"]: one for one in step["items"]}


async def test_one_run_reads_all_and_collects_what_fails(
    house: Application, company: Company, model: Model, speaker: Speaker
) -> None:
    admin = await company.join("admin")
    good, lies, breaks = [await put(admin, f"{n}.txt", document(f"person:{n}")) for n in ("Good", "Lies", "Breaks")]

    def knows(text: str) -> Any:
        return {"entities": [{"id": "e1"}], "relations": []} if "Lies" in text else facts_in(text)

    model.knows = knows
    first = await admin.post("/api/kg/extract")
    again = await admin.post("/api/kg/extract")
    run = await ended(admin, first["id"])
    found = items_of(run)
    model.knows = facts_in
    resumed = await admin.post(
        "/api/workflows/index-knowledge/run", {"resume": {"run_id": run["id"], "step": "extract"}}
    )
    second = await ended(admin, resumed["id"])

    assert (first.status, again.status, first["workflow"]["slug"], run["state"]) == (
        202,
        202,
        "index-knowledge",
        "succeeded",
    )
    assert found.keys() == {good, lies, breaks}
    assert (found[good]["result"]["entities"], found[lies]["error"]["code"]) == (1, "knowledge.refused")
    assert "/entities/0" in found[lies]["error"]["message"]
    assert items_of(second)[lies]["result"]["entities"] == 1
    assert {one["name"] for one in await entities(admin)} == {"Good", "Lies", "Breaks"}
    assert len(model.asked) == 4


async def test_a_run_that_has_not_ended_is_the_answer(house: Application, company: Company, model: Model) -> None:
    admin, bob = await company.join("admin"), await company.join("member")
    await put(admin, "a.txt", document("person:Ada"))
    held, seen = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        seen.set()
        await held.wait()

    model.meanwhile = wait
    first = await admin.post("/api/kg/extract")
    await asyncio.wait_for(seen.wait(), PATIENCE)
    second = await bob.post("/api/kg/extract")
    held.set()
    await ended(admin, first["id"])
    third = await bob.post("/api/kg/extract")

    assert first["id"] == second["id"] != third["id"]
    assert (second["redacted"], second["started_by"]["user_id"]) == (True, admin.user_id)
    assert items_of(await ended(bob, third["id"])) == {}


async def test_a_model_that_is_gone_is_collected_and_costs_no_refusal(
    house: Application, company: Company, model: Model, speaker: Speaker
) -> None:
    admin = await company.join("admin")
    await put(admin, "a.txt", document("person:Ada"))
    speaker.refusal = 503

    run = await ended(admin, (await admin.post("/api/kg/extract"))["id"])
    [failed] = items_of(run).values()
    [waiting] = (await admin.post("/api/kg/extract?dry_run=1"))["items"]
    speaker.refusal = None
    await ended(admin, (await admin.post("/api/kg/extract"))["id"])

    assert failed["error"]["code"] == "models.unavailable"
    assert waiting["reason"] == "new"
    assert [one["name"] for one in await entities(admin)] == ["Ada"]


async def test_a_viewer_and_another_company_start_nothing(
    house: Application, company: Company, stranger: Client, model: Model
) -> None:
    admin, viewer = await company.join("admin"), await company.join("viewer")
    await put(admin, "a.txt", document("person:Ada"))

    assert (await viewer.post("/api/kg/extract")).status == 403
    assert (await stranger.post("/api/kg/extract?dry_run=1"))["items"] == []
    run = await ended(stranger, (await stranger.post("/api/kg/extract"))["id"])
    assert (items_of(run), model.asked) == ({}, [])
