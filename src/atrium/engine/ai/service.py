"""The verbs of AI: admit, ask, tell, settle."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.ai import conversations, message_parts, replay, store
from atrium.engine.ai.active_turn import ActiveTurn, ChatTurn
from atrium.engine.ai.model import (
    ChatMessage,
    ChatModel,
    ChatReply,
    ConversationBusy,
    Echo,
    FormatRefused,
    NewTurn,
    OpenTurn,
    Question,
    ShownUsage,
    Spent,
    StoppedTurn,
    StoredTurn,
    TurnEnd,
    TurnFailed,
    TurnMissing,
    TurnStreamsFull,
    UtilityModel,
)
from atrium.engine.executors import service as executors
from atrium.engine.executors import turns
from atrium.engine.executors.model import LOCAL
from atrium.engine.inference.estimates import SHORT, Estimator, length_of
from atrium.engine.jobs import child_jobs as job_parts
from atrium.ground.access import service as access
from atrium.ground.idempotency import service as idempotency
from atrium.ground.idempotency.model import KeyReused
from atrium.ground.quotas import service as quotas
from atrium.ground.quotas.model import Admission
from atrium.kit.errors import AppError, Invalid, Kind
from atrium.kit.ids import new_id
from atrium.kit.transcripts import reply_in
from atrium.kit.web.http import STATUS
from atrium.kit.web.sse import sse_frame
from atrium.kit.work.shares import Permit
from atrium.seams.context import Context, Operation
from atrium.seams.models import Message, ModelReply, Turn
from atrium.seams.routes import Disconnected

# A reservation outlives the longest turn, so that none is freed while its model still talks.
_LEASE = turns.LONGEST_TURN + 30
# Until the turn is written down: what dies before that frees its reservation soon.
_SHORT_LEASE = 20
_STOP_SECONDS = 5.0
# Of one reply at once: a person's devices and pages.
_MOST_READERS = 20
MOST_MESSAGES = 998
_KINDS = {status: kind for kind, status in STATUS.items()}


async def echo(op: Operation, text: str) -> Echo:
    """Say it back, metered like a model's turn: one request, and a token for every word in and out."""
    tokens = 2 * len(text.split())
    admission = await quotas.admit(op, {"ai.requests": 1, "ai.tokens.total": tokens, "ai.concurrency": 1})
    await quotas.settle(op, admission, {"ai.requests": 1, "ai.tokens.total": tokens})
    return Echo(text, Spent(1, tokens))


async def run_turn(op: Operation, turn: Turn) -> ModelReply:
    """One turn on the executor that the caller's team uses, reserved before and paid after, however it ends."""
    return await run_turn_on(op, await open_utility(op), turn)


async def open_utility(op: Operation) -> UtilityModel:
    """The model of the role `utility` for the caller's team."""
    access.require(op, "chat:use")
    async with op.begin() as ctx:
        place = await turns.place_turn(ctx, None)
    executor, pulled = place.model or LOCAL, place.worker is not None
    return UtilityModel(executor, await turns.open_model(op, executor, new_id() if pulled else None), pulled)


async def run_turn_on(
    op: Operation,
    model: UtilityModel,
    turn: Turn,
    *,
    seconds: float = turns.LONGEST_TURN,
    simulation: Callable[[], str] | None = None,
) -> ModelReply:
    """One turn of an opened model, reserved before and paid after, however it ends; `simulation` is what a simulated one says."""
    # A job of a pull executor is part of one turn alone.
    whole = new_id() if model.pulled else None
    opened = model.opened if whole is None else await turns.open_model(op, model.executor, whole)
    most, _ = await _costs(op, turn)
    admission = await quotas.admit(op, most, lease=_LEASE)
    try:
        if model.simulated and simulation is not None:
            reply = await _simulated(op, turn, simulation)
        else:
            reply = await turns.ask(op, opened.port, turn, seconds)
    except BaseException as error:
        spent = turns.spent_by(error)
        if spent is None:
            # Cut off from outside: how much the model had said is unknown.
            spent = {dimension: amount for dimension, amount in most.items() if dimension != "ai.concurrency"}
        await quotas.settle(op, admission, spent)
        raise
    finally:
        if whole is not None:
            async with op.begin(held=False) as ctx:
                await job_parts.end(ctx, whole)
    await quotas.settle(op, admission, turns.paid_for(reply.usage))
    return reply


