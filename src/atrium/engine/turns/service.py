"""The verbs of turns: begin one or join the one that was begun, follow it, wait for its end, stop it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

import msgspec

from atrium.engine.executors.turns import OpenedModel
from atrium.engine.turns import replay, store
from atrium.engine.turns.active_turn import ActiveTurn, find_active
from atrium.engine.turns.model import (
    ConversationBusy,
    NewTurn,
    StoppedTurn,
    StoredPiece,
    StoredTurn,
    TurnEnd,
    TurnMissing,
    TurnStreamsFull,
)
from atrium.engine.turns.transcripts import reply_in
from atrium.ground.idempotency import service as idempotency
from atrium.ground.idempotency.model import KeyReused
from atrium.ground.quotas import service as quotas
from atrium.ground.quotas.model import Admission
from atrium.kit.errors import AppError, Kind
from atrium.kit.web.http import STATUS
from atrium.kit.work.shares import Permit
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Disconnected

T = TypeVar("T", bound=ActiveTurn)
# Until a turn is written down: what dies before that frees its reservation soon.
SHORT_LEASE = 20
_STOP_SECONDS = 5.0
# Of one reply at once: a person's devices and pages.
_MOST_READERS = 20
_KINDS = {status: kind for kind, status in STATUS.items()}


class TurnDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that is to begin; `reserves` is what it may cost, its own admission first, which it then keeps for `lease` seconds.

    In the transaction that writes it down, `begin_conversation` makes the conversation that it is the first of, and `also` writes what
    belongs to its kind.
    """

    id: UUID
    executor: str
    model: OpenedModel
    prompt_tokens: int
    reserves: tuple[dict[str, int], ...]
    lease: int
    key: str | None
    request: bytes | None
    conversation_id: UUID | None = None
    begin_conversation: Callable[[Context], Awaitable[UUID]] | None = None
    also: Callable[[Context, NewTurn], Awaitable[None]] | None = None


class BegunTurn(NamedTuple):
    """A turn that was written down, and what it reserved."""

    turn: NewTurn
    admissions: list[Admission]


async def begin_or_join(
    op: Operation,
    key: str | None,
    request: tuple[bytes, ...],
    begin: Callable[[bytes | None, Permit], Awaitable[T | StoredTurn]],
) -> T | StoredTurn:
    """A new turn under way, or the one that was begun with this key, which must have been asked for with the same request."""
    digest = None
    if key is not None:
        idempotency.require_key(key)
        digest = idempotency.digest_of(op.who, *request)
        async with op.begin() as ctx:
            if (known := await store.find_turn_by_key(ctx.db, ctx.who, key)) is not None:
                return _same_request(known, digest)
    try:
        with take_permit(op) as permit:
            return await begin(digest, permit)
    except AppError as error:
        op.services.metrics.turns_refused.labels(error.code).inc()
        raise


async def begin_turn(op: Operation, draft: TurnDraft) -> BegunTurn | StoredTurn:
    """Reserve what a turn may cost and write it down, or leave nothing; where its key was used meanwhile, the turn that has it."""
    admissions = list[Admission]()
    try:
        for most in draft.reserves:
            admissions.append(await quotas.admit(op, most, lease=SHORT_LEASE))
        async with op.begin() as ctx:
            written = await _write_down(ctx, draft, admissions[0])
    except BaseException:
        await _free(op, admissions)
        raise
    if isinstance(written, NewTurn):
        return BegunTurn(written, admissions)
    await _free(op, admissions)
    return _same_request(written, draft.request)


async def _write_down(ctx: Context, draft: TurnDraft, admission: Admission) -> NewTurn | StoredTurn:
    begun = None if draft.begin_conversation is None else await draft.begin_conversation(ctx)
    new = NewTurn(
        id=draft.id,
        process_id=ctx.services.turns.process_id,
        executor=draft.executor,
        model=draft.model.model,
        simulated=draft.model.simulated,
        conversation_id=begun or draft.conversation_id,
        admission_id=admission.id,
        reserved_tokens=admission.amounts.get("ai.tokens.total", 0),
        prompt_tokens=draft.prompt_tokens,
        key=draft.key,
        request=draft.request,
    )
    if await store.insert_turn(ctx.db, ctx.who, new):
        if draft.also is not None:
            await draft.also(ctx, new)
        await quotas.extend_within(ctx, admission, draft.lease)
        return new
    known = await store.find_turn_by_key(ctx.db, ctx.who, new.key) if new.key is not None else None
    if known is None:
        raise ConversationBusy("the last question of this conversation is still being answered; wait for it or stop it")
    return known


async def _free(op: Operation, admissions: list[Admission]) -> None:
    for admission in admissions:
        await quotas.settle(op, admission, {})


def _same_request(known: StoredTurn, digest: bytes | None) -> StoredTurn:
    if known.request != digest:
        raise KeyReused("this key was used for a different question; take a new one")
    return known


async def lock_turn(ctx: Context, id: UUID) -> None:
    """Lock the caller's turn, before anything else of it."""
    await store.lock_turn(ctx.db, ctx.who, id)


async def reopen_turn(ctx: Context, turn: StoredTurn, admission: Admission, lease: int) -> NewTurn:
    """Let a turn that has ended run again in this process, under another admission."""
    process_id = ctx.services.turns.process_id
    if not await store.reopen_turn(ctx.db, ctx.who, turn.id, process_id, admission.id):
        raise ConversationBusy(
            "this run is under way already, or its conversation answers another question; wait for it"
        )
    await quotas.extend_within(ctx, admission, lease)
    return NewTurn(
        id=turn.id,
        process_id=process_id,
        executor=turn.executor,
        model=turn.model,
        simulated=turn.simulated,
        conversation_id=turn.conversation_id,
        admission_id=admission.id,
        reserved_tokens=0,
        prompt_tokens=0,
        key=None,
        request=None,
    )


async def is_ours(ctx: Context, turn: NewTurn) -> bool:
    """Whether the turn still runs here, which it then does until the commit."""
    return await store.hold_turn(ctx.db, ctx.who.org_id, turn.id, turn.admission_id)


async def list_pieces(ctx: Context, id: UUID) -> list[StoredPiece]:
    """Everything that is stored of what was said in a turn."""
    return await store.list_pieces(ctx.db, ctx.who.org_id, id)


async def find_running(ctx: Context, conversation_id: UUID) -> UUID | None:
    """The caller's turn that runs in a conversation."""
    return await store.find_running(ctx.db, ctx.who, conversation_id)


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
        if (running := find_active(op.services, id)) is not None:
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
    running = find_active(op.services, turn.id)
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
