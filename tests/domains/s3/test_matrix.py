"""The short form of `python -m tests.domains.s3.matrix`: the clients that the tests have anyway, over HTTP and HTTPS."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.domains.s3.matrix import chores
from tests.domains.s3.matrix.clients import CLIENTS
from tests.domains.s3.matrix.endpoint import Endpoint, endpoint
from tests.domains.s3.matrix.shelf import Shelf


class Here(Shelf):
    """The libraries of this environment."""

    def python(self, name: str, *packages: str) -> Path:
        """This interpreter."""
        return Path(sys.executable)


@pytest.fixture(scope="module", params=["http", pytest.param("https", marks=pytest.mark.proof)])
async def where(request: pytest.FixtureRequest) -> AsyncIterator[Endpoint]:
    async with endpoint(secure=request.param == "https") as found:
        yield found


@pytest.mark.parametrize(
    "chore", ["copy", "links", *(pytest.param(one, marks=pytest.mark.proof) for one in ("sizes", "odd keys"))]
)
@pytest.mark.parametrize("name", ["boto3", pytest.param("obstore", marks=pytest.mark.proof)])
async def test_a_client_does_its_chores(where: Endpoint, name: str, chore: str, tmp_path: Path) -> None:
    client = CLIENTS[name](Here(tmp_path), where, tmp_path)
    todo = chores.chores_of(client)
    if chore not in todo:
        pytest.skip(f"{name} has no words for {chore}")

    await asyncio.to_thread(todo[chore], client)
