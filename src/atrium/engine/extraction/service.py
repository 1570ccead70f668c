"""The verbs of extraction: read the text of a version, wait for it, and see to versions whose reading came to nothing."""

import asyncio
from collections.abc import Mapping
from uuid import UUID

from atrium.engine.extraction.model import CurrentText
from atrium.engine.extraction.text_process import Extracted, ExtractionFailed, extract, is_extractable, kind_of
from atrium.engine.jobs import service as jobs
from atrium.engine.repository import service as repository
from atrium.engine.repository import texts
from atrium.engine.repository.model import BytesUnavailable, Readable, Text
from atrium.ground.access import service as access
from atrium.ground.identity import service as identity
from atrium.kit.files.staging_area import Writer
from atrium.kit.telemetry.log import log
from atrium.seams.blobs import BlobMissing
from atrium.seams.context import Context, Operation, Services

TEXT_KIND = "extraction.text"
# The domain's name, under which its state is kept.
_NAME = "extraction"
# Readers of one process that steps of workflows wait for, beside those of the jobs.
_READERS = 3
_LOOK_SECONDS = 0.25
# A reader that another process began may have died: after so many seconds a step reads the text itself.
_PATIENCE = 30.0
_UNREAD = 40


async def read_text(op: Operation, version_id: UUID) -> str:
    """Read a version's text and keep it, or keep why there is none; how it ended, in a word."""
    # The document stays when its writer leaves, so its text is not given up with their account.
    async with op.begin(held=False) as ctx:
        source = await texts.begin_text(ctx, version_id)
    if source is None:
        return "gone"
    try:
        read = await _read(op.services, op.who.org_id, source)
        found = Text("done", read.text, truncated=read.truncated)
    except ExtractionFailed as problem:
        found = Text("failed", problem=str(problem))
    except (OSError, BlobMissing) as error:
        # Not the document's fault: the queue tries again, a few times.
        log.warning("text.failed", version=version_id, error=error)
        raise BytesUnavailable("the bytes could not be read") from error
    async with op.begin(held=False) as ctx:
        await texts.finish_text(ctx, version_id, found)
    return found.state


async def start(services: Services) -> asyncio.Semaphore:
    """Places for texts that are read for a step at once."""
    return asyncio.Semaphore(_READERS)


async def wait_for_text(op: Operation, id: UUID, characters: int, *, again: bool = False) -> CurrentText:
    """What could be read out of an object's current version, once it was read; its text no further than so many characters.

    A version that nothing reads is read, and with `again` also one whose reading failed. Its state is `none` when its type has no text.
    """
    found, began = await _look(op, id, characters), asyncio.get_running_loop().time()
    if found.text.state == "none" or (again and found.text.state == "failed"):
        found = await _begin(op, found)
    while found.text.state in ("waiting", "running"):
        late = asyncio.get_running_loop().time() > began + _PATIENCE
        # A step is a job itself: where its team may run no other, the job that reads the text would wait for the step.
        if op.step is not None and (found.text.state == "waiting" or late):
            async with op.services.started[_NAME]:
                await read_text(op, found.version.id)
        else:
            await asyncio.sleep(_LOOK_SECONDS)
        found = await _look(op, id, characters)
    return found


async def list_unread(ctx: Context) -> list[UUID]:
    """A few objects of the caller's team whose current version has text that nothing has read, oldest first."""
    return await texts.list_unread(ctx, _UNREAD)


async def _look(op: Operation, id: UUID, characters: int) -> CurrentText:
    async with op.begin() as ctx:
        stored, version = await repository.read_version(ctx, id, None)
        return CurrentText(stored, version, await texts.read_text(ctx, version, characters))


async def _begin(op: Operation, found: CurrentText) -> CurrentText:
    """Have a text read: extraction was off when it came, or its reading failed."""
    version = found.version
    if not is_extractable(version.content_type, version.filename, version.size):
        return found
    access.require_writing(op)
    async with op.begin() as ctx:
        if await texts.await_text(ctx, found.object.id, version):
            await await_text(ctx, [version.id])
    return CurrentText(found.object, version, Text("waiting"))


async def await_text(ctx: Context, version_ids: list[UUID]) -> None:
    """Queue the reading of versions, on behalf of the caller."""
    await jobs.enqueue(ctx, TEXT_KIND, [{"version_id": id} for id in version_ids])


async def give_up(ctx: Context, problems: Mapping[UUID, str]) -> None:
    """Keep for each version why its text will not be read."""
    for version_id, problem in problems.items():
        await texts.finish_text(ctx, version_id, Text("failed", problem=problem))


async def requeue_for_owners(ctx: Context, version_ids: list[UUID]) -> None:
    """Have versions read on behalf of their owners, because their writers have left."""
    owners = await texts.list_owners(ctx, version_ids)
    people = await identity.list_principals(ctx.db, ctx.who.org_id, list(set(owners.values())))
    for owner_id, person in people.items():
        await await_text(ctx.acting_as(person), [id for id, owner in owners.items() if owner == owner_id])
    await give_up(
        ctx, {id: "its writer and its owner have left" for id, owner in owners.items() if owner not in people}
    )


async def _read(services: Services, org_id: UUID, source: Readable) -> Extracted:
    settings, kind = services.settings, kind_of(source.content_type, source.filename)
    if kind is None:
        raise ExtractionFailed("there is no reader for this type")
    if source.size > settings.extraction_input:
        raise ExtractionFailed(f"larger than {settings.extraction_input} bytes")
    writer = services.staging.writer(org_id)
    try:
        await _fetch(services, org_id, source.sha256, writer)
        return await extract((await writer.finish()).path, kind, settings, services.sandbox)
    finally:
        await writer.discard()


async def _fetch(services: Services, org_id: UUID, sha256: bytes, writer: Writer) -> None:
    async for piece in services.blobs.get(org_id, sha256):
        await writer.write(piece)
