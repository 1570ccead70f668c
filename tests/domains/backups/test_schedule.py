"""A serving process makes and verifies backups by itself when it has a folder for them, and operators see how old the newest is."""

import asyncio
import re
from pathlib import Path

from atrium.admin.backups import chores, restoration, service
from atrium.admin.backups import folder as folders
from atrium.boot.assemble import open_blobs, register
from atrium.seams.blobs import close_store
from tests.domains.backups.instances import Source, opened, put, source
from tests.domains.repository.stores import cloud_settings, running_cloud
from tests.support.servers import left_to_tests, settings_for

METRIC = re.compile(r"^atrium_backup_last_success_timestamp_seconds (\S+)$", re.MULTILINE)


async def seen(found: Source) -> object:
    return (await found.writer.get("/api/admin/status"))["backup"]


async def test_one_is_made_and_verified_when_the_newest_is_old_enough(tmp_path: Path) -> None:
    async with source(
        backup_dir=str(tmp_path / "backups"), backup_hours=24, domains=left_to_tests("backups.make")
    ) as found:
        services = found.house.services
        before = await seen(found)
        await chores.make_due(services)
        await chores.make_due(services)
        first = folders.list_backups(tmp_path / "backups")
        after = await seen(found)
        metrics = (await found.writer.get("/api/metrics")).raw.decode()
        _grow_old(tmp_path / "backups" / first[0].stamp)
        await chores.make_due(services)

    assert before == {"hours": 24, "taken_at": None, "verified_at": None, "faults": 0}
    assert len(first) == 1
    assert isinstance(after, dict)
    assert (after["faults"], after["verified_at"] is not None) == (0, True)
    assert float(METRIC.findall(metrics)[0]) > 1_700_000_000
    assert f"atrium_backup_interval_seconds {24 * 3600}.0\n" in metrics
    assert len(folders.list_backups(tmp_path / "backups")) == 2


def _grow_old(backup: Path) -> None:
    """As if it had been taken in another year."""
    file = backup / folders.MANIFEST
    file.write_text(re.sub(r'"taken_at": "\d{4}', '"taken_at": "2020', file.read_text()))


async def test_of_two_that_are_due_at_once_one_makes_it(tmp_path: Path) -> None:
    async with source(backup_dir=str(tmp_path), domains=left_to_tests("backups.make")) as found:
        await asyncio.gather(*(chores.make_due(found.house.services) for _ in range(3)))

        assert len(folders.list_backups(tmp_path)) == 1


async def test_without_a_folder_none_is_made_and_operators_see_none() -> None:
    async with source() as found:
        await chores.make_due(found.house.services)

        assert await seen(found) is None


async def test_bytes_in_a_bucket_are_backed_up_and_come_back(tmp_path: Path) -> None:
    (tmp_path / "cloud").mkdir()
    with running_cloud(tmp_path / "cloud") as cloud:
        there = cloud_settings(cloud.endpoint, "first/")
        chosen = {
            name: getattr(there, name) for name in dir(there) if name.startswith("blob_s3") or name == "blob_store"
        }
        async with source(**chosen) as found:
            await put(found.writer, "small.txt", b"in a bucket")
            await put(found.writer, "large.bin", b"x" * (6 << 20))
            backup = await found.back_up(tmp_path / "backups")
            faults = await service.verify(backup, found.house.services.keys)
            listed = [*folders.read_list(backup)]
            elsewhere = settings_for(found.url, **(chosen | {"blob_s3_prefix": "second/"}))
            async with opened(elsewhere, restored=True) as instance:
                await restoration.put_blobs(instance, backup)
            blobs = open_blobs(elsewhere, register(elsewhere))
            sizes = [await blobs.stat(found.company.org.id, bytes.fromhex(digest)) for _, digest, _ in listed]
            await close_store(blobs)

    assert faults == []
    assert sorted(size for size in sizes if size is not None) == [len(b"in a bucket"), 6 << 20]
