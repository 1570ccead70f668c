"""Garbage collection of unreferenced bytes, safe against concurrent uploads of the same bytes and against crashes.

Writing: put the bytes into the store; then, in one transaction, have the blob's row and lock it shared, see that the store
has the bytes, insert the version. If the store does not have them, a release came between: start over.
Releasing: lock the row exclusively, or skip it when it is locked; look again whether a version refers to it, or did within
SERVICE_BLOB_KEEP_HOURS; delete the row, which a foreign key of another domain prevents; delete the bytes while holding the lock.
Parts of uploads are no versions: they go at once.
Bytes without a row can only come from a writer that died between the two halves. Its staged file still lies there, named
after the bytes: the sweep gives them a row and a hint, and from there on it is an ordinary release.
"""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec

from atrium.engine.repository import blob_rows
from atrium.engine.repository.blob_rows import Hint
from atrium.engine.repository.model import BytesUnavailable
from atrium.kit.files.staging_area import Leftover
from atrium.kit.ids import NIL
from atrium.kit.postgres.database import Database
from atrium.seams.blobs import BlobStore
from atrium.seams.context import Context, Services

ABANDONED_SECONDS = 60
_BATCH = 500


class BlobReleased(Exception):
    """The bytes were released between being put and being referred to; putting them again helps."""


class Swept(msgspec.Struct, frozen=True):
    """What a sweep did."""

    leftovers: int
    released: int


async def hold(ctx: Context, sha256: bytes, size: int) -> None:
    """Until this transaction ends, the store has these bytes; raises BlobReleased when it has not."""
    org_id = ctx.who.org_id
    await blob_rows.insert_blob(ctx.db, org_id, sha256, size)
    if not await blob_rows.hold_blob(ctx.db, org_id, sha256):
        raise BlobReleased
    kept = await ctx.services.blobs.stat(org_id, sha256)
    if kept is None:
        raise BlobReleased
    if kept != size:
        raise BytesUnavailable("the blob store holds other bytes under this name", sha256=sha256.hex())


async def release(
    database: Database, blobs: BlobStore, org_id: UUID, sha256: bytes, kept: timedelta = timedelta()
) -> bool | None:
    """Delete the bytes if nothing refers to them, nor has for as long as bytes are kept.

    True when done, False when they stay (a later hint will tell), None when they are locked.
    """
    async with database.begin(org_id) as db:
        if not await blob_rows.seize_blob(db, org_id, sha256):
            return None if await blob_rows.exists_blob(db, org_id, sha256) else False
        # In this order: a transaction that deletes the last version in between leaves the hint that the second check finds.
        if await blob_rows.is_referenced(db, org_id, sha256) or await blob_rows.is_kept(db, org_id, sha256, kept):
            return False
        # The row first: another domain that refers to it keeps it, and with it the bytes. The lock is held until the commit.
        if not await blob_rows.delete_blob(db, org_id, sha256):
            return False
        await blobs.delete(org_id, sha256)
        return True


async def sweep(services: Services, seconds: float = ABANDONED_SECONDS) -> Swept:
    """Clear away what died uploads left, then release what lost its last version long ago; several may sweep at once."""
    kept = timedelta(hours=services.settings.blob_keep_hours)
    left = await services.staging.run(services.staging.leftovers, seconds)
    for one in left:
        await _adopt(services, one)
        await services.staging.run(lambda path: path.unlink(missing_ok=True), one.path)
    released = 0
    async for hint in _hints(services.database, kept):
        done = await release(services.database, services.blobs, hint.org_id, hint.sha256, kept)
        if done is not None:
            await _forget(services.database, hint)
        released += done is True
    return Swept(len(left), released)


async def adopt(database: Database, org_id: UUID, sha256: bytes, size: int) -> None:
    """Insert a row for bytes that have none, so that the next sweep releases them unless they are referenced by then."""
    async with database.begin(org_id) as db:
        await blob_rows.insert_blob(db, org_id, sha256, size)
        await blob_rows.insert_hints(db, org_id, [sha256], passing=True)


async def count_waiting(database: Database) -> int:
    """How many digests, of all companies, wait until their bytes may be released."""
    async with database.begin_system() as db:
        return await blob_rows.count_hints(db)


async def let_go(ctx: Context, sha256: bytes) -> None:
    """Note that something of the caller's company no longer refers to these bytes; a sweep releases them when nothing does."""
    await blob_rows.insert_hints(ctx.db, ctx.who.org_id, [sha256])


async def _adopt(services: Services, left: Leftover) -> None:
    if left.namespace is None or left.sha256 is None:
        return
    kept = await services.blobs.stat(left.namespace, left.sha256)
    if kept is not None:
        await adopt(services.database, left.namespace, left.sha256, kept)


async def _hints(database: Database, kept: timedelta) -> AsyncIterator[Hint]:
    after = datetime.fromtimestamp(0, UTC), NIL
    while True:
        async with database.begin_system() as db:
            found = await blob_rows.list_hints(db, kept, after, _BATCH)
        for hint in found:
            yield hint
        if len(found) < _BATCH:
            return
        after = found[-1].noted_at, found[-1].id


async def _forget(database: Database, hint: Hint) -> None:
    async with database.begin(hint.org_id) as db:
        await blob_rows.delete_hint(db, hint.org_id, hint.id)
