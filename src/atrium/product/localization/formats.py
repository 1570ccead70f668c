"""Catalogs as files of other programs: PO, XLIFF, ARB and JSON, out and in. What is read is strict, and bounded in depth and size."""

import codecs
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape

import msgspec
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import PoFileError, PoFileParser

from atrium.kit.text.catalogs import BASE, LONGEST_TEXT
from atrium.kit.work.compute import heavy
from atrium.product.localization.disk import as_json
from atrium.product.localization.model import BadFile, FileFormat, MessageRow

ENDINGS: dict[FileFormat, tuple[str, str]] = {
    "json": ("json", "application/json"),
    "po": ("po", "text/x-gettext-translation"),
    "xliff": ("xlf", "application/xliff+xml"),
    "arb": ("arb", "application/json"),
}
LARGEST = 20 << 20
MOST_TEXTS, MOST_LINES, MOST_KEYS = 200_000, 1_000_000, 400_000
_PIECE = 1 << 16
_DEEPEST = 32
# A start tag, a comment or an instruction of XML, which comes in whole, with all its attributes.
_LONGEST_TAG = 64 << 10
# Different elements and attributes: the parser remembers each name.
_MOST_NAMES = 1_000
# Of a PO file: more than the longest text needs, each character escaped or a line of its own.
_LARGEST_ENTRY, _LONGEST_LINE, _OF_A_LINE = 8 << 20, 256 << 10, 100
# Of a JSON file: the same, quotes included.
_LONGEST_VALUE = 12 * LONGEST_TEXT + 2
_XLIFF = {"urn:oasis:names:tc:xliff:document:1.2", "urn:oasis:names:tc:xliff:document:2.0"}
_BEGINNING = re.compile(rb"\S")
_JSON_KEY = re.compile(rb'"\s*:')
_XML_DECLARATION = re.compile(rb"\s*(<\?xml[^>]*\?>)?")
# Read by XML as something else unless it is written as a number.
_XML_ODD = re.compile("[\r\t\n\x85\u2028\u2029]")
_STATES = {
    "approved": "final",
    "stale": "needs-review-translation",
    "machine": "needs-review-translation",
    "missing": "needs-translation",
}


def write_file(format: FileFormat, locale: str, rows: Sequence[MessageRow]) -> bytes:
    """The messages of a locale as a file, the same bytes for the same messages."""
    return _WRITERS[format](locale, rows)


@heavy
def read(body: bytes) -> dict[str, str]:
    """The texts in a file by key; the format is told by how it begins."""
    if len(body) > LARGEST:
        raise BadFile(f"at most {LARGEST} bytes are read; split the file")
    _require_utf8(body)
    body = body.removeprefix(codecs.BOM_UTF8)
    begins = _BEGINNING.search(body)
    if begins and begins[0] == b"<":
        return _read_xliff(body)
    return _read_json(body) if begins and begins[0] == b"{" else _read_po(body)


def _require_utf8(body: bytes) -> None:
    # In pieces: the characters of a whole file take up to four times its bytes.
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(body), _PIECE):
        held = len(decoder.getstate()[0])
        try:
            decoder.decode(body[start : start + _PIECE], start + _PIECE >= len(body))
        except UnicodeDecodeError as error:
            wrong = start - held + error.start + 1
            raise BadFile(f"the file is not UTF-8 (byte {wrong}); save it as UTF-8") from error


def _require_few(found: dict[str, str]) -> None:
    if len(found) > MOST_TEXTS:
        raise BadFile(f"at most {MOST_TEXTS} texts are read; split the file")


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


class _Entry(msgspec.Struct):
    """What is read of a message in a JSON file as we export it; the rest is passed over."""

    text: msgspec.Raw = msgspec.Raw()


_TEXT = msgspec.json.Decoder(str)
_ENTRY = msgspec.json.Decoder(_Entry)
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


def _read_json(body: bytes) -> dict[str, str]:
    # What stands before a colon, in a text too: a bound that holds before anything is kept.
    for number, _ in enumerate(_JSON_KEY.finditer(body)):
        if number >= MOST_KEYS:
            raise BadFile(f"at most {MOST_KEYS} keys are read; split the file")
    try:
        said = _OBJECT.decode(body)
        if _begins(said.get("messages"), b"{"):
            said = _OBJECT.decode(said["messages"])
        given = ((key, _given(value)) for key, value in said.items() if not key.startswith("@"))
        found = {key: text for key, text in given if text}
    except (ValueError, RecursionError) as error:
        raise BadFile(f"the file is not JSON: {str(error)[:200]}") from error
    _require_few(found)
    return found


