"""Releasing bytes while the same bytes are uploaded: no version may ever be without them."""

import asyncio
import os
import random
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from uuid import UUID

from msgspec.structs import replace

from atrium.engine.repository import release, writes
from atrium.engine.repository.model import ObjectDraft
from atrium.seams.blobs import BlobStore
from atrium.seams.context import Operation
from tests.domains.repository.test_api import content, put
from tests.domains.repository.test_sharing import operation_of
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import Company

SECONDS, CYCLES = (60, 1_000) if os.environ.get("ATRIUM_FULL") else (0, 60)
PAYLOADS = [bytes([n]) * 200 for n in range(4)]


class Wrapped:
    """A store in front of the real one."""

    def __init__(self, store: BlobStore) -> None:
        self._store = store

    async def put(self, namespace: UUID, sha256: bytes, staged: Path) -> None:
        await self._store.put(namespace, sha256, staged)

    def get(
        self, namespace: UUID, sha256: bytes, start: int = 0, stop: int | None = None
    ) -> AsyncGenerator[bytes, None]:
        return self._store.get(namespace, sha256, start, stop)

    async def delete(self, namespace: UUID, sha256: bytes) -> None:
        await self._store.delete(namespace, sha256)

    async def stat(self, namespace: UUID, sha256: bytes) -> int | None:
        return await self._store.stat(namespace, sha256)

    def walk(self) -> AsyncIterator[tuple[UUID, bytes]]:
        return self._store.walk()

    async def close(self) -> None:
        return


class Slow(Wrapped):
    """Takes its time to delete, so that whatever may come between does."""

    async def delete(self, namespace: UUID, sha256: bytes) -> None:
        await asyncio.sleep(0.02)
        await super().delete(namespace, sha256)


class OvertakenOnce(Wrapped):
    """Loses the first bytes it is given, as if they had been released at once."""

    lost = False

    async def put(self, namespace: UUID, sha256: bytes, staged: Path) -> None:
        await super().put(namespace, sha256, staged)
        if not self.lost:
            self.lost = True
            await self.delete(namespace, sha256)


async def _chunks(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def test_a_release_never_takes_bytes_that_a_version_refers_to(company: Company) -> None:
    counts: Counter[str] = Counter()
    deadline = time.monotonic() + SECONDS

    await asyncio.gather(
        *(_upload_and_delete(company, n, deadline, counts) for n in range(6)),
        *(_sweep(company, deadline, counts) for _ in range(2)),
    )

    assert counts["lost"] == 0
    assert counts["puts"] >= CYCLES, counts
    assert counts["released"] > 10, counts
    assert await _without_bytes(company) == []


def _goes_on(deadline: float, counts: Counter[str]) -> bool:
    """Until enough has happened, and the time is over where there is one."""
    few = counts["puts"] < CYCLES or counts["released"] <= 10
    return time.monotonic() < deadline + (PATIENCE if few else 0)


async def _upload_and_delete(company: Company, number: int, deadline: float, counts: Counter[str]) -> None:
    chosen = random.Random(number)
    client = await company.join("member")
    while _goes_on(deadline, counts):
        stored = await put(client, f"key-{number}", chosen.choice(PAYLOADS))
        counts["puts"] += 1
        counts["lost"] += (await content(client, stored["id"])).status != 200
        if chosen.random() < 0.95:
            assert (await client.delete(f"/api/repo-obj/{stored['id']}")).status == 200
            assert (await client.delete(f"/api/trash/{stored['id']}")).status == 200


async def _sweep(company: Company, deadline: float, counts: Counter[str]) -> None:
    services = replace(company.house.services, blobs=Slow(company.house.services.blobs))
    while _goes_on(deadline, counts):
        counts["released"] += (await release.sweep(services)).released


async def _without_bytes(company: Company) -> list[str]:
    rows = await run_as_owner(
        company.house.services.settings.database_url,
        "SELECT DISTINCT sha256 FROM object_versions WHERE org_id = $1 AND sha256 IS NOT NULL",
        company.org.id,
    )
    blobs = company.house.services.blobs
    return [row["sha256"].hex() for row in rows if await blobs.stat(company.org.id, row["sha256"]) is None]


async def test_an_upload_that_a_release_overtook_puts_its_bytes_again(company: Company, alice: Client) -> None:
    op = await operation_of(company, alice)
    hasty = Operation(who=op.who, services=replace(op.services, blobs=OvertakenOnce(op.services.blobs)))

    draft = ObjectDraft(key="a", content_type="text/plain")
    written = await writes.put_object(hasty, draft, _chunks(b"overtaken"), 9)

    assert (await content(alice, str(written.id))).raw == b"overtaken"


async def test_bytes_somebody_refers_to_at_this_moment_are_left_alone(company: Company, alice: Client) -> None:
    stored = await put(alice, "a", b"held")
    digest = bytes.fromhex(stored["version"]["sha256"])
    op, services = await operation_of(company, alice), company.house.services

    async with op.begin() as ctx:
        await release.hold(ctx, digest, 4)
        verdict = await release.release(services.database, services.blobs, company.org.id, digest)

    assert verdict is None
    assert await services.blobs.stat(company.org.id, digest) == 4


async def test_bytes_a_dead_upload_left_in_the_store_go_at_the_next_sweep(company: Company) -> None:
    services = company.house.services
    writer = services.staging.writer(company.org.id)
    await writer.write(b"orphan")
    staged = await writer.finish()
    await services.blobs.put(company.org.id, staged.sha256, staged.path)
    await writer.leave()

    await release.sweep(services, seconds=0)

    assert await services.blobs.stat(company.org.id, staged.sha256) is None
    assert not staged.path.exists()
