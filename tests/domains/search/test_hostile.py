"""Whatever is asked and whatever is written, search answers."""

import asyncio
import base64
from collections import Counter
from random import Random

import pytest

from atrium.boot.assemble import Application
from atrium.product.search import snippets, words
from tests.domains.pipeline.conftest import Kept, put
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.sizes import FULL_ONLY

pytestmark = pytest.mark.timeout(7200)
PIECES = [
    "a", "word", "'", "\\", '"', "-", "or", "OR", ":*", "&", "|", "!", "<->", "(", ")", "\0", "\u202e", "\u0301", "é", "ß", "İ", "東京",
    "🦊", " ", "\t", "%", "_", "\ud800", "x" * 70, "-\"", "''", "$1", ":a", "1e9", "\ufffe", "ﬁ", "\U0001d54f",
]  # fmt: skip


@pytest.mark.parametrize("rounds", [300, pytest.param(20_000, marks=[pytest.mark.proof, FULL_ONLY])])
async def test_no_question_is_answered_with_a_fault(alice: Client, rounds: int) -> None:
    dice, statuses = Random(11), Counter[int]()
    await alice.post("/api/notes", {"title": "word a", "body": "東京 é ß", "visibility": "private"})

    for _ in range(rounds):
        q = "".join(dice.choices(PIECES, k=dice.randint(1, 12))).encode("utf-8", "replace").decode()
        reply = await alice.get("/api/search", q=q)
        assert reply.status in (200, 400), (q, reply.raw)
        statuses[reply.status] += 1
    print(f"{rounds} questions: {dict(statuses)}")


@pytest.mark.parametrize("q", ["(" * 10_000, "x" * 201, ""])
async def test_a_question_has_1_to_200_characters(alice: Client, q: str) -> None:
    assert (await alice.get("/api/search", q=q)).status == 400


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "word " * 2_000_000,
        " ".join(f"w{number}" for number in range(1_000_000)),
        " ".join(chr(0x4E00 + number % 20_000) for number in range(200_000)),
        "\u202e\u0301'\\" * 1000,
        "(" * 10_000,
        "\0word\0 \0" * 1000,
    ],
    ids=["one word", "10 MB", "a million words", "CJK", "bidi", "parentheses", "NUL"],
)
async def test_any_text_can_be_kept(house: Application, text: str) -> None:
    kept = await asyncio.to_thread(words.index, "title", "key", text)

    url = house.services.settings.database_url
    (row,) = await run_as_owner(url, "SELECT length(search_lexemes($1, $2)) AS words", kept.lexemes, kept.languages)

    assert row["words"] >= 2
    shown, marks = snippets.snippet_of(text, snippets.asked_for(["word"], "", []))
    assert len(shown) <= snippets.LONGEST
    assert all(0 <= start < stop <= len(shown) for start, stop in marks)


async def test_a_file_whose_text_has_a_nul_is_found_without_it(house: Application, alice: Client) -> None:
    said = base64.b64encode(b"The lantern\0 is on the qu\0ay.\0")
    letter = (
        b"Subject: Lost\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n" + said
    )
    id = await put(alice, "letter.eml", letter, "message/rfc822")

    read = await Kept("text").call(house, alice, "doc_text", object=id)
    found = await alice.get("/api/search", q="lantern quay")

    assert "The lantern is on the quay." in read["text"]
    assert "\0" not in read["text"]
    [hit] = found["items"]
    assert (hit["id"], [hit["snippet"][start:stop] for start, stop in hit["marks"]]) == (id, ["lantern", "quay"])


def test_folding_keeps_every_place() -> None:
    text = words.compose("İstanbul ﬁne Straße Ǻ é ½ ﷺ \U0001d54f e\u0301 Ærø")

    assert len(words.fold(text)) == len(text)
    assert words.words_of("Crème BRÛLÉE") == ["creme", "brulee"]
