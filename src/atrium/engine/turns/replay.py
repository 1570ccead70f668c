"""Replay of a turn that another process runs, or that has ended: out of PostgreSQL, as its pieces are stored."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.turns import store
from atrium.engine.turns.model import StoredPiece, StoredTurn, TurnEnd, TurnMissing, TurnStreamsFull, first_event
from atrium.engine.turns.transcripts import Piece, frames_after, last_frame, reply_in
from atrium.ground.identity.credential_model import CredentialOver
from atrium.kit.errors import AppError
from atrium.kit.postgres.notify import wait_for
from atrium.kit.web.http import STATUS
from atrium.kit.web.sse import sse_frame
from atrium.seams.context import Operation

# Pieces are stored once a second; looking twice as often adds little to that.
_LOOK_SECONDS = 0.5


def goodbye(reason: str) -> bytes:
    """What a stream ends with when its credential has ended; the turn goes on or stops without it. Without an id: nothing of the turn."""
    if reason != "signed_out":
        return b""
    return _error(CredentialOver("this credential ended while the reply was under way; sign in again"))


def busy() -> TurnStreamsFull:
    """What is told where this process carries no more replies."""
    return TurnStreamsFull("this server carries as many replies as it can; try again in a moment", retry_after=2)


def _error(refusal: AppError) -> bytes:
    facts = {"code": refusal.code, "title": refusal.title, "detail": refusal.message, "status": STATUS[refusal.kind]}
    return b"event: error\ndata: %b\n\n" % msgspec.json.encode(facts)


async def follow(op: Operation, turn: StoredTurn, after: int, first: bytes = b"") -> AsyncGenerator[bytes, None]:
    """Events from a position on, after `first`, up to the end; a turn whose process dies is ended by another."""
    permit = op.services.turns.capacity.take(op.who.org_id)
    if permit is None:
        # The last one was taken while this reply began.
        yield _error(busy())
        return
    with permit:
        async with aclosing(_follow(op, turn, after, first)) as events:
            async for block in events:
                yield block


async def _follow(op: Operation, turn: StoredTurn, position: int, first: bytes) -> AsyncGenerator[bytes, None]:
    with op.services.notifier.subscribe(frozenset({store.topic_of_end(turn.id)})) as notified:
        while True:
            async with op.begin(held=False) as ctx:
                # The end first: what was said before it is then there as well.
                found = await store.find_turn(ctx.db, ctx.who, turn.id)
                ending = None if found is None else found.ended()
                pieces = await store.list_pieces(ctx.db, ctx.who.org_id, turn.id, position if ending is None else -1)
            if found is None:
                # Forgotten while it was read.
                return
            said = [Piece(piece.at, piece.kind, piece.body) for piece in pieces]
            frames = frames_after(turn.id, said, position)
            if ending is not None:
                end = said[-1].end if said else 0
                last = await _last_words(op, turn.id, ending, reply_in(pieces, at=ending.answer_at))
                yield first + frames + last_frame(turn.id, end, ending.event, last)
                return
            if first or frames:
                position = said[-1].end if frames else position
                yield first + frames
                first = b""
            await wait_for(notified, _LOOK_SECONDS)


async def wait_for_end(op: Operation, id: UUID) -> tuple[StoredTurn, TurnEnd]:
    """Wait for the end of a turn in whichever process."""
    with op.services.notifier.subscribe(frozenset({store.topic_of_end(id)})) as notified:
        while True:
            turn = await read_turn(op, id)
            if (ending := turn.ended()) is not None:
                return turn, ending
            await wait_for(notified, _LOOK_SECONDS)


async def read_turn(op: Operation, id: UUID) -> StoredTurn:
    """A turn of the caller's; to everybody else it does not exist."""
    async with op.begin(held=False) as ctx:
        found = await store.find_turn(ctx.db, ctx.who, id)
    if found is None:
        raise TurnMissing("there is no such turn of yours, or it was forgotten")
    return found


async def read_pieces(op: Operation, id: UUID, after: int = -1) -> list[StoredPiece]:
    """What is stored of a turn after a position."""
    async with op.begin(held=False) as ctx:
        return await store.list_pieces(ctx.db, ctx.who.org_id, id, after)


def first_frame(turn: StoredTurn) -> bytes:
    """The event that every turn begins with."""
    data = first_event(turn.id, turn.executor, turn.model, turn.simulated, turn.conversation_id)
    return sse_frame(f"{turn.id}.0", "start", data)


async def _last_words(op: Operation, id: UUID, ending: TurnEnd, text: str) -> dict[str, Any]:
    for kind in reversed(op.services.registry.turn_kinds):
        if (told := await kind.final_event(op, id, ending, text)) is not None:
            return told
    return ending.told(text)
