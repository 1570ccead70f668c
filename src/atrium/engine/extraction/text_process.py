"""The text of a document, read by a process of its own: a hostile file can kill that one, never the server."""

from codecs import BOM_UTF8
from pathlib import Path

import msgspec

from atrium.kit.isolation.sandbox import Sandbox
from atrium.kit.isolation.scripts import Script, ScriptResult, ScriptTookTooLong, run_script
from atrium.seams.settings import Settings

# What is readable here is also in PostgreSQL's function `has_text`, which keeps the list of objects without text.
WORKER = Path(__file__).with_name("extractor.py")
TYPES = {
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "sheet",
    "application/vnd.ms-excel": "sheet",
    "application/vnd.oasis.opendocument.spreadsheet": "sheet",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "message/rfc822": "eml",
    "application/json": "plain",
}
ENDINGS = {
    "pdf": "pdf", "docx": "docx", "pptx": "pptx", "xlsx": "sheet", "xls": "sheet", "ods": "sheet", "html": "html", "htm": "html",
    "eml": "eml", "md": "plain", "markdown": "plain", "csv": "plain", "tsv": "plain", "txt": "plain", "json": "plain",
}  # fmt: skip
# Types that say nothing: then the name decides.
VAGUE = frozenset({"application/octet-stream", "binary/octet-stream", "application/zip"})
_TRUNCATED, _REFUSED = 4, 3


class ExtractionFailed(Exception):
    """The document cannot be read; the message says why, for people."""


class Extracted(msgspec.Struct, frozen=True):
    """The text, and whether it goes on in the document."""

    text: str
    truncated: bool


def kind_of(content_type: str, filename: str) -> str | None:
    """Which reader takes the document; None when none does."""
    plain = content_type.partition(";")[0].strip().lower()
    if plain in TYPES:
        return TYPES[plain]
    if plain.startswith("text/"):
        return "plain"
    return ENDINGS.get(filename.rpartition(".")[2].lower()) if plain in VAGUE else None


def is_extractable(content_type: str, filename: str, size: int) -> bool:
    """Whether there is a reader for it, and anything to read."""
    return size > 0 and kind_of(content_type, filename) is not None


def read_plain(body: bytes, most: int) -> Extracted | None:
    """The text of bytes that are UTF-8, at most so many of them; None where it takes the reader to say what they are."""
    if b"\0" in body:
        return None
    plain = body.removeprefix(BOM_UTF8)
    try:
        text = plain.decode()
    except UnicodeDecodeError:
        return None
    return Extracted(text if len(plain) <= most else plain[:most].decode(errors="ignore"), len(plain) > most)


async def extract(path: Path, kind: str, settings: Settings, sandbox: Sandbox) -> Extracted:
    """The document's text, within the settings' limits of time, memory and output; raises ExtractionFailed otherwise."""
    numbers = settings.extraction_seconds, settings.extraction_memory, settings.extraction_output
    script = Script(
        path=WORKER,
        arguments=(kind, *map(str, numbers)),
        seconds=settings.extraction_seconds,
        memory=settings.extraction_memory,
        output=settings.extraction_output + 4,
    )
    try:
        with path.open("rb") as document:
            done = await run_script(script, document, sandbox)
    except ScriptTookTooLong as error:
        raise ExtractionFailed(str(error)) from error
    if done.code not in (0, _TRUNCATED):
        raise ExtractionFailed(_why(done))
    return Extracted(done.output.decode("utf-8", "ignore").replace("\0", ""), done.code == _TRUNCATED)


def _why(done: ScriptResult) -> str:
    if done.code == _REFUSED:
        return done.complaint[:300] or "cannot be read"
    return f"the reader was stopped by signal {done.signal}" if done.signal else "the reader gave up"
