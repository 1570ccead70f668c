"""The text of documents as tools."""

from typing import Any
from uuid import UUID

from atrium.engine.extraction import service
from atrium.engine.extraction.model import NoDocumentText
from atrium.engine.repository.model import ObjectMissing
from atrium.seams.context import Context, Operation
from atrium.seams.tools import Artifact, Parameter, RecordedResult, Tool, require_id

_MOST_TEXT = 200_000
_SECONDS, _STEP_SECONDS = 120, 300


async def _doc_text(op: Operation, arguments: dict[str, Any]) -> Artifact:
    found = await service.wait_for_text(op, _id_in(arguments, "object"), _MOST_TEXT)
    stored, version, text = found.object, found.version, found.text
    if text.state == "none":
        raise NoDocumentText(f"{stored.filename} is of a type without text, or empty")
    if not text.text:
        raise NoDocumentText(text.problem or f"no text was found in {stored.filename}")
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


async def _list_unindexed(ctx: Context, arguments: dict[str, Any]) -> list[UUID]:
    return await service.list_unread(ctx)


async def _extract_text(op: Operation, arguments: dict[str, Any]) -> RecordedResult[dict[str, Any]]:
    found = await service.wait_for_text(op, _id_in(arguments, "id"), 0, again=True)
    result: dict[str, Any] = {
        "object_id": found.object.id,
        "version_id": found.version.id,
        "state": found.text.state,
        "characters": found.text.characters,
    }
    if found.text.problem:
        result["problem"] = found.text.problem
    # A text is read once, so that an attempt which ends before this one is repeated without harm.
    async with op.begin() as ctx:
        return await ctx.record_result(result)


def _id_in(arguments: dict[str, Any], name: str) -> UUID:
    return require_id(arguments, name, ObjectMissing("this is not the id of a file; files_list tells them"))


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
    Tool(
        name="repo_list_unindexed",
        description="List the ids of files of the team whose text was not read yet, oldest first, at most 40.",
        permission="files:read",
        effect="read",
        untrusted=False,
        act=_list_unindexed,
    ),
    Tool(
        name="repo_extract_text",
        description="Have the text of a file read, so that it is found and can be used; tells how that ended.",
        permission="files:write",
        effect="write",
        seconds=_STEP_SECONDS,
        perform=_extract_text,
        parameters=(Parameter(name="id", type="string", description="The file's id."),),
    ),
)
