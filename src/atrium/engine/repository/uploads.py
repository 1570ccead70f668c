"""Bytes on their way in: admitted by the quota, written to the staging area, and cleaned up however it ends."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from uuid import UUID

from atrium.engine.repository.space import STORAGE
from atrium.ground.quotas import service as quotas
from atrium.ground.quotas.model import Admission, QuotaExceeded
from atrium.kit.errors import AppError, Kind, TooLarge
from atrium.kit.files.staging_area import StagedFile, Writer
from atrium.seams.context import Context, Operation

STEP = 64 << 20
LEASE = 300
MIDWAY = LEASE / 3


class UploadStalled(AppError):
    """No byte came for too long."""

    kind, code, title = Kind.INVALID, "repository.stalled", "The upload stood still"


class UploadAllowance:
    """Room for bytes, reserved before they come: at once when their number is known, else step by step."""

    def __init__(self, op: Operation, team_id: UUID) -> None:
        self._op, self._team_id = op, team_id
        self._admissions: list[Admission] = []
        self._covered = 0
        self._renewed = time.monotonic()

    async def cover(self, size: int) -> None:
        """Have room for this many bytes in all; refuses before they are taken."""
        if size > self._covered or not self._admissions:
            needed = size - self._covered
            more = needed if not self._admissions else max(STEP, needed)
            try:
                admission = await quotas.admit(self._op, {STORAGE: more}, lease=LEASE, team_id=self._team_id)
            except QuotaExceeded:
                # A step ahead is a convenience, and no reason to take anything away.
                more = needed
                async with self._op.begin() as ctx:
                    admission = await quotas.admit_space_within(ctx, self._team_id, more, lease=LEASE)
            self._admissions.append(admission)
            self._covered += more
        if time.monotonic() - self._renewed > MIDWAY:
            self._renewed = time.monotonic()
            for admission in self._admissions:
                await quotas.extend(self._op, admission, LEASE)

    async def spend(self, ctx: Context, size: int) -> None:
        """Count what was stored instead of what was reserved, in the transaction that stores it."""
        for index, admission in enumerate(self._admissions):
            await quotas.settle_within(ctx, admission, {STORAGE: 0 if index else size})

    async def give_back(self) -> None:
        """Free what was reserved and not spent; after spending this changes nothing."""
        for admission in self._admissions:
            await quotas.settle(self._op, admission, {})


class PrepaidAllowance(UploadAllowance):
    """Room for bytes that are counted already; nothing is asked and nothing is spent."""

    async def cover(self, size: int) -> None:
        """There is room."""

    async def spend(self, ctx: Context, size: int) -> None:
        """The caller that counted the bytes settles the difference."""


class Upload:
    """Bytes that have arrived; `kept` once a version refers to them."""

    def __init__(self, staged: StagedFile, allowance: UploadAllowance) -> None:
        self.staged, self.allowance = staged, allowance
        self.published = self.kept = False


@asynccontextmanager
async def receive(
    op: Operation,
    chunks: AsyncIterator[bytes],
    length: int | None,
    *,
    team_id: UUID | None = None,
    hashes: Iterable[str] = (),
    counted: bool = False,
) -> AsyncIterator[Upload]:
    """Take a body in; whatever happens inside, afterwards no reservation and no staged file is left behind."""
    limit = op.services.settings.object_limit
    if length is not None and length > limit:
        raise TooLarge(f"an object here has at most {limit} bytes", limit=limit)
    allowance = (PrepaidAllowance if counted else UploadAllowance)(op, team_id or op.who.team_id)
    writer: Writer | None = None
    upload: Upload | None = None
    try:
        await allowance.cover(length or 0)
        writer = op.services.staging.writer(op.who.org_id, hashes)
        await _drain(op, chunks, writer, allowance)
        upload = Upload(await writer.finish(), allowance)
        yield upload
    finally:
        await asyncio.shield(_clean_up(writer, upload, allowance))


async def _drain(op: Operation, chunks: AsyncIterator[bytes], writer: Writer, allowance: UploadAllowance) -> None:
    settings = op.services.settings
    source = aiter(chunks)
    while True:
        try:
            async with asyncio.timeout(settings.upload_timeout):
                chunk = await anext(source, None)
        except TimeoutError as error:
            raise UploadStalled(f"no byte came for {settings.upload_timeout} s") from error
        if chunk is None:
            return
        if writer.size + len(chunk) > settings.object_limit:
            raise TooLarge(f"an object here has at most {settings.object_limit} bytes", limit=settings.object_limit)
        await allowance.cover(writer.size + len(chunk))
        await writer.write(chunk)


async def _clean_up(writer: Writer | None, upload: Upload | None, allowance: UploadAllowance) -> None:
    try:
        if writer is not None and upload is not None and upload.published and not upload.kept:
            # The store may have the bytes now without anybody referring to them: the sweep reads that off the file's name.
            await writer.leave()
        elif writer is not None:
            await writer.discard()
    finally:
        if upload is None or not upload.kept:
            await allowance.give_back()
