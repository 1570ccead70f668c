"""POST and GET /api/translate over HTTP: what comes back whole, what stays, what it costs, who sees it."""

import asyncio
import time
from typing import Any
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.product.translation import chores
from tests.domains.translation.adversaries import MARK
from tests.domains.translation.conftest import Translator
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.speaker import Speaker
from tests.support.spoken_house import reserved, used

PAGE = "# Open the board\n\nSee [the docs](https://x.example/a) and run `make`.\n\n```sh\nmake all\n```\n\n- write to **Ada**\n"


async def test_a_page_comes_back_whole(ada: Client, translator: Translator) -> None:
    reply = await ada.post("/api/translate", {"text": PAGE, "target": "ES", "format": "markdown"})

    assert reply.status == 200, reply.body
    assert reply["text"] == PAGE.replace("Open the board", "OPEN THE BOARD").replace(
        "See [the docs]", "SEE [THE DOCS]"
    ).replace("and run", "AND RUN").replace("write to **Ada**", "WRITE TO **ADA**")
    assert reply["report"] == {"blocks": 3, "kept": [], "glossary": {"used": 0, "missed": []}}
    assert (reply["source"], reply["target"], reply["simulated"]) == ("en", "es", False)
    assert reply["usage"] == {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30, "exact": True}
    assert "into Spanish (es)" in translator.instructions[0]
    assert "make" not in " ".join(translator.sent)
    spent = await used(ada)
    assert (spent["ai.requests"], spent["ai.tokens.total"], await reserved(ada)) == (1, 30, 0)


@pytest.mark.parametrize(
    ("breaks", "reason"),
    [
        (lambda sent: MARK.sub("", sent), "marks"),
        (lambda sent: sent + "⟦0⟧" if "⟦0⟧" in sent else sent, "marks"),
        (lambda sent: MARK.sub(lambda mark: f"⟦{int(mark[1]) + 5}⟧", sent), "marks"),
        (lambda sent: sent.replace("⟦0⟧", "⟦9⟧").replace("⟦1⟧", "⟦0⟧").replace("⟦9⟧", "⟦1⟧"), "tag_order"),
        (lambda sent: sent + " `code` <script>", "structure"),
        (lambda sent: "⟦0⟧⟦1⟧⟦2⟧", "empty"),
    ],
)
async def test_a_block_that_is_broken_twice_stays_and_is_named(
    ada: Client, translator: Translator, breaks: Any, reason: str
) -> None:
    translator.reply = lambda sent: breaks(sent) if "docs" in sent else sent.upper()

    reply = await ada.post("/api/translate", {"text": PAGE, "target": "es", "format": "markdown"})

    kept = {"block": 2, "reason": reason, "excerpt": "See [the docs](https://x.example/a) and run `make`."}
    assert reply["report"]["kept"] == [kept]
    assert "See [the docs](https://x.example/a) and run `make`." in reply["text"]
    assert "OPEN THE BOARD" in reply["text"]
    # Asked for twice, the second time alone and told why.
    assert [list(asked["blocks"].values()) for asked in translator.asked[1:]] == [[translator.sent[1]]]
    assert "refused" in translator.asked[1]["notes"]["0"]
    assert (await used(ada))["ai.requests"] == 2


async def test_a_second_try_that_is_whole_is_taken(ada: Client, translator: Translator) -> None:
    tries = iter(["", "", "", "ABIERTO", "VISTO ⟦0⟧", "X"])
    translator.reply = lambda sent: next(tries)

    reply = await ada.post("/api/translate", {"text": "open\n\nsee https://x.example\n\nx", "target": "es"})

    assert (reply["text"], reply["report"]["kept"]) == ("ABIERTO\n\nVISTO https://x.example\n\nX", [])


async def test_a_model_that_cannot_answer_in_form_is_502(ada: Client, translator: Translator) -> None:
    translator.says = "Sure! Here is your translation."

    reply = await ada.post("/api/translate", {"text": "Hello", "target": "es"})

    assert (reply.status, reply.code) == (502, "models.refused")
    assert (await ada.get("/api/translate"))["items"] == []


async def test_a_model_that_is_away_is_502(ada: Client, translator: Translator, speaker: Speaker) -> None:
    speaker.refusal = 503

    reply = await ada.post("/api/translate", {"text": "Hello", "target": "es"})

    assert (reply.status, reply.code) == (502, "models.unavailable")
    assert (await used(ada))["ai.requests"] == 0


