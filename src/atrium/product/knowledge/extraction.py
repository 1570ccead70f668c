"""A document read into the graph: its text, the model's reply, and its share, replaced in one transaction."""

from uuid import UUID

from atrium.engine.extraction import service as extraction
from atrium.engine.extraction.model import CurrentText, NoDocumentText
from atrium.engine.repository import permissions
from atrium.ground.access import service as access
from atrium.product.knowledge import extraction_prompt, store
from atrium.product.knowledge.model import (
    MOST_REFUSALS,
    AwaitsVersion,
    Contribution,
    ExtractionResult,
    KnowledgeRefused,
    Overtaken,
)
from atrium.product.knowledge.reply_check import Findings
from atrium.seams.context import Context, Operation
from atrium.seams.tools import RecordedResult

_ATTEMPTS = 3


async def extract(op: Operation, id: UUID) -> RecordedResult[ExtractionResult]:
    """Read an object's current version into the graph, once: one that was read already costs nothing."""
    access.require(op, "chat:use")
    async with op.begin() as ctx:
        await _require_writable(ctx, id)
    for _ in range(_ATTEMPTS):
        if (kept := await _extract_current(op, id)) is not None:
            return kept
    raise Overtaken("the document was changed again and again while it was read; try again later")


async def _extract_current(op: Operation, id: UUID) -> RecordedResult[ExtractionResult] | None:
    """What was kept; None when another version has become the current one meanwhile."""
    found = await extraction.wait_for_text(op, id, extraction_prompt.LONGEST_TEXT)
    async with op.begin() as ctx:
        known = await store.find_share(ctx.db, ctx.who.org_id, id, found.version.id)
        if known is not None:
            return await ctx.record_result(known)
        await _require_fewer_refusals(ctx, found)
        salt = await _read_salt(ctx, found.object.team_id)
    text = _require_text(found)
    try:
        findings = await extraction_prompt.ask(op, text, salt)
    except KnowledgeRefused:
        await _note_refusal(op, found)
        raise
    return await _keep(op, found, findings)


async def _keep(op: Operation, found: CurrentText, findings: Findings) -> RecordedResult[ExtractionResult] | None:
    """Replace what the object contributes; the one who comes second with the same version takes what the first one kept."""
    object_id, version_id = found.object.id, found.version.id
    async with op.begin() as ctx:
        current = await _require_writable(ctx, object_id, lock=True)
        if current != version_id:
            return None
        kept = await store.find_share(ctx.db, ctx.who.org_id, object_id, version_id)
        if kept is None:
            kept = await _replace(ctx, Contribution(object_id, version_id, findings.mentions, findings.relations))
        return await ctx.record_result(kept)


async def _replace(ctx: Context, share: Contribution) -> ExtractionResult:
    entities = len({mention.entity_id for mention in share.mentions})
    relations = len({(told.from_id, told.type, told.to_id) for told in share.relations})
    kept, org_id = ExtractionResult(share.object_id, share.version_id, entities, relations), ctx.who.org_id
    await store.delete_share(ctx.db, org_id, share.object_id)
    await store.insert_share(ctx.db, org_id, kept)
    await store.insert_mentions(ctx.db, org_id, share)
    await store.insert_relations(ctx.db, org_id, share)
    return kept


async def _require_writable(ctx: Context, id: UUID, *, lock: bool = False) -> UUID:
    """The current version of an object whose share the caller may replace: who may only read it does not say what it says."""
    found = await permissions.read_visible(ctx, id, lock=lock)
    await permissions.require(ctx, found, "write")
    return found.version.id


async def _require_fewer_refusals(ctx: Context, found: CurrentText) -> None:
    refusals = await store.count_refusals(ctx.db, ctx.who.org_id, found.object.id, found.version.id)
    if refusals >= MOST_REFUSALS:
        raise AwaitsVersion(
            f"the model's replies about this version were refused {refusals} times; the next version is read again",
            refusals=refusals,
        )


async def _note_refusal(op: Operation, found: CurrentText) -> None:
    async with op.begin() as ctx:
        current = await _require_writable(ctx, found.object.id, lock=True)
        if current == found.version.id:
            await store.add_refusal(ctx.db, ctx.who.org_id, found.object.id, found.version.id)


async def _read_salt(ctx: Context, team_id: UUID) -> UUID:
    if (salt := await store.find_salt(ctx.db, ctx.who.org_id, team_id)) is None:
        await store.insert_salt(ctx.db, ctx.who.org_id, team_id)
        salt = await store.find_salt(ctx.db, ctx.who.org_id, team_id)
    if salt is None:
        raise LookupError(f"team {team_id} has no salt")
    return salt


def _require_text(found: CurrentText) -> str:
    if found.text.problem:
        raise NoDocumentText(found.text.problem)
    if not found.text.text.strip():
        raise NoDocumentText(f"no text was found in {found.object.filename}")
    return found.text.text
