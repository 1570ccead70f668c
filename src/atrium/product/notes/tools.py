"""Notes as tools: what a model may list, read and write on behalf of the caller."""

from typing import Any

import msgspec

from atrium.kit.errors import Invalid
from atrium.product.notes import service
from atrium.product.notes.model import Body, NoteMissing, Title
from atrium.seams.context import Context
from atrium.seams.tools import Artifact, ArtifactRef, Parameter, Tool, require_id

_LISTED = 50


async def _list(ctx: Context, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    found = await service.list_notes(ctx, "team", arguments.get("q") or None, _LISTED, None)
    return [
        {"id": note.id, "title": note.title, "visibility": note.visibility, "updated_at": note.updated_at}
        for note in found.items
    ]


async def _read(ctx: Context, arguments: dict[str, Any]) -> dict[str, Any]:
    id = require_id(arguments, "id", NoteMissing("this is not the id of a note; notes_list tells them"))
    note = await service.read_note(ctx, id)
    return {"id": note.id, "title": note.title, "body": note.body, "updated_at": note.updated_at}


async def _create(ctx: Context, arguments: dict[str, Any]) -> Artifact:
    try:
        title, body = msgspec.convert(arguments["title"], Title), msgspec.convert(arguments["body"], Body)
    except msgspec.ValidationError as error:
        raise Invalid(f"the note cannot be written: {error}") from error
    note = await service.create_note(ctx, title, body, arguments.get("visibility") or "private")
    return Artifact(
        kind="text",
        title=note.title,
        summary=f"note, {note.visibility}",
        ref=ArtifactRef("note", note.id),
        extra={"note_id": note.id},
    )


TOOLS = (
    Tool(
        name="notes_list",
        description="List the notes that the caller can read, last edited first, at most 50; `q` searches titles and bodies.",
        permission="notes:read",
        effect="read",
        act=_list,
        long=True,
        parameters=(Parameter(name="q", type="string", description="Words to look for.", optional=True),),
    ),
    Tool(
        name="notes_read",
        description="Read one note.",
        permission="notes:read",
        effect="read",
        act=_read,
        parameters=(Parameter(name="id", type="string", description="The note's id."),),
    ),
    Tool(
        name="notes_create",
        description="Write a new note, which belongs to the caller.",
        permission="notes:write",
        effect="write",
        untrusted=False,
        act=_create,
        parameters=(
            Parameter(name="title", type="string", description="The note's title."),
            Parameter(name="body", type="string", description="The note's text, in Markdown."),
            Parameter(
                name="visibility",
                type="string",
                description="Who can read it: the caller alone, which is usual, or the team.",
                optional=True,
                choices=("private", "team"),
            ),
        ),
    ),
)
