"""SERVICE_BLOB_KEEP_HOURS: bytes outlive their last version for a while, quota does not, and what never was a version is not kept."""

import hashlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from atrium.boot.assemble import Application
from atrium.engine.repository import multipart, release, uploads
from atrium.engine.repository.model import UploadedPart
from tests.domains.repository.test_api import content, put
from tests.domains.repository.test_release import _chunks
from tests.domains.repository.test_sharing import operation_of
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for

HOURS = 3


@pytest.fixture(scope="module")
async def keeping_house(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    folder: Path = tmp_path_factory.mktemp("kept")
    async with open_application(settings_for(database_url, data_dir=folder, blob_keep_hours=HOURS)) as house:
        yield house


@pytest.fixture
async def company(keeping_house: Application) -> Company:
    return await found_company(keeping_house)


@pytest.fixture
async def writer(company: Company) -> Client:
    return await company.join("owner", org_role="org_owner")


async def stays(company: Company, body: bytes) -> bool:
    """Whether the store still has the bytes after a sweep."""
    services = company.house.services
    await release.sweep(services)
    return await services.blobs.stat(company.org.id, hashlib.sha256(body).digest()) is not None


async def pass_hours(company: Company, hours: float) -> None:
    """Let everything that waits for its release have waited so much longer."""
    await run_as_owner(
        company.house.services.settings.database_url,
        "UPDATE blob_releases SET noted_at = noted_at - make_interval(mins => $2) WHERE org_id = $1",
        company.org.id,
        int(hours * 60),
    )


async def purge(client: Client, id: str) -> None:
    """Away for good, not to the trash."""
    assert (await client.delete(f"/api/repo-obj/{id}")).status == 200
    assert (await client.delete(f"/api/trash/{id}")).status == 200


async def used_bytes(client: Client) -> int:
    rows = (await client.get("/api/usage"))["items"]
    return next((row["used"] for row in rows if row["dimension"] == "storage.bytes"), 0)


async def test_bytes_stay_for_the_hours_and_leave_after_them(company: Company, writer: Client) -> None:
    stored = await put(writer, "a", b"kept for a while")
    await purge(writer, stored["id"])

    found = [await stays(company, b"kept for a while")]
    await pass_hours(company, HOURS - 0.1)
    found.append(await stays(company, b"kept for a while"))
    await pass_hours(company, 0.2)
    found.append(await stays(company, b"kept for a while"))

    assert found == [True, True, False]


async def test_quota_counts_them_as_gone_at_once(company: Company, writer: Client) -> None:
    stored = await put(writer, "a", b"x" * 1000)
    before = await used_bytes(writer)

    await purge(writer, stored["id"])

    assert (before, await used_bytes(writer)) == (1000, 0)
    assert await stays(company, b"x" * 1000)


async def test_the_hours_count_from_the_last_time_they_were_let_go(company: Company, writer: Client) -> None:
    body = b"written, purged, written again, purged again"
    await purge(writer, (await put(writer, "a", body))["id"])
    await pass_hours(company, HOURS + 1)
    await purge(writer, (await put(writer, "b", body))["id"])

    first = await stays(company, body)
    await pass_hours(company, HOURS + 1)

    assert first
    assert not await stays(company, body)


async def test_bytes_that_are_written_again_while_they_wait_stay(company: Company, writer: Client) -> None:
    body = b"back before the hours were over"
    await purge(writer, (await put(writer, "a", body))["id"])
    again = await put(writer, "b", body)
    await pass_hours(company, HOURS + 1)

    assert await stays(company, body)
    assert (await content(writer, again["id"])).raw == body


async def test_parts_of_an_upload_are_not_kept(company: Company, writer: Client) -> None:
    op, body = await operation_of(company, writer), b"one part of an upload that is given up"
    async with op.begin() as ctx:
        upload = await multipart.begin_upload(ctx, "films/a.mp4", {})
    async with uploads.receive(op, _chunks(body), len(body), counted=False) as arrived:
        part = UploadedPart(
            number=1, sha256=arrived.staged.sha256, size=len(body), etag="e", checksum="", created_at=datetime.now(UTC)
        )
        await multipart.put_part(op, upload, arrived, part)

    held = await stays(company, body)
    async with op.begin() as ctx:
        await multipart.abort_upload(ctx, upload)

    assert held
    assert not await stays(company, body)