async def _simulated(op: Operation, turn: Turn, simulation: Callable[[], str]) -> ModelReply:
    said = await op.services.threads.run(op.who.org_id, simulation)
    return ModelReply(said, "stop", await Estimator.of(op).reply(turn, said))


async def chat(op: Operation, question: Question, key: str | None) -> ChatReply:
    """One turn, whole. One that was asked with a key goes on when the caller is cut off, and the same request gets its answer later."""
    # It has no reader of its events: what happens when the caller leaves is decided below.
    begun = await _begin(op, msgspec.structs.replace(question, on_disconnect="finish"), key)
    if isinstance(begun, ChatTurn):
        turn, ending = await until_ended(op, begun, stop=key is None)
        text, thinking = begun.transcript.said(), begun.transcript.said(thinking=True)
    else:
        turn, ending = await replay.wait_for_end(op, begun.id)
        pieces = await replay.read_pieces(op, begun.id)
        text, thinking = reply_in(pieces), reply_in(pieces, thinking=True)
    return _reply(turn, ending, text, thinking)


async def stream(op: Operation, question: Question, key: str | None) -> AsyncGenerator[bytes, None]:
    """The events of a turn; the same key and question join the turn that runs already."""
    begun = await _begin(op, question, key)
    if isinstance(begun, ChatTurn):
        return begun.transcript.follow(-1, sse_frame(f"{begun.new.id}.0", "start", begun.new.started()))
    return replay_events(op, begun, -1)


async def resume(op: Operation, id: UUID, after: int) -> AsyncGenerator[bytes, None]:
    """The events of a turn after a position, from whichever process asks for it; -1 is from the beginning."""
    return replay_events(op, await replay.read_turn(op, id), after)


async def resume_after(op: Operation, event_id: str) -> AsyncGenerator[bytes, None]:
    """The events of a turn after one of them."""
    name, _, position = event_id.rpartition(".")
    try:
        id = msgspec.convert(name, UUID)
    except msgspec.ValidationError as error:
        raise TurnMissing("Last-Event-ID is not the id of an event of a turn") from error
    if not (position.isascii() and position.isdigit() and len(position) < 10):
        raise TurnMissing("Last-Event-ID is not the id of an event of a turn")
    return await resume(op, id, int(position))


async def stop(op: Operation, id: UUID) -> StoppedTurn:
    """Hang up on the model, in whichever process; what it said is kept and paid. A turn that has ended stays as it is."""
    turn = await replay.read_turn(op, id)
    if turn.state == "running":
        running: ActiveTurn | None = op.services.turns.find(id)
        if running is not None:
            running.stop()
        else:
            async with op.begin() as ctx:
                await store.ask_to_stop(ctx.db, ctx.who, id, turn.process_id)
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                turn, _ = await replay.wait_for_end(op, id)
        except TimeoutError:
            # Its process does not answer; when it has died, the turn is ended by another.
            turn = await replay.read_turn(op, id)
    ending, pieces = turn.ended(), await replay.read_pieces(op, id)
    text = reply_in(pieces, at=0 if ending is None else ending.answer_at)
    return StoppedTurn(id, turn.state, text, None if ending is None else ending.usage)


async def read_model(op: Operation, conversation_id: UUID | None = None) -> ChatModel:
    """What a chat would use now, and which turn of the caller's is open in this conversation."""
    found = await executors.find_chat_executor(op)
    simulated = found.name == LOCAL and not op.services.settings.local_model_url
    turn = None if conversation_id is None else await _find_open_turn(op, conversation_id)
    return ChatModel(found.name, found.mode, found.model, simulated, found.healthy, found.last_seen_at, turn)


