"""Catalogs as files of other programs: PO, XLIFF, ARB and JSON, out and in. What is read is strict, and bounded in depth and size."""

import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape

from babel.messages.pofile import PoFileError, read_po

from atrium.kit.catalogs import BASE, LONGEST_TEXT
from atrium.kit.compute import heavy
from atrium.product.localization.disk import as_json
from atrium.product.localization.model import BadFile, FileFormat, MessageRow

ENDINGS: dict[FileFormat, tuple[str, str]] = {
    "json": ("json", "application/json"),
    "po": ("po", "text/x-gettext-translation"),
    "xliff": ("xlf", "application/xliff+xml"),
    "arb": ("arb", "application/json"),
}
LARGEST = 20 << 20
_DEEPEST = 32
_XLIFF = {"urn:oasis:names:tc:xliff:document:1.2", "urn:oasis:names:tc:xliff:document:2.0"}
# Read by XML as something else unless it is written as a number.
_XML_ODD = re.compile("[\r\t\n\x85\u2028\u2029]")
_STATES = {
    "approved": "final",
    "stale": "needs-review-translation",
    "machine": "needs-review-translation",
    "missing": "needs-translation",
}


def written(format: FileFormat, locale: str, rows: Sequence[MessageRow]) -> bytes:
    """The messages of a locale as a file, the same bytes for the same messages."""
    return _WRITERS[format](locale, rows)


@heavy
def read(body: bytes) -> dict[str, str]:
    """The texts in a file by key; the format is told by how it begins."""
    if len(body) > LARGEST:
        raise BadFile(f"at most {LARGEST} bytes are read; split the file")
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFile(f"the file is not UTF-8 (byte {error.start + 1}); save it as UTF-8") from error
    begins = text.lstrip()[:1]
    if begins == "<":
        return _read_xliff(text)
    return _read_json(text) if begins == "{" else _read_po(text)


def _write_json(locale: str, rows: Sequence[MessageRow]) -> bytes:
    messages = {row.key: {"text": row.text} | _facts(row) | {"source": row.source} for row in rows}
    return as_json({"locale": locale, "source": BASE, "messages": messages})


def _facts(row: MessageRow) -> dict[str, Any]:
    facts = {"status": row.status, "about": row.about, "max_length": row.max_length}
    return {name: value for name, value in facts.items() if value}


def _write_arb(locale: str, rows: Sequence[MessageRow]) -> bytes:
    made: dict[str, Any] = {"@@locale": locale}
    for row in rows:
        if row.text is not None:
            made[row.key] = row.text
        about = {"description": row.about} if row.about else {}
        limit = {"x-max-length": row.max_length} if row.max_length else {}
        made[f"@{row.key}"] = about | limit | {"x-source": row.source, "x-status": row.status}
    return (json.dumps(made, ensure_ascii=False, indent=2) + "\n").encode()


def _read_json(text: str) -> dict[str, str]:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadFile(f"the file is not JSON: {str(error)[:200]}") from error
    if isinstance(said.get("messages"), dict):
        said = said["messages"]
    found: dict[str, str] = {}
    for key, value in said.items():
        given = value.get("text") if isinstance(value, dict) and not key.startswith("@") else value
        if not key.startswith("@") and isinstance(given, str) and given:
            found[key] = given
    return found


def _write_po(locale: str, rows: Sequence[MessageRow]) -> bytes:
    lines = [
        'msgid ""',
        'msgstr ""',
        _po(f"Language: {locale}\n"),
        _po("Content-Type: text/plain; charset=UTF-8\n"),
        "",
    ]
    for row in rows:
        lines += [f"#. {line}" for line in row.about.splitlines()]
        lines += [f"#. max_length: {row.max_length}"] if row.max_length else []
        lines += ["#, fuzzy"] if row.status in ("stale", "machine") else []
        lines += [f"msgctxt {_po(row.key)}", f"msgid {_po(row.source)}", f"msgstr {_po(row.text or '')}", ""]
    return "\n".join(lines).encode()


def _po(text: str) -> str:
    quoted = (
        text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    )
    return f'"{quoted}"'


