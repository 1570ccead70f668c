"""Blobs as objects in a bucket of an S3-compatible cloud."""

import os
from collections.abc import AsyncGenerator, AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import obstore
from obstore.store import S3Store

from atrium.sdk import BlobMissing, Refusal, Settings

PART, PARALLEL = 8 << 20, 4
PIECE = 256 << 10


class CloudStore:
    """`<prefix><namespace>/<aa>/<bb>/<sha256>`. A name appears only when its upload is complete, so reading needs no lock."""

    def __init__(self, store: S3Store) -> None:
        self._store = store

    async def put(self, namespace: UUID, sha256: bytes, staged: Path) -> None:
        """Upload unless it is there; a large file goes in parts, and a broken upload leaves no name behind."""
        size = os.stat(staged).st_size
        if await self.stat(namespace, sha256) == size:
            return
        await obstore.put_async(
            self._store,
            _name(namespace, sha256),
            staged,
            use_multipart=size > PART,
            # At most 10,000 parts make an upload, so a very large file goes in larger ones.
            chunk_size=max(PART, -(-size // 9_000)),
            max_concurrency=PARALLEL,
        )

    async def get(
        self, namespace: UUID, sha256: bytes, start: int = 0, stop: int | None = None
    ) -> AsyncGenerator[bytes, None]:
        """The object's bytes as they arrive."""
        name = _name(namespace, sha256)
        if stop is not None and stop <= start:
            return
        options: Any = (
            {"range": {"offset": start} if stop is None else (start, stop)} if start or stop is not None else None
        )
        try:
            found = await obstore.get_async(self._store, name, options=options)
        except FileNotFoundError as error:
            raise BlobMissing(name) from error
        async for piece in found.stream(min_chunk_size=PIECE):
            yield bytes(piece)

    async def delete(self, namespace: UUID, sha256: bytes) -> None:
        """Delete the object."""
        try:
            await obstore.delete_async(self._store, _name(namespace, sha256))
        except FileNotFoundError:
            return

    async def stat(self, namespace: UUID, sha256: bytes) -> int | None:
        """The object's size."""
        try:
            return (await obstore.head_async(self._store, _name(namespace, sha256)))["size"]
        except FileNotFoundError:
            return None

    async def walk(self) -> AsyncIterator[tuple[UUID, bytes]]:
        """Every object that has a blob's name."""
        async for batch in obstore.list(self._store, chunk_size=1000):
            for entry in batch:
                found = _read_name(entry["path"])
                if found is not None:
                    yield found

    async def close(self) -> None:
        """Nothing is held open."""


def open_store(settings: Settings) -> CloudStore:
    """The bucket that the settings name."""
    if not settings.blob_s3_bucket:
        raise Refusal("SERVICE_BLOB_STORE=s3 needs SERVICE_BLOB_S3_BUCKET")
    options: dict[str, Any] = {"region": settings.blob_s3_region}
    if settings.blob_s3_endpoint:
        options |= {"endpoint": settings.blob_s3_endpoint, "virtual_hosted_style_request": False}
    if settings.blob_s3_access_key_id:
        options |= {
            "access_key_id": settings.blob_s3_access_key_id,
            "secret_access_key": settings.blob_s3_secret_access_key,
        }
    store = S3Store(
        settings.blob_s3_bucket,
        prefix=settings.blob_s3_prefix or None,
        client_options={
            "allow_http": settings.blob_s3_endpoint.startswith("http://"),
            # Of one part's silence, not of a whole object's transfer.
            "timeout": timedelta(hours=12),
            "connect_timeout": timedelta(seconds=10),
        },
        **options,
    )
    return CloudStore(store)


def _name(namespace: UUID, sha256: bytes) -> str:
    name = sha256.hex()
    return f"{namespace}/{name[:2]}/{name[2:4]}/{name}"


def _read_name(path: str) -> tuple[UUID, bytes] | None:
    parts = path.split("/")
    try:
        return (UUID(parts[-4]), bytes.fromhex(parts[-1])) if len(parts) >= 4 and len(parts[-1]) == 64 else None
    except ValueError:
        return None
