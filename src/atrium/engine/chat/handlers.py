"""The wire of the chat."""

from typing import Annotated, ClassVar, Literal
from uuid import UUID

import msgspec

from atrium.engine.chat import service
from atrium.engine.chat.model import (
    BODY_LIMIT,
    ChatModel,
    ChatReply,
    Content,
    Earlier,
    Echo,
    ExecutorName,
    MaxTokens,
    Question,
)
from atrium.engine.turns import replay
from atrium.engine.turns import service as turns
from atrium.engine.turns.model import StoppedTurn
from atrium.kit.errors import Invalid
from atrium.seams.context import Operation
from atrium.seams.models import ResponseFormat
from atrium.seams.routes import EventStream, IdempotencyKey, LastEventId

ConversationId = Annotated[
    UUID,
    msgspec.Meta(description="A conversation, to be told which turn of yours runs or waits there; needs `chat:use`."),
]


class EchoAsk(msgspec.Struct, forbid_unknown_fields=True):
    """What to say back."""

    prompt: Annotated[str, msgspec.Meta(max_length=100_000)] = "ping"


class ChatAsk(msgspec.Struct, forbid_unknown_fields=True):
    """One question to a model; `conversation` is `new` or the id of one, whose messages go before the prompt."""

    __body_limit__: ClassVar[int] = BODY_LIMIT
    __asks_a_model__: ClassVar[bool] = True

    prompt: Content
    messages: Earlier = []
    response_format: ResponseFormat | None = None
    max_tokens: MaxTokens = 1024
    executor: ExecutorName | None = None
    conversation: str | None = None


class StreamAsk(msgspec.Struct, forbid_unknown_fields=True):
    """One question to a model, or a turn to go on reading (`resume`) or to end (`stop`).

    `on_disconnect` says what becomes of the turn when its last reader has left.
    """

    __body_limit__: ClassVar[int] = BODY_LIMIT
    __asks_a_model__: ClassVar[bool] = True

    prompt: Content | None = None
    messages: Earlier = []
    response_format: ResponseFormat | None = None
    max_tokens: MaxTokens = 1024
    executor: ExecutorName | None = None
    conversation: str | None = None
    on_disconnect: Literal["stop", "finish"] = "stop"
    resume: UUID | None = None
    stop: UUID | None = None


async def echo(op: Operation, body: EchoAsk) -> Echo:
    """A metered echo without a model, for exercising quotas."""
    return await service.echo(op, body.prompt)


async def chat(op: Operation, body: ChatAsk, *, key: IdempotencyKey | None = None) -> ChatReply:
    """One turn of a model, whole."""
    return await service.chat(op, _question(body, body.prompt), key)


async def stream_chat(
    op: Operation, body: StreamAsk, *, key: IdempotencyKey | None = None, last_event_id: LastEventId | None = None
) -> EventStream | StoppedTurn:
    """One turn of a model as server-sent events; also goes on with a turn, and stops one."""
    wanted = [body.prompt is not None, body.resume is not None, body.stop is not None]
    if sum(wanted) > 1 or not (any(wanted) or last_event_id):
        raise Invalid("send one of prompt, resume and stop, or the header Last-Event-ID alone")
    if body.stop is not None:
        return await turns.stop(op, body.stop)
    if last_event_id:
        # A client that reconnects may send its question again; it has begun to hear the answer.
        return EventStream(await turns.resume_after(op, last_event_id), replay.goodbye)
    if body.resume is not None:
        return EventStream(await turns.resume(op, body.resume, -1), replay.goodbye)
    if body.prompt is None:
        raise Invalid("send one of prompt, resume and stop")
    question = msgspec.structs.replace(_question(body, body.prompt), on_disconnect=body.on_disconnect)
    return EventStream(await service.stream(op, question, key), replay.goodbye)


async def read_model(op: Operation, *, conversation: ConversationId | None = None) -> ChatModel:
    """The model that a chat would use now, or that the simulated one is in use; also the turn that is open in a conversation."""
    return await service.read_model(op, conversation)


def _question(body: ChatAsk | StreamAsk, prompt: Content) -> Question:
    return Question(
        prompt=prompt,
        messages=body.messages,
        response_format=body.response_format,
        max_tokens=body.max_tokens,
        executor=body.executor,
        conversation=body.conversation,
    )