async def test_a_quota_that_runs_out_keeps_what_was_translated(
    ada: Client, firm: Company, translator: Translator
) -> None:
    operator = await firm.join("owner", operator=True)
    await operator.post("/api/quota", {"dimension": "ai.requests", "limit": 2, "window": "day"})
    text = "\n\n".join(f"{number} word " + "long words " * 120 for number in range(12))

    some = await ada.post("/api/translate", {"text": text, "target": "es"})
    none = await ada.post("/api/translate", {"text": text, "target": "es"})

    assert some.status == 200
    assert {kept["reason"] for kept in some["report"]["kept"]} == {"quota"}
    assert 0 < len(some["report"]["kept"]) < 12
    assert "0 WORD" in some["text"]
    assert "11 word" in some["text"]
    assert none.status == 429
    assert (await used(ada))["ai.requests"] == 2


async def test_the_source_language_is_given_or_told_or_unknown(ada: Client, translator: Translator) -> None:
    told = await ada.post("/api/translate", {"text": "Hallo", "target": "es"})
    given = await ada.post("/api/translate", {"text": "Hallo", "target": "es", "source": "nl-be"})
    translator.source = "I think it is Dutch"
    odd = await ada.post("/api/translate", {"text": "Hallo", "target": "es"})

    assert (told["source"], given["source"], odd["source"]) == ("en", "nl-BE", "und")
    assert "from Dutch (Belgium) (nl-BE)" in translator.instructions[1]


@pytest.mark.parametrize(
    "body", [{"target": "klingonese!"}, {"target": "es", "format": "pdf"}, {"target": "es", "text": "x" * 200_001}]
)
async def test_a_wrong_request_is_refused(ada: Client, body: dict[str, str]) -> None:
    reply = await ada.post("/api/translate", {"text": "Hello"} | body)

    assert reply.status == 400


async def test_a_message_that_is_none_is_refused_with_its_place(ada: Client) -> None:
    reply = await ada.post("/api/translate", {"text": "Hello {name", "target": "es", "format": "icu"})

    assert (reply.status, reply.code) == (400, "translation.bad_message")
    assert "(character 12)" in reply["errors"][0]["message"]


async def test_nothing_to_translate_asks_no_model(ada: Client, translator: Translator) -> None:
    reply = await ada.post("/api/translate", {"text": "42 — https://x.example {name}", "target": "es"})

    assert (reply["text"], reply["report"]["blocks"], translator.asked) == ("42 — https://x.example {name}", 0, [])


# One paragraph, with a span that begins in one of its parts and ends in another.
LONG_PARAGRAPH = (
    "The board is open, see [the plan](https://x.example/plan). " * 150
    + "**Here it begins. "
    + "The harbour has `seven` berths and {n} cranes. " * 150
    + "And ends.** Good night."
)


async def test_a_paragraph_longer_than_one_turn_is_translated_in_parts(ada: Client, translator: Translator) -> None:
    assert len(LONG_PARAGRAPH) > 15_000
    text = f"# Plan\n\n{LONG_PARAGRAPH}\n\nThe end.\n"

    reply = await ada.post("/api/translate", {"text": text, "target": "es", "format": "markdown"})

    said = LONG_PARAGRAPH.upper().replace("HTTPS://X.EXAMPLE/PLAN", "https://x.example/plan")
    said = said.replace("`SEVEN`", "`seven`").replace("{N}", "{n}")
    assert reply["text"] == f"# PLAN\n\n{said}\n\nTHE END.\n"
    assert (reply["report"]["blocks"], reply["report"]["kept"]) == (3, [])
    assert all(len(sent) <= 3_000 and sent.rstrip().endswith(".") for sent in translator.sent[1:-2])


async def test_a_paragraph_of_which_one_part_is_broken_twice_stays_whole(ada: Client, translator: Translator) -> None:
    translator.reply = lambda sent: "lost" if "Here it begins" in sent else sent.upper()

    reply = await ada.post(
        "/api/translate", {"text": f"Hello\n\n{LONG_PARAGRAPH}", "target": "es", "format": "markdown"}
    )

    assert reply["text"] == f"HELLO\n\n{LONG_PARAGRAPH}"
    assert [kept["reason"] for kept in reply["report"]["kept"]] == ["marks"]


async def test_a_long_text_goes_in_batches(ada: Client, translator: Translator) -> None:
    await long_text(ada, translator)


@pytest.mark.proof
async def test_a_long_text_does_not_stop_the_others(ada: Client, translator: Translator) -> None:
    assert await long_text(ada, translator) < 0.5


async def long_text(ada: Client, translator: Translator) -> float:
    """A long text goes in batches; for how long at most the loop stood still."""
    text = "\n\n".join(
        f"Paragraph {number} says something about the board and https://x.example/{number}." for number in range(2_300)
    )
    text = text[:200_000]
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.001)
            longest = max(longest, time.perf_counter() - began)

    watching = asyncio.ensure_future(watch())
    reply = await ada.post("/api/translate", {"text": text, "target": "es", "format": "markdown"})
    watching.cancel()

    assert reply.status == 200
    assert reply["report"]["kept"] == []
    assert "PARAGRAPH 2000 SAYS SOMETHING ABOUT THE BOARD AND https://x.example/2000." in reply["text"]
    assert all(len("".join(asked["blocks"].values())) <= 4_100 for asked in translator.asked)
    return longest