async def _find_open_turn(op: Operation, conversation_id: UUID) -> OpenTurn | None:
    access.require(op, "chat:use")
    async with op.begin(held=False) as ctx:
        return await store.find_open_turn(ctx.db, ctx.who, conversation_id)


async def _begin(op: Operation, question: Question, key: str | None) -> ChatTurn | StoredTurn:
    """A new turn under way, or the one that was begun with this key."""
    digest = None
    if key is not None:
        idempotency.require_key(key)
        digest = idempotency.digest_of(op.who, msgspec.json.encode(question))
        async with op.begin() as ctx:
            if (known := await store.find_turn_by_key(ctx.db, ctx.who, key)) is not None:
                return same_request(known, digest)
    try:
        with take_permit(op) as permit:
            return await _begin_new(op, question, key, digest, permit)
    except AppError as error:
        op.services.metrics.turns_refused.labels(error.code).inc()
        raise


async def _begin_new(
    op: Operation, question: Question, key: str | None, digest: bytes | None, permit: Permit
) -> ChatTurn | StoredTurn:
    services = op.services
    executor, conversation_id, earlier = LOCAL, conversation_id_of(question.conversation), list[ChatMessage]()
    if question.executor or services.settings.chat_executor or conversation_id:
        async with op.begin() as ctx:
            place = await turns.place_chat(ctx, question.executor)
            executor = place.model or LOCAL
            if conversation_id is not None:
                earlier, _ = await conversations.read(ctx, conversation_id)
    turn = await _turn_of(op, question, earlier)
    id = new_id()
    model = await turns.open_model(op, executor, id)
    most, prompt = await _costs(op, turn)
    admission = await quotas.admit(op, most, lease=_SHORT_LEASE)
    new = NewTurn(
        id=id,
        process_id=services.turns.process_id,
        executor=executor,
        model=model.model,
        simulated=model.simulated,
        conversation_id=conversation_id,
        admission_id=admission.id,
        reserved_tokens=most["ai.tokens.total"],
        prompt_tokens=prompt,
        key=key,
        request=digest,
    )
    try:
        async with op.begin() as ctx:
            if question.conversation == "new":
                new = msgspec.structs.replace(new, conversation_id=await conversations.begin(ctx, question.prompt))
            written = await _write_down(ctx, new, admission)
    except BaseException:
        await quotas.settle(op, admission, {})
        raise
    if written is not None:
        await quotas.settle(op, admission, {})
        return same_request(written, digest)
    running = ChatTurn(op, new, turn, model, admission)
    if new.conversation_id is not None:
        running.also = partial(_remember, new.conversation_id, question, datetime.now(UTC), new.id)
    if question.on_disconnect == "stop":
        running.stop_unless_read()
    running.start(permit)
    return running


async def _write_down(ctx: Context, new: NewTurn, admission: Admission) -> StoredTurn | None:
    """Keep the turn and its reservation; the turn that has its key already, if there is one."""
    if await store.insert_turn(ctx.db, ctx.who, new):
        await quotas.extend_within(ctx, admission, _LEASE)
        return None
    known = await store.find_turn_by_key(ctx.db, ctx.who, new.key) if new.key is not None else None
    if known is None:
        raise ConversationBusy("the last question of this conversation is still being answered; wait for it or stop it")
    return known


async def _remember(
    conversation_id: UUID,
    question: Question,
    asked: datetime,
    turn_id: UUID,
    ctx: Context,
    text: str,
    usage: ShownUsage,
) -> None:
    said = conversations.exchange(question.prompt, asked, turn_id, text, usage)
    await conversations.add(ctx, conversation_id, said)


async def _turn_of(op: Operation, question: Question, earlier: list[ChatMessage]) -> Turn:
    return Turn(
        messages=await messages_of(op, question, earlier),
        max_tokens=question.max_tokens,
        response_format=question.response_format,
    )


