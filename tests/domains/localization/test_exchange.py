"""Catalogs in and out: what outranks what, what is never lost, and files that come back as they went."""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polib
import pytest
from lxml import etree

from atrium.product.localization import disk, exchange, formats
from atrium.product.localization.model import BadFile, ExportFailed
from tests.domains.localization.conftest import ENGLISH, SPANISH, Desk, write_catalogs
from tests.support.patience import PATIENCE

HARD = {
    "newline": "two\nlines\r\n",
    "quotes": "\"said\" \\ and 'so'",
    "separators": "a\u2028b\u0085c\u2029d",
    "cdata": "x ]]> y <![CDATA[ & &amp;",
    "rtl": "\u202eabc שלום",
    "emoji": "👩‍👩‍👧 ok",
    "tab": "\tedges ",
    "same": "Save",
    "icu": "{n, plural, one {# file} other {# files}}",
}


async def test_an_unchanged_import_writes_nothing(desk: Desk) -> None:
    before = await desk.message("words.save")

    report = await desk.imported()

    assert report["locales"]["es"]["unchanged"] == 5
    assert {sum(one.values()) for one in report["locales"].values()} == {5}
    assert (await desk.message("words.save"))["revision"] == before["revision"]


async def test_what_a_person_approved_outranks_a_file(desk: Desk) -> None:
    await desk.approve("words.save", "Salvar")
    write_catalogs(desk.shipped, es={"words": SPANISH["words"] | {"save": "Archivar", "greeting": "Ey {name}"}})

    report = await desk.imported()

    found = await desk.message("words.save")
    assert (report["locales"]["es"]["kept"], report["locales"]["es"]["changed"]) == (1, 1)
    assert (found["text"], found["pending"]["text"]) == ("Salvar", "Archivar")
    assert (await desk.served())["words.greeting"] == "Ey {name}"
    assert ("Hola, {name}", "approved") in [(text, was) for text, was, _ in await desk.history("words.greeting")]


async def test_a_file_that_is_lost_or_empty_takes_nothing_away(desk: Desk) -> None:
    await desk.coverage()
    before = await desk.served()
    (desk.shipped / "es" / "words.json").unlink()
    (desk.shipped / "es" / "menu.json").write_text("{}")
    (desk.shipped / "en" / "menu.json").write_text("")

    report = await desk.imported()

    assert await desk.served() == before
    assert [one["code"] for one in report["refused"]] == ["bad_file"]
    assert report["locales"]["en"]["retired"] == 0


async def test_a_key_gone_from_its_source_is_put_aside_and_comes_back_as_it_was(desk: Desk) -> None:
    await desk.approve("words.save", "Salvar")
    write_catalogs(desk.shipped, en={"words": {k: v for k, v in ENGLISH["words"].items() if k != "save"}})
    report = await desk.imported()
    gone = await desk.served()
    write_catalogs(desk.shipped, en=ENGLISH)

    await desk.imported()

    assert report["locales"]["es"]["retired"] == 1
    assert "words.save" not in gone
    assert (await desk.served())["words.save"] == "Salvar"


async def test_one_bad_string_is_refused_by_name_and_the_rest_is_taken(desk: Desk) -> None:
    await desk.coverage()
    write_catalogs(desk.own, es={"words": {"greeting": "Hola {nombre}", "save": "Grabar", "nothing": "x"}})

    report = await desk.imported()

    assert {(one["key"], one["code"]) for one in report["refused"]} == {
        ("words.greeting", "arguments"),
        ("words.nothing", "unknown_key"),
    }
    assert (await desk.served())["words.save"] == "Grabar"


async def test_a_dry_run_reports_and_changes_nothing(desk: Desk) -> None:
    await desk.coverage()
    write_catalogs(desk.own, es={"words": {"save": "Grabar"}})

    report = await desk.imported(dry_run=True)

    assert report["locales"]["es"]["changed"] == 1
    assert (await desk.served())["words.save"] == "Guardar"


async def test_one_import_at_a_time(desk: Desk) -> None:
    answers = [await desk.ada.post("/api/l10n/import", {}) for _ in range(4)]

    assert answers[0].status == 202
    assert {answer.code for answer in answers[1:] if answer.status != 202} <= {"localization.import_running"}


async def test_a_new_language_is_there_once_it_is_named(desk: Desk) -> None:
    await desk.imported(locales=["pt-BR"])

    found = await desk.coverage("pt-BR")
    assert (found["missing"], found["total"]) == (5, 5)
    assert "pt-BR" in (await desk.ada.get("/api/config"))["localization"]["locales"]
    assert (await desk.ada.post("/api/profile", {"locale": "pt-BR"})).status == 200
    assert (await desk.ada.post("/api/l10n/export", {"locale": "pt-BR"})).code == "localization.nothing_approved"
    assert (await desk.ada.post("/api/l10n/export", {"locale": "fr"})).code == "localization.locale_missing"
    assert (await desk.ada.post("/api/l10n/export", {"locale": "en"})).code == "localization.source"