def _read_po(text: str) -> dict[str, str]:
    # Python's idea of a line has more ends than a PO file's.
    lines = [line.encode() for line in re.split(r"\r?\n", text)]
    try:
        catalog = read_po(io.BytesIO(b"\n".join(lines)), abort_invalid=True, charset="utf-8")
    except (PoFileError, ValueError, LookupError, IndexError, AttributeError, TypeError) as error:
        raise BadFile(f"the file is not a PO file: {str(error)[:200]}") from error
    found = {
        one.context: one.string
        for one in catalog
        if one.id and isinstance(one.context, str) and isinstance(one.string, str) and one.string
    }
    if not found and not any(one.context for one in catalog):
        raise BadFile("the file has no entry with a msgctxt; each message's key is its msgctxt")
    return found


def _write_xliff(locale: str, rows: Sequence[MessageRow]) -> bytes:
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">',
        f'  <file original="console" source-language="{BASE}" target-language="{locale}" datatype="plaintext">',
        "    <body>",
    ]
    for row in rows:
        limit = f' maxwidth="{row.max_length}" size-unit="char"' if row.max_length else ""
        lines.append(f'      <trans-unit id="{_xml(row.key)}" xml:space="preserve"{limit}>')
        lines.append(f"        <source>{_xml(row.source)}</source>")
        lines.append(f'        <target state="{_STATES[row.status]}">{_xml(row.text or "")}</target>')
        if row.about:
            lines.append(f"        <note>{_xml(row.about)}</note>")
        lines.append("      </trans-unit>")
    return "\n".join([*lines, "    </body>", "  </file>", "</xliff>", ""]).encode()


def _xml(text: str) -> str:
    return _XML_ODD.sub(lambda odd: f"&#{ord(odd[0])};", escape(text, {'"': "&quot;"}))


def _read_xliff(text: str) -> dict[str, str]:
    reading = _XliffReading()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = reading.start, reading.end
    parser.CharacterDataHandler = reading.words
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = _no_declarations
    try:
        # As bytes of the encoding that was checked, whatever the declaration claims.
        parser.Parse(re.sub(r"\A\s*<\?xml[^>]*\?>", "", text).encode(), True)
    except (expat.ExpatError, ValueError) as error:
        raise BadFile(f"the file is not XLIFF: {str(error)[:200]}") from error
    if not reading.is_xliff:
        raise BadFile("the file is XML and not XLIFF 1.2 or 2.0")
    return reading.found


def _no_declarations(*_: object) -> None:
    raise BadFile("the file declares a document type or an entity; take the declaration out")


class _XliffReading:
    """One pass over a document, XLIFF 1.2 or 2.0."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self.is_xliff = False
        self._path: list[str] = []
        self._key: str | None = None
        self._text: list[str] | None = None
        self._segments: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        space, _, local = name.rpartition(" ")
        if not self._path:
            self.is_xliff = local == "xliff" and (space in _XLIFF or not space)
        if len(self._path) >= _DEEPEST:
            raise BadFile(f"more than {_DEEPEST} elements stand inside each other")
        if self._text is not None:
            raise BadFile(f"{self._key}: a target has text alone; take out <{local}>")
        self._path.append(local)
        if local in ("trans-unit", "unit"):
            names = ("resname", "id") if local == "trans-unit" and not attributes.get("id") else ("name", "id")
            self._key = next((attributes[one] for one in names if attributes.get(one)), None)
            self._segments = []
        elif local == "target" and self._key is not None and "alt-trans" not in self._path:
            self._text = []

    def words(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def end(self, name: str) -> None:
        local = self._path.pop()
        if local == "target" and self._text is not None:
            self._segments.append("".join(self._text))
            self._text = None
        elif local in ("trans-unit", "unit") and self._key is not None:
            whole = "".join(self._segments)
            if whole and len(whole) <= LONGEST_TEXT:
                self.found[self._key] = whole
            self._key = None


_WRITERS: dict[FileFormat, Callable[[str, Sequence[MessageRow]], bytes]] = {
    "json": _write_json,
    "po": _write_po,
    "xliff": _write_xliff,
    "arb": _write_arb,
}


def pieces(body: bytes) -> Iterator[bytes]:
    """The body in parts that are sent one by one."""
    for start in range(0, len(body), 1 << 16):
        yield body[start : start + (1 << 16)]
