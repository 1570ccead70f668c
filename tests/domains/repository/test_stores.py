"""What every blob store promises, held against the local one and the one for clouds."""

import asyncio
import hashlib
import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from atrium.seams.blobs import BlobMissing, BlobStore
from tests.domains.repository.stores import Cloud, cloud_store, local_store, running_cloud


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    with running_cloud(tmp_path_factory.mktemp("cloud")) as cloud:
        yield cloud


@pytest.fixture(params=["rs3", "s3"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[BlobStore]:
    if request.param == "rs3":
        store = local_store(tmp_path / "data")
    else:
        store = cloud_store(request.getfixturevalue("cloud").endpoint, f"{uuid4().hex}/")
    yield store
    await store.close()


@pytest.fixture
def company_id() -> UUID:
    return uuid4()


async def put(store: BlobStore, company_id: UUID, body: bytes, folder: Path) -> bytes:
    staged = folder / secrets.token_hex(8)
    staged.write_bytes(body)
    digest = hashlib.sha256(body).digest()
    await store.put(company_id, digest, staged)
    return digest


async def read(store: BlobStore, company_id: UUID, digest: bytes, start: int = 0, stop: int | None = None) -> bytes:
    return b"".join([piece async for piece in store.get(company_id, digest, start, stop)])


@pytest.mark.parametrize("size", [0, 1, 5_000, 20 << 20])
async def test_bytes_read_back(store: BlobStore, company_id: UUID, tmp_path: Path, size: int) -> None:
    body = secrets.token_bytes(size)

    digest = await put(store, company_id, body, tmp_path)

    assert await read(store, company_id, digest) == body
    assert await store.stat(company_id, digest) == size


@pytest.mark.parametrize(("start", "stop"), [(0, 1), (0, 600_000), (255, 300_000), (599_999, None), (10, 10)])
async def test_a_part_is_exactly_that_part(
    store: BlobStore, company_id: UUID, tmp_path: Path, start: int, stop: int | None
) -> None:
    body = secrets.token_bytes(600_000)
    digest = await put(store, company_id, body, tmp_path)

    assert await read(store, company_id, digest, start, stop) == body[start:stop]


async def test_putting_again_changes_nothing(store: BlobStore, company_id: UUID, tmp_path: Path) -> None:
    digest = await put(store, company_id, b"same", tmp_path)

    await put(store, company_id, b"same", tmp_path)

    assert await read(store, company_id, digest) == b"same"


async def test_many_may_put_the_same_at_once(store: BlobStore, company_id: UUID, tmp_path: Path) -> None:
    digests = await asyncio.gather(*(put(store, company_id, b"same", tmp_path) for _ in range(8)))

    assert len(set(digests)) == 1
    assert await read(store, company_id, digests[0]) == b"same"


async def test_companies_do_not_share_bytes(store: BlobStore, company_id: UUID, tmp_path: Path) -> None:
    digest = await put(store, company_id, b"ours", tmp_path)

    assert await store.stat(uuid4(), digest) is None


async def test_absent_bytes_are_missing_before_the_first_piece(store: BlobStore, company_id: UUID) -> None:
    digest = secrets.token_bytes(32)

    assert await store.stat(company_id, digest) is None
    with pytest.raises(BlobMissing):
        await anext(store.get(company_id, digest))


async def test_deleting_forgets_and_is_repeatable(store: BlobStore, company_id: UUID, tmp_path: Path) -> None:
    digest = await put(store, company_id, b"gone", tmp_path)

    await store.delete(company_id, digest)
    await store.delete(company_id, digest)

    assert await store.stat(company_id, digest) is None


async def test_an_unfinished_read_can_be_closed(store: BlobStore, company_id: UUID, tmp_path: Path) -> None:
    digest = await put(store, company_id, secrets.token_bytes(3 << 20), tmp_path)
    source = store.get(company_id, digest)
    await anext(source)

    await source.aclose()

    with pytest.raises(StopAsyncIteration):
        await anext(source)


async def test_the_walk_names_everything_once(store: BlobStore, company_id: UUID, tmp_path: Path) -> None:
    other = uuid4()
    placed = {
        (company, await put(store, company, secrets.token_bytes(9), tmp_path)) for company in (company_id, other, other)
    }

    found = [name async for name in store.walk()]

    assert sorted(found) == sorted(placed)
