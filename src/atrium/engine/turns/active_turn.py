"""One model reply in progress: it runs in a task of its own, readers or not, and is settled exactly once."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from atrium.engine.executors.turns import LONGEST_TURN, OpenedModel, paid_for
from atrium.engine.inference.estimates import SHORT, Estimator
from atrium.engine.turns import store
from atrium.engine.turns.model import FormatFault, Interrupted, NewPiece, NewTurn, ShownUsage, TurnEnd, TurnState
from atrium.engine.turns.transcripts import WORDS, Piece, Transcript
from atrium.kit.errors import AppError
from atrium.kit.postgres.failures import refusal_of
from atrium.kit.schemas.parse import ReplyRefused, judge_json
from atrium.kit.telemetry.log import log
from atrium.kit.text.estimates import estimate_tokens
from atrium.kit.web.http import STATUS
from atrium.kit.work.compute import heavy
from atrium.kit.work.shares import Permit
from atrium.seams.context import Context, Operation, Services
from atrium.seams.jobs import Amounts
from atrium.seams.models import (
    Call,
    Done,
    Finish,
    ModelFailure,
    ModelRefused,
    ModelUnavailable,
    ResponseFormat,
    TextPiece,
    ThinkingPiece,
    TokenUsage,
    Turn,
    UsageSoFar,
)

# Between two tries to settle while PostgreSQL does not answer.
_PAUSE, _LONGEST_PAUSE = 0.1, 2.0
# Seconds in which the caller of a stream has to begin to read.
_BEGIN_SECONDS = 10.0
# A machine that sends up to so many tokens a piece is counted by its pieces; learned from replies of so many.
_ONE_A_PIECE, _ENOUGH_PIECES = 1.5, 20
# The longest reply, in characters, that an estimate is compared with: it is made on the event loop.
_LEARNED = 20_000
# What was learned is an average; rather too many than too few.
_RATHER = 1.03


class Reservation(NamedTuple):
    """What a question may cost, and what it was estimated to cost without its answer."""

    tokens: int
    prompt: int


class ModelCall:
    """One question to a model: what it says goes into a transcript, and what that costs is counted."""

    def __init__(
        self,
        op: Operation,
        transcript: Transcript,
        turn: Turn,
        model: OpenedModel,
        executor: str,
        reserved: Reservation,
    ) -> None:
        self._op, self._transcript, self._turn, self._port = op, transcript, turn, model.port
        self._executor, self._reserved = executor, reserved
        self._at = transcript.position
        self._began = asyncio.get_running_loop().time()
        self.pieces = 0
        self.told: TokenUsage | None = None
        self.calls: list[Call] = []

    async def listen(self) -> Done:
        """Everything the model says, up to its end."""
        async with aclosing(self._port.stream(self._turn)) as arriving:
            async for events in arriving:
                for event in events:
                    match event:
                        case TextPiece() | ThinkingPiece():
                            self._hear(event)
                        case UsageSoFar():
                            self.told = event.usage
                        case Done():
                            return event
                        case Call():
                            self._note(event)
                if self._said_enough():
                    # It goes on past what was reserved: hung up on, without a report.
                    return Done("length", TokenUsage(0, 0, exact=False))
        raise ModelUnavailable("the model's answer has no end")

    async def usage(self, reported: TokenUsage | None) -> TokenUsage:
        """What is paid: what was reported; else what was told with the latest piece; else it is estimated."""
        exact = reported if reported is not None and reported.exact else self.told
        if exact is not None:
            self._learn(exact)
            return _within(exact, self._reserved.tokens)
        if not (self.pieces or self.calls):
            return TokenUsage(0, 0, exact=reported is None)
        ratios = self._op.services.token_ratios
        question = math.ceil(self._reserved.prompt * ratios.of(self._machine("question"), 1 / _RATHER) * _RATHER)
        return _within(TokenUsage(question, await self._reply_tokens(), exact=False), self._reserved.tokens)

    async def usage_of_failure(self, error: AppError) -> TokenUsage:
        """What is paid for a question that failed."""
        return await self.usage(error.usage if isinstance(error, ModelFailure) and error.usage.total else None)

    def paid(self, usage: TokenUsage) -> Amounts:
        """What it counts in the books; nothing said and nothing reported is nothing, not even the request."""
        return paid_for(usage) if self.pieces or self.calls or self.told or usage.total else {}

    def _hear(self, event: TextPiece | ThinkingPiece) -> None:
        if not self.pieces:
            waited = asyncio.get_running_loop().time() - self._began
            self._op.services.metrics.turn_first_word.observe(waited)
        self.pieces += 1
        # PostgreSQL's text cannot hold U+0000.
        text = event.text if "\0" not in event.text else event.text.replace("\0", "")
        if text:
            self._transcript.say(text, thinking=type(event) is ThinkingPiece)

    def _note(self, call: Call) -> None:
        if not self._turn.tools:
            raise ModelRefused("the model called a tool that it was not given")
        self.calls.append(call)

    def _said_enough(self) -> bool:
        said = self.told.completion_tokens if self.told is not None else self.pieces
        return said > self._turn.max_tokens

    def _said(self) -> str:
        words = [piece.body for piece in self._transcript.pieces() if piece.at >= self._at and piece.kind in WORDS]
        return "".join([*words, *(call.arguments for call in self.calls)])

    async def _reply_tokens(self) -> int:
        """Of a machine that is known to send about one token a piece, by its pieces; else those or an estimate, whichever is more."""
        ratios = self._op.services.token_ratios
        if not self.calls and 0 < (ratio := ratios.of(self._machine("piece"), 0.0)) <= _ONE_A_PIECE:
            return max(self.pieces, math.ceil(self.pieces * ratio))
        estimate = await Estimator.of(self._op).text(self._said())
        return max(self.pieces, int(estimate * ratios.of(self._machine("reply"))))

    def _machine(self, of: str) -> tuple[UUID, str, str]:
        return self._op.who.org_id, self._executor, of

    def _learn(self, exact: TokenUsage) -> None:
        ratios = self._op.services.token_ratios
        ratios.learn(self._machine("question"), exact.prompt_tokens, self._reserved.prompt)
        if self.pieces >= _ENOUGH_PIECES and not self.calls:
            ratios.learn(self._machine("piece"), exact.completion_tokens, self.pieces)
        # Long replies are no better to learn from, and take longer to estimate; arguments of calls are no part of the transcript.
        if 0 < self._transcript.position - self._at <= _LEARNED and len(said := self._said()) <= _LEARNED:
            ratios.learn(self._machine("reply"), exact.completion_tokens, estimate_tokens(said))


class ActiveTurn:
    """A reply that this process works on, of whichever kind: what of it is stored, and how it is stopped."""

    def __init__(self, op: Operation, new: NewTurn, position: int = 0, earlier: Sequence[Piece] = ()) -> None:
        self.op, self.new = op, new
        self.transcript = Transcript(new.id, position, earlier)
        self.ended: asyncio.Future[tuple[TurnState, TurnEnd]] = asyncio.get_running_loop().create_future()
        self.asking: ModelCall | None = None
        self.stored = len(earlier)
        # Done when the pieces are stored that are on their way.
        self.storing: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._begun, self._speaking, self._broken_off = False, True, ""

    def start(self, permit: Permit) -> None:
        """Begin to work with this permit."""
        self._task = self.op.services.turns.start(self.new.id, permit, self, self._run())

    async def _run(self) -> None:
        raise NotImplementedError

    def stop_unless_read(self) -> None:
        """Stop when the last reader leaves, or none comes."""
        self.transcript.on_left = self._left
        asyncio.get_running_loop().call_later(_BEGIN_SECONDS, self._left)

    def _left(self) -> None:
        # A stopping process ends the streams; its turns are interrupted, and can be read elsewhere.
        if not self.transcript.readers and not self.op.services.state.draining:
            self.stop()

    def stop(self, state: TurnState = "stopped") -> None:
        """Hang up on the model; what it said is kept and paid."""
        if self._speaking and not self._broken_off:
            self._broken_off = state
            # A task that is cancelled before its first step would never settle.
            if self._begun and self._task is not None:
                self._task.cancel()

    @property
    def is_speaking(self) -> bool:
        """Whether the model may still say something."""
        return self._speaking

    def unstored(self) -> list[NewPiece]:
        """What has been said and is not stored yet."""
        org_id, id = self.op.who.org_id, self.new.id
        told, pieces = (self.asking.told, self.asking.pieces) if self.asking is not None else (None, 0)
        prompt, reply = (None, None) if told is None else (told.prompt_tokens, told.completion_tokens)
        return [
            NewPiece(org_id, id, piece.at, piece.kind, piece.body, pieces, prompt, reply)
            for piece in self.transcript.pieces()[self.stored :]
        ]

    async def store_within(self, ctx: Context) -> int:
        """Store what has been said and is not stored yet; how many pieces."""
        pieces = self.unstored()
        await store.insert_pieces(ctx.db, pieces)
        return len(pieces)

    async def end_within(self, ctx: Context, state: TurnState, ending: TurnEnd) -> bool:
        """Store the last pieces and how it ended; whether it ran in this process until now."""
        new, told = self.new, msgspec.to_builtins(ending)
        return await store.end_turn(ctx.db, ctx.who.org_id, new.id, new.admission_id, state, told, self.unstored())

    async def _unbroken(self, work: Awaitable[Done]) -> Done | AppError | None:
        """Everything the model says: how it ended or failed, None when it was broken off."""
        self._begun = True
        if self._broken_off:
            if asyncio.iscoroutine(work):
                work.close()
            return None
        try:
            async with asyncio.timeout(LONGEST_TURN):
                return await work
        except TimeoutError:
            return ModelUnavailable(f"the model took more than {LONGEST_TURN} seconds")
        except asyncio.CancelledError:
            if self._task is not None and self._task.cancelling():
                self._task.uncancel()
            return None
        except AppError as error:
            return error
        except Exception as error:  # a turn ends with an event and is settled, whatever happens in it
            return self._defect(error)

    def _defect(self, error: Exception) -> AppError:
        log.error("turn.failed", turn=self.new.id, exc_info=error)
        return ModelUnavailable("the turn broke off by a defect of this server")

    def _end(self, state: TurnState, ending: TurnEnd, usage: TokenUsage, data: object) -> None:
        """Tell everybody who waits."""
        metrics = self.op.services.metrics
        metrics.turns.labels(state).inc()
        metrics.turn_tokens.inc(usage.total)
        self.transcript.end(ending.event, data)
        self.ended.set_result((state, ending))

    def _hung_up(self, usage: TokenUsage) -> tuple[TurnState, TurnEnd]:
        if self._broken_off not in ("stopped", "interrupted"):
            # Not by us: the process is being torn down, and what is running with it.
            self._broken_off = "interrupted"
        if self._broken_off == "stopped":
            return "stopped", TurnEnd(ShownUsage.of(usage), finish="stopped")
        error = Interrupted("the server that asked the model stopped; what it had said until then is kept")
        return "interrupted", end_of_failure(error, usage)


def find_active(services: Services, id: UUID) -> ActiveTurn | None:
    """The turn, when this process works on it."""
    found = services.turns.find(id)
    return found if isinstance(found, ActiveTurn) else None


def list_active(services: Services) -> list[ActiveTurn]:
    """Every turn that this process works on."""
    return [turn for turn in services.turns if isinstance(turn, ActiveTurn)]


async def until_settled(
    running: ActiveTurn,
    work: Callable[[Context], Awaitable[tuple[TurnState, TurnEnd]]],
    failed: Callable[[], None],
) -> tuple[TurnState, TurnEnd]:
    """The end of a reply in one transaction; tried until PostgreSQL has taken it. `failed` is told of what is not PostgreSQL's."""
    pause = _PAUSE
    while True:
        try:
            if running.storing is not None:
                await running.storing
            async with running.op.begin(held=False) as ctx:
                return await work(ctx)
        except Exception as error:  # nothing may be lost, and nothing paid twice: the transaction is one
            known = refusal_of(error)
            if known is None:
                failed()
            (log.warning if known else log.error)("turn.settling_failed", turn=running.new.id, error=error)
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


