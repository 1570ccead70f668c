"""The text of a document as a tool."""

import asyncio
from typing import Any
from uuid import UUID

from atrium.engine.extraction import service
from atrium.engine.extraction.reading import is_extractable
from atrium.engine.repository import service as repository
from atrium.engine.repository import texts
from atrium.engine.repository.model import ObjectMissing, StoredObject, Text, Version
from atrium.ground.access import service as access
from atrium.kit.errors import Conflict
from atrium.seams.context import Operation
from atrium.seams.tools import Artifact, Parameter, Tool

_MOST_TEXT = 200_000
_SECONDS, _LOOK_SECONDS = 120, 0.25


class NoText(Conflict):
    """The document has no text that could be read."""

    code, title = "doc.no_text", "This document has no text"


async def _doc_text(op: Operation, arguments: dict[str, Any]) -> Artifact:
    try:
        id = UUID(arguments["object"])
    except ValueError as error:
        raise ObjectMissing("this is not the id of a file; files_list tells them") from error
    stored, version, text = await _read(op, id)
    if text.state == "none":
        await _begin(op, stored, version)
    while text.state in ("none", "waiting", "running"):
        await asyncio.sleep(_LOOK_SECONDS)
        stored, version, text = await _read(op, id)
    if not text.text:
        raise NoText(text.problem or f"no text was found in {stored.filename}")
    return Artifact(
        kind="text",
        title=stored.filename,
        summary=f"{text.characters} characters",
        content_type=version.content_type,
        object_id=stored.id,
        version_id=version.id,
        extra={
            "text": text.text,
            "characters": text.characters,
            "truncated": text.truncated or text.characters > len(text.text),
        },
    )


async def _read(op: Operation, id: UUID) -> tuple[StoredObject, Version, Text]:
    async with op.begin() as ctx:
        stored, version = await repository.read_version(ctx, id, None)
        return stored, version, await texts.read_text(ctx, version, _MOST_TEXT)


async def _begin(op: Operation, stored: StoredObject, version: Version) -> None:
    """Have a text read that was not, because extraction was off when it came."""
    if not is_extractable(version.content_type, version.filename, version.size):
        raise NoText(f"{stored.filename} is of a type without text, or too large")
    access.require_writing(op)
    async with op.begin() as ctx:
        await texts.await_text(ctx, stored.id, version)
        await service.await_text(ctx, [version.id])


TOOLS = (
    Tool(
        name="doc_text",
        description="Read the text of a file: PDF, Word, PowerPoint, spreadsheets, HTML, e-mail, plain text.",
        permission="files:read",
        effect="read",
        seconds=_SECONDS,
        perform=_doc_text,
        parameters=(Parameter(name="object", type="string", description="The file's id."),),
    ),
)
