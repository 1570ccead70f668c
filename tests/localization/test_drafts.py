"""Drafts by a machine: whole or not kept, paid or waiting, removed alone."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.ai.conftest import used
from tests.ai.speaker import Speaker
from tests.localization.conftest import Desk, write_catalogs
from tests.patience import PATIENCE
from tests.translation.conftest import Translator

# What the model of these tests counts for each turn.
TOKENS = 30


@pytest.fixture
async def model(speaker: Speaker) -> AsyncIterator[Translator]:
    found = Translator()
    answering = asyncio.ensure_future(found.answer(speaker))
    yield found
    answering.cancel()


async def drafted(desk: Desk, **body: Any) -> dict[str, Any]:
    batch = await desk.ada.post("/api/l10n/draft", {"locale": "es"} | body)
    assert batch.status == 202, batch.raw
    for job in batch["jobs"]:
        await desk.ended(job)
    return dict(batch.body)


async def test_what_is_missing_is_drafted_and_waits_for_a_person(drafting_desk: Desk, model: Translator) -> None:
    desk = drafting_desk

    batch = await drafted(desk)

    found = await desk.message("menu.board")
    assert (batch["strings"], batch["remaining"], len(batch["jobs"])) == (2, 0, 1)
    # Settled as the model counted, not as was reserved.
    assert (await used(desk.ada))["ai.tokens.total"] == TOKENS * len(model.asked)
    assert (found["status"], found["text"], found["machine"] is not None) == ("machine", "OPEN THE BOARD", True)
    assert (await desk.message("words.files"))["text"] == (
        "{count, plural, one {# FILE} many {# FILES} other {# FILES}} IN <b>{folder}</b>"
    )
    assert (await desk.served())["menu.board"] == "Open the board"
    await desk.ada.put("/api/i18n", {"default_locale": "en", "switching": True, "serve_machine": True})
    assert (await desk.served())["menu.board"] == "OPEN THE BOARD"
    assert (await desk.ada.post("/api/l10n/draft", {"locale": "es"})).code == "localization.nothing_missing"
    assert (await desk.review("menu.board"))["status"] == "approved"


async def test_a_broken_reply_is_never_kept(drafting_desk: Desk, model: Translator) -> None:
    desk = drafting_desk
    model.reply = lambda sent: sent.replace("⟦", "").upper() if "⟦" in sent else sent.upper()

    await drafted(desk)

    found = await desk.message("words.files")
    assert (found["status"], found["text"], found["problem"], found["drafting"]) == ("missing", None, "marks", False)
    assert (await desk.message("menu.board"))["status"] == "machine"


async def test_discarding_removes_drafts_and_nothing_else(drafting_desk: Desk, model: Translator) -> None:
    desk = drafting_desk
    await drafted(desk)
    await desk.submit("menu.board", "Abrir el tablero")
    await desk.review("words.files")

    answer = await desk.ada.post("/api/l10n/discard", {"locale": "es"})

    assert answer.body == {"locale": "es", "discarded": 1}
    board = await desk.message("menu.board")
    assert (board["status"], board["text"], board["pending"]["text"]) == ("missing", None, "Abrir el tablero")
    assert (await desk.message("words.files"))["status"] == "approved"
    assert ("OPEN THE BOARD", "machine") in [(text, was) for text, was, _ in await desk.history("menu.board")]
    assert (await desk.message("words.save"))["text"] == "Guardar"


async def test_a_quota_for_a_part_drafts_that_part(drafting_desk: Desk, model: Translator) -> None:
    desk = drafting_desk
    write_catalogs(desk.shipped, en={"many": {f"m{n:03}": f"Text number {n}" for n in range(100)}})
    limit = {"dimension": "ai.requests", "limit": 2, "window": "day"}
    assert (await desk.ada.post("/api/quota", limit)).status < 300

    batch = await drafted(desk, ns="many")

    found = await desk.coverage()
    waiting = (await desk.ada.get("/api/l10n/messages", locale="es", status="missing", ns="many", limit=200))["items"]
    assert (len(batch["jobs"]), found["machine"]) == (4, 50)
    assert [one["problem"] for one in waiting] == ["quota"] * 50
    assert len(model.asked) == 2


async def test_a_quota_for_300_of_1000_drafts_exactly_those(drafting_desk: Desk, model: Translator) -> None:
    desk = drafting_desk
    write_catalogs(desk.shipped, en={"many": {f"m{n:04}": f"Text number {n}" for n in range(1_000)}})
    assert (await desk.ada.post("/api/quota", {"dimension": "ai.requests", "limit": 12, "window": "day"})).status < 300

    batch = await drafted(desk, ns="many", **{"continue": True})

    async with asyncio.timeout(PATIENCE):
        for state in ("queued", "running", "queued", "running"):
            while (await desk.ada.get("/api/jobs", state=state))["items"]:
                await asyncio.sleep(0.1)
    found = await desk.coverage()
    [many] = [one for one in found["namespaces"] if one["ns"] == "many"]
    tried = await desk.ada.get("/api/l10n/messages", locale="es", status="missing", ns="many", limit=200)
    assert (batch["strings"], batch["remaining"]) == (500, 500)
    assert (many["machine"], many["missing"], len(model.asked)) == (300, 700, 12)
    assert {one["problem"] for one in tried["items"]} <= {"quota", None}
    assert not any(one["drafting"] for one in tried["items"])


async def test_a_cancelled_job_releases_its_messages(idle_desk: Desk) -> None:
    desk = idle_desk
    batch = await desk.ada.post("/api/l10n/draft", {"locale": "es"})
    queued = await desk.message("menu.board")

    await desk.ada.post(f"/api/jobs/{batch['jobs'][0]}/cancel")

    found = await desk.message("menu.board")
    assert (queued["drafting"], found["drafting"], found["problem"]) == (True, False, "cancelled")
    assert (await desk.ada.post("/api/l10n/draft", {"locale": "es"}))["strings"] == 2


async def test_without_a_model_a_draft_is_a_pseudo_translation(desk: Desk) -> None:
    await drafted(desk)

    found = await desk.message("words.files")
    assert (found["status"], found["machine"]["model"]) == ("machine", "simulated")
    assert found["text"].count("{") == 5
    assert len(found["text"]) > len(found["source"])


async def test_one_batch_follows_the_other_until_nothing_is_missing(drafting_desk: Desk, model: Translator) -> None:
    desk = drafting_desk
    write_catalogs(desk.shipped, en={"many": {f"m{n:04}": f"Text number {n}" for n in range(560)}})

    batch = await drafted(desk, ns="many", **{"continue": True})

    assert (batch["strings"], batch["remaining"], len(batch["jobs"])) == (500, 60, 20)
    async with asyncio.timeout(PATIENCE):
        while (await desk.coverage())["machine"] < 560:
            await asyncio.sleep(0.1)
