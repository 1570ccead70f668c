"""The wire of documents."""

from typing import ClassVar, Literal
from uuid import UUID

import msgspec

from atrium.engine.repository.model import LongCursor, Prefix, Visibility
from atrium.kit.web.pages import Limit, Page
from atrium.product.documents import service
from atrium.product.documents.model import BODY_LIMIT, Body, DocumentCard, DocumentReply, Title
from atrium.seams.context import Context
from atrium.seams.routes import Created, IfMatch


class DocumentDraft(msgspec.Struct, forbid_unknown_fields=True):
    """A new document."""

    __body_limit__: ClassVar[int] = BODY_LIMIT
    title: Title
    body: Body = ""
    visibility: Visibility = "private"


async def create_document(ctx: Context, body: DocumentDraft) -> Created[DocumentReply]:
    """Create a text document."""
    made = await service.create_document(ctx, body.title, body.body, body.visibility)
    return Created(await service.show(ctx, made))


async def list_documents(
    ctx: Context,
    *,
    scope: Literal["team", "org"] = "team",
    prefix: Prefix = "",
    limit: Limit = 50,
    cursor: LongCursor | None = None,
) -> Page[DocumentCard]:
    """The text documents the caller can read; `scope=org` spans the company."""
    return await service.list_documents(ctx, scope, prefix, limit, cursor)


async def read_document(ctx: Context, id: UUID) -> DocumentReply:
    """One document with its body, and what the caller may do with it."""
    return await service.show(ctx, await service.read_document(ctx, id))


class DocumentChange(msgspec.Struct, forbid_unknown_fields=True):
    """What to change; absent fields stay."""

    __body_limit__: ClassVar[int] = BODY_LIMIT
    title: Title | None = None
    body: Body | None = None
    visibility: Visibility | None = None


async def change_document(
    ctx: Context, id: UUID, body: DocumentChange, *, if_match: IfMatch | None = None
) -> DocumentReply:
    """Update title, body or visibility as a new version; `If-Match` refuses to overwrite a newer one."""
    changed = await service.change_document(ctx, id, body.title, body.body, body.visibility, if_match)
    return await service.show(ctx, changed)


class DeletedDocument(msgspec.Struct, frozen=True):
    """The id of the document that is gone."""

    id: UUID


async def delete_document(ctx: Context, id: UUID, *, if_match: IfMatch | None = None) -> DeletedDocument:
    """Put a document with all its versions in the trash."""
    await service.delete_document(ctx, id, if_match)
    return DeletedDocument(id)
