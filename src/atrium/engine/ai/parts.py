"""The parts of a question as a model takes them: words, pictures that come along, and files that the caller can read.

Nothing here names an address that the model's server would fetch.
"""

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

from atrium.engine.ai.model import BadPart, ChatMessage, Content, FilePart, ImagePart, NoText, RemotePart, TextPart
from atrium.engine.repository import service as repository
from atrium.engine.repository import texts
from atrium.kit.errors import Missing, TooLarge
from atrium.kit.text import inert
from atrium.seams.context import Operation
from atrium.seams.models import Message

LARGEST_PICTURE = 5 << 20
# Of one file, in characters.
MOST_TEXT = 400_000
_DATA = re.compile(r"data:image/(png|jpeg|webp);base64,([A-Za-z0-9+/]+={0,2})")
# How the bytes of each begin.
_BEGINNINGS = {"png": rb"\x89PNG\r\n\x1a\n", "jpeg": rb"\xff\xd8\xff", "webp": rb"RIFF....WEBP"}


async def messages_of(op: Operation, said: Sequence[ChatMessage], stored: int) -> list[Message]:
    """What was said, in the words of the wire; of the `stored` messages at the beginning, files that are gone are left out."""
    return [
        Message(message.role, await _content(op, message.content, stored=number < stored))
        for number, message in enumerate(said)
    ]


async def _content(op: Operation, content: Content, *, stored: bool) -> str | list[dict[str, Any]]:
    if isinstance(content, str):
        return inert(content)
    return [await (_stored_part(op, part) if stored else _part(op, part)) for part in content]


async def _stored_part(op: Operation, part: TextPart | ImagePart | FilePart) -> dict[str, Any]:
    """A part of a conversation: a file in it may have been deleted, or not be shared with the one who asks now."""
    try:
        return await _part(op, part)
    except (Missing, NoText):
        return {"type": "text", "text": "[a file that cannot be read any more]"}


async def _part(op: Operation, part: TextPart | ImagePart | FilePart) -> dict[str, Any]:
    match part:
        case TextPart():
            return {"type": "text", "text": inert(part.text)}
        case ImagePart():
            return _picture(part.image_url.url)
        case FilePart():
            return await _file(op, part)


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


async def _file(op: Operation, part: FilePart) -> dict[str, Any]:
    """A picture as such, anything else as its text; with the caller's rights."""
    async with op.begin() as ctx:
        stored, version = await repository.read_version(ctx, part.object_id, part.version)
        kind = version.content_type.partition(";")[0].strip().lower()
        text = None if kind.removeprefix("image/") in _BEGINNINGS else await texts.read_text(ctx, version, MOST_TEXT)
    if text is None:
        if version.size > LARGEST_PICTURE:
            raise TooLarge(f"a picture has at most {LARGEST_PICTURE} bytes", limit=LARGEST_PICTURE)
        async with aclosing(repository.open_content(op, stored.id, version)) as pieces:
            raw = b"".join([piece async for piece in pieces])
        return _picture(f"data:{kind};base64,{b64encode(raw).decode()}")
    if text.state in ("waiting", "running"):
        raise NoText(f"the text of {stored.filename} is still being read; try again in a moment", retry_after=2)
    if not text.text:
        raise NoText(f"{stored.filename} has no text that a model could read; send a document or a picture")
    cut = "\n[cut off here]" if text.truncated or text.characters > MOST_TEXT else ""
    return {"type": "text", "text": f"File {stored.filename}:\n{inert(text.text)}{cut}"}
