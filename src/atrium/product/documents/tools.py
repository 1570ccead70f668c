"""Documents as tools: what a model may read and write on behalf of the caller."""

from typing import Any

import msgspec

from atrium.kit.errors import Invalid
from atrium.product.documents import service
from atrium.product.documents.model import CONTENT_TYPE, Body, DocumentMissing, Title
from atrium.seams.context import Context
from atrium.seams.tools import Artifact, ArtifactRef, Parameter, Tool, require_id


async def _read(ctx: Context, arguments: dict[str, Any]) -> dict[str, Any]:
    id = require_id(arguments, "id", DocumentMissing("this is not the id of a document; files_list tells them"))
    document = await service.read_document(ctx, id)
    return {"id": document.id, "title": document.title, "body": document.body}


async def _create(ctx: Context, arguments: dict[str, Any]) -> Artifact:
    try:
        title, body = msgspec.convert(arguments["title"], Title), msgspec.convert(arguments["body"], Body)
    except msgspec.ValidationError as error:
        raise Invalid(f"the document cannot be written: {error}") from error
    document = await service.create_document(ctx, title, body, arguments.get("visibility") or "private")
    return Artifact(
        kind="document",
        title=document.title,
        summary=f"document, {document.visibility}",
        content_type=CONTENT_TYPE,
        object_id=document.id,
        ref=ArtifactRef("document", document.id),
    )


TOOLS = (
    Tool(
        name="documents_read",
        description="Read one Markdown document.",
        permission="files:read",
        effect="read",
        act=_read,
        parameters=(Parameter(name="id", type="string", description="The document's id."),),
    ),
    Tool(
        name="documents_create",
        description="Write a new Markdown document, which belongs to the caller.",
        permission="files:write",
        effect="write",
        untrusted=False,
        act=_create,
        parameters=(
            Parameter(name="title", type="string", description="The document's title."),
            Parameter(name="body", type="string", description="The document's text, in Markdown."),
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
