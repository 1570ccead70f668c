"""What a model says, as it is said: one writer, any number of readers, and the pieces that are not stored yet.

A position counts the characters said so far, so that a reader who knows one can be told exactly the rest.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import NamedTuple
from uuid import UUID

import msgspec

from atrium.kit.sse import framed

# What waits for a reader who does not keep up; then the reader is cut off, and may come back for the rest.
MOST_WAITING = 256 << 10
_encode = msgspec.json.Encoder().encode


class Piece(NamedTuple):
    """What was said from a position on; `thinking` is what the model said to itself."""

    at: int
    thinking: bool
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
        "_prefix",
        "_readers",
        "_thinking",
        "ending",
        "id",
        "on_left",
        "position",
    )

    def __init__(self, id: UUID) -> None:
        self.id, self.position = id, 0
        self.ending: bytes | None = None
        # Called when the last reader has gone before the end.
        self.on_left: Callable[[], None] | None = None
        self._prefix = b"id: %b." % str(id).encode()
        self._kept: list[Piece] = []
        self._fresh: list[str] = []
        self._fresh_at, self._thinking = 0, False
        self._readers: set[_Reader] = set()

    def say(self, text: str, *, thinking: bool = False) -> None:
        """Add what was just said, and tell every reader."""
        if self._thinking is not thinking or not self._fresh:
            self._close_piece()
            self._fresh_at, self._thinking = self.position, thinking
        self._fresh.append(text)
        self.position += len(text)
        if self._readers:
            frame = _delta(self._prefix, self.position, thinking, text)
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

    def said(self, *, thinking: bool = False) -> str:
        """The reply so far, or what the model said to itself."""
        return "".join([piece.body for piece in self.pieces() if piece.thinking is thinking])

    @property
    def readers(self) -> int:
        """How many read along."""
        return len(self._readers)

    async def follow(self, after: int, first: bytes = b"") -> AsyncGenerator[bytes, None]:
        """Events from a position on, after `first`, as they come, up to the end; a reader who does not keep up is cut off before it."""
        reader = _Reader()
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
            self._kept.append(Piece(self._fresh_at, self._thinking, "".join(self._fresh)))
            self._fresh = []


class _Reader:
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


def frames_after(id: UUID, pieces: Iterable[Piece], after: int) -> bytes:
    """What was said after a position, adjacent pieces of one kind joined into one event."""
    prefix, frames = b"id: %b." % str(id).encode(), list[bytes]()
    run: list[str] = []
    thinking, end = False, 0
    for piece in pieces:
        if piece.end <= after:
            continue
        if run and piece.thinking is not thinking:
            frames.append(_delta(prefix, end, thinking, "".join(run)))
            run = []
        run.append(piece.body[max(0, after - piece.at) :])
        thinking, end = piece.thinking, piece.end
    if run:
        frames.append(_delta(prefix, end, thinking, "".join(run)))
    return b"".join(frames)


def last_frame(id: UUID, position: int, name: str, data: object) -> bytes:
    """The event that ends a stream; its position is past everything that was said."""
    return framed(f"{id}.{position + 1}", name, data)


def _delta(prefix: bytes, position: int, thinking: bool, text: str) -> bytes:
    kind = b"thinking" if thinking else b"text"
    return b'%b%d\nevent: delta\ndata: {"%b":%b}\n\n' % (prefix, position, kind, _encode(text))
