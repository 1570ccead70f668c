"""The wire of the agent."""

from typing import Annotated, ClassVar, Literal
from uuid import UUID

import msgspec

from atrium.engine.agent import service
from atrium.engine.agent.model import MOST_CALLS, MOST_STEPS, USUAL_STEPS, AgentQuestion, AgentReply, Decision
from atrium.engine.chat.model import BODY_LIMIT, Content, Earlier, ExecutorName, MaxTokens, Question
from atrium.engine.turns import replay
from atrium.kit.errors import Invalid
from atrium.seams.context import Operation
from atrium.seams.models import ResponseFormat
from atrium.seams.routes import EventStream, IdempotencyKey

MaxSteps = Annotated[int, msgspec.Meta(ge=1, le=MOST_STEPS)]
ToolNames = Annotated[list[Annotated[str, msgspec.Meta(min_length=1, max_length=64)]], msgspec.Meta(max_length=128)]
Decisions = Annotated[list[Decision], msgspec.Meta(min_length=1, max_length=MOST_CALLS)]


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


async def run_agent(op: Operation, body: AgentAsk, *, key: IdempotencyKey | None = None) -> EventStream | AgentReply:
    """Let a model work on a task with the team's tools, step by step; what waits for the caller's approval is decided here, too."""
    if (body.prompt is None) is (body.run is None):
        raise Invalid("send either a prompt, or the run to go on with")
    if body.run is not None:
        if body.stream:
            return EventStream(
                await service.resume_stream(op, body.run, body.decisions, body.on_disconnect), replay.goodbye
            )
        return await service.resume(op, body.run, body.decisions)
    if body.decisions is not None or body.prompt is None:
        raise Invalid("decisions belong to a run; send its id as `run`")
    question = Question(
        prompt=body.prompt,
        messages=body.messages,
        response_format=body.response_format,
        max_tokens=body.max_tokens,
        executor=body.executor,
        conversation=body.conversation,
        on_disconnect=body.on_disconnect,
    )
    asked = AgentQuestion(question=question, tools=body.tools, max_steps=body.max_steps)
    if body.stream:
        return EventStream(await service.stream(op, asked, key), replay.goodbye)
    return await service.run(op, asked, key)