async def test_an_export_is_whole_sorted_and_the_same_again(desk: Desk) -> None:
    await desk.approve("words.save", "Salvar")

    first = await desk.ada.post("/api/l10n/export", {"locale": "es"})

    again = await desk.ada.post("/api/l10n/export", {"locale": "es"})
    assert (first.status, first["strings"], first.body) == (200, 3, again.body)
    assert json.loads((desk.own / "es" / "words.json").read_text()) == {"greeting": "Hola, {name}", "save": "Salvar"}
    assert sorted(file.name for file in (desk.own / "es").iterdir()) == ["menu.json", "words.json"]
    assert (await desk.imported())["refused"] == []
    assert (await desk.served())["words.save"] == "Salvar"


def test_a_disk_that_refuses_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk.write_locale(tmp_path, "es", {"words.save": "Guardar"})
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))

    with pytest.raises(ExportFailed, match="No space left"):
        disk.write_locale(tmp_path, "es", {"words.save": "Salvar"})

    assert json.loads((tmp_path / "es" / "words.json").read_text()) == {"save": "Guardar"}
    assert [file.name for file in (tmp_path / "es").iterdir()] == ["words.json"]


VECTORS = [
    "..", ".", "../en", "../../etc", "/etc", "en/../es", "es/..", "..\\es", "es\\..", "%2e%2e", "..%2f", "es\0", "es\n", "es/", "/es",
    "~", "~root", "file:es", "es:x", "C:", "C:\\es", "\\\\host", "es.json", ".es", "es.", "es ", " es", "", "e", "ES", "Es", "es_MX",
    "es-mx", "es-MEX", "es--MX", "-es", "es-", "zh-hant", "zh-HANT", "zh-Hant-", "zh-Hant-hk", "zh-Hant-HKG", "zh-Hant-0", "es-4190",
    "es-41", "\uff45s", "e\u015b", "es\u200b", "es\u202e", "es\u2010MX", "es*", "es?", "es|x", "es;x", "$(id)", "`id`", "${HOME}",
    "es'", 'es"', "a" * 300,
]  # fmt: skip


async def test_names_that_are_no_locale_reach_no_file(desk: Desk) -> None:
    await desk.coverage()
    before = sorted(str(path) for path in desk.own.parent.parent.rglob("*.json"))

    object_id = await _uploaded(desk, b'{"words.save": "Grabar"}', "es.json")

    answers = [
        await desk.ada.post(f"/api/l10n/{row}", {"locale": name})
        for name in VECTORS
        for row in ("export", "discard", "draft")
    ]
    for name in VECTORS:
        answers.append(await desk.ada.post("/api/l10n/import", {"locales": [name]}))
        answers.append(await desk.ada.post("/api/l10n/import", {"object_id": object_id, "locale": name}))

    assert len(VECTORS) >= 60
    assert {answer.status for answer in answers} == {400}
    assert sorted(str(path) for path in desk.own.parent.parent.rglob("*.json")) == before


async def _uploaded(desk: Desk, body: bytes, name: str = "es.po") -> str:
    stored = await desk.ada.put(f"/api/repo/{name}", body)
    assert stored.status in (200, 201), stored.raw
    return str(stored["id"])


@pytest.mark.parametrize("format", ["json", "po", "xliff", "arb"])
async def test_a_round_trip_changes_nothing_and_an_edit_is_one_proposal(desk: Desk, format: str) -> None:
    write_catalogs(desk.shipped, en={"hard": HARD}, es={"hard": HARD | {"same": "Guardar"}})
    made = await desk.ada.post("/api/l10n/export", {"locale": "es", "format": format})
    assert (made.status, made["key"]) == (201, f"l10n/es.{formats.ENDINGS[format][0]}")  # type: ignore[index]
    body = (await desk.ada.get(f"/api/repo-obj/{made['object_id']}/content")).raw

    whole = await desk.imported(object_id=made["object_id"], locale="es")
    edited = await desk.imported(object_id=await _uploaded(desk, body.replace(b"Guardar", b"Grabar")), locale="es")

    assert (whole["locales"]["es"]["proposed"], whole["refused"]) == (0, [])
    assert whole["locales"]["es"]["unchanged"] == 12
    assert edited["locales"]["es"]["proposed"] == 2
    for key in ("hard.same", "words.save"):
        found = await desk.message(key)
        assert (found["text"], found["pending"]["text"]) == ("Guardar", "Grabar")


