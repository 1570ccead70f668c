"""Our reading of messages beside that of the parser that shows them: what one accepts the other does, with the same promises."""

import json
import random
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from atrium.kit.files.paths import shipped_path
from atrium.kit.text import catalogs
from atrium.kit.text.icu import Argument, Choice, Message, MessageRefused, Tag, parse, walk
from atrium.product.localization import checks
from tests.domains.localization.test_proofs import HARD
from tests.domains.translation.oracles import broken_messages

_READER = Path(__file__).parent / "promises.mjs"
_PARSER = Path(__file__).parents[3] / "console/node_modules/@formatjs/icu-messageformat-parser"
PIECES = [
    "{n}", "{name}", "{n, number}", "{n, number, percent}", "{d, date, short}", "{d, time}", "<b>", "</b>", "<br/>", "#", "''", "'",
    "'{'", "{n, plural, one {# x} other {# y}}", "{n, plural, offset:1 =0 {no} other {<b>#</b>}}", "{g, select, a {A} other {{n}}}",
    "{n, selectordinal, one {#st} other {#th}}", "{", "}", "other", " {x} ", "|", "é", "a.b", "<", ">", "words ", "=1", ",", "plural",
]  # fmt: skip
# Where we are stricter on purpose: implementations read these differently, or people write them by mistake.
STRICTER = (
    "opens a quotation that has no end", "is no plural form", "comes twice", "a tag is <name>", "closes nothing", "has no end",
    "inside each other",
)  # fmt: skip


def _theirs(messages: list[str]) -> list[list[str] | None]:
    if not shutil.which("node") or not _PARSER.is_dir():
        pytest.skip("FormatJS' parser comes with the console: npm ci --prefix console")
    run = subprocess.run(["node", _READER], input=json.dumps(messages).encode(), capture_output=True, check=True)
    return list(json.loads(run.stdout))


def _ours(message: Message) -> list[str]:
    found = list[str]()
    for node in walk(message):
        match node:
            case Argument():
                found.append(f"{node.name}:{node.type}")
            case Choice():
                found += [f"{node.name}:{node.type}", *(f"{node.name}={selector}" for selector, _ in node.branches)]
            # An empty element is text to the console's parser, which shows it as it stands.
            case Tag() if not node.end and not node.empty:
                found.append(f"<{node.name}>")
    return sorted(found)


def _made(chance: random.Random) -> str:
    return "".join(chance.choice(PIECES) for _ in range(chance.randrange(1, 6)))


@pytest.mark.parametrize("many", [20_000, pytest.param(100_000, marks=pytest.mark.proof)])
def test_two_parsers_read_the_same_promises(many: int) -> None:
    chance, own = random.Random(3), [*catalogs.read_locale(shipped_path("locales"), "en").values()]
    messages = sorted({*HARD, *own, *(_made(chance) for _ in range(many))})

    read, stricter = 0, Counter[str]()
    for message, theirs in zip(messages, _theirs(messages), strict=True):
        try:
            ours = _ours(parse(message))
        except MessageRefused as refused:
            if theirs is not None:
                stricter[next(reason for reason in STRICTER if reason in refused.problem)] += 1
            continue
        assert ours == theirs, message
        read += 1

    print(f"{len(messages):,} messages: {read:,} read the same, {sum(stricter.values()):,} refused by us alone")
    assert read > len(messages) / 10
    assert sum(stricter.values()) < len(messages) / 2


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{n, number} files", "{n, spellout} archivos"),
        ("{n, plural, one {# file} other {# files}}", "{n, ordinal} archivos"),
        ("{n, number} files", "{n, number, ::compact-short} archivos"),
        ("{d, date}", "{d, date, ::yyyyMMdd}"),
    ],
)
def test_what_the_console_cannot_show_is_refused(source: str, text: str) -> None:
    found = checks.check(source, text, "es", None)

    assert [one.code for one in found] == ["types"]
    assert not checks.has_same_promises(source, text)
    assert checks.check(text, text, "en", None) == []


def test_no_catalog_that_ships_breaks_a_promise() -> None:
    root = shipped_path("locales")
    english = catalogs.read_locale(root, "en")
    pairs = [
        (english[key], text)
        for locale in catalogs.available(root)
        for key, text in catalogs.read_locale(root, locale).items()
    ]

    assert [pair for pair in pairs if not checks.has_same_promises(*pair)] == []
    assert broken_messages([(text, text) for _, text in pairs]) == []
