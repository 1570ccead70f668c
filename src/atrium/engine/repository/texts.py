"""Extracting text in the background: versions wait in a table, any process takes the next one."""

from datetime import timedelta
from uuid import UUID

from atrium.engine.repository import blob_rows
from atrium.engine.repository.blob_rows import Readable, WaitingText
from atrium.engine.repository.text import Extracted, ExtractionFailed, extract, kind_of
from atrium.kit.log import log
from atrium.kit.staging import Writer
from atrium.seams.blobs import BlobMissing
from atrium.seams.context import Services

MOST_ATTEMPTS = 3
_GRACE = 40


async def extract_due(services: Services, limit: int = 20) -> int:
    """Extract what is due, one document after the other; how many were finished, well or not."""
    async with services.database.begin_system() as db:
        due = await blob_rows.list_due_texts(db, limit)
    finished = 0
    for waiting in due:
        finished += await _extract_one(services, waiting)
    return finished


async def _extract_one(services: Services, waiting: WaitingText) -> bool:
    lease = timedelta(seconds=services.settings.extraction_seconds + _GRACE)
    async with services.database.begin(waiting.org_id) as db:
        claimed = await blob_rows.claim_text(db, waiting.org_id, waiting.version_id, lease)
    if claimed is None:
        return False
    try:
        await _finish(services, waiting, await _read(services, waiting.org_id, claimed), None)
    except ExtractionFailed as problem:
        await _finish(services, waiting, None, str(problem))
    except (OSError, BlobMissing) as error:
        # Not the document's fault: tried again when the lease ends, a few times.
        log.warning("text.failed", version=waiting.version_id, error=str(error), attempts=claimed.attempts)
        if claimed.attempts >= MOST_ATTEMPTS:
            await _finish(services, waiting, None, "the bytes could not be read")
            return True
        return False
    return True


async def _read(services: Services, org_id: UUID, claimed: Readable) -> Extracted:
    settings, kind = services.settings, kind_of(claimed.content_type, claimed.filename)
    if kind is None:
        raise ExtractionFailed("there is no reader for this type")
    if claimed.size > settings.extraction_input:
        raise ExtractionFailed(f"larger than {settings.extraction_input} bytes")
    writer = services.staging.writer(org_id)
    try:
        await _fetch(services, org_id, claimed.sha256, writer)
        return await extract((await writer.finish()).path, kind, settings)
    finally:
        await writer.discard()


async def _fetch(services: Services, org_id: UUID, sha256: bytes, writer: Writer) -> None:
    async for piece in services.blobs.get(org_id, sha256):
        await writer.write(piece)


async def _finish(services: Services, waiting: WaitingText, found: Extracted | None, problem: str | None) -> None:
    text, truncated = (found.text, found.truncated) if found else ("", False)
    async with services.database.begin(waiting.org_id) as db:
        await blob_rows.finish_text(
            db, waiting.org_id, waiting.version_id, "done" if found else "failed", text, truncated, problem
        )
