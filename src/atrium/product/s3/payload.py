"""A request's body: how it is framed, how long it is, what it claims; and small ones read whole."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from atrium.engine.repository import service as repository
from atrium.engine.repository.service import Upload
from atrium.kit.staging import digests_of
from atrium.product.s3 import checksums, chunks
from atrium.product.s3.ask import Ask
from atrium.product.s3.checksums import Checksum
from atrium.product.s3.model import Refusal
from atrium.product.s3.sigv4 import Seal
from atrium.seams.context import Operation

LARGEST_DOCUMENT = 4 << 20


class Admitted:
    """A request whose signature was good; the seal continues into the body's chunks."""

    __slots__ = ("ask", "patience", "payload", "seal")

    def __init__(self, ask: Ask, payload: str, seal: Seal | None, patience: float) -> None:
        self.ask, self.payload, self.seal, self.patience = ask, payload, seal, patience

    @property
    def framed(self) -> bool:
        """Whether the body has frames of its own inside."""
        return self.payload in chunks.FRAMED

    def body(self, trailers: dict[str, str]) -> AsyncIterator[bytes]:
        """The body's bytes without its frames."""
        if self.framed:
            return chunks.unframed(self.ask.chunks(), self.payload, self.seal, trailers)
        return self.ask.chunks()

    def length(self) -> int | None:
        """How many bytes the object will have; None when they come in HTTP's own chunks and do not say."""
        text = self.ask.headers.get("x-amz-decoded-content-length" if self.framed else "content-length", "")
        if text.isascii() and text.isdigit():
            return int(text)
        if not self.framed and "transfer-encoding" in self.ask.headers:
            return None
        raise Refusal("MissingContentLength", "You must provide the Content-Length HTTP header.")


@asynccontextmanager
async def receive(
    op: Operation, admitted: Admitted, *, fallback: str | None = None
) -> AsyncIterator[tuple[Upload, Checksum | None]]:
    """Take the body in and see that it is what it claims to be; whatever fails, nothing of it stays."""
    claim = checksums.claim_of(admitted.ask, admitted.payload, fallback)
    length, trailers = admitted.length(), dict[str, str]()
    async with repository.receive(op, admitted.body(trailers), length, hashes=claim.hashes) as upload:
        require_complete(upload.staged.size, length)
        yield upload, claim.settle(upload.staged, trailers)


@asynccontextmanager
async def patient(seconds: float) -> AsyncIterator[None]:
    """Wait for what is small only so long."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise Refusal("RequestTimeout", f"the body must arrive within {seconds:g} s") from error


def require_complete(size: int, length: int | None) -> None:
    """Refuse a body that is not as long as it said."""
    if length is not None and size != length:
        raise Refusal("IncompleteBody", "the body is not as long as it was said to be")


async def document(admitted: Admitted, *, of_object: bool = False) -> bytes:
    """A small body, whole and checked; the checksum in its head may be `of_object` and not of the document."""
    parts, size, trailers = list[bytes](), 0, dict[str, str]()
    async with patient(admitted.patience):
        async for piece in admitted.body(trailers):
            size += len(piece)
            if size > LARGEST_DOCUMENT:
                raise Refusal("MalformedXML", "the document is too large")
            parts.append(piece)
    whole = b"".join(parts)
    claim = checksums.Claim(sha256=checksums.digest_in(admitted.payload))
    if not of_object:
        claim = checksums.claim_of(admitted.ask, admitted.payload)
    claim.settle(digests_of(whole, claim.hashes), trailers)
    return whole
