"""The text of a document, read by a process of its own: a hostile file can kill that one, never the server."""

import asyncio
import contextlib
import sys
from asyncio.subprocess import PIPE, Process
from functools import lru_cache
from pathlib import Path
from typing import IO

import msgspec

from atrium.kit.sandbox import Limits, Program, Sandbox, is_readable_inside
from atrium.seams.settings import Settings

WORKER = Path(__file__).with_name("extractor.py")
_PLACE = "/run/extractor.py"
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


async def extract(path: Path, kind: str, settings: Settings, sandbox: Sandbox) -> Extracted:
    """The document's text, within the settings' limits of time, memory and output; raises ExtractionFailed otherwise."""
    with path.open("rb") as document:
        process = await _start(document, kind, settings, sandbox)
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


async def _start(document: IO[bytes], kind: str, settings: Settings, sandbox: Sandbox) -> Process:
    """A reader in the sandbox, which sees the document and the program alone; where there is none, with limits that it sets itself."""
    numbers = settings.extraction_seconds, settings.extraction_memory, settings.extraction_output
    arguments = (kind, *map(str, numbers))
    if await sandbox.reason():
        return await asyncio.create_subprocess_exec(
            sys.executable, "-I", str(WORKER), *arguments,
            stdin=document, stdout=PIPE, stderr=PIPE, cwd="/", env={}, start_new_session=True,
        )  # fmt: skip
    limits = Limits(memory=settings.extraction_memory, seconds=settings.extraction_seconds)
    shown, stays = _shown()
    program = Program(command=(sys.executable, "-I", _PLACE, *arguments), limits=limits, shown=shown, stays=stays)
    return await sandbox.run(program, document)


@lru_cache(maxsize=1)
def _shown() -> tuple[tuple[tuple[Path, str], ...], bool]:
    """The reader and the Python that runs it, with its libraries, and whether only the server's own user can read these."""
    # What is below /usr is there anyway.
    pythons = {Path(prefix) for prefix in (sys.prefix, sys.base_prefix) if not Path(prefix).is_relative_to("/usr")}
    shown = ((WORKER, _PLACE), *((prefix, str(prefix)) for prefix in sorted(pythons)))
    return shown, not all(is_readable_inside(source) for source, _ in shown)


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
    # Bubblewrap tells a signal as a shell does.
    number = -code if code < 0 else code - 128
    return f"the reader was stopped by signal {number}" if number > 0 else "the reader gave up"
