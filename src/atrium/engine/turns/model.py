"""The nouns of turns."""

from typing import Any, Literal
from uuid import UUID

import msgspec

from atrium.engine.turns.transcripts import PieceKind
from atrium.kit.errors import AppError, Conflict, Kind, Missing, Unavailable
from atrium.seams.models import Finish, TokenUsage

TurnState = Literal["running", "finished", "stopped", "failed", "interrupted"]


class ShownUsage(msgspec.Struct, frozen=True):
    """What a turn cost, in tokens; not `exact` when the model did not tell."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    exact: bool

    @classmethod
    def of(cls, usage: TokenUsage) -> "ShownUsage":
        """As callers see it."""
        return cls(usage.prompt_tokens, usage.completion_tokens, usage.total, usage.exact)


class FormatFault(msgspec.Struct, frozen=True):
    """Where a reply is not what was asked for, and in which way."""

    path: str
    message: str


class TurnEnd(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a turn ended, without its text: what the last event and every later reader are told."""

    usage: ShownUsage
    finish: Finish | Literal["stopped"] | None = None
    parsed: Any = msgspec.UNSET
    schema_error: FormatFault | None = None
    # Of a turn that failed: what an ordinary refusal says.
    code: str = ""
    title: str = ""
    detail: str = ""
    status: int = 0
    # Of a turn in several steps: that it is one, where its last answer begins, why it stopped, and the quota's refusal when that was why.
    run: bool = False
    answer_at: int = 0
    stop: str = ""
    refusal: dict[str, Any] | None = None

    @property
    def event(self) -> str:
        """The name of the last event."""
        return "error" if self.code else "done"

    def told(self, text: str) -> dict[str, Any]:
        """What the last event carries."""
        if self.code:
            return {
                "code": self.code,
                "title": self.title,
                "detail": self.detail,
                "status": self.status,
                "text": text,
                "usage": self.usage,
            }
        found: dict[str, Any] = {"text": text, "finish": self.finish, "usage": self.usage}
        if self.schema_error is not None:
            found["schema_error"] = self.schema_error
        elif self.parsed is not msgspec.UNSET:
            found["parsed"] = self.parsed
        return found


class StoredTurn(msgspec.Struct, frozen=True):
    """A turn of the caller's."""

    id: UUID
    process_id: UUID
    state: TurnState
    executor: str
    model: str | None
    simulated: bool
    conversation_id: UUID | None
    ending: dict[str, Any] | None
    request: bytes | None

    def ended(self) -> TurnEnd | None:
        """How it ended; None while it runs."""
        return None if self.ending is None else msgspec.convert(self.ending, TurnEnd)


class NewTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn about to begin."""

    id: UUID
    process_id: UUID
    executor: str
    model: str | None
    simulated: bool
    conversation_id: UUID | None
    admission_id: UUID
    reserved_tokens: int
    prompt_tokens: int
    key: str | None
    request: bytes | None

    def started(self) -> dict[str, Any]:
        """What the first event carries."""
        return first_event(self.id, self.executor, self.model, self.simulated, self.conversation_id)


def first_event(
    id: UUID, executor: str, model: str | None, simulated: bool, conversation_id: UUID | None
) -> dict[str, Any]:
    """What the first event of a turn carries."""
    told: dict[str, Any] = {"id": id, "executor": executor, "model": model, "simulated": simulated}
    return told if conversation_id is None else told | {"conversation": conversation_id}


class StoredPiece(msgspec.Struct, frozen=True):
    """What was said from a position on, and how much the model had sent and told by then."""

    at: int
    kind: PieceKind
    body: str
    pieces: int
    prompt_told: int | None
    reply_told: int | None


class NewPiece(msgspec.Struct, frozen=True):
    """A piece to be stored, with whose it is."""

    org_id: UUID
    turn_id: UUID
    at: int
    kind: PieceKind
    body: str
    pieces: int
    prompt_told: int | None
    reply_told: int | None


class LostTurn(msgspec.Struct, frozen=True):
    """A turn whose process has died, for settling it."""

    id: UUID
    team_id: UUID
    admission_id: UUID
    reserved_tokens: int
    prompt_tokens: int


class StoppedTurn(msgspec.Struct, frozen=True):
    """A turn that was asked to stop, as it stands now."""

    id: UUID
    state: TurnState
    text: str
    usage: ShownUsage | None


class TurnMissing(Missing):
    """No such turn, or another person's, or forgotten by now."""

    code, title = "ai.turn_missing", "No such turn"


class TurnStreamsFull(Unavailable):
    """This process carries as many streams as it may, or is stopping."""

    code, title = "ai.busy", "Too many streams right now"


class Interrupted(AppError):
    """The server that asked the model stopped before the end; what was said until then is kept."""

    kind, code, title = Kind.UNAVAILABLE, "ai.interrupted", "The server stopped during this turn"


class FormatRefused(AppError):
    """The model's reply is not what `response_format` asks for."""

    kind, code, title = Kind.UPSTREAM, "ai.format_refused", "The reply has another format"


class ConversationBusy(Conflict):
    """Another turn of the same conversation is running."""

    code, title = "ai.conversation_busy", "This conversation is answering already"


class TurnFailed(AppError):
    """A turn that failed in another process, told in its own words."""

    kind, code = Kind.UPSTREAM, "models.failed"

    def __init__(self, ending: TurnEnd, kind: Kind, text: str, **facts: object) -> None:
        super().__init__(ending.detail, text=text, usage=ending.usage, **facts)
        self.kind, self.code, self.title = kind, ending.code, ending.title
