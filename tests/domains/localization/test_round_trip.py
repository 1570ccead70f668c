"""Files that translators' programs edit: nothing changes on the way out and back, an edit is that edit alone, and bombs stay small."""

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import polib
import pytest
from lxml import etree

from atrium.kit.ids import new_id
from atrium.product.localization import checks, formats
from atrium.product.localization.model import BadFile, FileFormat, MessageRow
from tests.domains.localization.test_exchange import BOMB, HARD, XLIFF
from tests.support.patience import PATIENCE

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def _row(number: int) -> MessageRow:
    hard = list(HARD.values())
    text = f"{hard[number % len(hard)]} {number % 7}"
    return MessageRow(
        id=new_id(), locale="es", ns="hard", key=f"hard.m{number:05}", source=hard[number % len(hard)],
        about="Above\nthe list" * (number % 2), max_length=90 if number % 5 == 0 else None, screens=[],
        text=None if number % 11 == 0 else text, status="missing" if number % 11 == 0 else "approved",
        text_source=None, fits=True, by_person=True, text_by=None, text_at=None,
        disk_text=None, pending_text=None, pending_by=None, pending_at=None, pending_checks=[], comment="", model=None, drafted_at=None,
        draft_checks=[], draft_job=None, problem=None, retired=False, revision=1, updated_at=LONG_AGO,
    )  # fmt: skip


@pytest.fixture(scope="module", params=[2_000, pytest.param(50_000, marks=pytest.mark.proof)])
def messages(request: pytest.FixtureRequest) -> list[MessageRow]:
    return [_row(number) for number in range(request.param)]


def _texts(rows: list[MessageRow]) -> dict[str, str]:
    return {row.key: row.text for row in rows if row.text is not None}


@pytest.mark.parametrize("format", ["json", "po", "xliff", "arb"])
def test_nothing_changes_on_the_way_out_and_back(format: FileFormat, messages: list[MessageRow]) -> None:
    body = formats.write_file(format, "es", messages)

    assert formats.read(body) == _texts(messages)
    assert formats.write_file(format, "es", messages) == body


def test_what_polib_saves_differs_by_its_edits_alone(tmp_path: Path, messages: list[MessageRow]) -> None:
    (tmp_path / "es.po").write_bytes(formats.write_file("po", "es", messages))
    catalog = polib.pofile(str(tmp_path / "es.po"), encoding="utf-8", wrapwidth=60)
    edits = {entry.msgctxt: f'Nuevo "{n}"\n' for n, entry in enumerate(catalog) if n % 100 == 0}
    for entry in catalog:
        entry.msgstr = edits.get(entry.msgctxt, entry.msgstr)
    catalog.save(str(tmp_path / "edited.po"))

    assert formats.read((tmp_path / "edited.po").read_bytes()) == _texts(messages) | edits


@pytest.mark.parametrize("encoding", ["UTF-8", "ASCII"])
def test_what_an_xml_editor_saves_differs_by_its_edits_alone(encoding: str, messages: list[MessageRow]) -> None:
    document = etree.parse(BytesIO(formats.write_file("xliff", "es", messages)))
    units = document.findall(".//{*}trans-unit")
    edits = {str(unit.get("id")): f"Nuevo {n} ]]> & <x>" for n, unit in enumerate(units) if n % 100 == 0}
    for unit in units:
        target = unit.find("{*}target")
        if str(unit.get("id")) in edits and target is not None:
            target.text = edits[str(unit.get("id"))]

    saved = etree.tostring(document, encoding=encoding, xml_declaration=True, pretty_print=True)

    assert formats.read(saved) == _texts(messages) | edits


# What getrusage says begins with the memory of the process that started this one.
_READ = """
import sys
from pathlib import Path
from atrium.product.localization import formats
from atrium.product.localization.model import BadFile
def most():
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
before = most()
try:
    formats.read(sys.stdin.buffer.read())
except BadFile:
    pass
print(most() - before)
"""


