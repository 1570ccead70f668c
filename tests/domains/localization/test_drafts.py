"""Drafts by a machine: whole or not kept, paid or waiting, removed alone."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.domains.localization.conftest import Desk, write_catalogs
from tests.domains.translation.conftest import Translator
from tests.support.patience import PATIENCE
from tests.support.speaker import Speaker
from tests.support.spoken_house import used

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
    assert (await used(desk.ada))["ai.tokens.total"] == TOKENS * len(model.asked)


async def test_a_draft_is_asked_for_with_the_terms_of_the_glossary(drafting_desk: Desk, model: Translator) -> None:
    desk = drafting_desk
    for term, translation in (("board", "tablero de anuncios"), ("zeppelin", "dirigible")):
        added = await desk.ada.post("/api/glossary", {"target": "es", "term": term, "translation": translation})
        assert added.status < 300, added.raw

    await drafted(desk, ns="menu")

    [asked] = model.asked
    assert [(one["term"], one["translation"]) for one in asked["glossary"]] == [("board", "tablero de anuncios")]
    assert "glossary" in model.instructions[0]


async def test_a_draft_that_leaves_out_a_term_of_the_glossary_is_kept_with_a_warning(
    drafting_desk: Desk, model: Translator
) -> None:
    desk = drafting_desk
    for term, translation in (("board", "tablero"), ("open", "open"), ("zeppelin", "dirigible")):
        added = await desk.ada.post("/api/glossary", {"target": "es", "term": term, "translation": translation})
        assert added.status < 300, added.raw

    await drafted(desk)

    board, files = await desk.message("menu.board"), await desk.message("words.files")
    assert (board["status"], board["text"], board["problem"]) == ("machine", "OPEN THE BOARD", None)
    assert board["machine"]["checks"] == [
        {"code": "glossary", "level": "warning", "message": "the glossary wants “tablero” for “board”"}
    ]
    assert (files["status"], files["machine"]["checks"]) == ("machine", [])
    assert (await desk.review("menu.board"))["status"] == "approved"
    assert (await desk.message("menu.board"))["machine"] is None


async def test_a_cancelled_job_releases_its_messages(idle_desk: Desk) -> None:
    desk = idle_desk
    batch = await desk.ada.post("/api/l10n/draft", {"locale": "es"})
    queued = await desk.message("menu.board")

    await desk.ada.post(f"/api/jobs/{batch['jobs'][0]}/cancel")

    found = await desk.message("menu.board")
    assert (queued["drafting"], found["drafting"], found["problem"]) == (True, False, "cancelled")
    assert (await desk.ada.post("/api/l10n/draft", {"locale": "es"}))["strings"] == 2


async def test_a_batch_of_which_a_job_was_cancelled_ends_with_its_jobs(drafting_desk: Desk, speaker: Speaker) -> None:
    desk = drafting_desk
    write_catalogs(desk.shipped, en={"many": {f"m{n:04}": f"Text number {n}" for n in range(560)}})
    batch = await desk.ada.post("/api/l10n/draft", {"locale": "es", "ns": "many", "continue": True})
    cancelled = await desk.ada.post(f"/api/jobs/{batch['jobs'][-1]}/cancel")

    # Nobody has answered for the model until here, so no job has ended and queued another one.
    answering = asyncio.ensure_future(Translator().answer(speaker))
    for job in batch["jobs"]:
        await desk.ended(job)

    answering.cancel()
    listed = (await desk.ada.get("/api/jobs", kind="localization.draft", limit=200))["items"]
    left = (await desk.ada.get("/api/l10n/messages", locale="es", status="missing", ns="many", limit=200))["items"]
    assert (len(batch["jobs"]), batch["remaining"], cancelled.status) == (20, 60, 200)
    assert {one["id"] for one in listed} == set(batch["jobs"])
    assert len(left) >= 60
    assert not any(one["drafting"] for one in left)


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
