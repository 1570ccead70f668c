"""The nouns of the chat, and what its questions look like on the wire."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from atrium.engine.turns.model import ShownUsage
from atrium.kit.errors import Conflict, Invalid
from atrium.seams.models import Finish, ResponseFormat

# Of a JSON body that may carry pictures.
BODY_LIMIT = 8 << 20


class Spent(msgspec.Struct, frozen=True):
    """What a turn cost."""

    requests: int
    tokens: int


class Echo(msgspec.Struct, frozen=True):
    """The words that came in, and what saying them back cost."""

    text: str
    usage: Spent


class TextPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="text"):
    """Words."""

    text: str


class ImageAddress(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a picture is: a `data:` URL of PNG, JPEG or WebP."""

    url: str


class ImagePart(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="image_url"):
    """A picture."""

    image_url: ImageAddress


class FilePart(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="file"):
    """An object of the repository that the caller can read: a picture, or a document's text."""

    object_id: UUID
    # By number or id; the current one when unnamed.
    version: int | str | None = None


Part = TextPart | ImagePart | FilePart
Content = str | Annotated[list[Part], msgspec.Meta(min_length=1, max_length=100)]


class ChatMessage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something said earlier."""

    role: Literal["system", "user", "assistant"]
    content: Content


Earlier = Annotated[list[ChatMessage], msgspec.Meta(max_length=900)]
MaxTokens = Annotated[int, msgspec.Meta(ge=1, le=131_072)]
ExecutorName = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What to ask a model, and what the answer has to be."""

    prompt: Content
    messages: list[ChatMessage] = []
    response_format: ResponseFormat | None = None
    max_tokens: int = 1024
    executor: str | None = None
    conversation: str | None = None
    on_disconnect: Literal["stop", "finish"] = "stop"


class ChatReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """A whole turn."""

    id: UUID
    text: str
    finish: Finish | Literal["stopped"]
    usage: ShownUsage
    executor: str
    model: str | None
    simulated: bool
    thinking: str = ""
    parsed: Any = msgspec.UNSET
    conversation: UUID | None = None


class OpenTurn(msgspec.Struct, frozen=True):
    """A turn of the caller's in a conversation that is not over: it runs, waits for their decision, or broke off and may go on.

    `question` is known of a run of the agent alone.
    """

    id: UUID
    state: Literal["running", "waiting", "interrupted"]
    agent: bool
    question: Content | None


class ChatModel(msgspec.Struct, frozen=True):
    """What a chat would use now; asked about a conversation, also the turn that is open in it."""

    executor: str
    mode: str
    model: str | None
    simulated: bool
    healthy: bool | None
    seen_at: datetime | None
    turn: OpenTurn | None = None


class RemotePart(Invalid):
    """A part names an address that the model's server would fetch."""

    code, title = "ai.remote_part", "Only pictures that come along"


class BadPart(Invalid):
    """A part cannot be read as what it says it is."""

    code, title = "ai.bad_part", "This part cannot be used"


class NoText(Conflict):
    """The document has no text."""

    code, title = "ai.no_text", "This file has no text"


class TextPending(Conflict):
    """The document's text is still being read, after the turn has waited for it."""

    code, title = "ai.text_pending", "The text of this file is still being read"


class BadConversation(Invalid):
    """The object is not a conversation."""

    code, title = "ai.not_a_conversation", "Not a conversation"
