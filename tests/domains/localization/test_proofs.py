"""No machine breaks a message, broken texts are refused and named, approved text is never lost."""

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from atrium.kit.files.paths import shipped_path
from atrium.kit.text import catalogs
from atrium.product.localization import checks, chores
from atrium.product.translation.units.messages import icu_units
from atrium.product.translation.units.placeholders import ReplyBroken
from tests.domains.localization.conftest import ENGLISH, SPANISH, Desk, write_catalogs
from tests.domains.translation.oracles import broken_messages
from tests.support.client import Answer

GUIDE = Path(__file__).parents[3] / "docs/guides/localization.md"
FEW = 80
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


@pytest.mark.parametrize("least", [2_000, pytest.param(20_000, marks=pytest.mark.proof)])
def test_no_engine_breaks_a_message_that_is_kept(least: int) -> None:
    own = list(catalogs.read_locale(shipped_path("locales"), "en").values())
    sources = HARD + (own if least == 20_000 else random.Random(7).sample(own, 60))
    cases = [(source, engine, locale) for source in sources for engine in ENGINES for locale in ("es", "is")]
    kept = [
        (source, text) for source, engine, locale in cases if (text := _drafted(source, locale, engine)) is not None
    ]

    unshielded = len(broken_messages([(source, engine(source)) for source, engine, _ in cases]))

    print(f"{len(cases):,} cases: {len(kept):,} drafts kept, none broken; {unshielded:,} broken without the shield")
    assert len(cases) >= least
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


MOVED = ["words.save", "menu.open", "menu.board"]
STEPS = [
    "approve",
    "edit",
    "back",
    "disk",
    "empty",
    "lose",
    "source",
    "arguments",
    "discard",
    "export",
    "draft",
    "start",
    "retire",
    "revive",
]


