"""The nouns of the agent: a run, the calls in it, and what a person decides about them."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from atrium.engine.chat.model import Content, Question
from atrium.engine.turns.model import ShownUsage, TurnEnd
from atrium.kit.errors import Conflict, Invalid, TooLarge
from atrium.seams.models import Message, ResponseFormat, TokenUsage
from atrium.seams.tools import Effect, Tool

RunState = Literal["running", "waiting", "ended"]
Stop = Literal["answer", "approval", "steps", "calls", "tokens", "seconds", "quota", "stopped"]
CallStatus = Literal[
    "pending", "approved", "running", "ok", "denied", "bad_arguments", "needs_approval", "rejected", "timeout", "error",
    "budget", "unknown",
]  # fmt: skip
# A call that has not come to its end.
OPEN = frozenset({"pending", "approved", "running"})
MOST_STEPS, USUAL_STEPS, MOST_CALLS, MOST_TOKENS = 16, 8, 24, 50_000
_LONGEST_WORDS = 400


class AgentQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """What to do, and with which tools; None is every tool that the caller's team has turned on."""

    question: Question
    tools: list[str] | None = None
    max_steps: int = USUAL_STEPS


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """As much of the question as a run needs until its end; the prompt only for a conversation that remembers it."""

    max_steps: int
    max_tokens: int
    response_format: ResponseFormat | None = None
    prompt: Content | None = None


class Taint(msgspec.Struct, frozen=True):
    """Where a run read what others may have written, and how that begins."""

    source: str
    words: str

    @classmethod
    def of(cls, source: str, text: str) -> "Taint":
        """As it is kept."""
        return cls(source, text if len(text) <= _LONGEST_WORDS else text[: _LONGEST_WORDS - 1] + "…")


class AgentCall(msgspec.Struct):
    """One call of a tool in a run; `said` is what the model said before its calls, at the first call of a step."""

    number: int
    step: int
    name: str
    arguments: dict[str, Any]
    effect: Effect
    digest: bytes
    said: str = ""
    status: CallStatus = "pending"
    result: str = ""
    artifact: dict[str, Any] | None = None

    @property
    def id(self) -> str:
        """What the model, the events and the person call it."""
        return f"c{self.number}"


class StoredRun(msgspec.Struct, frozen=True):
    """A run as it is stored."""

    id: UUID
    state: RunState
    question: dict[str, Any]
    opening: list[dict[str, Any]]
    tools: list[str]
    taint: list[dict[str, Any]]
    steps: int
    prompt_tokens: int
    reply_tokens: int
    exact: bool
    created_at: datetime

    def asked(self) -> RunRequest:
        """The question."""
        return msgspec.convert(self.question, RunRequest)

    def messages(self) -> list[Message]:
        """What the first turn began with."""
        return msgspec.convert(self.opening, list[Message])

    def tainted_by(self) -> list[Taint]:
        """Where it read what others may have written."""
        return msgspec.convert(self.taint, list[Taint])


class StepQuestion(msgspec.Struct, frozen=True):
    """A question of a run that is being answered: what it reserved, and where what is said to it begins; nothing between questions."""

    admission_id: UUID | None
    reserved: int | None
    prompt: int | None
    at: int | None


class RunProgress(msgspec.Struct, kw_only=True):
    """A run as far as it has come: what it began with, what was called, read and used since."""

    asked: RunRequest
    opening: list[Message]
    tools: list[Tool]
    asked_at: datetime | None = None
    calls: list[AgentCall] = []
    taint: list[Taint] = []
    steps: int = 0
    usage: TokenUsage = TokenUsage(0, 0)
    # Calls whose result was reported.
    reported: set[str] = set()

    def count(self, cost: TokenUsage) -> None:
        """Add what one answer cost."""
        self.steps, self.usage = self.steps + 1, self.with_cost(cost)

    def with_cost(self, cost: TokenUsage) -> TokenUsage:
        """What everything cost with this."""
        before = self.usage
        return TokenUsage(
            before.prompt_tokens + cost.prompt_tokens,
            before.completion_tokens + cost.completion_tokens,
            before.exact and cost.exact,
        )


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person decides about one call; `digest` says which call, exactly, they saw."""

    call: Annotated[str, msgspec.Meta(max_length=8)]
    digest: Annotated[str, msgspec.Meta(max_length=64)]
    approve: bool
    note: Annotated[str, msgspec.Meta(max_length=2000)] = ""


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call of a tool, and what came of it."""

    call: str
    name: str
    arguments: dict[str, Any]
    effect: Effect
    status: CallStatus
    result: str
    artifact: dict[str, Any] | None = None

    @classmethod
    def of(cls, call: AgentCall) -> "Step":
        """As the caller sees it."""
        return cls(call.id, call.name, call.arguments, call.effect, call.status, call.result, call.artifact)


class Approval(msgspec.Struct, frozen=True):
    """A call that waits for a person: what it would do, and which words of others the model had read before it asked for it."""

    call: str
    name: str
    arguments: dict[str, Any]
    effect: Effect
    reason: str
    words: list[Taint]
    digest: str

    @classmethod
    def of(cls, call: AgentCall, taint: list[Taint]) -> "Approval":
        """As the person is asked."""
        sources = ", ".join(dict.fromkeys(one.source for one in taint))
        reason = f"The model has read what others may have written ({sources}), and that may be why it asks for this."
        return cls(call.id, call.name, call.arguments, call.effect, reason, taint, call.digest.hex())


class AgentReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """A run, as far as it has come. `refusal` is the quota's, when that ended it."""

    id: UUID
    text: str
    stop: Stop
    steps: list[Step]
    tainted: bool
    approvals: list[Approval]
    usage: ShownUsage
    executor: str
    model: str | None
    simulated: bool
    parsed: Any = msgspec.UNSET
    refusal: dict[str, Any] | None = None
    conversation: UUID | None = None


def shown_steps(calls: list[AgentCall]) -> list[Step]:
    """What was done."""
    return [Step.of(call) for call in calls]


def shown_approvals(calls: list[AgentCall], taint: list[Taint]) -> list[Approval]:
    """What waits for a decision."""
    return [Approval.of(call, taint) for call in calls if call.status == "needs_approval"]


def final_event(ending: TurnEnd, text: str, calls: list[AgentCall], taint: list[Taint]) -> dict[str, Any]:
    """What the last event of a run carries."""
    found = ending.told(text) | {"steps": shown_steps(calls)}
    if not ending.code:
        found |= {"stop": ending.stop, "approvals": shown_approvals(calls, taint), "tainted": bool(taint)}
        if ending.refusal is not None:
            found["refusal"] = ending.refusal
    return found


class AlreadyDecided(Conflict):
    """The run does not wait for these decisions any more."""

    code, title = "agent.decided", "Decided already"


class CallChanged(Conflict):
    """What would be called is not what the person saw."""

    code, title = "agent.changed", "This call has changed"


class DecisionMissing(Invalid):
    """Not every call that waits was decided, or one that does not wait was."""

    code, title = "agent.undecided", "Decide every call that waits"


class TooManyTools(Invalid):
    """More tools than a model is given at once."""

    code, title = "agent.too_many_tools", "Name the tools"


class NoSuchTool(Invalid):
    """A tool was named that the caller's team has not turned on, or that the caller may not call."""

    code, title = "agent.no_such_tool", "No such tool"


class QuestionTooLong(TooLarge):
    """The question alone is more than a run may cost."""

    code, title = "agent.question_too_long", "Too long for the agent"
