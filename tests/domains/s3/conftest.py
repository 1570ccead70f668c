"""One real server for all tests of S3, a company per test."""

from collections.abc import AsyncIterator

import pytest

from tests.domains.s3.clients import Person, Place, s3_place


@pytest.fixture(scope="package")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    async with s3_place(tmp_path_factory.mktemp("s3"), extraction=0) as place:
        yield place


@pytest.fixture
async def ada(place: Place) -> Person:
    """The owner of a company."""
    return await place.found()
