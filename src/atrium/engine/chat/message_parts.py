"""The parts of a question as a model takes them: words, pictures that come along, and files that the caller can read.

Nothing here names an address that the model's server would fetch.
"""

import asyncio
import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any, NamedTuple
from uuid import UUID

from atrium.engine.chat.model import (
    BadPart,
    ChatMessage,
    Content,
    FilePart,
    ImagePart,
    NoText,
    RemotePart,
    TextPart,
    TextPending,
)
from atrium.engine.repository import service as repository
from atrium.engine.repository import texts
from atrium.engine.repository.model import StoredObject, Text, Version
from atrium.kit.errors import Missing, TooLarge
from atrium.kit.postgres.notify import wait_for
from atrium.kit.text.plain import inert
from atrium.seams.context import Operation
from atrium.seams.models import Message

LARGEST_PICTURE = 5 << 20
# Of one file, in characters.
MOST_TEXT = 400_000
# The longest that a turn waits for the texts of its files, in seconds.
PATIENCE = 20.0
_DATA = re.compile(r"data:image/(png|jpeg|webp);base64,([A-Za-z0-9+/]+={0,2})")
# How the bytes of each begin.
_BEGINNINGS = {"png": rb"\x89PNG\r\n\x1a\n", "jpeg": rb"\xff\xd8\xff", "webp": rb"RIFF....WEBP"}


class _Document(NamedTuple):
    """A file that is named, the version that is meant, and its text; None when it is a picture."""

    object: StoredObject
    version: Version
    text: Text | None

    @property
    def is_pending(self) -> bool:
        """Whether its text is still being read."""
        return self.text is not None and self.text.state in ("waiting", "running")


async def messages_of(op: Operation, said: Sequence[ChatMessage], stored: int) -> list[Message]:
    """What was said, in the words of the wire; of the `stored` messages at the beginning, files that are gone are left out.

    Texts that are still being read are waited for, all of them together for some seconds.
    """
    until = asyncio.get_running_loop().time() + PATIENCE
    return [
        Message(message.role, await _content(op, message.content, until, stored=number < stored))
        for number, message in enumerate(said)
    ]


async def _content(op: Operation, content: Content, until: float, *, stored: bool) -> str | list[dict[str, Any]]:
    if isinstance(content, str):
        return inert(content)
    return [await (_stored_part(op, part, until) if stored else _part(op, part, until)) for part in content]


async def _stored_part(op: Operation, part: TextPart | ImagePart | FilePart, until: float) -> dict[str, Any]:
    """A part of a conversation: a file in it may have been deleted, or not be shared with the one who asks now."""
    try:
        return await _part(op, part, until)
    except (Missing, NoText):
        return {"type": "text", "text": "[a file that cannot be read any more]"}


async def _part(op: Operation, part: TextPart | ImagePart | FilePart, until: float) -> dict[str, Any]:
    match part:
        case TextPart():
            return {"type": "text", "text": inert(part.text)}
        case ImagePart():
            return _picture(part.image_url.url)
        case FilePart():
            return await _file(op, part, until)


def _picture(url: str) -> dict[str, Any]:
    found = _DATA.fullmatch(url)
    if found is None:
        if url.startswith("data:"):
            raise BadPart("a picture is a data: URL of image/png, image/jpeg or image/webp in base64")
        raise RemotePart("a picture comes along as a data: URL; upload it and name it as a file, or send its bytes")
    if len(found[2]) > LARGEST_PICTURE * 4 // 3 + 4:
        raise TooLarge(f"a picture has at most {LARGEST_PICTURE} bytes", limit=LARGEST_PICTURE)
    try:
        beginning = b64decode(found[2][:64] if len(found[2]) > 64 else found[2])
    except binascii.Error as error:
        raise BadPart("the picture is not base64") from error
    if not re.match(_BEGINNINGS[found[1]], beginning, re.DOTALL):
        raise BadPart(f"the bytes are not a picture of the type image/{found[1]}")
    return {"type": "image_url", "image_url": {"url": url}}


async def _file(op: Operation, part: FilePart, until: float) -> dict[str, Any]:
    """A picture as such, anything else as its text; with the caller's rights."""
    stored, version, text = await _document(op, part, until)
    if text is None:
        if version.size > LARGEST_PICTURE:
            raise TooLarge(f"a picture has at most {LARGEST_PICTURE} bytes", limit=LARGEST_PICTURE)
        async with aclosing(repository.open_content(op, stored.id, version)) as pieces:
            raw = b"".join([piece async for piece in pieces])
        kind = version.content_type.partition(";")[0].strip().lower()
        return _picture(f"data:{kind};base64,{b64encode(raw).decode()}")
    if not text.text:
        raise NoText(f"{stored.filename} has no text that a model could read; send a document or a picture")
    cut = "\n[cut off here]" if text.truncated or text.characters > MOST_TEXT else ""
    return {"type": "text", "text": f"File {stored.filename}:\n{inert(text.text)}{cut}"}


async def _document(op: Operation, part: FilePart, until: float) -> _Document:
    """The file with its text, once that was read; refused when it was not by this moment."""
    found = await _look(op, part.object_id, None if part.version is None else str(part.version))
    if found.is_pending:
        found = await _once_read(op, found, until)
    if found.is_pending:
        name = found.object.filename
        raise TextPending(f"the text of {name} is still being read; ask again in a moment", retry_after=2)
    return found


async def _once_read(op: Operation, found: _Document, until: float) -> _Document:
    """The same version once its text was read, or as it is at this moment."""
    loop, id, version = asyncio.get_running_loop(), found.object.id, str(found.version.id)
    with texts.hear_end(op.services, found.version.id) as ended:
        while (found := await _look(op, id, version)).is_pending:
            if not await wait_for(ended, until - loop.time()):
                # No word came in time; one that was lost with its connection leaves the text all the same.
                return await _look(op, id, version)
    return found


async def _look(op: Operation, id: UUID, version: str | None) -> _Document:
    async with op.begin() as ctx:
        stored, meant = await repository.read_version(ctx, id, version)
        kind = meant.content_type.partition(";")[0].strip().lower()
        is_picture = kind.removeprefix("image/") in _BEGINNINGS
        return _Document(stored, meant, None if is_picture else await texts.read_text(ctx, meant, MOST_TEXT))
