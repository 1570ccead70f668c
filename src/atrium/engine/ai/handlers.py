"""The wire of AI."""

from typing import Annotated, ClassVar, Literal
from uuid import UUID

import msgspec

from atrium.engine.ai import agent, replay, service
from atrium.engine.ai.agent_model import MOST_CALLS, MOST_STEPS, USUAL_STEPS, AgentQuestion, AgentReply, Decision
from atrium.engine.ai.model import (
    BODY_LIMIT,
    ChatMessage,
    ChatModel,
    ChatReply,
    Content,
    Echo,
    Question,
    StoppedTurn,
)
from atrium.kit.errors import Invalid
from atrium.seams.context import Operation
from atrium.seams.models import ResponseFormat
from atrium.seams.routes import EventStream, IdempotencyKey, LastEventId

Earlier = Annotated[list[ChatMessage], msgspec.Meta(max_length=900)]
MaxTokens = Annotated[int, msgspec.Meta(ge=1, le=131_072)]
MaxSteps = Annotated[int, msgspec.Meta(ge=1, le=MOST_STEPS)]
ToolNames = Annotated[list[Annotated[str, msgspec.Meta(min_length=1, max_length=64)]], msgspec.Meta(max_length=128)]
Decisions = Annotated[list[Decision], msgspec.Meta(min_length=1, max_length=MOST_CALLS)]
ConversationId = Annotated[
    UUID,
    msgspec.Meta(description="A conversation, to be told which turn of yours runs or waits there; needs `chat:use`."),
]
ExecutorName = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


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


class AgentAsk(msgspec.Struct, forbid_unknown_fields=True):
    """A task for the agent, or a `run` to go on with and the `decisions` it waits for.

    `tools` are those the model is given, every tool of the team when absent. With `stream` the reply is a stream of events.
    """

    __body_limit__: ClassVar[int] = BODY_LIMIT
    __asks_a_model__: ClassVar[bool] = True

    prompt: Content | None = None
    messages: Earlier = []
    response_format: ResponseFormat | None = None
    max_tokens: MaxTokens = 1024
    executor: ExecutorName | None = None
    conversation: str | None = None
    tools: ToolNames | None = None
    max_steps: MaxSteps = USUAL_STEPS
    stream: bool = False
    on_disconnect: Literal["stop", "finish"] = "stop"
    run: UUID | None = None
    decisions: Decisions | None = None


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
        return await service.stop(op, body.stop)
    if last_event_id:
        # A client that reconnects may send its question again; it has begun to hear the answer.
        return EventStream(await service.resume_after(op, last_event_id), replay.goodbye)
    if body.resume is not None:
        return EventStream(await service.resume(op, body.resume, -1), replay.goodbye)
    if body.prompt is None:
        raise Invalid("send one of prompt, resume and stop")
    question = msgspec.structs.replace(_question(body, body.prompt), on_disconnect=body.on_disconnect)
    return EventStream(await service.stream(op, question, key), replay.goodbye)


async def run_agent(op: Operation, body: AgentAsk, *, key: IdempotencyKey | None = None) -> EventStream | AgentReply:
    """Let a model work on a task with the team's tools, step by step; what waits for the caller's approval is decided here, too."""
    if (body.prompt is None) is (body.run is None):
        raise Invalid("send either a prompt, or the run to go on with")
    if body.run is not None:
        if body.stream:
            return EventStream(
                await agent.resume_stream(op, body.run, body.decisions, body.on_disconnect), replay.goodbye
            )
        return await agent.resume(op, body.run, body.decisions)
    if body.decisions is not None or body.prompt is None:
        raise Invalid("decisions belong to a run; send its id as `run`")
    question = msgspec.structs.replace(_question(body, body.prompt), on_disconnect=body.on_disconnect)
    asked = AgentQuestion(question=question, tools=body.tools, max_steps=body.max_steps)
    if body.stream:
        return EventStream(await agent.stream(op, asked, key), replay.goodbye)
    return await agent.run(op, asked, key)


async def read_model(op: Operation, *, conversation: ConversationId | None = None) -> ChatModel:
    """The model that a chat would use now, or that the simulated one is in use; also the turn that is open in a conversation."""
    return await service.read_model(op, conversation)


def _question(body: ChatAsk | StreamAsk | AgentAsk, prompt: Content) -> Question:
    return Question(
        prompt=prompt,
        messages=body.messages,
        response_format=body.response_format,
        max_tokens=body.max_tokens,
        executor=body.executor,
        conversation=body.conversation,
    )
