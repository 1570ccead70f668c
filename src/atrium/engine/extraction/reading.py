"""The text of a document, read by a process of its own: a hostile file can kill that one, never the server."""

import asyncio
import contextlib
import sys
from pathlib import Path

import msgspec

from atrium.seams.settings import Settings

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
_VAGUE = frozenset({"application/octet-stream", "binary/octet-stream", "application/zip"})
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
    return ENDINGS.get(filename.rpartition(".")[2].lower()) if plain in _VAGUE else None


def is_extractable(content_type: str, filename: str, size: int) -> bool:
    """Whether there is a reader for it, and anything to read."""
    return size > 0 and kind_of(content_type, filename) is not None


async def extract(path: Path, kind: str, settings: Settings) -> Extracted:
    """The document's text, within the settings' limits of time, memory and output; raises ExtractionFailed otherwise."""
    numbers = settings.extraction_seconds, settings.extraction_memory, settings.extraction_output
    with path.open("rb") as document:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-I", str(WORKER), kind, *map(str, numbers),
            stdin=document, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd="/", env={}, start_new_session=True,
        )  # fmt: skip
    try:
        async with asyncio.timeout(settings.extraction_seconds):
            text, complaint = await asyncio.gather(
                _at_most(process.stdout, settings.extraction_output + 4), _at_most(process.stderr, 400)
            )
            code = await process.wait()
    except TimeoutError as error:
        raise ExtractionFailed(f"took longer than {settings.extraction_seconds} s") from error
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    if code not in (0, _TRUNCATED):
        raise ExtractionFailed(_why(code, complaint))
    return Extracted(text.decode("utf-8", "ignore").replace("\0", ""), code == _TRUNCATED)


async def _at_most(stream: asyncio.StreamReader | None, most: int) -> bytes:
    if stream is None:
        return b""
    parts, size = [], 0
    while size < most and (part := await stream.read(min(65_536, most - size))):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _why(code: int, complaint: bytes) -> str:
    if code == _REFUSED:
        return complaint.decode("utf-8", "replace").strip()[:300] or "cannot be read"
    return f"the reader was stopped by signal {-code}" if code < 0 else "the reader gave up"
