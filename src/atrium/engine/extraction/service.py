"""The verbs of extraction: read the text of a version, and see to versions whose reading came to nothing."""

from collections.abc import Mapping
from uuid import UUID

from atrium.engine.extraction.reading import Extracted, ExtractionFailed, extract, kind_of
from atrium.engine.jobs import service as jobs
from atrium.engine.repository import texts
from atrium.engine.repository.model import BytesUnavailable, Readable, Text
from atrium.ground.identity import service as identity
from atrium.kit.log import log
from atrium.kit.staging import Writer
from atrium.seams.blobs import BlobMissing
from atrium.seams.context import Context, Operation, Services

TEXT_KIND = "extraction.text"


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
        log.warning("text.failed", version=version_id, error=str(error))
        raise BytesUnavailable("the bytes could not be read") from error
    async with op.begin(held=False) as ctx:
        await texts.finish_text(ctx, version_id, found)
    return found.state


async def await_text(ctx: Context, version_ids: list[UUID]) -> None:
    """Queue the reading of versions, on behalf of the caller."""
    await jobs.enqueue(ctx, TEXT_KIND, [{"version_id": id} for id in version_ids])


async def give_up(ctx: Context, problems: Mapping[UUID, str]) -> None:
    """Keep for each version why its text will not be read."""
    for version_id, problem in problems.items():
        await texts.finish_text(ctx, version_id, Text("failed", problem=problem))


async def hand_on(ctx: Context, version_ids: list[UUID]) -> None:
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
