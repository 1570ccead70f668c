"""No machine breaks a message, broken texts are refused and named, approved text is never lost. ATRIUM_FULL: at full size."""

import json
import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from atrium.kit import catalogs
from atrium.kit.icu_units import icu_units
from atrium.kit.paths import shipped
from atrium.kit.shield import ReplyBroken
from atrium.product.localization import checks
from tests.client import Answer
from tests.localization.conftest import ENGLISH, SPANISH, Desk, write_catalogs
from tests.translation.oracles import broken_messages

GUIDE = Path(__file__).parents[2] / "docs/guides/localization.md"
FULL = bool(os.environ.get("ATRIUM_FULL"))
HARD = [
    "Hello {name}", "{n, plural, =0 {none} one {# file} other {# files}} in <b>{folder}</b>", "It''s {name}''s", "'{quoted}' {name}",
    "{who, select, she {her} he {his} other {their}} note", "{n, selectordinal, one {#st} two {#nd} few {#rd} other {#th}}",
    "<a>open</a> or <b>close</b>", "{when, date, short} at {when, time, short}", "{a} {b} {c} {a}", "100 % of {n, number, percent}",
    "{n, plural, one {<b>#</b> day} other {<b>#</b> days}} and {m, plural, one {# hour} other {# hours}}", "# is not a number here {x}",
]  # fmt: skip
ENGINES: list[Callable[[str], str]] = [
    str.upper,
    lambda s: s.replace("{", "{ ").replace("⟦", "["),
    lambda s: s.replace("}", ""),
    lambda s: s.replace("⟧", ""),
    lambda s: s + " {extra}",
    lambda s: s + "'",
    lambda s: "l'" + s,
    lambda s: s.replace("name", "nombre"),
    lambda s: s.replace("plural", "pluriel").replace("other", "otro"),
    lambda s: s[::-1],
    lambda s: s + s,
    lambda s: "",
    lambda s: s.replace("<b>", "<strong>").replace("</b>", "</strong>"),
    lambda s: s.replace("0", "1"),
    lambda s: "<script>" + s + "</script>",
    lambda s: s.replace("#", "número"),
    lambda s: " ".join(reversed(s.split(" "))),
    lambda s: s.replace("'", "\u2019").replace('"', "'"),
    lambda s: s.replace("{", "'{'"),
    lambda s: s + "\u202e\x00⟦9⟧",
]


def _drafted(source: str, locale: str, engine: Callable[[str], str]) -> str | None:
    """What the shield makes of an engine's replies; None when one of them is refused."""
    template = icu_units(source, locale)
    try:
        return template.filled([unit.restored(engine(unit.sent)) for unit in template.units])
    except ReplyBroken:
        return None


def test_no_engine_breaks_a_message_that_is_kept() -> None:
    own = list(catalogs.read_locale(shipped("locales"), "en").values())
    sources = HARD + (own if FULL else random.Random(7).sample(own, 60))
    cases = [(source, engine, locale) for source in sources for engine in ENGINES for locale in ("es", "is")]
    kept = [
        (source, text) for source, engine, locale in cases if (text := _drafted(source, locale, engine)) is not None
    ]

    unshielded = len(broken_messages([(source, engine(source)) for source, engine, _ in cases]))

    assert len(cases) >= (20_000 if FULL else 2_000)
    assert broken_messages(kept) == []
    assert [pair for pair in kept if not checks.has_same_promises(*pair)] == []
    assert len(kept) > len(cases) / 3
    assert unshielded > len(cases) / 10


SPOILS: list[tuple[str, Callable[[str], str]]] = [
    ("syntax", lambda s: s + "{"),
    ("syntax", lambda s: s + "}"),
    ("syntax", lambda s: s + "<b>"),
    ("syntax", lambda s: s + "</i>"),
    ("syntax", lambda s: s + "{x, nothing}"),
    ("syntax", lambda s: s + "{x, plural, one {a}}"),
    ("arguments", lambda s: s + " {extra}"),
    ("arguments", lambda s: s + " {0}"),
    ("tags", lambda s: f"<u>{s}</u>"),
    ("tags", lambda s: s + "<br/>"),
    ("empty", lambda s: " \n"),
    ("character", lambda s: s + "\x07"),
    ("too_long", lambda s: s + "x" * 20_001),
    ("syntax", lambda s: "{" * 12 + s),
    ("syntax", lambda s: s + "'{unclosed"),
    ("arguments", lambda s: "only words"),
    ("syntax", lambda s: s + "{a b}"),
]


