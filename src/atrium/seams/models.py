"""The model port: one turn goes in, what the model says comes out as it is said; every machine with a model speaks it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any, Literal, Protocol

import msgspec

from atrium.kit.errors import AppError, Kind
from atrium.kit.schemas.parse import CompiledSchema, compile_schema, weigh_tools

Finish = Literal["stop", "length", "tool_calls", "content_filter"]
Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)]


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One message of a conversation, in the words of the OpenAI-compatible wire."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | list[dict[str, Any]] | None = None
    tool_calls: list[dict[str, Any]] = []
    tool_call_id: str | None = None


class ResponseFormat(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the reply must be: text, any JSON object, or JSON of a schema."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        self.compiled()

    def compiled(self) -> CompiledSchema | None:
        """The schema, if this format has one; refused while it is asked for, not when the reply has been paid."""
        return compile_schema((self.json_schema or {}).get("schema")) if self.type == "json_schema" else None


class Turn(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One question to a model; `model` is for a machine that has several."""

    messages: Annotated[list[Message], msgspec.Meta(min_length=1, max_length=1000)]
    max_tokens: Annotated[int, msgspec.Meta(ge=1, le=131_072)] = 1024
    response_format: ResponseFormat | None = None
    tools: Annotated[list[dict[str, Any]], msgspec.Meta(max_length=128)] = []
    model: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None

    def __post_init__(self) -> None:
        weigh_tools(self.tools)


class TokenUsage(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a turn cost, in tokens; not `exact` when it was estimated."""

    prompt_tokens: Count
    completion_tokens: Count
    exact: bool = True

    @property
    def total(self) -> int:
        """Both ways together."""
        return self.prompt_tokens + self.completion_tokens


class TextPiece(msgspec.Struct, frozen=True):
    """A piece of the answer."""

    text: str


class ThinkingPiece(msgspec.Struct, frozen=True):
    """A piece of what the model said to itself."""

    text: str


class Call(msgspec.Struct, frozen=True):
    """A tool the model wants called; the arguments are as the model wrote them, which may be no JSON."""

    id: str
    name: str
    arguments: str

    def read(self) -> dict[str, Any] | None:
        """The arguments; None when they are no JSON object."""
        try:
            return msgspec.json.decode(self.arguments, type=dict[str, Any])
        except (msgspec.DecodeError, RecursionError):
            return None


class UsageSoFar(msgspec.Struct, frozen=True):
    """What the turn has cost up to here, from a machine that tells it as it goes."""

    usage: TokenUsage


class Done(msgspec.Struct, frozen=True):
    """The last event of every turn that came to its end."""

    finish: Finish
    usage: TokenUsage


ModelEvent = TextPiece | ThinkingPiece | Call | UsageSoFar | Done


class ModelReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """A whole turn."""

    text: str
    finish: Finish
    usage: TokenUsage
    calls: list[Call] = []
    thinking: str = ""


class ModelPort(Protocol):
    """A model somewhere. Closing the stream early tells the other side to stop."""

    def stream(self, turn: Turn) -> AsyncGenerator[list[ModelEvent], None]:
        """What the model says, what arrived together in one list, ending with `Done`; a refusal or a failure is raised."""


class ModelFailure(AppError):
    """A turn without a reply; `usage` is what was spent all the same."""

    def __init__(self, message: str, usage: TokenUsage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or TokenUsage(0, 0)


class ModelUnavailable(ModelFailure):
    """The model cannot be reached or broke off; another try may work."""

    kind, code, title = Kind.UPSTREAM, "models.unavailable", "The model did not answer"


class ModelRefused(ModelFailure):
    """The model's side refuses this turn, or its answer cannot be used; the same again would end the same way."""

    kind, code, title = Kind.UPSTREAM, "models.refused", "The model refused this turn"
    lasting = True


class ReplyUnfit(ModelRefused):
    """The reply is not in the form that was asked for; `text` is what was said instead."""

    def __init__(self, message: str, usage: TokenUsage, text: str) -> None:
        super().__init__(message, usage)
        self.text = text


def _require_read(calls: list[Call], end: Done) -> None:
    """Refuse a call that cannot be read: a caller who takes a turn whole asks for no other instead."""
    if broken := next((call for call in calls if call.read() is None), None):
        cut = " (it was cut off)" if end.finish == "length" else ""
        raise ModelRefused(f"the model called {broken.name} with arguments that cannot be read{cut}", end.usage)


async def complete(port: ModelPort, turn: Turn) -> ModelReply:
    """The whole turn at once."""
    text, thinking, calls = "", "", list[Call]()
    async with aclosing(port.stream(turn)) as arriving:
        async for events in arriving:
            for event in events:
                match event:
                    case TextPiece():
                        text += event.text
                    case ThinkingPiece():
                        thinking += event.text
                    case Call():
                        calls.append(event)
                    case Done():
                        _require_read(calls, event)
                        return ModelReply(text, event.finish, event.usage, calls, thinking)
    raise ModelUnavailable("the model's answer has no end")