async def settled_elsewhere(ctx: Context, id: UUID, state: TurnState, ending: TurnEnd) -> tuple[TurnState, TurnEnd]:
    """How a turn ended that a process settled which took this one for dead; as it ended here while it goes on there."""
    found = await store.find_turn(ctx.db, ctx.who, id)
    known = found.ended() if found is not None else None
    return (found.state, known) if found is not None and known is not None else (state, ending)


async def end_of_reply(
    op: Operation, text: str, wanted: ResponseFormat | None, finish: Finish, usage: TokenUsage
) -> TurnEnd:
    """The ending of a reply that came to its end; JSON that was asked for is judged, never repaired."""
    shown = ShownUsage.of(usage)
    if wanted is None or wanted.type == "text":
        return TurnEnd(shown, finish=finish)
    try:
        parsed = await op.services.compute.run(op.who.org_id, len(text), _parsed, text, wanted, small=SHORT)
    except ReplyRefused as fault:
        cut = " (it was cut off)" if finish == "length" else ""
        return TurnEnd(shown, finish=finish, schema_error=FormatFault("", f"{fault}{cut}"))
    if wanted.type == "json_object" and not isinstance(parsed, dict):
        return TurnEnd(shown, finish=finish, schema_error=FormatFault("", "it is not a JSON object"))
    return TurnEnd(shown, finish=finish, parsed=parsed)


@heavy
def _parsed(text: str, wanted: ResponseFormat) -> Any:
    return judge_json(text, wanted.compiled())


def end_of_failure(error: AppError, usage: TokenUsage) -> TurnEnd:
    """The ending of a turn that failed."""
    return TurnEnd(
        ShownUsage.of(usage), code=error.code, title=error.title, detail=error.message, status=STATUS[error.kind]
    )


def _within(usage: TokenUsage, reserved: int) -> TokenUsage:
    """Never more than was reserved."""
    if usage.total <= reserved:
        return usage
    prompt = min(usage.prompt_tokens, reserved)
    return TokenUsage(prompt, reserved - prompt, usage.exact)