async def messages_of(op: Operation, question: Question, earlier: list[ChatMessage]) -> list[Message]:
    """What is said to the model: what the conversation holds, what came along, and the question."""
    earlier = earlier[len(question.messages) + 1 - MOST_MESSAGES :]
    said = [*earlier, *question.messages, ChatMessage("user", question.prompt)]
    return await message_parts.messages_of(op, said, len(earlier))


async def _costs(op: Operation, turn: Turn) -> tuple[dict[str, int], int]:
    """The most a turn may cost, and what its question alone is estimated to cost."""
    if length_of(turn) > SHORT:
        # What is refused however little the question costs is refused before it is read.
        await quotas.settle(op, await quotas.admit(op, turns.reserved_for(turn, 0), lease=_SHORT_LEASE), {})
    prompt = await Estimator.of(op).turn(turn)
    return turns.reserved_for(turn, prompt), prompt


def conversation_id_of(asked: str | None) -> UUID | None:
    """The conversation that is named; None for a new one and for none."""
    if asked is None or asked == "new":
        return None
    try:
        return msgspec.convert(asked, UUID)
    except msgspec.ValidationError as error:
        message = "`new`, or the id of a conversation"
        raise Invalid(f"conversation: {message}", errors=[{"path": "conversation", "message": message}]) from error


def same_request(known: StoredTurn, digest: bytes | None) -> StoredTurn:
    """The turn that has this key, which must have been asked with the same request."""
    if known.request != digest:
        raise KeyReused("this key was used for a different question; take a new one")
    return known


async def until_ended(op: Operation, running: ActiveTurn, *, stop: bool) -> tuple[StoredTurn | NewTurn, TurnEnd]:
    """Wait for the end of a reply of this process; `stop` it when the caller leaves before."""
    gone: asyncio.Future[Any] = asyncio.ensure_future(op.gone())
    ended: asyncio.Future[Any] = running.ended
    try:
        await asyncio.wait({gone, ended}, return_when=asyncio.FIRST_COMPLETED)
        if not running.ended.done():
            if stop:
                running.stop()
            raise Disconnected
    except asyncio.CancelledError:
        if stop:
            running.stop()
        raise
    finally:
        gone.cancel()
    return running.new, running.ended.result()[1]


def replay_events(op: Operation, turn: StoredTurn, after: int) -> AsyncGenerator[bytes, None]:
    """The events of a turn after a position, out of this process or out of PostgreSQL."""
    first = replay.first_frame(turn) if after < 0 else b""
    running: ActiveTurn | None = op.services.turns.find(turn.id)
    if running is None:
        # Told here with a status where it can be: the reply that begins takes the place.
        take_permit(op).leave()
        return replay.follow(op, turn, after, first)
    if running.transcript.readers >= _MOST_READERS:
        raise TurnStreamsFull(f"{_MOST_READERS} connections read this reply already; close one of them", retry_after=2)
    return running.transcript.follow(after, first)


def take_permit(op: Operation) -> Permit:
    """A permit for one reply; refused where this process carries no more, or no more of the company's."""
    services = op.services
    permit = None if services.state.draining else services.turns.capacity.take(op.who.org_id)
    if permit is None:
        raise replay.busy()
    return permit


def kind_of(ending: TurnEnd) -> Kind:
    """Which kind of refusal a turn that failed is told as."""
    return _KINDS.get(ending.status, Kind.UPSTREAM)


def _reply(turn: StoredTurn | NewTurn, ending: TurnEnd, text: str, thinking: str) -> ChatReply:
    if ending.code:
        raise TurnFailed(ending, kind_of(ending), text)
    fault = ending.schema_error
    if fault is not None:
        message = f"the model's reply is not what was asked for: {fault.message}"
        raise FormatRefused(message, text=text, errors=[fault], usage=ending.usage)
    more: dict[str, Any] = {} if ending.parsed is msgspec.UNSET else {"parsed": ending.parsed}
    return ChatReply(
        id=turn.id,
        text=text,
        finish=ending.finish or "stop",
        usage=ending.usage,
        executor=turn.executor,
        model=turn.model,
        simulated=turn.simulated,
        thinking=thinking,
        conversation=turn.conversation_id,
        **more,
    )
