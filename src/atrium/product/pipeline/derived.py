"""Documents made from others: what they may replace, who can see them, and that they are written once."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from uuid import UUID

from atrium.engine.repository import service as repository
from atrium.engine.repository import uploads, writes
from atrium.engine.repository.model import (
    Conditions,
    DerivationSource,
    ObjectDraft,
    ObjectStale,
    Provenance,
    StoredObject,
    Visibility,
)
from atrium.ground.sharing import abilities
from atrium.kit.errors import Unavailable
from atrium.product.pipeline.model import DerivedDocument, NotReplaced, ReadSource, derived_key
from atrium.seams.context import Context, Operation
from atrium.seams.tools import Artifact, RecordedResult

Described = Callable[[StoredObject], Artifact]
_ATTEMPTS = 20


class _Overtaken(Exception):
    """Who can see the source, or the document, has changed since that was looked at."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a document goes: what it says about who can see it, and what must still be at its key when it is written."""

    visibility: Visibility | None
    conditions: Conditions
    # Who can see the source; outside of the caller's team it counts as private.
    seen: Visibility


async def require_place(op: Operation, source: ReadSource, ending: str) -> None:
    """Refuse before anything is spent when a document with this ending could not be written beside the source."""
    async with op.begin() as ctx:
        await _find_place(ctx, source.object.id, derived_key(source.object.key, ending))


async def write_derived(
    op: Operation, source: ReadSource, made: DerivedDocument, described: Described
) -> RecordedResult[Artifact]:
    """Write a document beside its source, or its next version, and record what the tool returns, in one transaction.

    It replaces nothing but what was made from the same object before. It is seen as its source is: by the team, or by the caller alone;
    grants are not inherited. Its provenance names the version that was read, and the run and the step where there is one.
    """
    async with uploads.receive(op, _whole(made.body), len(made.body)) as upload:
        for _ in range(_ATTEMPTS):
            try:
                return await _write(op, source, made, described, upload)
            except (ObjectStale, _Overtaken):
                # Another write came between: what there is to replace, and who may see it, is looked at again.
                continue
    raise Unavailable("the document is being written over and over; try again", retry_after=1)


async def _write(
    op: Operation, source: ReadSource, made: DerivedDocument, described: Described, upload: uploads.Upload
) -> RecordedResult[Artifact]:
    key, recorded = derived_key(source.object.key, made.ending), list[RecordedResult[Artifact]]()
    async with op.begin() as ctx:
        place = await _find_place(ctx, source.object.id, key)

    async def also(ctx: Context, written: StoredObject) -> None:
        await _require_as_found(ctx, source.object.id, place, written)
        recorded.append(await ctx.record_result(described(written)))

    draft = ObjectDraft(key=key, content_type=made.content_type, visibility=place.visibility)
    await writes.write_object(op, draft, upload, place.conditions, _provenance(op, source), also)
    return recorded[0]


async def _find_place(ctx: Context, source_id: UUID, key: str) -> _Place:
    source = await repository.read_object(ctx, source_id)
    seen = _seen(ctx, source)
    existing = await writes.require_writable(ctx, ObjectDraft(key=key, content_type=""), Conditions())
    if existing is None:
        return _Place(seen, Conditions(if_none_match="*"), seen)
    if existing.version.deleted:
        return _Place(_narrowed(ctx, existing, seen), Conditions(if_none_match="*"), seen)
    if not await repository.was_made_from(ctx, existing.version, source.id):
        raise NotReplaced(f"{key} was changed by a person or made from another document; delete it first", key=key)
    return _Place(_narrowed(ctx, existing, seen), Conditions(if_match=existing.etag()), seen)


def _seen(ctx: Context, source: StoredObject) -> Visibility:
    """Who can see what is made from a source: as with the source itself, in its own team."""
    return source.visibility if source.team_id == ctx.who.team_id else "private"


def _narrowed(ctx: Context, existing: StoredObject, seen: Visibility) -> Visibility | None:
    """What the next version of a document says about who can see it: nothing, unless the source is for fewer people."""
    if seen == "team":
        return None
    if existing.owner_id != ctx.who.user_id:
        raise NotReplaced(
            f"{existing.key} belongs to another person, and its source is not for the team", key=existing.key
        )
    return "private" if abilities.is_of_team(existing) else None


async def _require_as_found(ctx: Context, source_id: UUID, place: _Place, written: StoredObject) -> None:
    """Look again, in the transaction that writes: access to the source may have ended while a model was asked."""
    seen = _seen(ctx, await repository.read_object(ctx, source_id))
    for_team = seen == "team"
    if seen != place.seen or not (
        for_team or (not abilities.is_of_team(written) and written.owner_id == ctx.who.user_id)
    ):
        raise _Overtaken


def _provenance(op: Operation, source: ReadSource) -> Provenance:
    read = (DerivationSource(source.object.id, source.version.id),)
    return Provenance(read, op.step.run_id, op.step.name) if op.step else Provenance(read)


async def _whole(body: bytes) -> AsyncIterator[bytes]:
    yield body
