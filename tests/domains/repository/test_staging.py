"""The staging area: hashing on the way, bounded memory, and nothing left behind that nobody can explain."""

import hashlib
import os
import secrets
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from atrium.kit.files import staging_area
from atrium.kit.files.staging_area import StagingArea
from tests.support.patience import PATIENCE


@pytest.fixture
def area(tmp_path: Path) -> StagingArea:
    return StagingArea(tmp_path / "staging")


async def test_a_finished_file_is_whole_and_hashed(area: StagingArea) -> None:
    chunks = [secrets.token_bytes(size) for size in (0, 1, 70_000, 3 << 20, 5)]
    writer = area.writer(uuid4(), ["md5"])
    for chunk in chunks:
        await writer.write(chunk)

    staged = await writer.finish()

    body = b"".join(chunks)
    assert staged.path.read_bytes() == body
    assert (staged.sha256, staged.size) == (hashlib.sha256(body).digest(), len(body))
    assert staged.hashes == {"md5": hashlib.md5(body).digest()}
    await writer.discard()


async def test_a_discarded_file_is_gone(area: StagingArea) -> None:
    writer = area.writer(uuid4())
    await writer.write(b"x" * (2 << 20))

    await writer.discard()

    assert list(area.folder.iterdir()) == []
    assert area.writing == 0


async def test_a_file_somebody_writes_is_not_left(area: StagingArea) -> None:
    writer = area.writer(uuid4())
    await writer.write(b"x" * (2 << 20))
    await writer.finish()

    assert area.leftovers(0) == []
    await writer.leave()
    assert len(area.leftovers(0)) == 1
    assert area.leftovers(60) == []


async def test_a_left_file_says_what_it_was_to_become(area: StagingArea) -> None:
    company_id = uuid4()
    writer = area.writer(company_id)
    await writer.write(b"bytes")
    staged = await writer.finish()
    await writer.leave()

    (left,) = area.leftovers(0)

    assert (left.path, left.namespace, left.sha256) == (staged.path, company_id, staged.sha256)


_DIES = """
import asyncio, os, sys, uuid
from pathlib import Path
from atrium.kit.files.staging_area import StagingArea
async def main():
    writer = StagingArea(Path(sys.argv[1])).writer(uuid.uuid4())
    await writer.write(b"x" * (3 << 20))
    await writer._landed()
    os.kill(os.getpid(), 9)
asyncio.run(main())
"""


async def test_a_file_whose_writer_was_killed_is_left_at_once(area: StagingArea) -> None:
    ended = subprocess.run([sys.executable, "-c", _DIES, str(area.folder)], check=False, timeout=PATIENCE)

    (left,) = area.leftovers(0)

    assert ended.returncode == -9
    assert (left.namespace, left.sha256) == (None, None)


async def test_many_writers_gather_less_each(area: StagingArea) -> None:
    alone = area.batch
    area.writing = 100

    assert (alone, area.batch) == (staging_area.LARGEST_BATCH, staging_area.MEMORY // 100)
    area.writing = 100_000
    assert area.batch == staging_area.SMALLEST_BATCH
    area.writing = 0


async def test_a_full_disk_is_an_error_and_not_a_short_file(area: StagingArea, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(file: int, data: bytes) -> int:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "write", refuse)
    writer = area.writer(uuid4())
    await writer.write(b"x")

    with pytest.raises(OSError, match="space"):
        await writer.finish()

    monkeypatch.undo()
    await writer.discard()
    assert list(area.folder.iterdir()) == []
