"""The rules of documents: all about access is the repository's."""

from collections.abc import Awaitable
from uuid import UUID

from atrium.engine.repository import service as repository
from atrium.engine.repository import trash as repository_trash
from atrium.engine.repository import writes
from atrium.engine.repository.model import (
    OBJECTS,
    Filter,
    ObjectDraft,
    ObjectMissing,
    StoredObject,
    Visibility,
    is_markdown,
)
from atrium.ground.sharing import abilities, grants
from atrium.kit.ids import new_id
from atrium.kit.text.plain import slug_of
from atrium.kit.web.etags import names_tag
from atrium.kit.web.pages import Page
from atrium.product.documents.model import (
    CONTENT_TYPE,
    Document,
    DocumentCard,
    DocumentMissing,
    DocumentReply,
    DocumentStale,
    card_of,
    document_of,
)
from atrium.seams.context import Context


async def create_document(ctx: Context, title: str, body: str, visibility: Visibility) -> Document:
    """Write a new document; its key is made from the title and is the caller's to keep."""
    key = f"{_beginning(title)}{new_id().hex[-8:]}.md"
    written = await writes.write_small(ctx, _draft(key, title, visibility), body.encode())
    return document_of(written, body)


async def list_documents(ctx: Context, scope: str, prefix: str, limit: int, cursor: str | None) -> Page[DocumentCard]:
    """The documents the caller can read, by key."""
    found = await repository.list_objects(ctx, Filter(prefix=prefix, scope=scope, documents=True), limit, cursor)
    return Page([card_of(stored) for stored in found.items], found.next_cursor)


async def exists_titled(ctx: Context, title: str) -> bool:
    """Whether the caller can read a document that was made under this title and still has it."""
    found = await list_documents(ctx, "team", _beginning(title), 200, None)
    return any(card.title == title for card in found.items)


async def read_document(ctx: Context, id: UUID) -> Document:
    """One document the caller can read, with its body."""
    return await _shown(ctx, await _document(repository.read_object(ctx, id)))


async def change_document(
    ctx: Context, id: UUID, title: str | None, body: str | None, visibility: Visibility | None, if_match: str | None
) -> Document:
    """Save an edit as a new version; with `if_match` only on top of the state it names."""
    stored = await _document(repository.edit_object(ctx, id, visibility))
    before = await _shown(ctx, stored)
    _require_current(before, if_match)
    text = before.body if body is None else body
    draft = _draft(stored.key, title or before.title, visibility)
    return document_of(await writes.write_small(ctx, draft, text.encode(), target=stored), text)


async def show(ctx: Context, document: Document) -> DocumentReply:
    """A document as the caller is answered, with what they may do."""
    levels = await grants.list_levels(ctx, OBJECTS, document, ctx.who)
    shown = {name: getattr(document, name) for name in Document.__struct_fields__}
    return DocumentReply(**shown, **abilities.offer(ctx.who, OBJECTS, document, levels))


async def delete_document(ctx: Context, id: UUID, if_match: str | None) -> None:
    """Put a document with all its versions in the trash."""
    await _document(repository.read_object(ctx, id))
    await repository_trash.delete_object(ctx, id, if_match)


def _beginning(title: str) -> str:
    return f"documents/{slug_of(title, otherwise='document')}-"


def _draft(key: str, title: str, visibility: Visibility | None) -> ObjectDraft:
    return ObjectDraft(key=key, content_type=CONTENT_TYPE, visibility=visibility, metadata={"title": title})


async def _shown(ctx: Context, stored: StoredObject) -> Document:
    body = await repository.read_small(ctx, stored.version)
    return document_of(stored, body.decode("utf-8", "replace").replace("\0", ""))


async def _document(finding: Awaitable[StoredObject]) -> StoredObject:
    missing = "there is no such document, or it is not shared with you"
    try:
        stored = await finding
    except ObjectMissing as error:
        raise DocumentMissing(missing) from error
    if stored.version.deleted or not is_markdown(stored.content_type):
        raise DocumentMissing(missing)
    return stored


def _require_current(document: Document, if_match: str | None) -> None:
    if if_match is not None and not names_tag(if_match, document.etag()):
        raise DocumentStale(
            "a newer version was saved; read it, merge, and save again",
            current=document.etag(),
            version=document.version,
        )
