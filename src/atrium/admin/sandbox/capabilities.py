"""What a guest may ask for while it works on a call: always as the person of that call, through the same services."""

import base64
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Annotated, Any
from uuid import UUID

import msgspec

from atrium.admin.sandbox.model import NotGranted
from atrium.engine.repository import service as repository
from atrium.engine.repository.model import Filter
from atrium.engine.turns import utility
from atrium.ground.access import service as access
from atrium.kit.errors import Invalid
from atrium.product.documents import service as documents
from atrium.product.notes import service as notes
from atrium.product.notes.model import Body, Title
from atrium.product.search import service as search
from atrium.seams.context import Operation
from atrium.seams.models import Message, Turn
from atrium.seams.tools import Effect

_LISTED = 50
# As base64 in JSON it fits a line with everything else.
_MOST_BYTES = 512 << 10
Words = Annotated[str, msgspec.Meta(max_length=1024)]


class _Params(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    pass


class NotesRead(_Params):
    """One note by its id, or a list of those in which the words occur."""

    id: UUID | None = None
    q: Words | None = None


class NotesWrite(_Params):
    """A new note; with an id, a change to that one."""

    id: UUID | None = None
    title: Title | None = None
    body: Body | None = None


class DocumentsRead(_Params):
    """One Markdown document."""

    id: UUID


class FilesRead(_Params):
    """A piece of one file by its id, or a list of those whose keys begin so."""

    id: UUID | None = None
    prefix: Words = ""
    offset: Annotated[int, msgspec.Meta(ge=0)] = 0
    length: Annotated[int, msgspec.Meta(ge=1, le=_MOST_BYTES)] = _MOST_BYTES


class AiTurn(_Params):
    """One question to the team's model."""

    prompt: Annotated[str, msgspec.Meta(min_length=1, max_length=200_000)]
    system: Annotated[str, msgspec.Meta(max_length=20_000)] = ""
    max_tokens: Annotated[int, msgspec.Meta(ge=1, le=131_072)] = 1024


class SearchWords(_Params):
    """Words to look for."""

    q: Words


async def _read_notes(op: Operation, asked: NotesRead) -> Any:
    access.require(op, "notes:read")
    async with op.begin() as ctx:
        if asked.id is not None:
            note = await notes.read_note(ctx, asked.id)
            return {"id": note.id, "title": note.title, "body": note.body, "updated_at": note.updated_at}
        found = await notes.list_notes(ctx, "team", asked.q or None, _LISTED, None)
    return {"items": [{"id": one.id, "title": one.title, "updated_at": one.updated_at} for one in found.items]}


async def _write_notes(op: Operation, asked: NotesWrite) -> Any:
    access.require_writing(op)
    access.require(op, "notes:write")
    async with op.begin() as ctx:
        if asked.id is not None:
            note = await notes.change_note(ctx, asked.id, asked.title, asked.body, None, None)
        elif asked.title is None or asked.body is None:
            raise Invalid("a new note needs `title` and `body`")
        else:
            note = await notes.create_note(ctx, asked.title, asked.body, "private")
    return {"id": note.id, "title": note.title, "version": note.version}


async def _read_documents(op: Operation, asked: DocumentsRead) -> Any:
    access.require(op, "files:read")
    async with op.begin() as ctx:
        found = await documents.read_document(ctx, asked.id)
    return {"id": found.id, "title": found.title, "body": found.body}


async def _read_files(op: Operation, asked: FilesRead) -> Any:
    access.require(op, "files:read")
    if asked.id is None:
        async with op.begin() as ctx:
            listed = await repository.list_objects(ctx, Filter(prefix=asked.prefix), _LISTED, None)
        facts = ("id", "key", "content_type", "size", "updated_at")
        return {"items": [{name: getattr(one, name) for name in facts} for one in listed.items]}
    async with op.begin() as ctx:
        stored, version = await repository.read_version(ctx, asked.id, None)
    stop = min(version.size, asked.offset + asked.length)
    data = b""
    if asked.offset < stop:
        async with aclosing(repository.open_content(op, stored.id, version, asked.offset, stop)) as pieces:
            data = b"".join([piece async for piece in pieces])
    return {
        "id": stored.id, "key": stored.key, "content_type": version.content_type, "size": version.size, "version": version.number,
        "offset": asked.offset, "data": base64.b64encode(data).decode(),
    }  # fmt: skip


async def _ask_model(op: Operation, asked: AiTurn) -> Any:
    access.require_writing(op)
    messages = [Message("system", asked.system)] if asked.system else []
    reply = await utility.run_turn(
        op, Turn(messages=[*messages, Message("user", asked.prompt)], max_tokens=asked.max_tokens)
    )
    return {"text": reply.text, "finish": reply.finish, "usage": reply.usage}


async def _search(op: Operation, asked: SearchWords) -> Any:
    access.require(op, "search")
    async with op.begin(long=True) as ctx:
        return {"items": await search.find_some(ctx, asked.q)}


_CAPABILITIES: dict[str, tuple[type[Any], Callable[[Operation, Any], Awaitable[Any]]]] = {
    "notes.read": (NotesRead, _read_notes),
    "notes.write": (NotesWrite, _write_notes),
    "documents.read": (DocumentsRead, _read_documents),
    "files.read": (FilesRead, _read_files),
    "search": (SearchWords, _search),
    "ai.turn": (AiTurn, _ask_model),
}
_WRITES = frozenset({"notes.write"})


async def answer(op: Operation, granted: frozenset[str], effect: Effect, name: str, params: dict[str, Any]) -> Any:
    """What a capability request comes to; refused unless the operator granted it and the call's effect allows it."""
    if name not in _CAPABILITIES:
        raise NotGranted(f"there is no capability {name[:40]}; there are {', '.join(_CAPABILITIES)}")
    if name not in granted:
        raise NotGranted(f"{name} is not granted; the manifest must name it and the operator must grant it")
    if name in _WRITES and effect == "read":
        raise NotGranted(f"the operator says that this tool only reads, so {name} is refused")
    kind, work = _CAPABILITIES[name]
    try:
        asked = msgspec.convert(params, kind)
    except msgspec.ValidationError as error:
        raise Invalid(f"the parameters of {name} do not fit: {error}") from error
    return await work(op, asked)
