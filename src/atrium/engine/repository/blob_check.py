"""Checking the blob store against the database: every referenced blob is read and hashed again."""

import hashlib
from collections.abc import AsyncIterator
from typing import Literal
from uuid import UUID

import msgspec

from atrium.engine.repository import blob_rows
from atrium.engine.repository.blob_rows import BlobRow
from atrium.kit.postgres.database import Database
from atrium.seams.blobs import BlobMissing, BlobStore

_BATCH = 500
Verdict = Literal["sound", "missing", "corrupt", "orphaned", "unreferenced", "unfinished"]


class Finding(msgspec.Struct, frozen=True):
    """One blob, looked at. `orphaned` bytes have no row, an `unreferenced` row waits for its release, and an upload in parts
    that is `unfinished` lacks one of them and has to be begun again."""

    verdict: Verdict
    org_id: UUID
    sha256: bytes
    size: int


async def measure(database: Database, orgs: list[UUID]) -> tuple[int, int]:
    """How many blobs and bytes there are to verify."""
    count = size = 0
    for org_id in orgs:
        async with database.begin(org_id) as db:
            found = await blob_rows.measure_blobs(db, org_id)
        count, size = count + found[0], size + found[1]
    return count, size


async def verify(database: Database, blobs: BlobStore, orgs: list[UUID]) -> AsyncIterator[Finding]:
    """Look at every blob of these companies, then at every name in a store that can list them."""
    for org_id in orgs:
        async for row in _rows(database, org_id):
            yield Finding(await _judge(blobs, org_id, row), org_id, row.sha256, row.size)
    walk = getattr(blobs, "walk", None)
    if walk is None:
        return
    async for org_id, sha256 in walk():
        if not await _is_known(database, org_id, sha256):
            yield Finding("orphaned", org_id, sha256, await blobs.stat(org_id, sha256) or 0)


async def _rows(database: Database, org_id: UUID) -> AsyncIterator[BlobRow]:
    after = b""
    while True:
        async with database.begin(org_id) as db:
            found = await blob_rows.list_blobs(db, org_id, after, _BATCH)
        for row in found:
            yield row
        if len(found) < _BATCH:
            return
        after = found[-1].sha256


async def _judge(blobs: BlobStore, org_id: UUID, row: BlobRow) -> Verdict:
    if not row.of_version and not row.of_part:
        return "unreferenced"
    digest = hashlib.sha256()
    try:
        async for piece in blobs.get(org_id, row.sha256):
            digest.update(piece)
    except BlobMissing:
        return "missing" if row.of_version else "unfinished"
    return "sound" if digest.digest() == row.sha256 else "corrupt"


async def _is_known(database: Database, org_id: UUID, sha256: bytes) -> bool:
    async with database.begin(org_id) as db:
        return await blob_rows.exists_blob(db, org_id, sha256)