def test_two_hundred_broken_texts_are_refused_each_with_what_is_wrong() -> None:
    judged = [(code, checks.check(source, spoil(source), "es", None)) for source in HARD for code, spoil in SPOILS]

    assert len(judged) >= 200
    for code, found in judged:
        assert found
        assert {one.level for one in found} == {"error"}
        assert all(len(one.message) > 10 for one in found)
        assert code in {one.code for one in found} or code in ("arguments", "tags")


@pytest.mark.timeout(3600)
async def test_approved_text_is_live_or_in_the_history_whatever_happens(desk: Desk) -> None:
    random_steps = random.Random(11)
    approved: set[tuple[str, str]] = {("words.save", "Guardar"), ("menu.open", "Abrir")}
    english = {ns: dict(texts) for ns, texts in ENGLISH.items()}
    await desk.coverage()
    for step in range(5_000 if FULL else 60):
        key = random_steps.choice(["words.save", "menu.open", "menu.board"])
        ns, _, name = key.partition(".")
        match random_steps.choice(["approve", "edit", "back", "disk", "empty", "lose", "source", "discard", "export"]):
            case "approve":
                if (await desk.submit(key, f"texto {step}")).status == 200 and (await desk.review(key)).status == 200:
                    approved.add((key, f"texto {step}"))
            case "edit":
                await desk.submit(key, f"propuesta {step}")
            case "back":
                await desk.review(key, "send_back", comment="no")
            case "disk":
                write_catalogs(desk.shipped, es=SPANISH | {ns: SPANISH[ns] | {name: f"disco {step}"}})
                await desk.imported()
            case "empty":
                write_catalogs(desk.shipped, es={ns: {}})
                await desk.imported()
            case "lose":
                (desk.shipped / "es" / f"{ns}.json").unlink(missing_ok=True)
                await desk.imported()
            case "source":
                english[ns][name] = f"{ENGLISH[ns][name]} {step}"
                write_catalogs(desk.shipped, en=english)
                await desk.imported()
            case "discard":
                await desk.ada.post("/api/l10n/discard", {"locale": "es"})
            case "export":
                await desk.ada.post("/api/l10n/export", {"locale": "es"})
        for one in {key for key, _ in approved}:
            former = await desk.history(one)
            assert all(by is not None for _, _, by in former), (step, one)
            kept = {text for text, _, _ in former} | {(await desk.message(one))["text"]}
            assert {text for key, text in approved if key == one} <= kept, (step, one)
        served = await desk.served()
        for one in ("words.save", "menu.open", "words.greeting"):
            source = (await desk.message(one))["source"]
            assert checks.has_same_promises(source, served[one])
        found = await desk.coverage()
        assert found["total"] == sum(found[part] for part in ("approved", "machine", "missing", "stale")) == 5


STEP = re.compile(r"`(GET|POST|PUT) (/api/[^`\s]+)`(?: with `(\{.*?\})`[.,:]?)?")


def _steps() -> list[tuple[str, str, dict[str, Any] | None]]:
    """What the guide says to ask for, in its order."""
    section = GUIDE.read_text().partition("## Add a language in five minutes")[2].partition("\n## ")[0]
    numbered = "\n".join(line for line in section.splitlines() if re.match(r"\d\. ", line))
    return [(method, path, json.loads(body) if body else None) for method, path, body in STEP.findall(numbered)]


async def test_a_language_from_nothing_to_served_as_the_guide_says(desk: Desk) -> None:
    steps, answers = _steps(), list[Answer]()
    assert "pt-BR" not in [one["locale"] for one in (await desk.ada.get("/api/l10n/coverage"))["items"]]

    for method, path, body in steps:
        answers.append(await getattr(desk.ada, method.lower())(path, *([body] if body else [])))
        assert answers[-1].status in (200, 202), (path, answers[-1].raw)
        for job in [answers[-1].body.get("job"), *answers[-1].body.get("jobs", [])]:
            if job:
                await desk.ended(job)
        if path == "/api/l10n/coverage":
            # What the guide has reviewers do meanwhile.
            assert (await desk.coverage("pt-BR"))["missing"] == 0
            assert (await desk.review("words.save", locale="pt-BR"))["status"] == "approved"

    assert [path.rpartition("/")[2] for _, path, _ in steps] == ["import", "draft", "coverage", "i18n", "export"]
    assert answers[-1]["strings"] == 1
    assert (await desk.served("pt-BR"))["menu.open"] != "Open"
    assert (desk.own / "pt-BR" / "words.json").exists()
