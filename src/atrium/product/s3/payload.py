"""A request's body: how it is framed, how long it is, what it claims; and small ones read whole."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TypeVar

from atrium.engine.repository import uploads
from atrium.engine.repository.uploads import Upload
from atrium.kit.files.staging_area import digests_of
from atrium.product.s3 import checksums, chunks
from atrium.product.s3.checksums import Checksum
from atrium.product.s3.model import S3Error
from atrium.product.s3.request import S3Request
from atrium.product.s3.sigv4 import Seal
from atrium.seams.context import Operation

T = TypeVar("T")
# Only lists of keys and of parts get long.
LARGEST_DOCUMENT, LARGEST_LIST = 256 << 10, 4 << 20
_AT_ONCE = 32 << 10
# One at a time: several would take turns with each other before it is the event loop's turn again.
_BENCH = ThreadPoolExecutor(1, thread_name_prefix="documents")


class S3Caller:
    """A request whose signature was good; the seal continues into the body's chunks."""

    __slots__ = ("patience", "payload", "request", "seal")

    def __init__(self, request: S3Request, payload: str, seal: Seal | None, patience: float) -> None:
        self.request, self.payload, self.seal, self.patience = request, payload, seal, patience

    @property
    def framed(self) -> bool:
        """Whether the body has frames of its own inside."""
        return self.payload in chunks.FRAMED

    def body(self, trailers: dict[str, str]) -> AsyncIterator[bytes]:
        """The body's bytes without its frames."""
        if self.framed:
            return chunks.read_chunks(self.request.chunks(), self.payload, self.seal, trailers)
        return self.request.chunks()

    def length(self) -> int | None:
        """How many bytes the object will have; None when they come in HTTP's own chunks and do not say."""
        text = self.request.headers.get("x-amz-decoded-content-length" if self.framed else "content-length", "")
        if text.isascii() and text.isdigit() and len(text) < 20:
            return int(text)
        if not self.framed and "transfer-encoding" in self.request.headers:
            return None
        raise S3Error("MissingContentLength", "You must provide the Content-Length HTTP header.")


@asynccontextmanager
async def receive(
    op: Operation, admitted: S3Caller, *, fallback: str | None = None
) -> AsyncIterator[tuple[Upload, Checksum | None]]:
    """Take the body in and see that it is what it claims to be; whatever fails, nothing of it stays."""
    claim = checksums.claim_of(admitted.request, admitted.payload, fallback)
    length, trailers = admitted.length(), dict[str, str]()
    async with uploads.receive(op, admitted.body(trailers), length, hashes=claim.hashes) as upload:
        require_complete(upload.staged.size, length)
        yield upload, claim.settle(upload.staged, trailers)


@asynccontextmanager
async def patient(seconds: float) -> AsyncIterator[None]:
    """Wait for what is small only so long."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise S3Error("RequestTimeout", f"the body must arrive within {seconds:g} s") from error


def require_complete(size: int, length: int | None) -> None:
    """Refuse a body that is not as long as it said."""
    if length is not None and size != length:
        raise S3Error("IncompleteBody", "the body is not as long as it was said to be")


async def read_list(admitted: S3Caller, read: Callable[[bytes], T], *, of_object: bool = False) -> T:
    """What `read` finds in a document that may be long: then it is read beside the event loop, which others wait for."""
    whole = await document(admitted, LARGEST_LIST, of_object=of_object)
    if len(whole) <= _AT_ONCE:
        return read(whole)
    return await asyncio.get_running_loop().run_in_executor(_BENCH, read, whole)


async def document(admitted: S3Caller, most: int = LARGEST_DOCUMENT, *, of_object: bool = False) -> bytes:
    """A small body, whole and checked; the checksum in its head may be `of_object` and not of the document."""
    parts, size, trailers = list[bytes](), 0, dict[str, str]()
    async with patient(admitted.patience):
        async for piece in admitted.body(trailers):
            size += len(piece)
            if size > most:
                raise S3Error("MalformedXML", "the document is too large")
            parts.append(piece)
    whole = b"".join(parts)
    claim = checksums.ChecksumClaim(sha256=checksums.digest_in(admitted.payload))
    if not of_object:
        claim = checksums.claim_of(admitted.request, admitted.payload)
    claim.settle(digests_of(whole, claim.hashes), trailers)
    return whole