def _given(value: msgspec.Raw) -> str | None:
    """The text that a key is given, itself or as `text` of an object."""
    if _begins(value, b"{"):
        value = _ENTRY.decode(value).text
    if not _begins(value, b'"'):
        return None
    # Refused by its key like any text that is too long; what it says need not be known.
    return _TEXT.decode(value) if memoryview(value).nbytes <= _LONGEST_VALUE else "…" * (LONGEST_TEXT + 1)


def _begins(value: msgspec.Raw | None, sign: bytes) -> bool:
    return value is not None and bytes(memoryview(value)[:1]) == sign


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


def _read_po(body: bytes) -> dict[str, str]:
    reading = _PoReading()
    try:
        PoFileParser(reading, ignore_obsolete=True, abort_invalid=True).parse(_po_lines(body))
    except (PoFileError, ValueError, LookupError, AttributeError, TypeError) as error:
        raise BadFile(f"the file is not a PO file: {str(error)[:200]}") from error
    if not reading.has_keys:
        raise BadFile("the file has no entry with a msgctxt; each message's key is its msgctxt")
    return reading.found


def _po_lines(body: bytes) -> Iterator[bytes]:
    """The lines that say something, as bytes: Python's idea of a line of characters has more ends than a PO file's."""
    of_entry = 0
    for number, line in enumerate(io.BytesIO(body)):
        if number >= MOST_LINES:
            raise BadFile(f"at most {MOST_LINES} lines are read; split the file")
        if len(line) > _LONGEST_LINE:
            raise BadFile(f"line {number + 1} has more than {_LONGEST_LINE} bytes")
        said = line.strip()
        # Comments and obsolete entries say nothing here.
        if not said or said.startswith(b"#"):
            continue
        if said.startswith((b"msgctxt ", b"msgid ")):
            of_entry = 0
        of_entry += len(said) + _OF_A_LINE
        if of_entry > _LARGEST_ENTRY:
            raise BadFile(f"line {number + 1}: this entry is too long")
        yield said


class _PoReading(Catalog):
    """Keeps the texts of a PO file by key, and nothing else of its entries."""

    def __init__(self) -> None:
        super().__init__(charset="utf-8")
        self.found: dict[str, str] = {}
        self.has_keys = False

    @property
    def num_plurals(self) -> int:
        """As many as any language has, whatever the header claims: plural entries say nothing."""
        return 6

    def __setitem__(self, id: Any, message: Message) -> None:
        if not id or not isinstance(message.context, str):
            return
        self.has_keys = self.has_keys or bool(message.context)
        if isinstance(message.string, str) and message.string:
            self.found[message.context] = message.string
            _require_few(self.found)


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


def _read_xliff(body: bytes) -> dict[str, str]:
    reading = _XliffReading()
    # In the encoding that was checked, whatever the declaration claims.
    parser = expat.ParserCreate("utf-8", " ")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = reading.start, reading.end
    parser.CharacterDataHandler = reading.words
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = _no_declarations
    declared = _XML_DECLARATION.match(body)
    begins = declared.end() if declared else 0
    try:
        for start in range(begins, len(body), _PIECE):
            parser.Parse(body[start : start + _PIECE], False)
            if min(start + _PIECE, len(body)) - begins - parser.CurrentByteIndex > _LONGEST_TAG:
                raise BadFile(f"a tag or a comment has more than {_LONGEST_TAG} bytes")
        parser.Parse(b"", True)
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
        self._names = set[str]()
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
        self._names.update((name, *attributes))
        if len(self._names) > _MOST_NAMES:
            raise BadFile(f"more than {_MOST_NAMES} different elements and attributes")
        self._path.append(local)
        if local in ("trans-unit", "unit"):
            names = ("resname", "id") if local == "trans-unit" and not attributes.get("id") else ("name", "id")
            self._key = next((attributes[one] for one in names if attributes.get(one)), None)
            self._segments = []
        elif local == "target" and self._key is not None and "alt-trans" not in self._path:
            self._text = []

    def words(self, text: str) -> None:
        # Each piece has a character, so that a text of more pieces is too long as it is.
        if self._text is not None and len(self._text) <= LONGEST_TEXT:
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
                _require_few(self.found)
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
