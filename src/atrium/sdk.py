"""What plugins may use, and their only import from Atrium."""

from collections.abc import AsyncIterator, Collection
from contextlib import aclosing
from dataclasses import dataclass
from uuid import UUID

import msgspec

from atrium.engine.repository import service as repository
from atrium.engine.repository import writes
from atrium.engine.repository.model import DerivationSource as Source
from atrium.engine.repository.model import ObjectDraft, Provenance, StoredObject, Version
from atrium.engine.tools.calls import call_tool
from atrium.engine.tools.model import ToolResult
from atrium.engine.turns.utility import run_turn
from atrium.ground.access import service as access
from atrium.kit.errors import TooLarge
from atrium.kit.postgres.database import Transaction
from atrium.kit.refusals import CommandError as Refusal
from atrium.kit.text.languages import LanguageTag
from atrium.kit.web.http import OCTETS
from atrium.product.translation import service as translation
from atrium.product.translation.model import Format, SourceText, Translation, TranslationDraft
from atrium.product.translation.model_batches import LONGEST_WORK as LONGEST_TRANSLATION
from atrium.seams.blobs import BlobMissing, BlobStore
from atrium.seams.context import Context, Operation, Principal
from atrium.seams.jobs import Assignment, JobKind, NoArguments
from atrium.seams.models import Message, ModelReply, Turn
from atrium.seams.settings import Settings
from atrium.seams.tools import Artifact, ArtifactRef, Parameter, RecordedResult, Tool
from atrium.seams.wiring import Plugin, PluginRequest, PluginRoute, UserError

__all__ = [
    "LONGEST_TRANSLATION",
    "Artifact",
    "ArtifactRef",
    "Assignment",
    "BlobMissing",
    "BlobStore",
    "Context",
    "JobKind",
    "Message",
    "ModelReply",
    "NoArguments",
    "ObjectContent",
    "Operation",
    "Parameter",
    "Plugin",
    "PluginRequest",
    "PluginRoute",
    "Principal",
    "RecordedResult",
    "Refusal",
    "Settings",
    "Source",
    "StoredObject",
    "Tool",
    "ToolResult",
    "Transaction",
    "Translation",
    "Turn",
    "UserError",
    "call_tool",
    "read_object",
    "run_turn",
    "translate",
    "write_object",
]

# What a plugin gets of an object at once unless it asks for more; the whole of it is in memory.
MOST = 32 << 20


@dataclass(frozen=True, slots=True)
class ObjectContent:
    """An object, one of its versions and that version's bytes."""

    object: StoredObject
    version: Version
    body: bytes


async def read_object(op: Operation, id: UUID, *, version: str | None = None, most: int = MOST) -> ObjectContent:
    """An object that the caller can read, with its bytes; `version` is a number or an id, the current one when absent."""
    async with op.begin() as ctx:
        stored, found = await repository.read_version(ctx, id, version)
    if found.size > most:
        raise TooLarge(f"this object has {found.size} bytes, and at most {most} are read at once", limit=most)
    async with aclosing(repository.open_content(op, id, found)) as pieces:
        return ObjectContent(stored, found, b"".join([piece async for piece in pieces]))


async def write_object(
    op: Operation, key: str, body: bytes, *, content_type: str = OCTETS, sources: Collection[Source] = ()
) -> StoredObject:
    """Write a key of the caller's team: a new object, or a new version of what is there; `sources` is what it was made from."""
    access.require_writing(op)
    provenance = Provenance(tuple(sources)) if sources else None
    draft = ObjectDraft(key=key, content_type=content_type)
    return await writes.put_object(op, draft, _whole(body), len(body), provenance=provenance)


class _Languages(msgspec.Struct, frozen=True):
    """What the wire would have refused."""

    text: SourceText
    target: LanguageTag
    source: LanguageTag | None = None


async def translate(
    op: Operation, text: str, target: str, *, source: str | None = None, format: Format = "text"
) -> Translation:
    """Translate a text by the team's glossary, placeholders whole, as `POST /api/translate` does; metered and kept for the caller."""
    access.require_writing(op)
    try:
        msgspec.convert({"text": text, "target": target, "source": source}, _Languages)
    except msgspec.ValidationError as error:
        raise UserError(str(error)) from error
    return await translation.translate(op, TranslationDraft(text=text, target=target, source=source, format=format))


async def _whole(body: bytes) -> AsyncIterator[bytes]:
    yield body
