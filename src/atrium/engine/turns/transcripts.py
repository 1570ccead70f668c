"""What a model says and does, as it happens: one writer, any number of readers, and the pieces that are not stored yet.

A position counts the characters said so far, so that a reader who knows one can be told exactly the rest. An event besides the
words counts as the characters of its JSON, and is told whole or not at all.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from typing import Literal, NamedTuple, Protocol
from uuid import UUID

import msgspec

from atrium.kit.web.sse import sse_frame

# What waits for a reader who does not keep up; then the reader is cut off, and may come back for the rest.
MOST_WAITING = 256 << 10
# Words of the answer, words the model said to itself, and events whose body is JSON.
PieceKind = Literal["text", "thinking", "tool_call", "tool_result"]
WORDS = frozenset({"text", "thinking"})
_TEXT: PieceKind = "text"
_THINKING: PieceKind = "thinking"
_encode = msgspec.json.Encoder().encode


class Piece(NamedTuple):
    """What was said from a position on."""

    at: int
    kind: PieceKind
    body: str

    @property
    def end(self) -> int:
        """The position after it."""
        return self.at + len(self.body)


class Transcript:
    """One reply while it grows. Pieces that were handed out for storing keep their bounds, so that storing them twice changes nothing."""

    __slots__ = (
        "_fresh",
        "_fresh_at",
        "_kept",
        "_kind",
        "_prefix",
        "_readers",
        "ending",
        "id",
        "on_left",
        "position",
    )

    def __init__(self, id: UUID, position: int = 0, earlier: Iterable[Piece] = ()) -> None:
        self.id, self.position = id, position
        self.ending: bytes | None = None
        # Called when the last reader has gone before the end.
        self.on_left: Callable[[], None] | None = None
        self._prefix = b"id: %b." % str(id).encode()
        self._kept: list[Piece] = list(earlier)
        self._fresh: list[str] = []
        self._fresh_at, self._kind = position, _TEXT
        self._readers: set[_TranscriptReader] = set()

    def say(self, text: str, *, thinking: bool = False) -> None:
        """Add what was just said, and tell every reader."""
        kind = _THINKING if thinking else _TEXT
        if self._kind is not kind or not self._fresh:
            self._close_piece()
            self._fresh_at, self._kind = self.position, kind
        self._fresh.append(text)
        self.position += len(text)
        if self._readers:
            self._push(_delta(self._prefix, self.position, kind, text))

    def tell(self, kind: PieceKind, data: object) -> None:
        """Add an event besides the words, and tell every reader."""
        self._close_piece()
        piece = Piece(self.position, kind, _encode(data).decode())
        self._kept.append(piece)
        self.position = piece.end
        self._push(_event(self._prefix, piece))

    def _push(self, frame: bytes) -> None:
        for reader in self._readers:
            reader.push(frame)

    def end(self, name: str, data: object) -> None:
        """The last event; every reader ends with it."""
        self.ending = last_frame(self.id, self.position, name, data)
        for reader in self._readers:
            reader.push(self.ending, last=True)

    def pieces(self) -> list[Piece]:
        """Everything said so far."""
        self._close_piece()
        return self._kept

    def said(self, *, thinking: bool = False, at: int = 0) -> str:
        """The reply so far, from a position on, or what the model said to itself."""
        return reply_in(self.pieces(), thinking=thinking, at=at)

    @property
    def readers(self) -> int:
        """How many read along."""
        return len(self._readers)

    async def follow(self, after: int, first: bytes = b"") -> AsyncGenerator[bytes, None]:
        """Events from a position on, after `first`, as they come, up to the end; a reader who does not keep up is cut off before it."""
        reader = _TranscriptReader()
        self._readers.add(reader)
        try:
            told = first + frames_after(self.id, self.pieces(), after) + (self.ending or b"")
            if told:
                yield told
            if self.ending is not None:
                return
            while waiting := await reader.take():
                yield waiting
                if self.ending is not None and reader.is_empty:
                    return
        finally:
            self._readers.discard(reader)
            if not (self._readers or reader.is_cut or self.ending) and self.on_left is not None:
                self.on_left()

    def _close_piece(self) -> None:
        if self._fresh:
            self._kept.append(Piece(self._fresh_at, self._kind, "".join(self._fresh)))
            self._fresh = []


class _TranscriptReader:
    """Frames on their way to one reader."""

    __slots__ = ("_frames", "_size", "_waiter", "is_cut")

    def __init__(self) -> None:
        self._frames: list[bytes] = []
        self._size, self.is_cut = 0, False
        self._waiter: asyncio.Future[None] | None = None

    @property
    def is_empty(self) -> bool:
        return not self._frames

    def push(self, frame: bytes, *, last: bool = False) -> None:
        """Hand over a frame, unless too much waits already; the last one repeats the whole reply, and may be as long as that."""
        self._size += len(frame)
        self.is_cut = self.is_cut or (self._size > MOST_WAITING and not last)
        if not self.is_cut:
            self._frames.append(frame)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def take(self) -> bytes:
        """All that waits, as soon as there is any; nothing when the reader was cut off."""
        if not self._frames and not self.is_cut:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        if self.is_cut:
            return b""
        frames, self._frames, self._size = self._frames, [], 0
        return frames[0] if len(frames) == 1 else b"".join(frames)


class StoredPieces(Protocol):
    """A piece, wherever it was kept."""

    @property
    def at(self) -> int:
        """Where it begins."""

    @property
    def kind(self) -> PieceKind:
        """Which kind it is of."""

    @property
    def body(self) -> str:
        """Its words, or its JSON."""


def reply_in(pieces: Sequence[StoredPieces], *, thinking: bool = False, at: int = 0) -> str:
    """The reply from a position on, or what the model said to itself."""
    kind = _THINKING if thinking else _TEXT
    return "".join([piece.body for piece in pieces if piece.kind == kind and piece.at >= at])


def frames_after(id: UUID, pieces: Iterable[Piece], after: int) -> bytes:
    """What was said after a position, adjacent pieces of one kind joined into one event."""
    prefix, frames = b"id: %b." % str(id).encode(), list[bytes]()
    run: list[str] = []
    kind, end = _TEXT, 0
    for piece in pieces:
        if piece.end <= after:
            continue
        if run and piece.kind != kind:
            frames.append(_delta(prefix, end, kind, "".join(run)))
            run = []
        if piece.kind not in WORDS:
            frames.append(_event(prefix, piece))
            continue
        run.append(piece.body[max(0, after - piece.at) :])
        kind, end = piece.kind, piece.end
    if run:
        frames.append(_delta(prefix, end, kind, "".join(run)))
    return b"".join(frames)


def last_frame(id: UUID, position: int, name: str, data: object) -> bytes:
    """The event that ends a stream; its position is past everything that was said."""
    return sse_frame(f"{id}.{position + 1}", name, data)


def _delta(prefix: bytes, position: int, kind: PieceKind, text: str) -> bytes:
    return b'%b%d\nevent: delta\ndata: {"%b":%b}\n\n' % (prefix, position, kind.encode(), _encode(text))


def _event(prefix: bytes, piece: Piece) -> bytes:
    return b"%b%d\nevent: %b\ndata: %b\n\n" % (prefix, piece.end, piece.kind.encode(), piece.body.encode())
