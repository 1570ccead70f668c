"""One run of the agent under way: ask, call what the model asks for, ask again, until it answers or a budget is used up.

Everything that happened is stored before anything follows from it: a model's answer with the calls in it, what came of each call.
So a run that was cut off goes on where it stopped, and nothing in it happens twice.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

import msgspec

from atrium.engine.agent import store
from atrium.engine.agent.calls import AgentCallRecord, CallEnded, lost_run, make_call, require_ours
from atrium.engine.agent.messages import calls_in, definition_of, messages_of
from atrium.engine.agent.model import MOST_CALLS, MOST_TOKENS, OPEN, AgentCall, RunProgress, Stop, Taint, final_event
from atrium.engine.chat import conversations
from atrium.engine.executors.turns import LONGEST_TURN, open_model, reserved_for
from atrium.engine.inference.estimates import Estimator
from atrium.engine.jobs import child_jobs as job_parts
from atrium.engine.turns.active_turn import (
    ActiveTurn,
    ModelCall,
    Reservation,
    end_of_failure,
    end_of_reply,
    settled_elsewhere,
    until_settled,
)
from atrium.engine.turns.model import NewTurn, TurnEnd, TurnState
from atrium.engine.turns.service import SHORT_LEASE
from atrium.engine.turns.transcripts import Piece
from atrium.ground.access import service as access
from atrium.ground.features import service as features
from atrium.ground.identity import service as identity
from atrium.ground.quotas import service as quotas
from atrium.ground.quotas.model import Admission
from atrium.kit.errors import AppError, Exhausted
from atrium.kit.postgres.failures import refusal_of
from atrium.seams.context import Context, Operation
from atrium.seams.jobs import Amounts
from atrium.seams.models import Done, Message, TokenUsage, Turn

T = TypeVar("T")
_STEP_LEASE = LONGEST_TURN + 30
_READS_AT_ONCE = 4
_PAUSE = 0.5


class AgentLoop(ActiveTurn):
    """A run that this process works on."""

    def __init__(
        self,
        op: Operation,
        new: NewTurn,
        hold: Admission,
        progress: RunProgress,
        position: int = 0,
        earlier: Sequence[Piece] = (),
    ) -> None:
        super().__init__(op, new, position, earlier)
        self.progress = progress
        # The admission of the first question, which was made before the run began.
        self.first: Admission | None = None
        self._hold = hold
        self._tools = {tool.name: tool for tool in progress.tools}
        self._definitions = [definition_of(tool) for tool in progress.tools]
        # The question that is not paid yet, and what it costs.
        self._step: Admission | None = None
        self._unpaid = TokenUsage(0, 0)
        self._stop: Stop | None = None
        self._refusal: dict[str, Any] | None = None
        # Where what the model said last begins.
        self._answer_at = position
        self._deadline = asyncio.get_running_loop().time() + op.services.settings.agent_seconds
        self._keeping = False

    @property
    def is_speaking(self) -> bool:
        """Whether its pieces are stored by the others' way; not while the run stores them with something else."""
        return self._speaking and not self._keeping

    async def _run(self) -> None:
        said = await self._unbroken(self._work())
        # From here on nothing breaks it off: what was done is counted and settled.
        self._speaking = False
        state, ending = await self._concluded(said)
        ending = msgspec.structs.replace(ending, run=True, answer_at=self._answer_at)
        state, ending = await self._settle(state, ending)
        self._end(
            state,
            ending,
            self.progress.usage,
            final_event(ending, self._answer(), self.progress.calls, self.progress.taint),
        )

    # The loop

    async def _work(self) -> Done:
        """Until the model answers, a budget is used up or a call waits for a person."""
        said: Done | None = None
        last_words = list[Message]()
        while True:
            await self._call_all()
            if any(call.status == "needs_approval" for call in self.progress.calls):
                return self._stopped("approval")
            stop = self._ends_with(last_words)
            question = await self._next_question(last_words, with_tools=stop is None)
            if question is None:
                return self._stopped("tokens", said)
            called = len(self.progress.calls)
            said = await self._ask(*question)
            if said is None:
                return self._stopped(self._stop or "seconds")
            if len(self.progress.calls) > called:
                continue
            wanted, text = self.progress.asked.response_format, self._answer()
            if (
                stop is None
                and wanted is not None
                and (await end_of_reply(self.op, text, wanted, said.finish, self.progress.usage)).schema_error
            ):
                # With tools at hand a model answers in words; without them it is held to the format.
                last_words = [
                    Message("assistant", text),
                    Message("user", "Give this answer in the format that was asked for."),
                ]
                continue
            return self._stopped(stop or "answer", said)

    def _answer(self) -> str:
        return self.transcript.said(at=self._answer_at)

    def _stopped(self, stop: Stop, said: Done | None = None) -> Done:
        self._stop = stop
        return said or Done("stop", TokenUsage(0, 0))

    def _ends_with(self, last_words: list[Message]) -> Stop | None:
        """Why the next question is the last, which carries no tools; None when it is not."""
        if last_words or not self._definitions:
            return "answer"
        if len(self.progress.calls) >= MOST_CALLS:
            return "calls"
        if self.progress.steps + 1 >= self.progress.asked.max_steps:
            return "steps" if self.progress.calls else "answer"
        return None

    async def _next_question(self, last_words: list[Message], *, with_tools: bool) -> tuple[Turn, int] | None:
        """The next question and what it is estimated to cost; None when there are no tokens left for it."""
        turn = Turn(
            messages=[*self.progress.opening, *messages_of(self.progress.calls), *last_words],
            max_tokens=self.progress.asked.max_tokens,
            response_format=None if with_tools else self.progress.asked.response_format,
            tools=self._definitions if with_tools else [],
        )
        prompt = await Estimator.of(self.op).turn(turn)
        left = MOST_TOKENS - self.progress.usage.total - prompt
        return (msgspec.structs.replace(turn, max_tokens=min(turn.max_tokens, left)), prompt) if left > 0 else None

    # One question to a model

    async def _ask(self, turn: Turn, prompt: int) -> Done | None:
        """Ask, pay, and write down the calls in the answer; None when a quota or the time does not allow it."""
        admission, self.first = self.first, None
        if admission is None:
            try:
                admission = await quotas.admit(
                    self.op, without_concurrency(reserved_for(turn, prompt)), lease=SHORT_LEASE
                )
            except Exhausted as refusal:
                self._stop = "quota"
                self._refusal = {
                    "code": refusal.code,
                    "title": refusal.title,
                    "detail": refusal.message,
                    **refusal.facts,
                }
                return None
        reserved = admission.amounts["ai.tokens.total"]
        # Until the model is asked, this question has cost nothing; the one before is paid.
        self._step, self.asking = admission, None
        # What is said from here on is a piece of its own.
        self.transcript.pieces()
        self._answer_at = self.transcript.position
        await self._persist(partial(self._note_question, admission, reserved, prompt))
        # A job of a pull executor is part of the question that it answers, and ends with it.
        model = await open_model(self.op, self.new.executor, admission.id)
        self.asking = ModelCall(self.op, self.transcript, turn, model, self.new.executor, Reservation(reserved, prompt))
        said = None
        with suppress(TimeoutError):
            async with asyncio.timeout_at(self._deadline):
                said = await self.asking.listen()
        usage = await self.asking.usage(None if said is None else said.usage)
        calls = calls_in(self.asking.calls, self._answer(), self.progress, self._tools) if said is not None else []
        await shield_from_cancel(self._take(admission, self.asking.paid(usage), usage, calls))
        return said

    async def _take(self, admission: Admission, paid: Amounts, usage: TokenUsage, calls: list[AgentCall]) -> None:
        """Count an answer, tell its calls and write them down."""
        for call in calls:
            data = {"call": call.id, "name": call.name, "arguments": call.arguments, "effect": call.effect}
            self.transcript.tell("tool_call", data)
        await self._persist(partial(self._note_answer, admission, paid, usage, calls))
        self._step = None
        self.progress.count(usage)
        self.progress.calls += calls

    async def _note_question(self, admission: Admission, reserved: int, prompt: int, ctx: Context) -> None:
        at = self._answer_at
        await store.begin_step(ctx.db, ctx.who.org_id, self.new.id, admission.id, reserved, prompt, at)
        await quotas.extend_within(ctx, admission, _STEP_LEASE)

    async def _note_answer(
        self, admission: Admission, paid: Amounts, usage: TokenUsage, calls: list[AgentCall], ctx: Context
    ) -> None:
        org_id, id = ctx.who.org_id, self.new.id
        if await store.end_step(ctx.db, org_id, id, admission.id, usage):
            await job_parts.end(ctx, admission.id)
            await quotas.settle_within(ctx, admission, paid)
            await store.insert_calls(ctx.db, org_id, id, calls)

    # The calls

    async def _call_all(self) -> None:
        """Every call that has not come to its end: reads together, effects one by one, in the order the model asked for them."""
        waiting = [call for call in self.progress.calls if call.status in OPEN]
        for together, group in groupby(waiting, key=lambda call: call.effect == "read"):
            calls = list(group)
            size = _READS_AT_ONCE if together else 1
            for start in range(0, len(calls), size):
                await self._call_some(calls[start : start + size])
        for call in self.progress.calls:
            self._tell_result(call)

    async def _call_some(self, calls: list[AgentCall]) -> None:
        op = await self._as_now()
        ended = await asyncio.gather(*(self._call(op, call) for call in calls), return_exceptions=True)
        for call, end in zip(calls, ended, strict=True):
            if isinstance(end, BaseException):
                raise end
            call.status, call.result, call.artifact = end.status, end.result, end.artifact
            if end.taints:
                self.progress.taint.append(Taint.of(call.name, end.result))
            self._tell_result(call)
        await shield_from_cancel(self._persist(partial(self._note_results, calls)))

    async def _call(self, op: Operation, call: AgentCall) -> CallEnded:
        if call.number > MOST_CALLS:
            return CallEnded("budget", f"a run makes at most {MOST_CALLS} calls")
        record = AgentCallRecord(self.new, call)
        tool = self._tools.get(call.name)
        approved = call.status == "approved" or not self.progress.taint
        if call.effect != "read":
            return await make_call(op, tool, call, record, approved=approved)
        try:
            async with asyncio.timeout_at(self._deadline):
                return await make_call(op, tool, call, record, approved=approved)
        except TimeoutError:
            return CallEnded("timeout", "the run had no time left for this call")

    async def _note_results(self, calls: list[AgentCall], ctx: Context) -> None:
        for call in calls:
            if call.status not in OPEN:
                await store.end_call(ctx.db, ctx.who.org_id, self.new.id, call)
        await store.set_taint(ctx.db, ctx.who.org_id, self.new.id, self.progress.taint)

    def _tell_result(self, call: AgentCall) -> None:
        if call.id in self.progress.reported or call.status in OPEN or call.status == "needs_approval":
            return
        self.progress.reported.add(call.id)
        data: dict[str, Any] = {"call": call.id, "status": call.status, "text": call.result}
        self.transcript.tell("tool_result", data if call.artifact is None else data | {"artifact": call.artifact})

    async def _as_now(self) -> Operation:
        """The caller with what they may do by now; refused when they may not use the agent any more."""
        async with self.op.begin() as ctx:
            who = await identity.read_principal(ctx)
        op = self.op.acting_as(who)
        access.require(op, "chat:use")
        features.require_feature(op, "agent")
        return op

    # What is stored

    async def _persist(self, work: Callable[[Context], Awaitable[None]]) -> None:
        """Do this and store what was said, in one transaction; tried until PostgreSQL has taken it.

        Refused once another process has taken the run over.
        """
        self._keeping = True
        try:
            while True:
                if self.storing is not None:
                    await self.storing
                try:
                    async with self.op.begin(held=False) as ctx:
                        await require_ours(ctx, self.new)
                        await work(ctx)
                        stored = await self.store_within(ctx)
                    self.stored += stored
                    return
                except Exception as error:  # what PostgreSQL's absence brings passes; anything else ends the run
                    if refusal_of(error) is None:
                        raise
                await asyncio.sleep(_PAUSE)
        finally:
            self._keeping = False

    # The end

    async def _concluded(self, said: Done | AppError | None) -> tuple[TurnState, TurnEnd]:
        try:
            self._unpaid = await self._cost_of_step(said)
            usage = self.progress.with_cost(self._unpaid)
            if isinstance(said, Done):
                wanted = self.progress.asked.response_format if self._stop in ("answer", "steps", "calls") else None
                ending = await end_of_reply(self.op, self._answer(), wanted, said.finish, usage)
                ending = msgspec.structs.replace(ending, stop=self._stop or "answer", refusal=self._refusal)
                return "finished", ending
            if said is None:
                state, ending = self._hung_up(usage)
                return state, msgspec.structs.replace(ending, stop="stopped" if state == "stopped" else "")
            return "failed", end_of_failure(said, usage)
        except Exception as error:  # a run ends with an event and is settled, whatever happens in it
            return "failed", end_of_failure(self._defect(error), self.progress.usage)

    async def _cost_of_step(self, said: Done | AppError | None) -> TokenUsage:
        """What the question costs that was being answered when the run ended; nothing between questions."""
        if self._step is None or self.asking is None:
            return TokenUsage(0, 0)
        if isinstance(said, AppError):
            return await self.asking.usage_of_failure(said)
        return await self.asking.usage(None)

    async def _settle(self, state: TurnState, ending: TurnEnd) -> tuple[TurnState, TurnEnd]:
        """Store what is left, end the run and pay what is unpaid, in one transaction; tried until PostgreSQL has taken it."""

        async def work(ctx: Context) -> tuple[TurnState, TurnEnd]:
            return await self._settle_within(ctx, state, ending)

        def failed() -> None:
            # The answer is kept with its run, whatever else it could not be kept in.
            self.progress.asked_at = None

        return await until_settled(self, work, failed)

    async def _settle_within(self, ctx: Context, state: TurnState, ending: TurnEnd) -> tuple[TurnState, TurnEnd]:
        org_id, id = ctx.who.org_id, self.new.id
        if not await self.end_within(ctx, state, ending):
            known = await settled_elsewhere(ctx, id, state, ending)
            if known == (state, ending) or known[0] == "interrupted":
                return known
            # What another process did after it took this run over is not told with what was said here.
            return "failed", end_of_failure(lost_run(), self.progress.usage)
        if self._step is not None:
            await store.end_step(ctx.db, org_id, id, self._step.id, self._unpaid)
            await job_parts.end(ctx, self._step.id)
            paid = {} if self.asking is None else self.asking.paid(self._unpaid)
            await quotas.settle_within(ctx, self._step, paid)
        elif self.first is not None:
            await quotas.settle_within(ctx, self.first, {})
        await quotas.settle_within(ctx, self._hold, {})
        if state == "finished":
            await store.set_state(ctx.db, org_id, id, "waiting" if self._stop == "approval" else "ended")
        elif state == "stopped":
            await store.give_up_calls(ctx.db, org_id, id)
            self.progress.calls = await store.list_calls(ctx.db, org_id, id)
            await store.set_state(ctx.db, org_id, id, "ended")
        await self._remember(ctx, state, ending)
        return state, ending

    async def _remember(self, ctx: Context, state: TurnState, ending: TurnEnd) -> None:
        """Add the question and the answer to the conversation, once the run has come to its end."""
        prompt, conversation_id = self.progress.asked.prompt, self.new.conversation_id
        if conversation_id is None or prompt is None or self.progress.asked_at is None:
            return
        if self._stop == "approval" or state not in ("finished", "stopped"):
            # It may go on.
            return
        said = conversations.exchange(prompt, self.progress.asked_at, self.new.id, self._answer(), ending.usage)
        await conversations.add(ctx, conversation_id, said, tainted=bool(self.progress.taint))


async def shield_from_cancel(work: Awaitable[T]) -> T:
    """Finish this first, when the run is stopped meanwhile."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def without_concurrency(most: dict[str, int]) -> dict[str, int]:
    """What a question of a run reserves: the run itself holds its place among those that run at once."""
    return {dimension: amount for dimension, amount in most.items() if dimension != "ai.concurrency"}
