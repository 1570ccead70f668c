"""The body's own framing: chunks with a size each, each with a signature or not, and fields behind the last one."""

import asyncio
import hashlib
import hmac
from collections.abc import AsyncIterator
from itertools import count

from atrium.product.s3.model import S3Error
from atrium.product.s3.sigv4 import Seal

SIGNED = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
SIGNED_TRAILER = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
UNSIGNED_TRAILER = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
FRAMED = frozenset({SIGNED, SIGNED_TRAILER, UNSIGNED_TRAILER})
_LONGEST_LINE, _MOST_TRAILERS, _LARGEST, _A_WHILE = 4096, 20, 5 << 30, 64
_EMPTY = hashlib.sha256(b"").hexdigest()


class Chain:
    """The signatures of chunks, each over the one before it; without a seal nothing is signed and nothing is checked."""

    def __init__(self, seal: Seal | None) -> None:
        self._seal, self._last = seal, "" if seal is None else seal.signature

    def check_chunk(self, digest: str, given: str) -> None:
        """The next chunk's signature."""
        if self._seal is not None:
            self._check("AWS4-HMAC-SHA256-PAYLOAD", f"{_EMPTY}\n{digest}", given, self._seal)

    def check_trailer(self, fields: bytes, given: str) -> None:
        """The signature of the fields behind the last chunk."""
        if self._seal is not None:
            self._check("AWS4-HMAC-SHA256-TRAILER", hashlib.sha256(fields).hexdigest(), given, self._seal)

    def _check(self, algorithm: str, what: str, given: str, seal: Seal) -> None:
        text = f"{algorithm}\n{seal.at}\n{seal.scope}\n{self._last}\n{what}"
        good = hmac.digest(seal.key, text.encode(), "sha256").hex()
        if not hmac.compare_digest(good.encode(), given.encode("utf-8", "replace")):
            raise S3Error("SignatureDoesNotMatch", "a chunk of the body does not match its signature")
        self._last = good


class _PieceReader:
    """Lines and exact amounts out of pieces of any size; holds one piece and never a whole chunk."""

    def __init__(self, source: AsyncIterator[bytes]) -> None:
        # A place in the piece, because cutting its front off for every tiny chunk would copy the rest each time.
        self._source, self._held, self._at = source, b"", 0

    async def line(self) -> bytes:
        while (end := self._held.find(b"\r\n", self._at)) < 0:
            if len(self._held) - self._at > _LONGEST_LINE or not await self._more():
                raise S3Error("IncompleteBody", "the body ends inside of a chunk's head")
        line, self._at = self._held[self._at : end], end + 2
        return line

    async def take(self, size: int) -> AsyncIterator[bytes]:
        while size:
            if self._at == len(self._held) and not await self._more():
                raise S3Error("IncompleteBody", "the body ends inside of a chunk")
            piece = self._held[self._at : self._at + size]
            self._at += len(piece)
            size -= len(piece)
            yield piece

    async def end_of_chunk(self) -> None:
        if await self.line():
            raise S3Error("IncompleteBody", "a chunk is longer than it says")

    async def drain(self) -> None:
        while await self._more():
            self._at = len(self._held)

    async def _more(self) -> bool:
        piece = await anext(self._source, b"")
        self._held, self._at = self._held[self._at :] + piece, 0
        return bool(piece)


async def read_chunks(
    source: AsyncIterator[bytes], mode: str, seal: Seal | None, trailers: dict[str, str]
) -> AsyncIterator[bytes]:
    """The bytes inside the frames; `trailers` is filled at the end. What is yielded is proven only once the end is reached."""
    reader, chain = _PieceReader(source), Chain(None if mode == UNSIGNED_TRAILER else seal)
    signed = mode != UNSIGNED_TRAILER
    for number in count(1):
        if number % _A_WHILE == 0:
            # Thousands of tiny chunks may be here already: reading them without a pause would keep everybody else waiting.
            await asyncio.sleep(0)
        size, signature = _head(await reader.line())
        digest = hashlib.sha256()
        async for piece in reader.take(size):
            if signed:
                digest.update(piece)
            yield piece
        chain.check_chunk(digest.hexdigest(), signature)
        if size == 0:
            break
        await reader.end_of_chunk()
    await _read_trailers(reader, chain, mode, trailers)
    await reader.drain()


def _head(line: bytes) -> tuple[int, str]:
    number, _, extension = line.partition(b";")
    try:
        size = int(number, 16)
    except ValueError as error:
        raise S3Error("IncompleteBody", "a chunk does not begin with its size") from error
    if not 0 <= size <= _LARGEST:
        raise S3Error("InvalidRequest", "a chunk is too large")
    return size, extension.strip().removeprefix(b"chunk-signature=").decode("latin-1")


async def _read_trailers(reader: _PieceReader, chain: Chain, mode: str, trailers: dict[str, str]) -> None:
    fields, signature = b"", ""
    for _ in range(_MOST_TRAILERS):
        line = await reader.line()
        if not line:
            break
        name, _, value = line.decode("latin-1").partition(":")
        name, value = name.strip().lower(), value.strip()
        if name == "x-amz-trailer-signature":
            signature = value
        else:
            trailers[name] = value
            fields += f"{name}:{value}\n".encode("latin-1")
    if mode == SIGNED_TRAILER:
        chain.check_trailer(fields, signature)
