"""One turn under way: the model is asked in a task of its own, readers or not, and the turn is settled once, however it ends."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from uuid import UUID

import msgspec

from atrium.engine.ai import store
from atrium.engine.ai.model import Ending, FormatFault, Interrupted, NewPiece, NewTurn, ShownUsage, TurnState
from atrium.engine.executors.turns import LONGEST_TURN, OpenedModel, paid_for
from atrium.engine.inference.estimates import estimate_reply
from atrium.ground.quotas import service as quotas
from atrium.ground.quotas.model import Admission
from atrium.kit.database import refusal_of
from atrium.kit.errors import AppError
from atrium.kit.estimates import estimate_tokens
from atrium.kit.http import STATUS
from atrium.kit.log import log
from atrium.kit.replies import ReplyRefused, judge_json
from atrium.kit.transcripts import Transcript
from atrium.seams.context import Context, Operation
from atrium.seams.models import (
    Done,
    Finish,
    ModelFailure,
    ModelRefused,
    ModelUnavailable,
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
Also = Callable[[Context, str, ShownUsage], Awaitable[None]]


class RunningTurn:
    """A turn that this process asks a model for."""

    def __init__(self, op: Operation, new: NewTurn, turn: Turn, model: OpenedModel, admission: Admission) -> None:
        self.op, self.new, self.turn, self.admission = op, new, turn, admission
        self._port = model.port
        self.transcript = Transcript(new.id)
        self.ended: asyncio.Future[tuple[TurnState, Ending]] = asyncio.get_running_loop().create_future()
        # What else happens in the transaction that ends the turn; given its context, the reply's text and what it cost.
        self.also: Also | None = None
        self.pieces = 0
        self.told: TokenUsage | None = None
        self.stored = 0
        # Done when the pieces are stored that are on their way.
        self.storing: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._begun, self._speaking, self._broken_off = False, True, ""
        self._began = asyncio.get_running_loop().time()

    def start(self) -> None:
        """Begin to ask."""
        self._task = self.op.services.turns.start(self.new.id, self, self._run())

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
        org_id, id, told = self.op.who.org_id, self.new.id, self.told
        prompt, reply = (None, None) if told is None else (told.prompt_tokens, told.completion_tokens)
        return [
            NewPiece(org_id, id, piece.at, piece.thinking, piece.body, self.pieces, prompt, reply)
            for piece in self.transcript.pieces()[self.stored :]
        ]

    async def _run(self) -> None:
        said = await self._speak()
        # From here on nothing breaks it off: what was said is counted, judged and settled.
        self._speaking = False
        state, ending, usage = await self._concluded(said)
        state, ending = await self._settle(state, ending, usage)
        metrics = self.op.services.metrics
        metrics.turns.labels(state).inc()
        metrics.turn_tokens.inc(usage.total)
        self.transcript.end(ending.event, ending.told(self.transcript.said()))
        self.ended.set_result((state, ending))

    async def _speak(self) -> Done | AppError | None:
        """Everything the model says: how it ended or failed, None when it was broken off."""
        self._begun = True
        if self._broken_off:
            return None
        try:
            async with asyncio.timeout(LONGEST_TURN):
                return await self._listen()
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

    async def _concluded(self, said: Done | AppError | None) -> tuple[TurnState, Ending, TokenUsage]:
        """How it ended, and what that cost."""
        try:
            if isinstance(said, Done):
                usage = await self._usage(said.usage)
                return "finished", await self._judged(said.finish, usage), usage
            if said is None:
                return await self._hung_up()
            return await self._failed(said)
        except Exception as error:  # as above
            usage = self.told or TokenUsage(0, self.pieces, exact=False)
            return "failed", refused(self._defect(error), usage), usage

    def _defect(self, error: Exception) -> AppError:
        log.error("turn.failed", turn=self.new.id, exc_info=error)
        return ModelUnavailable("the turn broke off by a defect of this server")

    async def _listen(self) -> Done:
        async with aclosing(self._port.stream(self.turn)) as arriving:
            async for events in arriving:
                for event in events:
                    match event:
                        case TextPiece() | ThinkingPiece():
                            self._hear(event)
                        case UsageSoFar():
                            self.told = event.usage
                        case Done():
                            return event
                        case _:
                            raise ModelRefused("the model called a tool that it was not given")
                if self._said_enough():
                    # It goes on past what was reserved: hung up on, without a report.
                    return Done("length", TokenUsage(0, 0, exact=False))
        raise ModelUnavailable("the model's answer has no end")

    def _hear(self, event: TextPiece | ThinkingPiece) -> None:
        if not self.pieces:
            waited = asyncio.get_running_loop().time() - self._began
            self.op.services.metrics.turn_first_word.observe(waited)
        self.pieces += 1
        # PostgreSQL's text cannot hold U+0000.
        text = event.text if "\0" not in event.text else event.text.replace("\0", "")
        if text:
            self.transcript.say(text, thinking=type(event) is ThinkingPiece)

    def _said_enough(self) -> bool:
        said = self.told.completion_tokens if self.told is not None else self.pieces
        return said > self.turn.max_tokens

    async def _hung_up(self) -> tuple[TurnState, Ending, TokenUsage]:
        if self._broken_off not in ("stopped", "interrupted"):
            # Not by us: the process is being torn down, and what is running with it.
            self._broken_off = "interrupted"
        usage = await self._usage(None)
        if self._broken_off == "stopped":
            return "stopped", Ending(ShownUsage.of(usage), finish="stopped"), usage
        error = Interrupted("the server that asked the model stopped; what it had said until then is kept")
        return "interrupted", refused(error, usage), usage

    async def _failed(self, error: AppError) -> tuple[TurnState, Ending, TokenUsage]:
        told = error.usage if isinstance(error, ModelFailure) and error.usage.total else None
        usage = await self._usage(told)
        return "failed", refused(error, usage), usage

    async def _usage(self, reported: TokenUsage | None) -> TokenUsage:
        """What is paid: what was reported; else what was told with the latest piece; else pieces or an estimate, whichever is more."""
        exact = reported if reported is not None and reported.exact else self.told
        if exact is not None:
            self._learn(exact)
            return _within(exact, self.new.reserved_tokens)
        if not self.pieces:
            return TokenUsage(0, 0, exact=reported is None)
        said = "".join([piece.body for piece in self.transcript.pieces()])
        estimate = await asyncio.to_thread(estimate_reply, self.turn, said)
        ratio = self.op.services.token_ratios.of(self._machine)
        tokens = max(self.pieces, int(estimate.completion_tokens * ratio))
        return _within(TokenUsage(estimate.prompt_tokens, tokens, exact=False), self.new.reserved_tokens)

    @property
    def _machine(self) -> tuple[UUID, str]:
        return self.op.who.org_id, self.new.executor

    def _learn(self, exact: TokenUsage) -> None:
        # Long replies are no better to learn from, and take longer to estimate.
        if 0 < self.transcript.position <= 20_000:
            said = "".join([piece.body for piece in self.transcript.pieces()])
            self.op.services.token_ratios.learn(self._machine, exact.completion_tokens, estimate_tokens(said))

    async def _judged(self, finish: Finish, usage: TokenUsage) -> Ending:
        """The ending of a reply that came to its end; JSON that was asked for is judged, never repaired."""
        shown, wanted = ShownUsage.of(usage), self.turn.response_format
        if wanted is None or wanted.type == "text":
            return Ending(shown, finish=finish)
        try:
            parsed = await asyncio.to_thread(judge_json, self.transcript.said(), wanted.compiled())
        except ReplyRefused as fault:
            cut = " (it was cut off)" if finish == "length" else ""
            return Ending(shown, finish=finish, schema_error=FormatFault("", f"{fault}{cut}"))
        if wanted.type == "json_object" and not isinstance(parsed, dict):
            return Ending(shown, finish=finish, schema_error=FormatFault("", "it is not a JSON object"))
        return Ending(shown, finish=finish, parsed=parsed)

    async def _settle(self, state: TurnState, ending: Ending, usage: TokenUsage) -> tuple[TurnState, Ending]:
        """Store what is left, end the turn and pay it, in one transaction; tried until PostgreSQL has taken it."""
        pause = _PAUSE
        while True:
            try:
                if self.storing is not None:
                    await self.storing
                async with self.op.begin(held=False) as ctx:
                    return await self._settle_within(ctx, state, ending, usage)
            except Exception as error:  # nothing may be lost, and nothing paid twice: the transaction is one
                known = refusal_of(error)
                if known is None and self.also is not None:
                    # The reply is kept with its turn, whatever else it could not be kept in.
                    self.also = None
                (log.warning if known else log.error)("turn.settling_failed", turn=self.new.id, error=repr(error))
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _settle_within(
        self, ctx: Context, state: TurnState, ending: Ending, usage: TokenUsage
    ) -> tuple[TurnState, Ending]:
        if await store.end_turn(
            ctx.db, ctx.who.org_id, self.new.id, state, msgspec.to_builtins(ending), self.unstored()
        ):
            # Nothing said and nothing reported: nothing is paid, not even the request.
            spent = paid_for(usage) if self.pieces or self.told or usage.total else {}
            await quotas.settle_within(ctx, self.admission, spent)
            if self.also is not None:
                await self.also(ctx, self.transcript.said(), ending.usage)
            return state, ending
        # Settled already by a process that took this one for dead.
        found = await store.find_turn(ctx.db, ctx.who, self.new.id)
        known = found.ended() if found is not None else None
        return (found.state, known) if found is not None and known is not None else (state, ending)


def refused(error: AppError, usage: TokenUsage) -> Ending:
    """The ending of a turn that failed."""
    return Ending(
        ShownUsage.of(usage), code=error.code, title=error.title, detail=error.message, status=STATUS[error.kind]
    )


def _within(usage: TokenUsage, reserved: int) -> TokenUsage:
    """Never more than was reserved."""
    if usage.total <= reserved:
        return usage
    prompt = min(usage.prompt_tokens, reserved)
    return TokenUsage(prompt, reserved - prompt, usage.exact)