def _edited_by_polib(body: bytes, file: Path) -> bytes:
    file.write_bytes(body)
    catalog = polib.pofile(str(file), encoding="utf-8", wrapwidth=60)
    for entry in catalog:
        if entry.msgctxt == "words.save":
            entry.msgstr = 'Grabar "todo"\n'
    catalog.save()
    return file.read_bytes()


def _edited_by_an_xml_editor(body: bytes, file: Path) -> bytes:
    file.write_bytes(body)
    document = etree.parse(file)
    for unit in document.iterfind(".//{*}trans-unit[@id='words.save']"):
        for target in unit.iterfind("{*}target"):
            target.text = 'Grabar "todo"\n'
    document.write(file, encoding="ASCII", xml_declaration=True, pretty_print=True)
    return file.read_bytes()


@pytest.mark.parametrize(
    ("format", "edited"), [("po", _edited_by_polib), ("xliff", _edited_by_an_xml_editor)], ids=["polib", "XML editor"]
)
async def test_what_a_program_saves_comes_back_as_its_edit_alone(
    desk: Desk, tmp_path: Path, format: str, edited: Callable[[bytes, Path], bytes]
) -> None:
    write_catalogs(desk.shipped, en={"hard": HARD}, es={"hard": HARD | {"same": "Guardar"}})
    made = await desk.ada.post("/api/l10n/export", {"locale": "es", "format": format})
    body = (await desk.ada.get(f"/api/repo-obj/{made['object_id']}/content")).raw

    object_id = await _uploaded(desk, edited(body, tmp_path / f"es.{format}"), f"es.{format}")
    report = await desk.imported(object_id=object_id, locale="es")

    assert (report["locales"]["es"]["proposed"], report["refused"]) == (1, [])
    assert (await desk.coverage())["pending"] == 1
    assert (await desk.message("words.save"))["pending"]["text"] == 'Grabar "todo"\n'


XLIFF = '<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2"><file><body>{}</body></file></xliff>'
BOMB = "<!DOCTYPE x [" + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10)) + "]>"


@pytest.mark.parametrize(
    "body",
    [
        (BOMB + XLIFF.format("&a9;")).encode(),
        b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>' + XLIFF.format("&e;").encode(),
        XLIFF.format("<g>" * 5_000 + "</g>" * 5_000).encode(),
        XLIFF.format('<trans-unit id="a.b"><target>x <g>y</g></target></trans-unit>').encode(),
        b"<html><body>no</body></html>",
        b"<xliff",
        XLIFF.format("").encode("utf-16"),
        b'msgid "\xff"',
        b"{" * 100_000,
        b'{"a": ' * 100_000,
        b"no catalog at all",
        b'msgid "only a msgid"\nmsgstr "x"\n',
        b" " * (formats.LARGEST + 1),
    ],
)
def test_a_hostile_file_is_refused(body: bytes) -> None:
    with pytest.raises(BadFile):
        formats.read(body)


def test_xliff_two_is_read() -> None:
    body = """<?xml version="1.0"?><xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0"><file id="f">
      <unit id="1" name="words.save"><segment><source>Save</source><target>Guar</target></segment><segment><source/><target>dar</target>
      </segment></unit></file></xliff>"""

    assert formats.read(body.encode()) == {"words.save": "Guardar"}


async def test_an_import_says_how_far_it_is_while_it_runs(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    many = {f"m{n:04}": f"Text {n}" for n in range(6_000)}
    write_catalogs(desk.shipped, en={"many": many}, es={"many": many})
    monkeypatch.setattr(exchange, "_OFTEN", 0)
    started = await desk.ada.post("/api/l10n/import", {})
    seen = list[dict[str, Any]]()
    async with asyncio.timeout(PATIENCE):
        while (found := (await desk.ada.get("/api/l10n/coverage"))["importing"]) is not None:
            seen.append(found)
            await asyncio.sleep(0.01)

    told = [(one["done"], one["total"]) for one in seen if one["total"]]

    assert {one["job"] for one in seen} == {started["job"]}
    assert {total for _, total in told} == {2 * (6_000 + 5)}
    assert len({done for done, _ in told}) >= 3
    assert max(done for done, _ in told) > min(done for done, _ in told)


async def test_a_start_with_other_catalogs_takes_them_in(desk: Desk) -> None:
    from atrium.product.localization import chores
    from tests.support.servers import open_application

    await desk.coverage()
    write_catalogs(desk.shipped, es={"words": SPANISH["words"] | {"save": "Grabar"}})

    async with open_application(desk.house.services.settings) as other:
        await chores.look_at_disk(other.services)

    assert (await desk.served())["words.save"] == "Grabar"
