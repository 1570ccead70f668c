"""A turn of a chat: one question, whose reply is the whole of it."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from atrium.engine.chat.model import OpenTurn
from atrium.engine.executors.turns import OpenedModel, paid_for
from atrium.engine.jobs import child_jobs as job_parts
from atrium.engine.turns import lost_turns
from atrium.engine.turns import service as turn_service
from atrium.engine.turns.active_turn import (
    ActiveTurn,
    ModelCall,
    Reservation,
    end_of_failure,
    end_of_reply,
    settled_elsewhere,
    until_settled,
)
from atrium.engine.turns.model import LostTurn, NewTurn, ShownUsage, StoredPiece, TurnEnd, TurnState
from atrium.ground.quotas import service as quotas
from atrium.ground.quotas.model import Admission
from atrium.kit.errors import AppError
from atrium.seams.context import Context, Operation
from atrium.seams.models import Done, TokenUsage, Turn
from atrium.seams.turns import TurnKind

Also = Callable[[Context, str, ShownUsage], Awaitable[None]]


class ChatTurn(ActiveTurn):
    """A turn of a chat."""

    def __init__(self, op: Operation, new: NewTurn, turn: Turn, model: OpenedModel, admission: Admission) -> None:
        super().__init__(op, new)
        self.turn, self.admission, self._whole = turn, admission, model.whole
        reserved = Reservation(new.reserved_tokens, new.prompt_tokens)
        self.spoken = ModelCall(op, self.transcript, turn, model, new.executor, reserved)
        self.asking = self.spoken
        # What else happens in the transaction that ends the turn; given its context, the reply's text and what it cost.
        self.also: Also | None = None

    async def _run(self) -> None:
        said = await self._unbroken(self.spoken.listen())
        # From here on nothing breaks it off: what was said is counted, judged and settled.
        self._speaking = False
        state, ending, usage = await self._concluded(said)
        state, ending = await self._settle(state, ending, usage)
        self._end(state, ending, usage, ending.told(self.transcript.said()))

    async def _concluded(self, said: Done | AppError | None) -> tuple[TurnState, TurnEnd, TokenUsage]:
        """How it ended, and what that cost."""
        try:
            if isinstance(said, Done):
                usage = await self.spoken.usage(said.usage)
                ending = await end_of_reply(
                    self.op, self.transcript.said(), self.turn.response_format, said.finish, usage
                )
                return "finished", ending, usage
            if said is None:
                usage = await self.spoken.usage(None)
                return *self._hung_up(usage), usage
            usage = await self.spoken.usage_of_failure(said)
            return "failed", end_of_failure(said, usage), usage
        except Exception as error:  # as above
            usage = self.spoken.told or TokenUsage(0, self.spoken.pieces, exact=False)
            return "failed", end_of_failure(self._defect(error), usage), usage

    async def _settle(self, state: TurnState, ending: TurnEnd, usage: TokenUsage) -> tuple[TurnState, TurnEnd]:
        """Store what is left, end the turn and pay it, in one transaction; tried until PostgreSQL has taken it."""

        async def work(ctx: Context) -> tuple[TurnState, TurnEnd]:
            return await self._settle_within(ctx, state, ending, usage)

        def failed() -> None:
            # The reply is kept with its turn, whatever else it could not be kept in.
            self.also = None

        return await until_settled(self, work, failed)

    async def _settle_within(
        self, ctx: Context, state: TurnState, ending: TurnEnd, usage: TokenUsage
    ) -> tuple[TurnState, TurnEnd]:
        if await self.end_within(ctx, state, ending):
            if self._whole is not None:
                # Before the books, which come last in the order of locks.
                await job_parts.end(ctx, self._whole)
            await quotas.settle_within(ctx, self.admission, self.spoken.paid(usage))
            if self.also is not None:
                await self.also(ctx, self.transcript.said(), ending.usage)
            return state, ending
        return await settled_elsewhere(ctx, self.new.id, state, ending)


async def final_event(op: Operation, id: UUID, ending: TurnEnd, text: str) -> dict[str, Any]:
    """What the last event of a turn carries that another process ran."""
    return ending.told(text)


async def settle_lost(ctx: Context, lost: LostTurn, pieces: list[StoredPiece]) -> bool:
    """End a turn whose process has died, and pay what was stored of its reply."""
    usage = await lost_turns.usage_of(ctx, lost.prompt_tokens, lost.reserved_tokens, pieces)
    await lost_turns.interrupt(ctx, lost, lost_turns.interrupted(usage))
    await job_parts.end(ctx, lost.id)
    amounts = {"ai.tokens.total": lost.reserved_tokens}
    admission = Admission(lost.admission_id, ctx.who.org_id, lost.team_id, amounts)
    await quotas.settle_within(ctx, admission, paid_for(usage) if pieces else {})
    return True


async def find_open(ctx: Context, conversation_id: UUID) -> OpenTurn | None:
    """The caller's turn that runs in a conversation, of whichever kind."""
    id = await turn_service.find_running(ctx, conversation_id)
    return None if id is None else OpenTurn(id, "running", False, None)


KIND = TurnKind(name="chat", final_event=final_event, settle_lost=settle_lost, offers=find_open)
