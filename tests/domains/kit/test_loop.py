"""Work whose size a caller chooses stops nobody: it is done beside the event loop, in bounds, and never in the thread of signing in."""

import asyncio
import json
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.engine.inference.estimates import Estimator
from atrium.engine.turns import lost_turns
from atrium.engine.workflows import interpreter
from atrium.engine.workflows.interpreter import RunSnapshot, Spec
from atrium.kit.ids import NIL, new_id
from atrium.kit.postgres.presence import SPACE
from atrium.kit.text.icu import MessageRefused
from atrium.kit.work.compute import SMALL, ComputePool
from atrium.product.knowledge.model import KnowledgeRefused
from atrium.product.knowledge.reply_check import TextChunk, check_reply
from atrium.product.search import snippets, words
from atrium.product.translation.units.html import html_units
from atrium.product.translation.units.markdown import markdown_units
from atrium.product.translation.units.messages import icu_units
from atrium.product.translation.units.placeholders import text_units
from atrium.seams.models import Message, Turn
from atrium.seams.workflows import problems_in, read_workflow
from tests.postgres import fresh_database, run_as_owner
from tests.support.patience import PATIENCE
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for

pytestmark = pytest.mark.finding

LARGE = 60_000
PASSWORD = "correct horse battery staple"


@pytest.fixture(scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    folder = tmp_path_factory.mktemp("data")
    async with fresh_database() as url, open_application(settings_for(url, data_dir=folder)) as house:
        yield house


@pytest.fixture
async def company(house: Application) -> Company:
    return await found_company(house)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of functions that were asked of another process."""
    asked, run = list[str](), ComputePool.run

    async def noted(
        pool: ComputePool, owner: Any, size: int, function: Callable[..., Any], *rest: Any, **more: Any
    ) -> Any:
        if size > more.get("small", SMALL):
            asked.append(function.__name__)
        return await run(pool, owner, size, function, *rest, **more)

    monkeypatch.setattr(ComputePool, "run", noted)
    return asked


async def test_g3_snippets_of_long_texts_are_cut_elsewhere(company: Company, elsewhere: list[str]) -> None:
    member = await company.join("member")
    for number in range(3):
        body = f"{'語' * (LARGE - 100)} anchor {number}"
        assert (await member.post("/api/notes", {"title": f"Anchor {number}", "body": body})).status == 201

    found = await member.get("/api/search", q="anchor")

    assert [hit["title"][:6] for hit in found["items"]] == ["Anchor"] * 3
    assert all(hit["marks"] for hit in found["items"])
    assert "cut" in elsewhere
    assert "index" in elsewhere


async def test_g3_a_search_whose_snippets_take_too_long_shows_how_texts_begin(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    member = await company.join("member")
    await member.post("/api/notes", {"title": "Keel", "body": f"begins so {'語' * LARGE} keel"})
    monkeypatch.setattr("atrium.product.search.hits._CUT_SECONDS", 0.0)

    [hit] = (await member.get("/api/search", q="keel"))["items"]

    assert (hit["title"], hit["marks"]) == ("Keel", [])
    assert hit["snippet"].startswith("begins so")


async def test_g4_signing_in_waits_for_no_thread_that_texts_can_take(company: Company) -> None:
    """Every thread that the process shares is held, as eight translations held them."""
    member = await company.join("member", password=PASSWORD)
    release, held = threading.Event(), threading.Semaphore(0)

    def hold() -> None:
        held.release()
        release.wait(PATIENCE)

    threads = min(32, (os.cpu_count() or 1) + 4)
    holding = [asyncio.ensure_future(asyncio.to_thread(hold)) for _ in range(threads)]
    try:
        while not held.acquire(blocking=False):
            await asyncio.sleep(0.01)
        credentials = {"username": member.username, "password": PASSWORD}
        signed_in = await asyncio.wait_for(member.post("/api/login", credentials), PATIENCE)
    finally:
        release.set()
        await asyncio.gather(*holding)

    assert signed_in.status == 200


async def test_g4_long_texts_are_translated_elsewhere(company: Company, elsewhere: list[str]) -> None:
    member = await company.join("member")

    made = await member.post("/api/translate", {"text": "[" * 20_000, "target": "de", "format": "markdown"})

    assert made.status == 200, made.raw
    assert {"template_of", "_finished"} <= set(elsewhere)


async def test_g4_a_long_question_is_estimated_elsewhere(company: Company, elsewhere: list[str]) -> None:
    member = await company.join("member")

    assert (await member.post("/api/ai/chat", {"prompt": "word " * 5_000})).status == 200
    assert "estimate_turn" in elsewhere


async def test_g4_a_question_that_is_refused_anyway_is_not_read_first(company: Company, elsewhere: list[str]) -> None:
    operator, member = await company.join("owner", operator=True), await company.join("member")
    limit = {"dimension": "ai.requests", "window": "day", "limit": 0}
    assert (await operator.post("/api/quota", limit)).status == 200

    refused = await member.post("/api/ai/chat", {"prompt": "word " * 5_000})

    assert (refused.status, refused.code) == (429, "quotas.exceeded")
    assert "estimate_turn" not in elsewhere


async def test_g4_a_refusal_repeats_little_of_a_long_value(company: Company) -> None:
    member = await company.join("member")

    refused = await member.post("/api/ai/chat", {"prompt": "hi", "response_format": {"type": "語" * LARGE}})

    assert refused.status == 400
    assert "it takes json_object, json_schema, text" in refused["detail"]
    assert refused["errors"][0]["path"] == "response_format.type"
    assert len(refused.raw) < 3_000


async def test_g4_what_was_said_is_estimated_also_by_a_server_that_ends() -> None:
    async with ComputePool(1) as pool:
        estimator = Estimator(pool, new_id())
        turn, said = Turn([Message("user", "hi")], max_tokens=10), "word " * LARGE
        known = await estimator.text(said), await estimator.reply(turn, said)
        pool.drain()
        await asyncio.sleep(0)
        ending = await estimator.text(said), await estimator.reply(turn, said)

    assert known[0] > 0
    assert known[0] / 2 < ending[0] < 2 * known[0]
    assert (ending[1].completion_tokens, ending[1].exact) == (ending[0], False)


SHAPES: dict[str, Callable[[int], str]] = {
    "brackets": lambda n: "[" * n,
    "nested brackets": lambda n: "[" * (n // 2) + "]" * (n // 2),
    "pictures and links": lambda n: "![" * (n // 4) + "[](a)" * (n // 10),
    "stars": lambda n: "*a " * (n // 3),
    "backticks": lambda n: "` " * (n // 2),
    "spaces": lambda n: f"a{' ' * n}b\nc",
    "hard breaks": lambda n: "a  \n" * (n // 4),
    "tags": lambda n: "<b>" * (n // 3),
    "open tags": lambda n: "<a " * (n // 3),
    "comments": lambda n: "<!--" * (n // 4),
    "braces": lambda n: "{" * n,
    "apostrophes": lambda n: "'{" * (n // 2),
    "quotations": lambda n: "> " * (n // 2),
    "tables": lambda n: "|-" * (n // 2),
    "combining marks": lambda n: "e\u0301" * (n // 2),
}
PARSERS: dict[str, Callable[[str], Any]] = {
    "markdown": markdown_units,
    "html": html_units,
    "text": text_units,
    "message": lambda text: icu_units(text, "ar"),
    "snippets": lambda text: snippets.cut(
        ["a", "anchor"], "b", ["anch"], [snippets.SnippetSource("Anchor", "a/b", text)]
    ),
    "index words": lambda text: words.index("Anchor", "a/b", text),
    "reply": lambda text: check_reply(text, TextChunk(text, 0), NIL),
    "quotes of a reply": lambda text: check_reply(reply_about(text), TextChunk(text, 0), NIL),
    "workflow": lambda text: problems_in(workflow_of(text)),
}
SIZES = (4_000, 8_000, 16_000)
# As long as notes are searched, and as texts that are asked about.
LONG_SIZES = (16_000, 32_000, 64_000)
LONG = ("snippets", "index words", "reply", "quotes of a reply")


def reply_about(text: str) -> str:
    """What a model might say about a text: as many entities as it may name, each with a place of the text for its quote."""
    at = [number * len(text) // 60 for number in range(60)]
    quotes = [text[start : start + 200] for start in at]
    entities = [
        {"id": f"e{n}", "kind": "concept", "name": quote[:100], "quote": quote} for n, quote in enumerate(quotes)
    ]
    return json.dumps({"entities": entities, "relations": []})


def workflow_of(text: str) -> dict[str, Any]:
    """A workflow with a text in its values, and with as many references as the text has hundreds of characters."""
    named = [{"$": f"input.{text[at : at + 10]}", "default": text[at : at + 10]} for at in range(0, len(text), 100)]
    step = {"name": "first", "kind": "tool", "tool": "notes_list", "with": {"text": text, "values": named}}
    return {"slug": "long", "start": "first", "max_steps": 10, "steps": [step, {**step, "name": text[:60]}]}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("parser", PARSERS)
def test_g4_a_text_twice_as_long_takes_twice_the_steps(parser: str, shape: str) -> None:
    sizes = LONG_SIZES if parser in LONG else SIZES
    steps = [steps_of(PARSERS[parser], SHAPES[shape](size)) for size in sizes]

    assert steps[2] <= 2.3 * steps[1] + 200
    assert steps[1] <= 2.3 * steps[0] + 200


@pytest.mark.proof
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("parser", PARSERS)
def test_g4_a_text_of_any_length_takes_twice_the_steps_of_half_of_it(parser: str, shape: str) -> None:
    """From a thousand characters to as many as are translated at once."""
    sizes = [1_000 << doubling for doubling in range(8)] + [200_000]
    steps = [steps_of(PARSERS[parser], SHAPES[shape](size)) for size in sizes]

    for shorter, longer, half, whole in zip(steps, steps[1:], sizes, sizes[1:], strict=False):
        assert longer <= 2.3 * shorter * whole / half / 2 + 200, (half, whole)


def test_g4_a_parser_that_looks_back_at_everything_is_found() -> None:
    def looks_back(text: str) -> None:
        for end in range(len(text)):
            for _ in range(end // 50):
                pass

    shorter, longer = (steps_of(looks_back, "[" * size) for size in (2_000, 4_000))

    assert longer > 2.3 * shorter + 200


def steps_of(parser: Callable[[str], Any], text: str) -> int:
    """How many lines of Python a parser executes, and how many values it copies in lists on the way."""
    count = 0

    def follow(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return follow

    before = sys.gettrace()
    sys.settrace(follow)
    try:
        parser(text)
    except (MessageRefused, KnowledgeRefused):
        pass
    finally:
        sys.settrace(before)
    return count


def test_g4_plurals_inside_each_other_are_refused_before_they_multiply() -> None:
    message = "x"
    for _ in range(8):
        message = f"{{n, plural, other {{{message}}}}}"

    with pytest.raises(MessageRefused, match="forms"):
        icu_units(message, "ar")
    assert icu_units(message, "ja").units


def defaults(count: int) -> Iterator[dict[str, Any]]:
    return ({"$": "input.absent", "default": number} for number in range(count))


def mapped(items: int, width: int) -> RunSnapshot:
    step = {
        "name": "each", "kind": "map", "over": list(range(items)), "tool": "probe_echo",
        "with": {"items": [*defaults(width), {"$": "index"}]},
    }  # fmt: skip
    spec = Spec(
        read_workflow(
            {
                "slug": "wide", "title": "Wide", "version": 1, "start": "each", "max_steps": 1000,
                "inputs": {"absent": {"type": "string", "optional": True}}, "steps": [step],
            }
        )
    )  # fmt: skip
    return RunSnapshot(id=new_id(), spec=spec, input={}, facts={}, used=0, outputs={}, looked_for=set(spec.names))


def test_g5_values_by_default_count_like_all_others() -> None:
    moves = interpreter.begin(mapped(500, 6_000))

    assert moves.end is not None
    assert (moves.end.error or {})["code"] == "workflows.too_large"
    assert interpreter.begin(mapped(900, 60)).end is None


def test_g5_a_map_that_takes_many_values_is_known_to() -> None:
    assert mapped(900, 60).spec.weights["each"] >= 900 * 60
    assert mapped(900, 60).spec.weight_after("each", None) < 10


async def test_g5_a_busy_process_keeps_its_turns_while_its_session_lives(tmp_path: Path) -> None:
    """One that says nothing for a minute is not dead while PostgreSQL has its connection; once that is gone it is."""
    async with (
        fresh_database() as url,
        open_application(settings_for(url, data_dir=tmp_path / "one")) as busy,
        open_application(settings_for(url, data_dir=tmp_path / "one")) as other,
    ):
        silent = "UPDATE turn_processes SET seen_at = now() - interval '1 minute', steady_since = now() - interval '1 minute'"
        company = await found_company(busy)
        member = await company.join("member")
        await run_as_owner(url, PLACE_TURN, new_id(), UUID(member.org_id), UUID(member.team_id), UUID(member.user_id), new_id(),
                           busy.services.turns.process_id)  # fmt: skip
        await _until_locked(url)
        await run_as_owner(url, silent)

        assert await lost_turns.settle_lost(other.services) == 0
        _, presence = busy.services.started["turns"]
        await presence.stop()
        await run_as_owner(url, silent)
        assert await lost_turns.settle_lost(other.services) == 1


PLACE_TURN = """
INSERT INTO turns (id, org_id, team_id, user_id, executor, model, simulated, admission_id, process_id, reserved_tokens, prompt_tokens)
VALUES ($1, $2, $3, $4, 'local', 'm', true, $5, $6, 10, 5)
"""


_LOCKS = """
SELECT l.objid FROM pg_locks l JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
 WHERE l.locktype = 'advisory' AND l.classid = $1::bigint::oid AND l.granted
"""


async def _until_locked(url: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while len(await run_as_owner(url, _LOCKS, SPACE)) < 2:
            await asyncio.sleep(0.05)


async def test_g15_the_cache_of_folded_characters_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_MOST_FOLDED", 100)
    folding = words._Folding()

    assert [folding[code] for code in range(0x100, 0x200)] == [folding[code] for code in range(0x100, 0x200)]
    assert len(folding) == 100
