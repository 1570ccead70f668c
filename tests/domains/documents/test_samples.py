"""A finding about samples: the seed makes documents, too."""

import pytest

from tests.support.client import Client

pytestmark = pytest.mark.finding


async def test_d8_the_seed_makes_documents_too(admin: Client, bob: Client) -> None:
    made = await admin.post("/api/admin/seed")

    found = (await bob.get("/api/documents"))["items"]
    assert made["documents"] == len(found) > 0
    for one in found:
        assert (await bob.get(f"/api/documents/{one['id']}"))["body"]
