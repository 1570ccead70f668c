"""Files that translators' programs edit: nothing changes on the way out and back, an edit is that edit alone, and bombs stay small."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import polib
import pytest
from lxml import etree

from atrium.kit.ids import new_id
from atrium.product.localization import formats
from atrium.product.localization.model import FileFormat, MessageRow
from tests.localization.test_exchange import BOMB, HARD, XLIFF
from tests.patience import PATIENCE
from tests.processes import rounds

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
ROWS = rounds(2_000, 50_000)


def _row(number: int) -> MessageRow:
    hard = list(HARD.values())
    text = f"{hard[number % len(hard)]} {number % 7}"
    return MessageRow(
        id=new_id(), locale="es", ns="hard", key=f"hard.m{number:05}", source=hard[number % len(hard)],
        about="Above\nthe list" * (number % 2), max_length=90 if number % 5 == 0 else None, screens=[],
        text=None if number % 11 == 0 else text, status="missing" if number % 11 == 0 else "approved",
        text_source=None, fits=True, by_person=True, text_by=None, text_at=None,
        disk_text=None, pending_text=None, pending_by=None, pending_at=None, pending_checks=[], comment="", model=None, drafted_at=None,
        draft_job=None, problem=None, retired=False, revision=1, updated_at=LONG_AGO,
    )  # fmt: skip


@pytest.fixture(scope="module")
def messages() -> list[MessageRow]:
    return [_row(number) for number in ROWS]


def _texts(rows: list[MessageRow]) -> dict[str, str]:
    return {row.key: row.text for row in rows if row.text is not None}


@pytest.mark.parametrize("format", ["json", "po", "xliff", "arb"])
def test_nothing_changes_on_the_way_out_and_back(format: FileFormat, messages: list[MessageRow]) -> None:
    body = formats.written(format, "es", messages)

    assert formats.read(body) == _texts(messages)
    assert formats.written(format, "es", messages) == body


def test_what_polib_saves_differs_by_its_edits_alone(tmp_path: Path, messages: list[MessageRow]) -> None:
    (tmp_path / "es.po").write_bytes(formats.written("po", "es", messages))
    catalog = polib.pofile(str(tmp_path / "es.po"), encoding="utf-8", wrapwidth=60)
    edits = {entry.msgctxt: f'Nuevo "{n}"\n' for n, entry in enumerate(catalog) if n % 100 == 0}
    for entry in catalog:
        entry.msgstr = edits.get(entry.msgctxt, entry.msgstr)
    catalog.save(str(tmp_path / "edited.po"))

    assert formats.read((tmp_path / "edited.po").read_bytes()) == _texts(messages) | edits


@pytest.mark.parametrize("encoding", ["UTF-8", "ASCII"])
def test_what_an_xml_editor_saves_differs_by_its_edits_alone(encoding: str, messages: list[MessageRow]) -> None:
    document = etree.parse(BytesIO(formats.written("xliff", "es", messages)))
    units = document.findall(".//{*}trans-unit")
    edits = {str(unit.get("id")): f"Nuevo {n} ]]> & <x>" for n, unit in enumerate(units) if n % 100 == 0}
    for unit in units:
        target = unit.find("{*}target")
        if str(unit.get("id")) in edits and target is not None:
            target.text = edits[str(unit.get("id"))]

    saved = etree.tostring(document, encoding=encoding, xml_declaration=True, pretty_print=True)

    assert formats.read(saved) == _texts(messages) | edits


_READ = """
import resource, sys
from atrium.product.localization import formats
from atrium.product.localization.model import BadFile
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    formats.read(sys.stdin.buffer.read())
except BadFile:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


HOSTILE = pytest.mark.parametrize(
    "body",
    [
        (BOMB + XLIFF.format("&a9;")).encode(),
        (f'<!DOCTYPE x [<!ENTITY a "{"x" * 100_000}">]>' + XLIFF.format("&a;" * 100_000)).encode(),
        XLIFF.format("<g>" * 500_000).encode(),
        b'{"a": ' * 1_000_000,
        b"[" * 10_000_000,
        b'msgid "' + b"\\" * 10_000_000,
    ],
    ids=["entities in entities", "one large entity", "deep XML", "deep JSON", "brackets", "backslashes"],
)


@HOSTILE
def test_a_hostile_file_is_refused(body: bytes) -> None:
    refused(body)


@pytest.mark.proof
@HOSTILE
def test_a_hostile_file_is_refused_in_little_memory(body: bytes) -> None:
    assert refused(body) < 100 << 20


def refused(body: bytes) -> int:
    """How many bytes of memory it takes to refuse a file, in a process of its own."""
    run = subprocess.run(
        [sys.executable, "-c", _READ],
        input=body,
        capture_output=True,
        check=True,
        timeout=PATIENCE,
        env=os.environ | {"PYTHONPATH": "src"},
    )

    assert run.stdout.strip(), "it was not refused"
    return int(run.stdout) * 1024