def filled(begins: str, piece: str, ends: str = "") -> bytes:
    """As much of a piece as a file may have."""
    first, last = begins.encode(), ends.encode()
    return first + piece.encode() * ((formats.LARGEST - len(first) - len(last)) // len(piece)) + last


def numbered(begins: str, piece: str, ends: str = "") -> bytes:
    """The same, each piece with a number of its own."""
    many = (formats.LARGEST - len(begins) - len(ends)) // len(piece.format("0000000"))
    return (begins + "".join(piece.format(f"{n:07}") for n in range(many)) + ends).encode()


# Made by each test for itself: together they are as large as what they try to make us take.
HOSTILE: dict[str, Callable[[], bytes]] = {
    "entities in entities": lambda: (BOMB + XLIFF.format("&a9;")).encode(),
    "one large entity": lambda: (
        f'<!DOCTYPE x [<!ENTITY a "{"x" * 100_000}">]>' + XLIFF.format("&a;" * 100_000)
    ).encode(),
    "deep XML": lambda: XLIFF.format("<g>" * 500_000).encode(),
    "deep JSON": lambda: filled("", '{"a": '),
    "deep lists": lambda: filled('{"a": ', "["),
    "brackets": lambda: filled("", "["),
    "backslashes": lambda: filled('msgid "', "\\"),
    "empty lines": lambda: filled('msgctxt "a"\nmsgid "b"\nmsgstr "c"\n', "\n"),
    "comments": lambda: filled("", "#\n"),
    "entries without an end": lambda: filled("", "msgid\n"),
    "one entry of many lines": lambda: filled('msgctxt "a"\nmsgid "b"\nmsgstr "c"\n', '"d"\n'),
    "as many plurals as there are": lambda: filled('msgctxt "a"\nmsgid "b"\n', 'msgid_plural ""\n'),
    "many entries": lambda: numbered("", 'msgctxt "{}"\nmsgid "b"\nmsgstr "c"\n'),
    "many keys": lambda: numbered("{", '"{}":"a",', '"b":"c"}'),
    "many keys of an entry": lambda: numbered('{"messages":{"a":{', '"{}":"a",', '"b":"c"}}}'),
    "many attributes": lambda: numbered("<xliff ", ' a{}=""', "/>"),
    "many units": lambda: numbered("<xliff>", '<unit id="{}"><target>x</target></unit>', "</xliff>"),
    "many names": lambda: numbered("<xliff>", "<x{}/>", "</xliff>"),
}
# Nothing of these is wrong but their size.
LARGE: dict[str, Callable[[], bytes]] = {
    "a list of lists": lambda: filled('{"a": "b", "c": [[]', ",[]", "]}"),
    "a text of characters": lambda: filled('{"a": "b", "c": "\U0001f642', "x", '"}'),
    "an object of lists": lambda: filled('{"a": "b", "c": {"text": [0', ",0", "]}}"),
    "pieces of a text": lambda: filled(
        '<xliff><unit id="a"><target>b</target></unit><unit id="c"><target>', "xy<!---->", "</target></unit></xliff>"
    ),
    "many targets": lambda: filled(
        '<xliff><unit id="a"><target>b</target></unit><unit id="c">', "<target>x</target>", "</unit></xliff>"
    ),
    "a long text": lambda: filled(
        '<xliff><unit id="a"><target>b</target></unit><unit id="c"><target>', "x", "</target></unit></xliff>"
    ),
    "as many keys as are read": lambda: (
        "{" + "".join(f'"{n}":0,' for n in range(formats.MOST_KEYS - 1)) + '"a":"b"}'
    ).encode(),
    "a number of plurals": lambda: (
        b'msgid ""\nmsgstr "Plural-Forms: nplurals=2000000000; plural=0;\\n"\n\n'
        b'msgctxt "a"\nmsgid "b"\nmsgstr "b"\n\nmsgctxt "c"\nmsgid "c"\nmsgid_plural "d"\nmsgstr[0] "e"\n'
    ),
}
HUNDRED = 100 << 20


@pytest.mark.parametrize("shape", HOSTILE)
def test_a_hostile_file_is_refused(shape: str) -> None:
    with pytest.raises(BadFile):
        formats.read(HOSTILE[shape]())


@pytest.mark.parametrize("shape", LARGE)
def test_a_large_file_says_what_can_be_read_of_it(shape: str) -> None:
    assert formats.read(LARGE[shape]())["a"] == "b"


def test_a_text_that_is_too_long_keeps_its_key_and_stays_too_long() -> None:
    found = formats.read(LARGE["a text of characters"]())

    assert [one.code for one in checks.check("b", found["c"], "es", None)] == ["too_long"]


@pytest.mark.proof
@pytest.mark.parametrize("shape", HOSTILE | LARGE)
def test_a_hostile_or_large_file_takes_little_memory(shape: str) -> None:
    memory = taken((HOSTILE | LARGE)[shape]())

    print(f"{shape}: {memory >> 20} MiB")
    assert memory < HUNDRED


def taken(body: bytes) -> int:
    """How many bytes of memory it takes a process of its own to read or to refuse a file."""
    run = subprocess.run(
        [sys.executable, "-c", _READ],
        input=body,
        capture_output=True,
        check=True,
        timeout=PATIENCE,
        env=os.environ | {"PYTHONPATH": "src"},
    )
    return int(run.stdout) * 1024
