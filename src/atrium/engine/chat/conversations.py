"""Conversations: each is an object of the repository, so that sharing, versions, search and export are the repository's."""

from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

from atrium.engine.chat.model import BadConversation, ChatMessage, Content, FilePart, TextPart
from atrium.engine.repository import service as repository
from atrium.engine.repository import writes
from atrium.engine.repository.model import ObjectDraft, StoredObject
from atrium.engine.turns.model import ShownUsage
from atrium.kit.errors import TooLarge
from atrium.kit.ids import new_id
from atrium.seams.context import Context

CONTENT_TYPE = "application/vnd.atrium.chat+json"
# A conversation with room for one more answer.
LARGEST = 2 << 20
_LONGEST_TITLE = 80


class StoredMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: Content
    at: datetime
    turn: UUID | None = None
    usage: ShownUsage | None = None


class Conversation(msgspec.Struct, frozen=True):
    """What the object holds; `tainted` once words from outside were read in it."""

    title: str
    messages: list[StoredMessage] = []
    tainted: bool = False


async def begin(ctx: Context, prompt: Content) -> UUID:
    """A new private conversation, named after its first question."""
    title = _title_of(prompt)
    # A key is read by more people than the object: it says nothing of the question.
    key = f"chats/{new_id()}.json"
    written = await writes.write_small(ctx, _draft(key, title), msgspec.json.encode(Conversation(title)))
    return written.id


async def read(ctx: Context, id: UUID) -> tuple[list[ChatMessage], bool]:
    """What was said in a conversation that the caller may add to, and whether others may have written some of it."""
    stored = await repository.edit_object(ctx, id)
    if stored.version.size > LARGEST:
        raise TooLarge("this conversation has no room for another answer; begin a new one", limit=LARGEST)
    found = await _opened(ctx, stored)
    return [ChatMessage(said.role, said.content) for said in found.messages], _is_tainted(ctx, stored, found)


async def add(ctx: Context, id: UUID, said: list[StoredMessage], *, tainted: bool = False) -> None:
    """Add a question and its answer to what the conversation holds by now, as one version."""
    stored = await repository.edit_object(ctx, id)
    before = await _opened(ctx, stored)
    tainted = tainted or _is_tainted(ctx, stored, before) or any(has_file(one.content) for one in said)
    after = Conversation(before.title, [*before.messages, *said], tainted)
    await writes.write_small(ctx, _draft(stored.key, before.title), msgspec.json.encode(after), target=stored)


def exchange(prompt: Content, asked: datetime, turn: UUID, text: str, usage: ShownUsage) -> list[StoredMessage]:
    """A question and its answer; a model that said nothing adds nothing."""
    question = StoredMessage("user", prompt, asked, turn)
    return [question, StoredMessage("assistant", text, datetime.now(UTC), turn, usage)] if text else [question]


def has_file(content: Content) -> bool:
    """Whether a message carries a file, which others may have written."""
    return not isinstance(content, str) and any(isinstance(part, FilePart) for part in content)


def _is_tainted(ctx: Context, stored: StoredObject, found: Conversation) -> bool:
    # What a colleague saved last may be anything.
    return found.tainted or stored.version.created_by != ctx.who.user_id


async def _opened(ctx: Context, stored: StoredObject) -> Conversation:
    if stored.content_type != CONTENT_TYPE or stored.version.deleted:
        raise BadConversation(f"{stored.filename} is not a conversation")
    body = await repository.read_small(ctx, stored.version)
    try:
        return msgspec.json.decode(body, type=Conversation)
    except msgspec.DecodeError as error:
        raise BadConversation(f"{stored.filename} cannot be read as a conversation: {error}") from error


def _title_of(prompt: Content) -> str:
    text = prompt if isinstance(prompt, str) else " ".join(part.text for part in prompt if isinstance(part, TextPart))
    words = " ".join(text.split())
    return (words if len(words) <= _LONGEST_TITLE else words[: _LONGEST_TITLE - 1] + "…") or "Chat"


def _draft(key: str, title: str) -> ObjectDraft:
    metadata: dict[str, Any] = {"title": title}
    return ObjectDraft(key=key, content_type=CONTENT_TYPE, metadata=metadata)