async def test_the_history_is_the_callers_own_newest_first(ada: Client, firm: Company, translator: Translator) -> None:
    colleague, operator = await firm.join("owner"), await firm.join("owner", operator=True, org_role="org_owner")
    stranger = await (await found_company(firm.house)).join("owner", org_role="org_owner")
    for text, target in (("one", "es"), ("two", "nl"), ("three", "es")):
        await ada.post("/api/translate", {"text": text, "target": target})

    first = await ada.get("/api/translate", limit=2)
    rest = await ada.get("/api/translate", limit=2, cursor=first["next_cursor"])
    spanish = await ada.get("/api/translate", target="ES")

    assert [one["original"] for one in first["items"] + rest["items"]] == ["three", "two", "one"]
    assert [one["text"] for one in spanish["items"]] == ["THREE", "ONE"]
    assert first["items"][0].keys() >= {"id", "report", "usage", "format", "created_at", "model", "simulated"}
    for other in (colleague, operator, stranger):
        assert (await other.get("/api/translate"))["items"] == []
        refused = await other.get("/api/translate", cursor=first["next_cursor"])
        assert refused.status == 400


async def test_a_page_of_the_history_is_bounded_by_its_texts(ada: Client, translator: Translator) -> None:
    translator.reply = lambda sent: sent
    for number in range(7):
        text = f"{number} " + "1234567890 " * 18_000
        assert (await ada.post("/api/translate", {"text": text + "end", "target": "es"})).status == 200

    page = await ada.get("/api/translate", limit=50)
    rest = await ada.get("/api/translate", limit=50, cursor=page["next_cursor"])

    assert len(page.raw) < 3_000_000
    assert len(page["items"]) + len(rest["items"]) == 7


async def test_a_feature_that_is_off_is_refused_and_the_history_stays(ada: Client, translator: Translator) -> None:
    await ada.post("/api/translate", {"text": "one", "target": "es"})
    await ada.post("/api/features/translate", {"enabled": False})

    refused = await ada.post("/api/translate", {"text": "two", "target": "es"})
    catalog = await ada.post("/api/translate/catalog", {"target": "es", "messages": {"a": "b"}})

    assert (refused.status, refused.code, catalog.code) == (403, "features.off", "features.off")
    assert len((await ada.get("/api/translate"))["items"]) == 1


async def test_a_person_who_leaves_takes_their_translations_along(
    ada: Client, firm: Company, translator: Translator
) -> None:
    leaving, staying = await firm.join("member"), await firm.join("member")
    for person in (leaving, staying):
        await person.post("/api/translate", {"text": "mine", "target": "es"})

    gone = await ada.delete(f"/api/members/{leaving.user_id}")

    assert gone.status == 200, gone.body
    url = firm.house.services.settings.database_url
    left = await run_as_owner(url, "SELECT user_id FROM translations WHERE org_id = $1", firm.org.id)
    assert [str(row[0]) for row in left] == [staying.user_id]


async def test_old_translations_are_forgotten(
    ada: Client, translating_house: Application, translator: Translator
) -> None:
    for text in ("old", "new"):
        await ada.post("/api/translate", {"text": text, "target": "es"})
    await run_as_owner(
        translating_house.services.settings.database_url,
        "UPDATE translations SET created_at = now() - interval '91 days' WHERE org_id = $1 AND original = 'old'",
        UUID(ada.org_id),
    )

    await chores.TRANSLATIONS.run(translating_house.services)

    assert [one["original"] for one in (await ada.get("/api/translate"))["items"]] == ["new"]


async def test_without_a_model_it_is_a_pseudo_translation_that_says_so(alice: Client) -> None:
    ask = {"text": "Save **this file** at https://x.example.", "target": "es", "format": "markdown"}

    one, two = await alice.post("/api/translate", ask), await alice.post("/api/translate", ask)

    assert one.status == 200, one.body
    assert (one["simulated"], one["model"], one["source"], one["report"]["kept"]) == (True, "simulated", "und", [])
    assert one["text"] == two["text"]
    assert one["text"].startswith("Śàvè **ťĥìś".replace("ĥ", "h"))
    assert "https://x.example" in one["text"]
    assert len(one["text"]) >= 1.2 * len(ask["text"])
    assert (await used(alice))["ai.requests"] == 2
    assert (await used(alice))["ai.tokens.total"] == 2 * one["usage"]["total_tokens"] > 0