@dataclass(slots=True)
class Model:
    """What is known of a desk while steps are taken at it: the sources on disk, and every text a person approved."""

    desk: Desk
    english: dict[str, dict[str, str]]
    approved: set[tuple[str, str]]
    # Texts that a start may have replaced: nobody stands in the history where it did.
    started: set[tuple[str, str]] = field(default_factory=set)
    discarded: int = 0

    async def take(self, step: str, key: str, number: int) -> None:
        """One step, whose texts carry its number."""
        desk, (ns, _, name) = self.desk, key.partition(".")
        if step in ("approve", "edit", "back") and key not in await self.texts():
            return
        match step:
            case "approve":
                await self._approve(key, f"texto {number}")
            case "edit":
                await desk.submit(key, f"propuesta {number}")
            case "back":
                await desk.review(key, "send_back", comment="no")
            case "disk":
                write_catalogs(desk.shipped, es=SPANISH | {ns: SPANISH[ns] | {name: f"disco {number}"}})
                await desk.imported()
            case "empty":
                write_catalogs(desk.shipped, es={ns: {}})
                await desk.imported()
            case "lose":
                (desk.shipped / "es" / f"{ns}.json").unlink(missing_ok=True)
                await desk.imported()
            case "source":
                await self._say(ns, name, f"{ENGLISH[ns][name]} {number}")
            case "arguments":
                had = "{x}" in self.english[ns].get(name, "")
                await self._say(ns, name, f"{ENGLISH[ns][name]} {number}" + ("" if had else " {x}"))
            case "retire" if len(self.english[ns]) > 1:
                self.english[ns].pop(name, None)
                await self._write()
            case "revive":
                await self._say(ns, name, self.english[ns].get(name, ENGLISH[ns][name]))
            case "draft":
                batch = await desk.ada.post("/api/l10n/draft", {"locale": "es"})
                for job in batch.body.get("jobs", []):
                    await desk.ended(job)
            case "start":
                await self._start(number)
            case "discard":
                await self._discard()
            case "export":
                await desk.ada.post("/api/l10n/export", {"locale": "es"})

    async def _approve(self, key: str, text: str) -> None:
        found = await self.texts()
        text += "".join(f" {{{one}}}" for one in found[key]["arguments"])
        if (await self.desk.submit(key, text)).status == 200 and (await self.desk.review(key)).status == 200:
            self.approved.add((key, text))

    async def _say(self, ns: str, name: str, source: str) -> None:
        self.english[ns][name] = source
        await self._write()

    async def _write(self) -> None:
        write_catalogs(self.desk.shipped, en=self.english)
        await self.desk.imported()

    async def _start(self, number: int) -> None:
        """As a process does that finds the files of a new release."""
        before = await self._texts_and_proposals()
        said = f"estreno {number}"
        write_catalogs(
            self.desk.shipped, es={"words": SPANISH["words"] | {"save": said}, "menu": {"open": said, "board": said}}
        )
        self.desk.house.services.started["localization"].checked_disk = False
        await chores.look_at_disk(self.desk.house.services)
        self.started |= before - await self._texts_and_proposals()

    async def _texts_and_proposals(self) -> set[tuple[str, str]]:
        async with self.desk.house.services.database.begin(self.desk.company.org.id) as db:
            found = await db.rows("SELECT key, text, pending_text FROM l10n_messages WHERE locale = 'es'")
        return {(key, text) for key, *texts in found for text in texts if text is not None}

    async def _discard(self) -> None:
        before, machine = await self.texts(), (await self.desk.coverage())["machine"]
        answer = await self.desk.ada.post("/api/l10n/discard", {"locale": "es"})
        after = await self.texts()
        assert answer["discarded"] == machine
        self.discarded += machine
        for key, one in before.items():
            drafted = one["status"] == "machine"
            assert after[key]["text"] == (None if drafted else one["text"]), key
            assert after[key]["status"] == ("missing" if drafted else one["status"]), key
            assert after[key]["pending"] == one["pending"], key

    async def texts(self) -> dict[str, dict[str, Any]]:
        """Every message that is there, by key."""
        return {one["key"]: one for one in (await self.desk.ada.get("/api/l10n/messages", locale="es"))["items"]}

    async def hold(self) -> None:
        """What is true after every step."""
        there = await self.texts()
        kept = await self._kept()
        assert self.approved <= kept
        served = await self.desk.served()
        for key, one in there.items():
            assert checks.has_same_promises(one["source"], served[key]), key
        found = await self.desk.coverage()
        assert found["total"] == sum(found[part] for part in ("approved", "machine", "missing", "stale")) == len(there)

    async def _kept(self) -> set[tuple[str, str]]:
        """What is live, of what was put aside too, and what is in the history; who replaced it stands there, unless a start did."""
        async with self.desk.house.services.database.begin(self.desk.company.org.id) as db:
            live = await db.rows("SELECT key, text FROM l10n_messages WHERE locale = 'es' AND text IS NOT NULL")
            former = await db.rows("SELECT key, text, replaced_by FROM l10n_history WHERE locale = 'es'")
        assert [(key, text) for key, text, by in former if by is None and (key, text) not in self.started] == []
        return {(key, text) for key, text in live} | {(key, text) for key, text, _ in former}


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("steps", [FEW, pytest.param(5_000, marks=pytest.mark.proof)])
async def test_approved_text_is_live_or_in_the_history_whatever_happens(desk: Desk, steps: int) -> None:
    chance, taken = random.Random(11), Counter[str]()
    model = Model(
        desk, {ns: dict(texts) for ns, texts in ENGLISH.items()}, {("words.save", "Guardar"), ("menu.open", "Abrir")}
    )
    await desk.coverage()
    for number in range(steps):
        step = chance.choice(STEPS)
        taken[step] += 1
        await model.take(step, chance.choice(MOVED), number)
        await model.hold()

    print(f"{steps} steps: {dict(sorted(taken.items()))}; {len(model.approved)} texts approved, none lost;", end=" ")
    print(f"{model.discarded} drafts discarded, {len(model.started)} texts replaced by a start")
    assert model.discarded
    assert model.started or steps == FEW


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
