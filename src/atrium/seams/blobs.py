"""The seam of blob stores: bytes named by a company's id and their SHA-256. Who may read them is decided elsewhere."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from pathlib import Path
from typing import Protocol
from uuid import UUID

from atrium.seams.settings import Settings


class BlobMissing(Exception):
    """The store has no such bytes."""


class BlobStore(Protocol):
    """Keeps bytes, whole and durable; the same name always means the same bytes, so nothing is ever overwritten."""

    async def put(self, namespace: UUID, sha256: bytes, staged: Path) -> None:
        """Have the bytes of a finished local file under this name; already having them is success. Durable on return."""

    def get(
        self, namespace: UUID, sha256: bytes, start: int = 0, stop: int | None = None
    ) -> AsyncGenerator[bytes, None]:
        """The bytes from `start` up to `stop`, piece by piece; BlobMissing comes before the first piece."""

    async def delete(self, namespace: UUID, sha256: bytes) -> None:
        """Forget the bytes; not having them is success."""

    async def stat(self, namespace: UUID, sha256: bytes) -> int | None:
        """How many bytes are kept under this name; None when there are none."""

    def walk(self) -> AsyncIterator[tuple[UUID, bytes]]:
        """Every name in the store, in no particular order."""

    async def close(self) -> None:
        """Let go of what the store holds open."""


async def close_store(store: BlobStore) -> None:
    """Let a store go; put, get, delete and stat are enough to be one, and `walk` and `close` are for those that have them."""
    close = getattr(store, "close", None)
    if close is not None:
        await close()


BlobStoreFactory = Callable[[Settings], BlobStore]
